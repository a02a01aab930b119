// Products of a GPU's warpgroups, compared with the emulator's: tiles of each swizzle and order, and sums of
// hard inputs bit by bit. Exit code 1: something differs.
//
//   nvcc -arch=sm_90a -std=c++20 -I. -DLAB_EMULATED=0 tests/matrix/warpgroup_matrix_gpu.cu common/error.cpp
#include <cstdio>

#include "tests/matrix/on_device.hpp"
#include "tests/matrix/warpgroup_kernels.hpp"

namespace {

using namespace lab::warpgroup_test;
using lab::major;
using lab::swizzle;
using lab::matrix_test::inputs;

std::size_t all_different = 0;

template <class T, int n, swizzle pattern, major a_major, major b_major, bool a_in_registers = false,
          int sign = 1>
void compare(inputs kind = inputs::integers) {
  constexpr int count = 8;
  const problem<T, n> given(count, kind, 5);
  const lab::on_device<T> a(given.a), b(given.b);
  const lab::on_device<float> d(std::vector<float>(count * m * n));
  lab::launch(product_kernel<T, n, pattern, a_major, b_major, a_in_registers, sign>, count, 128, 0, nullptr,
              a.get(), b.get(), d.get());
  const auto found = d.values(), expected = given.expected(count, sign);
  std::size_t first = 0;
  const std::size_t different = lab::count_different(found, expected, &first);
  std::printf("n %3d, swizzle %3u, A %s, B %s, %s: %6zu of %zu sums differ", n,
              static_cast<unsigned>(pattern),
              a_in_registers        ? "in registers"
              : a_major == major::k ? "k-major     "
                                    : "m-major     ",
              b_major == major::k ? "k-major" : "n-major",
              lab::matrix_test::names_of_inputs[static_cast<int>(kind)], different, found.size());
  if (different != 0)
    std::printf(": the first at %zu, %zu: %a on the GPU, %a expected", first / n, first % n,
                static_cast<double>(found[first]), static_cast<double>(expected[first]));
  std::printf("\n");
  all_different += different;
}

template <swizzle pattern>
void compare_orders() {
  compare<__nv_bfloat16, 64, pattern, major::k, major::k>();
  compare<__nv_bfloat16, 64, pattern, major::k, major::mn>();
  compare<__half, 64, pattern, major::mn, major::k>();
  compare<__half, 128, pattern, major::mn, major::mn, false, -1>();
  compare<__half, 64, pattern, major::k, major::mn, true>();
}

}  // namespace

int main() {
  if (lab::is_skipped()) return 0;
  compare_orders<swizzle::none>();
  compare_orders<swizzle::bytes_32>();
  compare_orders<swizzle::bytes_64>();
  compare_orders<swizzle::bytes_128>();
  compare<__nv_bfloat16, 256, swizzle::bytes_128, major::k, major::k, true, -1>();
  for (const inputs kind :
       {inputs::unit, inputs::wide, inputs::one_large, inputs::tiny, inputs::special, inputs::cancelling}) {
    compare<__nv_bfloat16, 128, swizzle::bytes_128, major::k, major::k>(kind);
    compare<__half, 256, swizzle::bytes_128, major::k, major::k>(kind);
  }
  std::printf(all_different == 0 ? "all sums are equal\n" : "some sums differ\n");
  return all_different == 0 ? 0 : 1;
}
