// Lengths to offsets, in place: values[i] becomes the sum of all before it. CUB's on a GPU; the emulator,
// which cannot hold CUB, has one block do it.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"

namespace lab::redact {

// Over `count` values; temporary memory comes from `resource`.
void exclusive_scan(std::int32_t* values, std::int64_t count, memory_resource& resource, cudaStream_t stream);
void exclusive_scan(std::int64_t* values, std::int64_t count, memory_resource& resource, cudaStream_t stream);

}  // namespace lab::redact
