// Memory for an output whose length is not known yet: as many bytes as there can be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda.hpp"
#include "stages/redact/problem.hpp"

namespace lab::redact {

template <class Offset>
struct bounded_output {
  resource_buffer<Offset> offsets;
  resource_buffer<char> chars;

  bounded_output(const input& in, memory_resource& resource, cudaStream_t stream)
      : offsets(resource, static_cast<std::size_t>(in.rows + 1), stream),
        chars(resource, static_cast<std::size_t>(max_output_bytes(in)), stream) {}

  // Belongs to the caller from now on.
  output release() {
    const auto capacity = static_cast<std::int64_t>(chars.size());
    return {offsets.release(), chars.release(), capacity};
  }
};

}  // namespace lab::redact
