// Tensor copies of a GPU, compared with what the emulator takes them for: tiles of each swizzle, and boxes
// that lie partly outside. Exit code 1: something differs.
//
//   nvcc -arch=sm_90a -std=c++20 -I. -DLAB_EMULATED=0 tests/matrix/tensor_copy_gpu.cu common/error.cpp
#include <cstdio>
#include <numeric>

#include "tests/matrix/on_device.hpp"
#include "tests/matrix/tensor_kernels.hpp"

int main() {
  using namespace lab::tensor_test;
  using lab::count_different;
  using lab::make_tensor_map;
  using lab::on_device;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (lab::is_skipped()) return 0;
  std::size_t all = 0;
  for (const matrix_case& one : matrix_cases()) {
    const on_device<std::uint16_t> from(matrix_case::matrix());
    const on_device<std::uint16_t> to(std::vector<std::uint16_t>(matrix_case::matrix().size())),
        tile(one.tile());
    CUDA_CHECK(cudaMemset(tile.get(), 0xff, static_cast<std::size_t>(one.bytes())));
    lab::launch(copy_box, 1, 32, static_cast<std::size_t>(one.bytes()), nullptr, one.map(from.get()),
                one.map(to.get()), one.x, one.y, one.bytes(), tile.get());
    const std::size_t in_tile = count_different(tile.values(), one.tile());
    const std::size_t in_copy = count_different(to.values(), one.copied());
    std::printf("swizzle %3u, box at %4d, %4d: %zu numbers of the tile differ, %zu of the copy\n",
                static_cast<unsigned>(one.pattern), one.x, one.y, in_tile, in_copy);
    all += in_tile + in_copy;
  }

  std::vector<float> values(5 * 6 * 20);
  const std::vector<float> zeros(values.size());
  std::iota(values.begin(), values.end(), 1.0f);
  const on_device<float> from(values), to(zeros), to_box(zeros);
  lab::launch(add_to_row, 1, 32, 4 * 64, nullptr, make_tensor_map(from.get(), {600}, {1}, {64}),
              make_tensor_map(to.get(), {590}, {1}, {64}), 560, 64);
  const std::size_t in_row = count_different(to.values(), row_with_1(values));
  const auto map = [](const float* of) { return make_tensor_map(of, {18, 5, 5}, {1, 20, 120}, {4, 3, 2}); };
  lab::launch(add_to_box, 1, 32, 4 * 24, nullptr, map(from.get()), map(to_box.get()), 16, 3, 4, 24);
  const std::size_t in_box = count_different(to_box.values(), box_with_1(values));
  std::printf("one dimension: %zu numbers differ; three: %zu\n", in_row, in_box);
  all += in_row + in_box;
  std::printf(all == 0 ? "all copies are equal\n" : "some copies differ\n");
  return all == 0 ? 0 : 1;
}
