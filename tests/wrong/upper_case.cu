// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/upper_case/right.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::upper_case::wrong {
namespace {

// Is right, and asks for more scratch memory than there is.
namespace absurd_workspace {
stage<problem> absurd() {
  stage<problem> wrong_stage = as_stage<right_body>("asks for an absurd workspace");
  wrong_stage.workspace_bytes = [](const column_parameters&) { return ~std::size_t{0}; };
  return wrong_stage;
}

WRONG(absurd_workspace, failure_kind::unsupported, " trials", absurd());
}  // namespace absurd_workspace

// Counts its offsets from 1.
struct begins_at_one {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    for (std::int64_t i = 0; i <= at.rows; ++i) at.offsets[i] = at.in_offsets[i] + 1;
    raise_letters(at);
  }
};
WRONG(begins_at_one, failure_kind::wrong, "expected a first offset of 0, found 1",
      as_stage<begins_at_one>("begins at one"));

// Writes an offset for each row, and none behind the last.
struct forgets_final_offset {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    for (std::int64_t i = 0; i < at.rows; ++i) at.offsets[i] = at.in_offsets[i];
    raise_letters(at);
  }
};
WRONG(forgets_final_offset, failure_kind::wrong,
      "expected a final offset of  ... -1, which is the poison: it was never written",
      as_stage<forgets_final_offset>("forgets final offset"));

// Takes z for no letter.
struct keeps_z {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    for (std::int64_t i = 0; i < at.bytes; ++i)
      at.chars[i] = at.in_chars[i] == 'z' ? 'z' : upper(at.in_chars[i]);
  }
};
WRONG(keeps_z, failure_kind::wrong, ": expected \"", as_stage<keeps_z>("keeps z"));

// Does not write the last row's characters.
struct leaves_last_row {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    const std::int64_t end = at.rows == 0 ? 0 : at.in_offsets[at.rows - 1];
    for (std::int64_t i = 0; i < end; ++i) at.chars[i] = upper(at.in_chars[i]);
  }
};
WRONG(leaves_last_row, failure_kind::unwritten, " was never written",
      as_stage<leaves_last_row>("leaves last row"));

// Raises the letters of its input, and copies them.
struct works_in_place {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    for (std::int64_t i = 0; i < at.bytes; ++i) at.chars[i] = at.in_chars[i] = upper(at.in_chars[i]);
  }
};
WRONG(works_in_place, failure_kind::input_changed, "index 0", as_stage<works_in_place>("works in place"));

// Writes a byte behind the output's last one.
struct writes_beyond {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.chars[at.bytes] = 'X';
  }
};
WRONG(writes_beyond, failure_kind::out_of_bounds, "behind the end of",
      as_stage<writes_beyond>("writes beyond"));

// Writes a byte behind its scratch memory.
struct writes_beyond_workspace {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.scratch[scratch_bytes] = 'X';
  }
};
WRONG(writes_beyond_workspace, failure_kind::out_of_bounds,
      "a write 0 bytes behind the end of an allocation of 100 bytes",
      as_stage<writes_beyond_workspace>("writes beyond its workspace"));

}  // namespace
}  // namespace lab::upper_case::wrong
