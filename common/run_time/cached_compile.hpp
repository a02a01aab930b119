// Compiling by way of the cache: NVRTC is loaded when the image is not there, and not otherwise.
#pragma once

#include <span>
#include <string>

#include "common/run_time/cache.hpp"
#include "common/run_time/compiler.hpp"
#include "common/run_time/linker.hpp"

namespace lab::run_time {

// All that compile() makes of a request depends on: source, options, architecture and the rest of the
// request, and the file of NVRTC. NVRTC is not loaded. Throws library_error where there is no NVRTC.
[[nodiscard]] cache_key key_of(const compile_request& request,
                               const library_search& search = standard_search());

// The same for link().
[[nodiscard]] cache_key key_of(std::span<const link_input> inputs, int architecture,
                               const std::vector<std::string>& options = {},
                               const library_search& search = standard_search());

struct cached_compiled {
  compiled result;  // from the disk: without seconds of loading and compiling
  origin from = origin::compiled;
  double seconds = 0;   // of the whole call
  std::string warning;  // as cached_image's
};

// compile(), or what it made of the same request before. Throws as compile() does.
[[nodiscard]] cached_compiled compile_cached(const compile_request& request, image_cache& cache,
                                             const library_search& search = standard_search());

}  // namespace lab::run_time
