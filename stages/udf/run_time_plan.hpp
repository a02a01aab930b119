// What a stage that compiles at run time prepares: the machine code of its kernel, loaded, and how it is
// launched. For CUDA alone.
#pragma once

#include "stages/udf/grid.hpp"
#include "stages/udf/source.hpp"

#if !LAB_EMULATED

#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/run_time/cached_compile.hpp"
#include "common/run_time/linker.hpp"
#include "common/run_time/module.hpp"

namespace lab::udf {

// Compute capability of the current device, times 10.
inline int device_architecture() {
  int device = 0;
  int major = 0;
  int minor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return 10 * major + minor;
}

// Compiles by way of the cache on disk; a warning of the cache goes to standard error. What a cache that
// works not has compiled twice is kept by this process. May be called from several threads.
inline run_time::compiled compile(const run_time::compile_request& request) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<run_time::compiled>> compiled_here;
  const std::string key = std::to_string(static_cast<int>(request.wanted)) + request.source;
  {
    const std::lock_guard lock(mutex);
    const auto found = compiled_here.find(key);
    if (found != compiled_here.end() && found->second) return *found->second;
  }
  run_time::cached_compiled made = run_time::compile_cached(request, run_time::process_cache());
  if (!made.warning.empty()) std::fprintf(stderr, "%s\n", made.warning.c_str());
  if (made.from == run_time::origin::compiled) {
    const std::lock_guard lock(mutex);
    const auto [entry, is_first] = compiled_here.try_emplace(key, std::nullopt);
    if (!is_first) entry->second = made.result;
  }
  return std::move(made.result);
}

// A source that is linked, by its name in messages.
struct named_source {
  const char* name;
  std::string text;
};

// LTO-IR of each source, compiled side by side.
inline std::vector<run_time::link_input> lto_parts(const std::vector<named_source>& sources) {
  const int architecture = device_architecture();
  std::vector<std::future<run_time::link_input>> parts;
  for (const named_source& source : sources) {
    parts.push_back(std::async(std::launch::async, [&source, architecture] {
      run_time::compiled made = compile({.source = source.text,
                                         .file_name = source.name,
                                         .architecture = architecture,
                                         .wanted = run_time::target::lto_ir});
      return run_time::link_input{run_time::target::lto_ir, std::move(made.image), source.name,
                                  made.compiler};
    }));
  }
  std::vector<run_time::link_input> made;
  for (auto& part : parts) made.push_back(part.get());
  return made;
}

// One cubin of all, by way of the cache.
inline std::string linked(const std::vector<run_time::link_input>& parts) {
  const int architecture = device_architecture();
  return run_time::cached(run_time::key_of(parts, architecture),
                          [&] { return run_time::link(parts, architecture).cubin; })
      .image;
}

// Blocks for n elements: as many as the device holds, or a block for each tile of pairs.
inline dim3 grid_for(std::int64_t n, walk how) {
  if (how == walk::elements) return grid_for(n);
  constexpr std::int64_t tile = std::int64_t{2} * vectors_of_thread * block_threads;
  return dim3(static_cast<unsigned>((n + tile - 1) / tile));
}

// A plan that launches the kernel of a cubin.
inline plan<problem> plan_of(const std::string& cubin, walk how) {
  const auto library = std::make_shared<const run_time::kernel_library>(cubin);
  const run_time::loaded_kernel kernel = library->kernel(kernel_name);
  return {.launch = [library, kernel, how](const input& in, const output& out, workspace /*scratch*/,
                                           cudaStream_t stream) {
    if (in.n == 0) return;
    const void* values = in.values;
    void* results = out.results;
    long long n = in.n;
    long long window = in.window;
    long long min_periods = in.min_periods;
    const bool of_windows = window > 0;
    // Whole parameters of any result's type lie in eight bytes.
    double missing_double = incomplete<double>();
    std::int64_t missing_int64 = incomplete<std::int64_t>();
    bool missing_bool = false;
    void* const missing = in.result == result_type::float64 ? static_cast<void*>(&missing_double)
                          : in.result == result_type::int64 ? static_cast<void*>(&missing_int64)
                                                            : static_cast<void*>(&missing_bool);
    void* arguments[] = {&values, &results, &n, &window, &min_periods, missing};
    const dim3 grid = grid_for(in.n, of_windows ? walk::elements : how);
    CUDA_CHECK(cudaLaunchKernel(kernel.function(), grid, dim3(block_threads), arguments, 0, stream));
  }};
}

}  // namespace lab::udf

#endif
