// Matrix units of a warp: fragments and sums against plain loops, and calls that are wrong.
#include "common/matrix_units.hpp"

#include <cmath>

#include "tests/emulator/support.hpp"
#include "tests/matrix/matrix_kernels.hpp"

namespace {

using namespace lab::matrix_test;

template <factor type>
std::vector<sum_of<type>> products_of(const problem<type>& given, int count) {
  const device_array<unsigned> a(given.a), b(given.b);
  const device_array<sum_of<type>> c(given.c), d(given.c.size());
  run(multiply_kernel<type>, static_cast<unsigned>(count), 32, a.get(), b.get(), c.get(), d.get());
  return d.values();
}

// The sum of exact products; integers small enough have no other one, in whatever order.
template <factor type>
std::vector<sum_of<type>> plain_sums(const problem<type>& given) {
  std::vector<sum_of<type>> d = given.c;
  constexpr int depth = 32 / about(type).bytes;
  const auto value = [](const std::vector<unsigned>& words, std::size_t at) -> float {
    const auto* const first = reinterpret_cast<const unsigned char*>(words.data()) + at * about(type).bytes;
    if constexpr (type == factor::s8) return static_cast<signed char>(*first);
    float wide = 0;
    if constexpr (type == factor::tf32) {
      std::memcpy(&wide, first, 4);
      return std::nearbyint(wide);
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, first, 2);
    return type == factor::bf16 ? lab::emulator::brain16::widen(bits) : lab::emulator::binary16::widen(bits);
  };
  for (std::size_t k = 0; k < d.size(); ++k) {
    const std::size_t row = k / sums * 16 + k % sums / 8, column = k / sums * 8 + k % 8;
    for (std::size_t i = 0; i < depth; ++i)
      d[k] += static_cast<sum_of<type>>(value(given.a, row * depth + i) * value(given.b, column * depth + i));
  }
  return d;
}

template <factor type>
void require_plain_sums() {
  const problem<type> given(3, inputs::integers, 7);
  CHECK(products_of(given, 3) == plain_sums(given));
}

TEST_CASE("mma.sync multiplies integers exactly, in fragments as the PTX ISA says", "[matrix]") {
  for_each_schedule();
  require_plain_sums<factor::bf16>();
  require_plain_sums<factor::f16>();
  require_plain_sums<factor::tf32>();
  require_plain_sums<factor::s8>();
}

TEST_CASE("ldmatrix and stmatrix carry fragments, transposed ones too", "[matrix]") {
  for_each_schedule();
  problem<factor::bf16> given(1, inputs::integers, 11);
  const std::vector<float> expected = plain_sums(given);
  std::vector<unsigned> by_rows(b_words);
  const auto half = [](std::vector<unsigned>& words, int k) {
    return reinterpret_cast<std::uint16_t*>(words.data()) + k;
  };
  for (int k = 0; k < 16; ++k) {
    for (int column = 0; column < 8; ++column)
      *half(by_rows, k * 8 + column) = *half(given.b, column * 16 + k);
  }
  const device_array<unsigned> a(given.a), b(by_rows), stored(4 * a_words);
  const device_array<float> c(given.c), d(given.c.size());
  run(rows_kernel, 1, 32, a.get(), b.get(), c.get(), d.get(), stored.get());
  CHECK(d.values() == expected);

  std::vector<unsigned> transposed(a_words);  // each 8 x 8 matrix
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column)
      *half(transposed, (row / 8 * 8 + column % 8) * 16 + column / 8 * 8 + row % 8) =
          *half(given.a, row * 16 + column);
  }
  std::vector<unsigned> all;
  for (const auto* part : {&given.a, &transposed, &transposed, &given.a})
    all.insert(all.end(), part->begin(), part->end());
  CHECK(stored.values() == all);
}

template <class T, bool a_by_rows, bool b_by_rows>
void require_wmma_product() {
  constexpr int n = 16;
  std::vector<T> a(n * n), b(n * n);
  std::vector<float> c(n * n), expected(n * n);
  generator random(3);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = static_cast<float>(random.between(-9, 9));
    b[k] = static_cast<float>(random.between(-9, 9));
    c[k] = static_cast<float>(random.between(-99, 99));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(a_by_rows ? i * n + j : j * n + i);
      float sum = c[at];
      for (int k = 0; k < n; ++k)
        sum += static_cast<float>(a[static_cast<std::size_t>(a_by_rows ? i * n + k : k * n + i)]) *
               static_cast<float>(b[static_cast<std::size_t>(b_by_rows ? k * n + j : j * n + k)]);
      expected[at] = 2 * sum;
    }
  }
  const device_array<T> on_a(a), on_b(b);
  const device_array<float> on_c(c);
  run(wmma_kernel<T, a_by_rows, b_by_rows>, 1, 32, on_a.get(), on_b.get(), on_c.get());
  CHECK(on_c.values() == expected);
}

TEST_CASE("wmma multiplies matrices by rows and by columns", "[matrix]") {
  for_each_schedule();
  require_wmma_product<__half, true, true>();
  require_wmma_product<__half, false, true>();
  require_wmma_product<__nv_bfloat16, true, false>();
  require_wmma_product<__nv_bfloat16, false, false>();
}

// ---- how sums are rounded

float sum_of_products(std::vector<float> a, std::vector<float> b, float c) {
  std::vector<lab::emulator::matrix_number> of_a, of_b;
  for (float x : a)
    of_a.push_back(lab::emulator::matrix_number_of(std::bit_cast<unsigned>(x), lab::emulator::format_f32));
  for (float x : b)
    of_b.push_back(lab::emulator::matrix_number_of(std::bit_cast<unsigned>(x), lab::emulator::format_f32));
  for (auto* numbers : {&of_a, &of_b}) {
    for (auto& number : *numbers) number.significand >>= 16;  // bfloat16's 7 bits
  }
  return lab::emulator::matrix_sum(of_a.data(), of_b.data(), static_cast<int>(a.size()), 7, c, {});
}

TEST_CASE("a sum keeps 25 bits behind the largest exponent, and is cut off to 24", "[matrix]") {
  // 2^-25 is kept, and with another one makes 2^-24, which is cut off at last; four make 2^-23.
  const float small = 0x1p-13f, smaller = 0x1p-12f;
  CHECK(sum_of_products({small}, {smaller}, 1) == 1);
  CHECK(sum_of_products({small, small, small, small}, {smaller, smaller, smaller, smaller}, 1) ==
        1 + 0x1p-23f);
  // Half of it is not.
  CHECK(sum_of_products(std::vector<float>(16, small), std::vector<float>(16, small), 1) == 1);
  // Towards zero on both sides.
  CHECK(sum_of_products({-small}, {smaller}, 1) == 1 - 0x1p-24f);
  CHECK(sum_of_products({small}, {smaller}, -1) == -1 + 0x1p-24f);
  CHECK(sum_of_products({-small}, {smaller}, -1) == -1);
  // A second block begins with what the first one has left.
  std::vector<float> a(32, small), b(32, smaller);
  CHECK(sum_of_products(a, b, 1) == 1 + 8 * 0x1p-23f);
  // Beside what cancels, too. What is too large is infinite; what is no number has one pattern.
  CHECK(sum_of_products({0x1p60f, -0x1p60f, 3}, {0x1p60f, 0x1p60f, 0x1p94f}, 0) == 0x1p95f);
  CHECK(sum_of_products({0x1p100f}, {0x1p100f}, 0) == INFINITY);
  CHECK(std::bit_cast<unsigned>(sum_of_products({INFINITY, -INFINITY}, {1, 1}, 0)) == 0x7fffffffu);
}

// ---- wrong calls

constexpr int divergent_line = __LINE__ + 4;
__global__ void multiply_in_half_a_warp(float* to) {
  const unsigned a[4] = {}, b[2] = {};
  float d[4] = {};
  if (threadIdx.x < 16) lab::mma_bf16_m16n8k16(d, a, b, d);
  __syncwarp();
  to[threadIdx.x] = d[0];
}

constexpr int gone_line = __LINE__ + 5;
__global__ void multiply_where_one_has_left(float* to) {
  const unsigned a[4] = {}, b[2] = {};
  float d[4] = {};
  if (threadIdx.x == 7) return;
  lab::mma_bf16_m16n8k16(d, a, b, d);
  to[threadIdx.x] = d[0];
}

constexpr int misaligned_line = __LINE__ + 5;
__global__ void load_misaligned_row(unsigned* to) {
  __shared__ __align__(16) unsigned tile[64];
  tile[threadIdx.x] = tile[threadIdx.x + 32] = 0;
  unsigned d[1];
  lab::load_matrix_x1(d, tile + (threadIdx.x == 3 ? 14 : 0));
  to[threadIdx.x] = d[0];
}

constexpr int global_line = __LINE__ + 3;
__global__ void load_row_of_global_memory(unsigned* to) {
  unsigned d[1];
  lab::load_matrix_x1(d, to);
  to[threadIdx.x] = d[0];
}

constexpr int stride_line = __LINE__ + 3;
__global__ void load_with_odd_stride(const __half* from, float* to) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> a;
  nvcuda::wmma::load_matrix_sync(a, from, 17);
  to[threadIdx.x] = a.x[0];
}

template <class... Parameters, class... Arguments>
std::string failure_of(void (*kernel)(Parameters...), unsigned threads, Arguments... arguments) {
  lab::emulator::reset();
  CHECK(try_launch(kernel, 1, threads, 0, arguments...) != cudaSuccess);
  const auto texts = lab::emulator::take_diagnostics();
  lab::emulator::reset();
  REQUIRE(texts.size() == 1);
  return without_kernel(texts[0], kernel);
}

TEST_CASE("matrix instructions that not all lanes reach, and bad addresses, fail", "[matrix]") {
  lab::emulator::configure({});
  const device_array<float> to(64);
  const device_array<unsigned> words(64);
  const device_array<__half> halves(512);
  CHECK(
      failure_of(multiply_in_half_a_warp, 32, to.get()) ==
      at(__FILE__, divergent_line) +
          ": block (0,0,0): thread (0,0,0) waits in mma_bf16_m16n8k16 for the lanes of mask 0xffffffff, but "
          "thread (16,0,0) waits in __syncwarp with mask 0xffffffff at " +
          at(__FILE__, divergent_line + 1));
  CHECK(failure_of(multiply_where_one_has_left, 32, to.get()) ==
        at(__FILE__, gone_line) +
            ": block (0,0,0): thread (0,0,0) calls mma_bf16_m16n8k16, for which all 32 lanes of a warp are "
            "needed, but lane 7 has left the kernel");
  CHECK(
      failure_of(load_misaligned_row, 32, words.get()) ==
      at(__FILE__, misaligned_line) +
          ": block (0,0,0): thread (3,0,0) calls load_matrix_x1 with a row at an address that is no multiple "
          "of 16: misaligned");
  CHECK(failure_of(load_row_of_global_memory, 32, words.get()) ==
        at(__FILE__, global_line) +
            ": block (0,0,0): thread (0,0,0) calls load_matrix_x1 with a row that is not, or not all, the "
            "block's shared memory");
  CHECK(
      failure_of(load_with_odd_stride, 32, halves.get(), to.get()) ==
      at(__FILE__, stride_line) +
          ": block (0,0,0): thread (0,0,0) calls wmma::load_matrix_sync with lines 17 elements apart, which "
          "is no multiple of 8");
}

}  // namespace
