// The heap that malloc() and new of kernels take from: limited, where the host's is not. Internal.
#pragma once

#include <atomic>
#include <cstddef>

namespace lab::emulator {

// cudaLimitMallocHeapSize, and what kernels hold of it.
inline constexpr std::size_t default_heap_bytes = std::size_t{8} << 20;
inline constinit std::atomic<std::size_t> heap_limit{default_heap_bytes};
inline constinit std::atomic<std::size_t> heap_used{0};

}  // namespace lab::emulator
