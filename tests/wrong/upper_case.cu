// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/upper_case/problem.hpp"

// Upper case as it should be, byte by byte in one thread, from which each wrong kernel departs in one way.
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

// Is right, and asks for more scratch memory than there is.
namespace lab::upper_case::wrong::absurd_workspace {
namespace {

stage<problem> absurd() {
  stage<problem> made = as_stage<right_body>("asks for an absurd workspace");
  made.workspace_bytes = [](const column_parameters&) { return ~std::size_t{0}; };
  return made;
}

const registration<problem> registered{"upper_case/absurd_workspace", absurd()};

}  // namespace
}  // namespace lab::upper_case::wrong::absurd_workspace

// Counts its offsets from 1.
namespace lab::upper_case::wrong::begins_at_one {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    for (std::int64_t i = 0; i <= at.rows; ++i) at.offsets[i] = at.in_offsets[i] + 1;
    raise_letters(at);
  }
};

const registration<problem> registered{"upper_case/begins_at_one", as_stage<body>("begins at one")};

}  // namespace
}  // namespace lab::upper_case::wrong::begins_at_one

// Writes an offset for each row, and none behind the last.
namespace lab::upper_case::wrong::forgets_final_offset {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    for (std::int64_t i = 0; i < at.rows; ++i) at.offsets[i] = at.in_offsets[i];
    raise_letters(at);
  }
};

const registration<problem> registered{"upper_case/forgets_final_offset",
                                       as_stage<body>("forgets final offset")};

}  // namespace
}  // namespace lab::upper_case::wrong::forgets_final_offset

// Takes z for no letter.
namespace lab::upper_case::wrong::keeps_z {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    for (std::int64_t i = 0; i < at.bytes; ++i)
      at.chars[i] = at.in_chars[i] == 'z' ? 'z' : upper(at.in_chars[i]);
  }
};

const registration<problem> registered{"upper_case/keeps_z", as_stage<body>("keeps z")};

}  // namespace
}  // namespace lab::upper_case::wrong::keeps_z

// Does not write the last row's characters.
namespace lab::upper_case::wrong::leaves_last_row {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    const std::int64_t end = at.rows == 0 ? 0 : at.in_offsets[at.rows - 1];
    for (std::int64_t i = 0; i < end; ++i) at.chars[i] = upper(at.in_chars[i]);
  }
};

const registration<problem> registered{"upper_case/leaves_last_row", as_stage<body>("leaves last row")};

}  // namespace
}  // namespace lab::upper_case::wrong::leaves_last_row

// Raises the letters of its input, and copies them.
namespace lab::upper_case::wrong::works_in_place {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    for (std::int64_t i = 0; i < at.bytes; ++i) at.chars[i] = at.in_chars[i] = upper(at.in_chars[i]);
  }
};

const registration<problem> registered{"upper_case/works_in_place", as_stage<body>("works in place")};

}  // namespace
}  // namespace lab::upper_case::wrong::works_in_place

// Writes a byte behind the output's last one.
namespace lab::upper_case::wrong::writes_beyond {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.chars[at.bytes] = 'X';
  }
};

const registration<problem> registered{"upper_case/writes_beyond", as_stage<body>("writes beyond")};

}  // namespace
}  // namespace lab::upper_case::wrong::writes_beyond

// Writes a byte behind its scratch memory.
namespace lab::upper_case::wrong::writes_beyond_workspace {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.scratch[scratch_bytes] = 'X';
  }
};

const registration<problem> registered{"upper_case/writes_beyond_workspace",
                                       as_stage<body>("writes beyond its workspace")};

}  // namespace
}  // namespace lab::upper_case::wrong::writes_beyond_workspace
