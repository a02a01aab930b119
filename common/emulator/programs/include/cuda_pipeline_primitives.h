// The C functions of copies that go on by themselves: to be waited for.
#pragma once

#include <cuda_runtime.h>

[[gnu::always_inline]] inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                                           std::size_t zeros = 0) {
  __builtin_memcpy(to, from, bytes - zeros);
  __builtin_memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
  lab::emulator::begin_copy(to, from, bytes, bytes - zeros);
}
inline void __pipeline_commit() {
  lab::emulator::commit_copies();
}
inline void __pipeline_wait_prior(std::size_t prior) {
  lab::emulator::wait_for_copies(prior);
}
