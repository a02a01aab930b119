// Compares a GPU's matrix units with the emulator's model of them, bit by bit, and fragments with plain
// loops. Exit code 1: a product differs. For each kind of factors and inputs it says how many sums differ,
// and where any does, how many would by other rules.
//
//   nvcc -arch=sm_90a -std=c++20 -I. -DLAB_EMULATED=0 tests/matrix/matrix_units_gpu.cu common/error.cpp
#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/matrix/matrix_kernels.hpp"
#include "tests/matrix/on_device.hpp"

namespace {

using namespace lab::matrix_test;
using lab::count_different;
using lab::on_device;

template <factor type>
bool compare(inputs kind, std::uint64_t seed) {
  constexpr int count = 512;
  const problem<type> given(count, kind, seed);
  const on_device<unsigned> a(given.a), b(given.b);
  const on_device<sum_of<type>> c(given.c), d(given.c);
  lab::launch(multiply_kernel<type>, count, 32, 0, nullptr, a.get(), b.get(), c.get(), d.get());
  const auto found = d.values();
  std::size_t first = 0;
  const auto expected = given.expected({});
  const std::size_t wrong = count_different(found, expected, &first);
  std::printf("%-5s %-11s %6zu of %zu sums differ\n", about(type).name,
              names_of_inputs[static_cast<int>(kind)], wrong, found.size());
  if (wrong == 0) return true;
  std::printf(
      "  first: product %zu, row %zu, column %zu, c = %.9g: %.9g (%a) on the GPU, %.9g (%a) expected\n",
      first / sums, first % sums / 8, first % 8, static_cast<double>(given.c[first]),
      static_cast<double>(found[first]), static_cast<double>(found[first]),
      static_cast<double>(expected[first]), static_cast<double>(expected[first]));
  std::printf("  a, b:");
  for (int k = 0; k < line; ++k)
    std::printf(" %08x*%08x",
                given.a[first / sums * a_words + first % sums / 8 * line + static_cast<std::size_t>(k)],
                given.b[first / sums * b_words + first % 8 * line + static_cast<std::size_t>(k)]);
  std::printf("\n");
  if (type == factor::s8) return false;
  // The rules that come closest.
  std::vector<std::pair<std::size_t, lab::emulator::fused_sum_rule>> others;
  for (const int products : {4, 8, 16}) {
    for (const int least_exponent : {-126, -149, -1000}) {
      for (int bits = 23; bits <= 28; ++bits) {
        const lab::emulator::fused_sum_rule rule{products, bits, least_exponent};
        others.emplace_back(count_different(found, given.expected(rule)), rule);
      }
    }
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t k = 0; k < 4; ++k)
    std::printf("  blocks of %d, %d bits, exponents from %d on: %zu differ\n", others[k].second.products,
                others[k].second.fraction_bits, others[k].second.least_exponent, others[k].first);
  return false;
}

template <class T, bool a_by_rows, bool b_by_rows>
bool compare_wmma(const char* name) {
  constexpr int n = 16;
  std::vector<T> a, b;
  std::vector<float> c, expected(n * n);
  generator random(3);
  for (int k = 0; k < n * n; ++k) {
    a.push_back(T(static_cast<float>(random.between(-9, 9))));
    b.push_back(T(static_cast<float>(random.between(-9, 9))));
    c.push_back(static_cast<float>(random.between(-99, 99)));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = c[a_by_rows ? i * n + j : j * n + i];
      for (int k = 0; k < n; ++k)
        sum += static_cast<float>(a[a_by_rows ? i * n + k : k * n + i]) *
               static_cast<float>(b[b_by_rows ? k * n + j : j * n + k]);
      expected[a_by_rows ? i * n + j : j * n + i] = 2 * sum;
    }
  }
  const on_device<T> on_a(a), on_b(b);
  const on_device<float> on_c(c);
  lab::launch(wmma_kernel<T, a_by_rows, b_by_rows>, 1, 32, 0, nullptr, on_a.get(), on_b.get(), on_c.get());
  const std::size_t wrong = count_different(on_c.values(), expected, nullptr);
  std::printf("wmma  %-11s %6zu of %d sums differ\n", name, wrong, n * n);
  return wrong == 0;
}

bool compare_rows() {
  const problem<factor::bf16> given(1, inputs::integers, 11);
  std::vector<unsigned> by_rows(b_words), all(4 * a_words);
  const auto half = [](const std::vector<unsigned>& words, int k) {
    return reinterpret_cast<std::uint16_t*>(const_cast<unsigned*>(words.data())) + k;
  };
  for (int k = 0; k < 16; ++k) {
    for (int column = 0; column < 8; ++column)
      *half(by_rows, k * 8 + column) = *half(given.b, column * 16 + k);
  }
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      const int across = (row / 8 * 8 + column % 8) * 16 + column / 8 * 8 + row % 8;
      for (const int part : {0, 3})
        *half(all, 2 * part * a_words + row * 16 + column) = *half(given.a, row * 16 + column);
      for (const int part : {1, 2})
        *half(all, 2 * part * a_words + across) = *half(given.a, row * 16 + column);
    }
  }
  const on_device<unsigned> a(given.a), b(by_rows), stored(all);
  const on_device<float> c(given.c), d(given.c);
  CUDA_CHECK(cudaMemset(stored.get(), 0xff, all.size() * sizeof(unsigned)));
  lab::launch(rows_kernel, 1, 32, 0, nullptr, a.get(), b.get(), c.get(), d.get(), stored.get());
  const std::size_t wrong = count_different(d.values(), given.expected({}), nullptr);
  const std::size_t wrong_words = count_different(stored.values(), all, nullptr);
  std::printf("ldmatrix: %zu sums differ; stmatrix: %zu words\n", wrong, wrong_words);
  return wrong == 0 && wrong_words == 0;
}

}  // namespace

int main() {
  if (lab::is_skipped()) return 0;
  bool is_right = compare_rows();
  is_right &= compare_wmma<__half, true, true>("half rr") & compare_wmma<__half, false, true>("half cr") &
              compare_wmma<__nv_bfloat16, true, false>("bf16 rc") &
              compare_wmma<__nv_bfloat16, false, false>("bf16 cc");
  std::uint64_t seed = 1;
  for (const inputs kind : {inputs::integers, inputs::unit, inputs::wide, inputs::cancelling,
                            inputs::one_large, inputs::tiny, inputs::special}) {
    is_right &= compare<factor::bf16>(kind, seed++);
    is_right &= compare<factor::f16>(kind, seed++);
    is_right &= compare<factor::tf32>(kind, seed++);
  }
  is_right &= compare<factor::s8>(inputs::integers, seed);
  std::printf(is_right ? "all sums are equal\n" : "some sums differ\n");
  return is_right ? 0 : 1;
}
