// Upper case as it should be, byte by byte in one thread, from which each wrong kernel departs in one way.
#pragma once

#include "tests/tracks/upper_case/problem.hpp"

namespace lab::upper_case::wrong {

// What a stage may reach, and what becomes of a byte.
template <class Offset>
struct pointers {
  Offset* in_offsets;
  char* in_chars;
  std::int64_t rows;
  std::int64_t bytes;
  Offset* offsets;
  char* chars;
  char* scratch;
};

// What each asks for.
inline constexpr std::size_t scratch_bytes = 100;

__device__ inline char upper(char byte) {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

template <class Offset>
__device__ void copy_offsets(const pointers<Offset>& at) {
  for (std::int64_t i = 0; i <= at.rows; ++i) at.offsets[i] = at.in_offsets[i];
}
template <class Offset>
__device__ void raise_letters(const pointers<Offset>& at) {
  for (std::int64_t i = 0; i < at.bytes; ++i) at.chars[i] = upper(at.in_chars[i]);
}

// Right, where a stage departs in something else.
struct right_body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
  }
};

template <class Body, class Offset>
__global__ void one_thread_kernel(pointers<Offset> at) {
  Body::run(at);
}

template <class Body>
void launch(const input& in, const column_output& out, workspace scratch, cudaStream_t stream) {
  with_offsets(in, [&]<class Offset>() {
    const pointers<Offset> at{static_cast<Offset*>(const_cast<void*>(in.texts.offsets)),
                              const_cast<char*>(in.texts.chars),
                              in.rows,
                              in.texts.bytes,
                              static_cast<Offset*>(out.offsets),
                              out.chars,
                              static_cast<char*>(scratch.data)};
    lab::launch(one_thread_kernel<Body, Offset>, dim3(1), dim3(1), 0, stream, at);
  });
}

template <class Body>
stage<problem> as_stage(const char* idea) {
  return {.idea = idea,
          .launch = launch<Body>,
          .workspace_bytes = [](const column_parameters&) { return scratch_bytes; },
          .tile = 16};
}

}  // namespace lab::upper_case::wrong
