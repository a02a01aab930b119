#include "common/emulator/core/matrix_functions.hpp"

#include <array>
#include <cstring>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/matrix_arithmetic.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/wmma.hpp"

namespace lab::emulator {
namespace {

constexpr int lanes = 32;

template <class Call>
const Call& call_of(const std::uint64_t* values, int lane) {
  return *reinterpret_cast<const Call*>(values[lane]);
}

template <class Call>
void perform(const Call& call, const char* name, place where, void (*work)(const std::uint64_t*)) {
  collective_call mine{collective::whole_warp, name, ~0u, where, reinterpret_cast<std::uint64_t>(&call)};
  mine.perform = work;
  wait_for_lanes(mine);
}

// Element `k` of the register, of `bytes` bytes.
unsigned element_of(unsigned word, int k, int bytes) {
  return bytes == 4 ? word : word >> (8 * bytes * k) & ((1u << 8 * bytes) - 1);
}

// ---- mma.sync: D (16 x 8) = A (16 x K) B (K x 8) + C. Lane 4 i + j holds in A rows i and i + 8, in B column
// i, in C and D rows i and i + 8; and of each 16 bytes of K, or each 4 columns of two, part j.

template <int bytes, class Element, class Convert>
void gather(const std::uint64_t* values, Element (&a)[16][32 / bytes], Element (&b)[8][32 / bytes],
            Convert&& convert) {
  constexpr int in_word = 4 / bytes;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto& call = call_of<multiply_call>(values, lane);
    for (int word = 0; word < call.a_registers; ++word) {
      for (int k = 0; k < in_word; ++k) {
        const int first = lane % 4 * in_word + k;
        a[lane / 4 + 8 * (word % 2)][first + word / 2 * 4 * in_word] =
            convert(element_of(call.a[word], k, bytes));
        if (word < call.a_registers / 2)
          b[lane / 4][first + word * 4 * in_word] = convert(element_of(call.b[word], k, bytes));
      }
    }
  }
}

template <class Sum, class Value>
void scatter(const std::uint64_t* values, Value&& value) {
  for (int lane = 0; lane < lanes; ++lane) {
    const auto& call = call_of<multiply_call>(values, lane);
    for (int k = 0; k < 4; ++k)
      static_cast<Sum*>(call.d)[k] =
          value(lane / 4 + k / 2 * 8, lane % 4 * 2 + k % 2, static_cast<const Sum*>(call.c)[k]);
  }
}

template <int bytes>
void multiply_floats(const std::uint64_t* values, number_format format, int dropped_bits = 0) {
  matrix_number a[16][32 / bytes], b[8][32 / bytes];
  const int depth = call_of<multiply_call>(values, 0).a_registers * 8 / bytes;
  gather<bytes>(values, a, b, [=](unsigned bits) { return matrix_number_of(bits >> dropped_bits, format); });
  const auto sum = [&](int row, int column, float c) {
    return matrix_sum(a[row], b[column], depth, format.fraction_bits, c, {.products = depth});
  };
  if (call_of<multiply_call>(values, 0).half_sums) {
    scatter<__half>(values, [&](int row, int column, __half c) {
      return __half{matrix_sum(a[row], b[column], depth, format.fraction_bits, c,
                               {.products = depth, .is_sticky = true})};
    });
  } else {
    scatter<float>(values, sum);
  }
}

void multiply_bf16(const std::uint64_t* values) {
  multiply_floats<2>(values, format_bf16);
}
void multiply_f16(const std::uint64_t* values) {
  multiply_floats<2>(values, format_f16);
}
// The 13 lowest bits of a float are not looked at.
void multiply_tf32(const std::uint64_t* values) {
  multiply_floats<4>(values, format_tf32, 13);
}
void multiply_s8(const std::uint64_t* values) {
  int a[16][32], b[8][32];
  const int depth = call_of<multiply_call>(values, 0).a_registers * 8;
  gather<1>(values, a, b, [](unsigned bits) -> int { return static_cast<signed char>(bits); });
  scatter<int>(values, [&](int row, int column, int c) {
    auto sum = static_cast<unsigned>(c);  // wraps around
    for (int k = 0; k < depth; ++k) sum += static_cast<unsigned>(a[row][k] * b[column][k]);
    return static_cast<int>(sum);
  });
}

// ---- wmma::mma_sync

// Of the matrix of which each lane holds elements: element(major, minor, lane, number of the element).
template <class Visit>
void for_each_element(int majors, int minors, Visit&& visit) {
  for (int lane = 0; lane < lanes; ++lane) {
    for (int k = 0; k < majors * minors / lanes; ++k) {
      const fragment_position at = position_in_fragment(majors, lane, k);
      visit(at.major, at.minor, lane, k);
    }
  }
}

// The rows of A and the columns of B; convert(elements of a lane, number).
template <class Number, class Convert>
void gather_wmma(const std::uint64_t* values, const wmma_shape& shape, Number (&a)[lanes][16],
                 Number (&b)[lanes][16], Convert&& convert) {
  for_each_element(shape.a_by_rows ? shape.m : shape.k, shape.a_by_rows ? shape.k : shape.m,
                   [&](int major, int minor, int lane, int k) {
                     const auto row = shape.a_by_rows ? major : minor;
                     a[row][major + minor - row] = convert(call_of<wmma_call>(values, lane).a, k);
                   });
  for_each_element(shape.b_by_rows ? shape.k : shape.n, shape.b_by_rows ? shape.n : shape.k,
                   [&](int major, int minor, int lane, int k) {
                     const auto column = shape.b_by_rows ? minor : major;
                     b[column][major + minor - column] = convert(call_of<wmma_call>(values, lane).b, k);
                   });
}

void multiply_wmma_integers(const std::uint64_t* values, const wmma_shape& shape) {
  int a[lanes][16], b[lanes][16];
  gather_wmma(values, shape, a, b, [&](const void* elements, int k) -> int {
    if (shape.type == matrix_type::s8) return static_cast<const signed char*>(elements)[k];
    return static_cast<const unsigned char*>(elements)[k];
  });
  for_each_element(shape.m, shape.n, [&](int row, int column, int lane, int k) {
    const auto& call = call_of<wmma_call>(values, lane);
    auto sum = static_cast<unsigned>(static_cast<const int*>(call.c)[k]);  // wraps around
    for (int at = 0; at < shape.k; ++at) sum += static_cast<unsigned>(a[row][at] * b[column][at]);
    static_cast<int*>(call.d)[k] = static_cast<int>(sum);
  });
}

void multiply_wmma(const std::uint64_t* values) {
  const wmma_shape shape = call_of<wmma_call>(values, 0).shape;
  if (shape.type == matrix_type::s8 || shape.type == matrix_type::u8)
    return multiply_wmma_integers(values, shape);
  const bool is_tf32 = shape.type == matrix_type::tf32;
  const number_format format = is_tf32                          ? format_tf32
                               : shape.type == matrix_type::f16 ? format_f16
                                                                : format_bf16;
  matrix_number a[lanes][16], b[lanes][16];
  gather_wmma(values, shape, a, b, [=](const void* elements, int k) {
    // Of a float the 13 lowest bits are not looked at.
    return matrix_number_of(is_tf32 ? static_cast<const std::uint32_t*>(elements)[k] >> 13
                                    : static_cast<const std::uint16_t*>(elements)[k],
                            format);
  });
  for_each_element(shape.m, shape.n, [&](int row, int column, int lane, int k) {
    const auto& call = call_of<wmma_call>(values, lane);
    const float c = shape.half_c ? static_cast<float>(static_cast<const __half*>(call.c)[k])
                                 : static_cast<const float*>(call.c)[k];
    const float sum = matrix_sum(a[row], b[column], shape.k, format.fraction_bits, c,
                                 {.products = shape.k, .is_sticky = shape.half_d});
    if (shape.half_d) {
      static_cast<__half*>(call.d)[k] = sum;
    } else {
      static_cast<float*>(call.d)[k] = sum;
    }
  });
}

// ---- ldmatrix, stmatrix: row i of matrix m lies in lane 8 m + i; element (i, j) is half j % 2 of register m
// of lane 4 i + j / 2, or with `transposed` that of (j, i).

template <int count, bool transposed, bool to_fragments>
void exchange_rows(const std::uint64_t* values) {
  for (int matrix = 0; matrix < count; ++matrix) {
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        const int i = transposed ? column : row, j = transposed ? row : column;
        unsigned* const in_row = call_of<rows_call>(values, 8 * matrix + row).rows + column / 2;
        unsigned* const in_fragment = call_of<rows_call>(values, 4 * i + j / 2).fragment + matrix;
        const auto half_of = [](unsigned* word, int half) {
          return reinterpret_cast<unsigned char*>(word) + 2 * (half % 2);
        };
        if (to_fragments) {
          std::memcpy(half_of(in_fragment, j), half_of(in_row, column), 2);
        } else {
          std::memcpy(half_of(in_row, column), half_of(in_fragment, j), 2);
        }
      }
    }
  }
}

template <bool to_fragments>
void exchange(const rows_call& call, int count, bool transposed, const char* name, place where) {
  constexpr std::array works{exchange_rows<1, false, to_fragments>, exchange_rows<1, true, to_fragments>,
                             exchange_rows<2, false, to_fragments>, exchange_rows<2, true, to_fragments>,
                             exchange_rows<4, false, to_fragments>, exchange_rows<4, true, to_fragments>};
  const int which = count / 2 * 2 + (transposed ? 1 : 0);
  perform(call, name, where, works[static_cast<std::size_t>(which)]);
}

}  // namespace

void multiply_matrices(matrix_type type, const multiply_call& call, const char* name, place where) {
  constexpr std::array works{multiply_bf16, multiply_f16, multiply_tf32, multiply_s8};
  perform(call, name, where, works[static_cast<std::size_t>(type)]);
}

void rows_to_fragments(const rows_call& call, int count, bool transposed, const char* name, place where) {
  exchange<true>(call, count, transposed, name, where);
}

void fragments_to_rows(const rows_call& call, int count, bool transposed, const char* name, place where) {
  exchange<false>(call, count, transposed, name, where);
}

void multiply_fragments(const wmma_call& call, place where) {
  perform(call, "wmma::mma_sync", where, multiply_wmma);
}

void check_fragment_memory(const void* memory, unsigned stride, unsigned element_bytes, const char* name,
                           place where) {
  constexpr unsigned stride_bytes = 16;
  const unsigned alignment = element_bytes == 1 ? 16 : 32;  // a line of a fragment
  if (stride * element_bytes % stride_bytes != 0)
    fail_thread(where, format("calls %s with lines %u elements apart, which is no multiple of %u", name,
                              stride, stride_bytes / element_bytes));
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
    fail_thread(where,
                format("calls %s at an address that is no multiple of %u: misaligned", name, alignment));
}

void check_matrix_row(const void* row, const char* name, place where) {
  running_block().check_matrix_row(row, name, where);
}

void meet_as_warp(const char* name, place where) {
  constexpr int nothing = 0;
  perform(nothing, name, where, [](const std::uint64_t*) {});
}

// Of the running thread.
void block_runner::check_matrix_row(const void* row, const char* name, place where) {
  constexpr std::size_t bytes = 16;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(row) % bytes == 0;
  if (is_shared(row, bytes) && is_aligned) return;
  launch_->error = is_aligned ? cudaErrorIllegalAddress : cudaErrorMisalignedAddress;
  fail(where, std::string("calls ") + name +
                  (is_aligned ? " with a row that is not, or not all, the block's shared memory"
                              : " with a row at an address that is no multiple of 16: misaligned"));
}

}  // namespace lab::emulator
