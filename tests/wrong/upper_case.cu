// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/upper_case/right.hpp"

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
