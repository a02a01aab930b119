// Copies of boxes of tensors: right ones against plain loops, and wrong ones.
#include "common/tensor_copy.hpp"

#include <algorithm>
#include <numeric>

#include "tests/emulator/support.hpp"
#include "tests/matrix/tensor_kernels.hpp"

namespace {

using namespace lab::tensor_test;
using lab::make_tensor_map;
using lab::swizzle;

// The launch must succeed whenever its copies land.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned threads, std::size_t shared_bytes,
            const Arguments&... arguments) {
  const cudaError_t error = try_launch(kernel, 1, threads, shared_bytes, arguments...);
  for (const std::string& text : lab::emulator::take_diagnostics()) UNSCOPED_INFO(text);
  REQUIRE(error == cudaSuccess);
}

TEST_CASE("tensor copies swizzle tiles, read zeros outside, and write nothing there", "[tensor]") {
  for_each_schedule();
  for (const matrix_case& one : matrix_cases()) {
    INFO("swizzle " << static_cast<unsigned>(one.pattern) << ", box at " << one.x << ", " << one.y);
    const device_array<std::uint16_t> from(matrix_case::matrix());
    const device_array<std::uint16_t> to(matrix_case::matrix().size()),
        tile(static_cast<std::size_t>(one.bytes() / 2));
    launch(copy_box, 32, static_cast<std::size_t>(one.bytes()), one.map(from.get()), one.map(to.get()), one.x,
           one.y, one.bytes(), tile.get());
    CHECK(tile.values() == one.tile());
    CHECK(to.values() == one.copied());
  }
}

TEST_CASE("tensor copies of one and of three dimensions", "[tensor]") {
  for_each_schedule();
  std::vector<float> values(5 * 6 * 20);
  std::iota(values.begin(), values.end(), 1.0f);
  const device_array<float> from(values), to(values.size());
  launch(add_to_row, 32, 4 * 64, make_tensor_map(from.get(), {600}, {1}, {64}),
         make_tensor_map(to.get(), {590}, {1}, {64}), 560, 64);
  CHECK(to.values() == row_with_1(values));

  // Planes of 6 x 20 numbers, of which the tensor has 5 x 18; the box is 2 x 3 x 4.
  const auto map = [](const float* of) { return make_tensor_map(of, {18, 5, 5}, {1, 20, 120}, {4, 3, 2}); };
  const device_array<float> to_box(values.size());
  launch(add_to_box, 32, 4 * 24, map(from.get()), map(to_box.get()), 16, 3, 4, 24);
  CHECK(to_box.values() == box_with_1(values));
}

TEST_CASE("swizzled() is its own inverse, and spreads a column over the banks", "[tensor]") {
  for (const swizzle pattern : {swizzle::none, swizzle::bytes_32, swizzle::bytes_64, swizzle::bytes_128}) {
    for (unsigned offset = 0; offset < 4096; ++offset)
      CHECK(lab::swizzled(pattern, lab::swizzled(pattern, offset)) == offset);
  }
  std::vector<unsigned> chunks;
  for (unsigned row = 0; row < 8; ++row)
    chunks.push_back(lab::swizzled(swizzle::bytes_128, 128 * row + 32) / 16 % 8);
  std::sort(chunks.begin(), chunks.end());
  CHECK(chunks == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7});
}

// ---- what is refused

std::string refusal_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing";
}

TEST_CASE("tensor maps that no GPU takes are refused in words", "[tensor]") {
  const device_array<float> memory(4096);
  const float* const at = memory.get();
  CHECK(refusal_of([&] {
          make_tensor_map(at + 1, {64, 8}, {1, 64}, {32, 8});
        }) == "tensor map: the tensor begins at an address that is no multiple of 16");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {64, 0}, {1, 64}, {32, 8});
        }) == "tensor map: the size of dimension 1 is 0, which is not from 1 to 2^32");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {63, 8}, {1, 63}, {32, 8});
        }) == "tensor map: the stride of dimension 1 is 252 bytes, which is no multiple of 16 below 2^40");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {64, 8}, {2, 64}, {32, 8});
        }) == "tensor map: the stride of dimension 0 is not one element");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {64, 512}, {1, 64}, {32, 257});
        }) == "tensor map: the box has 257 elements of dimension 1, which is not from 1 to 256");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {64, 8}, {1, 64}, {30, 8});
        }) == "tensor map: the box is 120 bytes wide, which is no multiple of 16");
  CHECK(refusal_of([&] {
          make_tensor_map(at, {64, 8}, {1, 64}, {64, 8}, swizzle::bytes_128);
        }) == "tensor map: the box is 256 bytes wide, and swizzled in 128");
}

enum class tensor_mistake {
  none,
  no_wait,
  misaligned,
  one_coordinate,
  no_fence,
  too_few_bytes,
  out_before,
  aside
};

constexpr int copy_line = __LINE__ + 12;
__global__ void copy_wrongly(const __grid_constant__ lab::tensor_map from, tensor_mistake wrong, float* to) {
  auto* const shared = lab::tensor_shared<float>();
  __shared__ lab::mbarrier landed;
  const int x = wrong == tensor_mistake::aside ? 1 : 0;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    if (wrong != tensor_mistake::no_fence) lab::fence_mbarrier_init();
    landed.arrive_expect_tx(wrong == tensor_mistake::too_few_bytes ? 512 : 1024);
  }
  __syncthreads();
  if (threadIdx.x == 0 && wrong == tensor_mistake::one_coordinate) {
    lab::tensor_copy_in(shared, from, 0, landed);
  } else if (threadIdx.x == 0) {
    lab::tensor_copy_in(shared + (wrong == tensor_mistake::misaligned ? 128 : 0), from, x, 0, landed);
  }
  if (wrong != tensor_mistake::no_wait) landed.wait(0);
  to[threadIdx.x] = shared[threadIdx.x];
  landed.wait(0);
  if (threadIdx.x == 0 && wrong == tensor_mistake::out_before) lab::tensor_copy_out(from, 0, -1, shared);
}

// What is said of four launches, whose copies land at different times, and whether each was right.
std::pair<std::string, bool> outcome_of(tensor_mistake wrong) {
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 1.0f);
  const device_array<float> from(values);
  const lab::tensor_map map = make_tensor_map(from.get(), {32, 8}, {1, 32}, {32, 8}, swizzle::bytes_128);
  std::string text;
  bool is_right = true;
  for (int launch = 0; launch < 4; ++launch) {
    const device_array<float> to(32);
    const cudaError_t error = try_launch(copy_wrongly, 1, 32, 2048, map, wrong, to.get());
    for (const std::string& one : lab::emulator::take_diagnostics()) text = one;
    is_right = is_right && error == cudaSuccess &&
               to.values() == std::vector<float>(values.begin(), values.begin() + 32);
    lab::emulator::reset();
  }
  return {text, is_right};
}

TEST_CASE("a copy out fails where the array ends before the row's last 16 bytes", "[tensor]") {
  for_each_schedule();
  const device_array<float> from(600), to(590);
  CHECK(try_launch(add_to_row, 1, 32, 4 * 64, make_tensor_map(from.get(), {600}, {1}, {64}),
                   make_tensor_map(to.get(), {590}, {1}, {64}), 560, 64) == cudaErrorIllegalAddress);
  const std::vector<std::string> said = lab::emulator::take_diagnostics();
  CHECK((!said.empty() &&
         said.front().find("begins a tensor copy to device memory, which") != std::string::npos));
  lab::emulator::reset();
}

TEST_CASE("wrong tensor copies are found", "[tensor]") {
  for_each_schedule();
  CHECK(outcome_of(tensor_mistake::none) == std::pair{std::string(), true});
  CHECK_FALSE(outcome_of(tensor_mistake::no_wait).second);
  const auto says = [](tensor_mistake wrong, int line, const std::string& words) {
    const std::string text = outcome_of(wrong).first;
    INFO(text);
    CHECK(text.find(at(__FILE__, line)) == 0);
    CHECK(text.find("thread (0,0,0) " + words) != std::string::npos);
  };
  says(tensor_mistake::misaligned, copy_line + 2,
       "begins a tensor copy to shared memory at an address that is no multiple of 1024: misaligned");
  says(tensor_mistake::one_coordinate, copy_line,
       "begins a tensor copy with 1 coordinates, by a map of 2 dimensions");
  says(tensor_mistake::aside, copy_line + 2,
       "begins a tensor copy whose box begins 4 bytes from the beginning of a row: no multiple of 16");
  says(tensor_mistake::no_fence, copy_line + 2, "begins a copy to a barrier that was initialised at ");
  says(tensor_mistake::out_before, copy_line + 7,
       "begins a tensor copy out whose box begins at a negative coordinate");
  says(tensor_mistake::too_few_bytes, copy_line + 4, "waits for ever for phase 0 of the barrier");
}

}  // namespace
