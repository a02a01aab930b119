// Kernels and inputs for the tests of common/matrix_units.hpp: on the emulator in Catch2
// (tests/emulator/matrix_units_test.cpp), on a GPU in a program of its own (matrix_units_gpu.cu).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/emulator/core/matrix_arithmetic.hpp"
#include "common/matrix_units.hpp"
#include "common/random.hpp"

namespace lab::matrix_test {

enum class factor { bf16, f16, tf32, s8 };

template <factor type>
using sum_of = std::conditional_t<type == factor::s8, int, float>;

template <factor type>
__device__ void multiply(sum_of<type> (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                         const sum_of<type> (&c)[4]) {
  if constexpr (type == factor::bf16) mma_bf16_m16n8k16(d, a, b, c);
  if constexpr (type == factor::f16) mma_f16_m16n8k16(d, a, b, c);
  if constexpr (type == factor::tf32) mma_tf32_m16n8k8(d, a, b, c);
  if constexpr (type == factor::s8) mma_s8_m16n8k32(d, a, b, c);
}

// Of 8 words, 32 bytes, each: the rows of A (16) and the columns of B (8).
constexpr int line = 8, a_words = 16 * line, b_words = 8 * line, sums = 16 * 8;

// A warp for each block, and a product of its own. Fragments as the PTX ISA says.
template <factor type>
__global__ void multiply_kernel(const unsigned* a, const unsigned* b, const sum_of<type>* c,
                                sum_of<type>* d) {
  a += blockIdx.x * a_words, b += blockIdx.x * b_words, c += blockIdx.x * sums, d += blockIdx.x * sums;
  const unsigned group = threadIdx.x / 4, part = threadIdx.x % 4;
  unsigned of_a[4], of_b[2];
  sum_of<type> of_c[4];
  for (unsigned k = 0; k < 4; ++k) of_a[k] = a[(group + k % 2 * 8) * line + part + k / 2 * 4];
  for (unsigned k = 0; k < 2; ++k) of_b[k] = b[group * line + part + k * 4];
  for (unsigned k = 0; k < 4; ++k) of_c[k] = c[(group + k / 2 * 8) * 8 + part * 2 + k % 2];
  multiply<type>(of_c, of_a, of_b, of_c);
  for (unsigned k = 0; k < 4; ++k) d[(group + k / 2 * 8) * 8 + part * 2 + k % 2] = of_c[k];
}

// The same of 16-bit numbers, by way of shared memory; `b` holds B by rows of 8. What is loaded is also
// stored again: A and A transposed, as it came and transposed once more.
[[maybe_unused]] static __global__ void rows_kernel(const unsigned* a, const unsigned* b, const float* c,
                                                    float* d, unsigned* stored) {
  __shared__ __align__(16) unsigned tile_a[a_words], tile_b[b_words], again[4 * a_words];
  for (unsigned k = threadIdx.x; k < a_words; k += 32) tile_a[k] = a[k];
  for (unsigned k = threadIdx.x; k < b_words; k += 32) tile_b[k] = b[k];
  __syncthreads();
  const unsigned row = threadIdx.x % 8, matrix = threadIdx.x / 8;
  const unsigned at_a = (row + matrix % 2 * 8) * line + matrix / 2 * 4;
  unsigned of_a[4], half_of_b[2][1], of_b[2], transposed_a[4];
  load_matrix_x4(of_a, tile_a + at_a);
  load_matrix_x4_trans(transposed_a, tile_a + at_a);
  load_matrix_x1_trans(half_of_b[0], tile_b + row * 4);
  load_matrix_x2_trans(of_b, tile_b + threadIdx.x % 16 * 4);
  load_matrix_x1_trans(half_of_b[1], tile_b + (8 + row) * 4);
  store_matrix_x4(again + at_a, of_a);
  store_matrix_x4(again + a_words + at_a, transposed_a);
  store_matrix_x4_trans(again + 2 * a_words + at_a, of_a);
  store_matrix_x4_trans(again + 3 * a_words + at_a, transposed_a);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 4 * a_words; k += 32) stored[k] = again[k];
  const unsigned group = threadIdx.x / 4, part = threadIdx.x % 4;
  float of_c[4], of_d[4];
  for (unsigned k = 0; k < 4; ++k) of_c[k] = c[(group + k / 2 * 8) * 8 + part * 2 + k % 2];
  const bool is_same = of_b[0] == half_of_b[0][0] && of_b[1] == half_of_b[1][0];
  mma_bf16_m16n8k16(of_d, of_a, of_b, of_c);
  for (unsigned k = 0; k < 4; ++k) d[(group + k / 2 * 8) * 8 + part * 2 + k % 2] = is_same ? of_d[k] : -1;
}

// C += A B of 16 x 16 matrices, each by rows or by columns.
template <class T, bool a_by_rows, bool b_by_rows>
__global__ void wmma_kernel(const T* a, const T* b, float* c) {
  using namespace nvcuda;
  constexpr int n = 16;
  wmma::fragment<wmma::matrix_a, n, n, n, T, std::conditional_t<a_by_rows, wmma::row_major, wmma::col_major>>
      of_a;
  wmma::fragment<wmma::matrix_b, n, n, n, T, std::conditional_t<b_by_rows, wmma::row_major, wmma::col_major>>
      of_b;
  wmma::fragment<wmma::accumulator, n, n, n, float> sum, two;
  constexpr wmma::layout_t layout = a_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::load_matrix_sync(of_a, a, n);
  wmma::load_matrix_sync(of_b, b, n);
  wmma::load_matrix_sync(sum, c, n, layout);
  wmma::fill_fragment(two, 2.0f);
  wmma::mma_sync(sum, of_a, of_b, sum);
  for (int k = 0; k < sum.num_elements; ++k) sum.x[k] *= two.x[k];
  wmma::store_matrix_sync(c, sum, n, layout);
}

// ---- inputs

enum class inputs { integers, unit, wide, cancelling, one_large, tiny, special };
inline constexpr const char* names_of_inputs[] = {"integers",  "unit", "wide",   "cancelling",
                                                  "one large", "tiny", "special"};

struct factor_type {
  const char* name;
  emulator::number_format format;
  int bytes;
  int largest_exponent;  // of factors whose products are far from the limits of the format and of float
};
constexpr factor_type about(factor type) {
  switch (type) {
    case factor::bf16:
      return {"bf16", emulator::format_bf16, 2, 30};
    case factor::f16:
      return {"f16", emulator::format_f16, 2, 12};
    case factor::tf32:
      return {"tf32", emulator::format_tf32, 4, 30};
    default:
      return {"s8", {}, 1, 0};
  }
}

class generator {
 public:
  explicit generator(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return random_bits(seed_, count_++); }
  int below(int limit) { return static_cast<int>(bits() % static_cast<unsigned>(limit)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  float unit() { return static_cast<float>(uniform(bits()) * 2 - 1); }

 private:
  std::uint64_t seed_, count_ = 0;
};

// A float as the factor's bits, cut off. What a matrix unit does not look at is drawn.
inline unsigned bits_of(float value, factor type, generator& random) {
  const auto bits = std::bit_cast<unsigned>(value);
  if (type == factor::bf16) return bits >> 16;
  if (type == factor::tf32) return (bits & ~0x1fffu) | (random.bits() & 0x1fffu);
  std::uint16_t half = 0;
  const __half rounded = __float2half(value);
  std::memcpy(&half, &rounded, sizeof half);
  return half;
}

inline unsigned draw(factor type, inputs kind, int k, generator& random) {
  const factor_type known = about(type);
  if (type == factor::s8) return static_cast<unsigned>(random.bits()) & 0xff;
  const unsigned sign = static_cast<unsigned>(random.bits() & 1) << (8 * known.bytes - 1);
  const unsigned drop = type == factor::tf32 ? 13 : 0;
  const unsigned infinity = ((1u << known.format.exponent_bits) - 1) << known.format.fraction_bits << drop;
  switch (kind) {
    case inputs::integers:
      return bits_of(static_cast<float>(random.between(-8, 8)), type, random);
    case inputs::wide:
      return bits_of(
          std::ldexp(random.unit(), random.between(-known.largest_exponent, known.largest_exponent)), type,
          random);
    case inputs::one_large:
      return bits_of(k == 0 ? std::ldexp(1.0f, random.between(0, known.largest_exponent)) : random.unit(),
                     type, random);
    case inputs::tiny:
      if (random.below(4) != 0)
        return sign |
               (static_cast<unsigned>(random.bits()) & ((2u << known.format.fraction_bits << drop) - 1));
      return bits_of(std::ldexp(random.unit(), type == factor::f16 ? -10 : -20), type, random);
    case inputs::special:
      switch (random.below(24)) {
        case 0:
          return sign | infinity;
        case 1:
          return sign | infinity | 1u << drop;
        case 2:
          return sign;
        case 3:
          return sign | (infinity - (1u << drop));
        default:
          return bits_of(random.unit(), type, random);
      }
    default:
      return bits_of(random.unit(), type, random);
  }
}

// `count` products.
template <factor type>
struct problem {
  std::vector<unsigned> a, b;  // rows of A, columns of B
  std::vector<sum_of<type>> c;

  problem(int count, inputs kind, std::uint64_t seed) {
    constexpr int bytes = about(type).bytes, depth = 4 * line / bytes, in_word = 4 / bytes;
    generator random(seed);
    const auto fill = [&](std::vector<unsigned>& words, int size) {
      words.assign(static_cast<std::size_t>(size), 0);
      for (int k = 0; k < size * in_word; ++k)
        words[static_cast<std::size_t>(k / in_word)] |= draw(type, kind, k % depth, random)
                                                        << (8 * bytes * (k % in_word)) % 32;
    };
    fill(a, count * a_words);
    fill(b, count * b_words);
    // Neighbours of opposite sign, and almost equal: what is left is in the last bits.
    if (kind == inputs::cancelling && bytes == 2) {
      for (unsigned& word : a) word = (word & 0xffff) | (word << 16 ^ 0x80000000u);
      for (unsigned& word : b) word = (word & 0xffff) | (word << 16 ^ (random.bits() & 1) << 16);
    } else if (kind == inputs::cancelling) {
      for (std::size_t k = 0; k < a.size(); k += 2) a[k + 1] = a[k] ^ 0x80000000u;
      for (std::size_t k = 0; k < b.size(); k += 2) b[k + 1] = b[k] ^ (random.bits() & 1) << 13;
    }
    for (int k = 0; k < count * sums; ++k) {
      if constexpr (type == factor::s8) {
        c.push_back(random.between(-1'000'000, 1'000'000));
      } else if (kind == inputs::integers) {
        c.push_back(static_cast<float>(random.between(-1000, 1000)));
      } else if (kind == inputs::tiny) {
        c.push_back(random.below(2) == 0 ? 0 : std::ldexp(random.unit(), -random.between(120, 148)));
      } else if (kind == inputs::special && random.below(8) == 0) {
        c.push_back(std::ldexp(random.unit(), 128));
      } else {
        c.push_back(kind == inputs::wide ? std::ldexp(random.unit(), random.between(-40, 40))
                                         : random.unit());
      }
    }
  }

  // By the emulator's rule, or by another one; and the plain sum of integers, for those.
  std::vector<sum_of<type>> expected(emulator::fused_sum_rule rule) const {
    using namespace emulator;
    constexpr int bytes = about(type).bytes, depth = 4 * line / bytes, in_word = 4 / bytes;
    const auto element = [](const unsigned* words, int k) {
      return bytes == 4
                 ? words[k] >> 13
                 : words[k / in_word] >> (8 * bytes * (k % in_word)) % 32 & ((1u << 8 * bytes % 32) - 1);
    };
    std::vector<sum_of<type>> d(c.size());
    for (std::size_t k = 0; k < c.size(); ++k) {
      const unsigned* const row = a.data() + k / sums * a_words + k % sums / 8 * line;
      const unsigned* const column = b.data() + k / sums * b_words + k % 8 * line;
      if constexpr (type == factor::s8) {
        d[k] = c[k];
        for (int i = 0; i < depth; ++i)
          d[k] += static_cast<signed char>(element(row, i)) * static_cast<signed char>(element(column, i));
      } else {
        matrix_number of_a[depth], of_b[depth];
        for (int i = 0; i < depth; ++i) {
          of_a[i] = matrix_number_of(element(row, i), about(type).format);
          of_b[i] = matrix_number_of(element(column, i), about(type).format);
        }
        rule.products = std::min(rule.products, depth);
        d[k] = matrix_sum(of_a, of_b, depth, about(type).format.fraction_bits, c[k], rule);
      }
    }
    return d;
  }
};

}  // namespace lab::matrix_test
