// Kernels for the tests of common/tensor_copy.hpp: on the emulator (tests/emulator/tensor_copy_test.cpp), and
// on a GPU (tensor_copy_gpu.cu).
#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor_copy.hpp"

namespace lab::tensor_test {

// The box at (x, y) of a matrix of 16-bit numbers goes to shared memory, from there as it is to `tile`, and
// by another map to another matrix.
static __global__ void copy_box(const __grid_constant__ tensor_map from,
                                const __grid_constant__ tensor_map to, int x, int y, int bytes,
                                std::uint16_t* tile) {
  auto* const shared = tensor_shared<std::uint16_t>();
  __shared__ mbarrier landed;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
    landed.arrive_expect_tx(bytes);
    tensor_copy_in(shared, from, x, y, landed);
  }
  __syncthreads();
  landed.wait(0);
  for (int k = static_cast<int>(threadIdx.x); k < bytes / 2; k += static_cast<int>(blockDim.x))
    tile[k] = shared[k];
  // No copy out begins before its tensor.
  if (threadIdx.x == 0 && x >= 0 && y >= 0) {
    tensor_copy_out(to, x, y, shared);
    commit_group();
    wait_group_read<0>();
  }
}

// The same of one and of three dimensions, of floats, with 1 added.
static __global__ void add_to_row(const __grid_constant__ tensor_map from,
                                  const __grid_constant__ tensor_map to, int x, int count) {
  auto* const shared = tensor_shared<float>();
  __shared__ mbarrier landed;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
    landed.arrive_expect_tx(4 * count);
    tensor_copy_in(shared, from, x, landed);
  }
  __syncthreads();
  landed.wait(0);
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) shared[k] += 1;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_copy_out(to, x, shared);
    commit_group();
    wait_group_read<0>();
  }
}

static __global__ void add_to_box(const __grid_constant__ tensor_map from,
                                  const __grid_constant__ tensor_map to, int x, int y, int z, int count) {
  auto* const shared = tensor_shared<float>();
  __shared__ mbarrier landed;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
    landed.arrive_expect_tx(4 * count);
    tensor_copy_in(shared, from, x, y, z, landed);
  }
  __syncthreads();
  landed.wait(0);
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) shared[k] += 1;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_copy_out(to, x, y, z, shared);
    commit_group();
    wait_group_read<0>();
  }
}

// What add_to_row makes of a row of 590 floats from 560 on, and add_to_box of 5 x 18 in planes of 6 x 20 from
// (16, 3, 4) on, where the target is full of zeros: each row is written to its next multiple of 16 bytes.
inline std::vector<float> row_with_1(const std::vector<float>& values) {
  std::vector<float> expected(values.size());
  for (std::size_t k = 560; k < 592; ++k) expected[k] = values[k] + 1;
  return expected;
}
inline std::vector<float> box_with_1(const std::vector<float>& values) {
  std::vector<float> expected(values.size());
  for (std::size_t row = 4 * 120 + 3 * 20; row < 4 * 120 + 5 * 20; row += 20) {
    for (std::size_t x = 16; x < 20; ++x) expected[row + x] = (x < 18 ? values[row + x] : 0) + 1;
  }
  return expected;
}

// A matrix of `rows` x `columns`, whose rows are `stride` apart; and what copy_box must make of the box of
// `height` rows of as many numbers as a swizzle has bytes for (32 without one): the tile, as the PTX ISA
// says.
struct matrix_case {
  static constexpr int rows = 37, columns = 101, stride = 104, height = 16;
  swizzle pattern;
  int x, y;

  [[nodiscard]] int width() const { return pattern == swizzle::none ? 32 : static_cast<int>(pattern) / 2; }
  [[nodiscard]] int bytes() const { return 2 * width() * height; }
  static std::vector<std::uint16_t> matrix() {
    std::vector<std::uint16_t> values(rows * stride);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::uint16_t>(k + 1);
    return values;
  }
  [[nodiscard]] bool has(int row, int column) const {
    return row >= 0 && row < rows && column >= 0 && column < columns;
  }
  [[nodiscard]] std::vector<std::uint16_t> tile() const {
    const auto values = matrix();
    std::vector<std::uint16_t> result(static_cast<std::size_t>(width() * height));
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width(); ++column) {
        // The chunk of 16 bytes in its line of 128, XOR the line's number, as far as the pattern goes.
        const int byte = 2 * (row * width() + column), line = byte / 128, chunk = byte / 16 % 8;
        const int chunks = pattern == swizzle::none ? 1 : static_cast<int>(pattern) / 16;
        const int to = byte + 16 * ((chunk ^ line % chunks) - chunk);
        result[static_cast<std::size_t>(to / 2)] =
            has(y + row, x + column) ? values[static_cast<std::size_t>((y + row) * stride + x + column)] : 0;
      }
    }
    return result;
  }
  // Of a matrix full of zeros, which stays one where the box begins before it.
  [[nodiscard]] std::vector<std::uint16_t> copied() const {
    auto values = matrix();
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < stride; ++column) {
        if (x < 0 || y < 0 || row < y || row >= y + height || column < x || column >= x + width() ||
            !has(row, column))
          values[static_cast<std::size_t>(row * stride + column)] = 0;
      }
    }
    return values;
  }
  [[nodiscard]] tensor_map map(const std::uint16_t* device) const {
    return make_tensor_map(device, {columns, rows}, {1, stride}, {width(), height}, pattern);
  }
};

inline std::vector<matrix_case> matrix_cases() {
  std::vector<matrix_case> cases;
  for (const swizzle pattern : {swizzle::none, swizzle::bytes_32, swizzle::bytes_64, swizzle::bytes_128}) {
    for (const auto& [x, y] : {std::pair{0, 0}, {16, 5}, {-8, -3}, {80, 30}, {96, 36}, {104, 0}, {0, -16}})
      cases.push_back({pattern, x, y});
  }
  return cases;
}

}  // namespace lab::tensor_test
