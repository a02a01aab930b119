// Memory resources, the one that watches over another, and the arrays of a workload.
#include <cstring>
#include <string>
#include <vector>

#include "common/memory.hpp"
#include "common/memory_resource.hpp"
#include "common/stream.hpp"
#include "harness/device/array_memory.hpp"
#include "harness/device/checked_resource.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/track.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"

using lab::failure_kind;

namespace {

// Sets a byte, counted from `pointer`, as a stray kernel would.
void scribble(void* pointer, std::int64_t at, const lab::stream& stream) {
  CUDA_CHECK(cudaMemsetAsync(static_cast<char*>(pointer) + at, 7, 1, stream.get()));
}

bool contains(const std::optional<lab::failure_record>& failure, failure_kind kind,
              const std::string& words) {
  INFO((failure ? failure->found : "nothing found"));
  CHECK((failure && failure->kind == kind && failure->found.find(words) != std::string::npos));
  return failure.has_value();
}

}  // namespace

TEST_CASE("an arena hands out the same memory after a reset, and gives it back at its end") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::size_t before = lab::memory::in_use();
  {
    lab::arena_resource arena;
    void* const first = arena.allocate(1000, stream.get());
    void* const second = arena.allocate(10, stream.get());
    CHECK(first != second);
    CHECK(arena.allocate(0, stream.get()) == nullptr);
    const std::size_t used = lab::memory::in_use();
    arena.reset();
    CHECK(arena.allocate(900, stream.get()) == first);
    CHECK(arena.allocate(10, stream.get()) == second);
    CHECK(lab::memory::in_use() == used);
    arena.fill(0x11, stream.get());
    unsigned char bytes[10] = {};
    CUDA_CHECK(cudaMemcpyAsync(bytes, second, sizeof bytes, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    for (const unsigned char byte : bytes) CHECK(byte == 0x11);
  }
  CHECK(lab::memory::in_use() == before);
}

TEST_CASE("watched memory is poisoned, and what is done to it beside the rules is found") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::size_t before = lab::memory::in_use();
  {
    lab::checked_resource checked(stream.get());
    void* const kept = checked.allocate(100, stream.get());
    void* const returned = checked.allocate(50, stream.get());
    CHECK(checked.allocate(0, stream.get()) == nullptr);
    CHECK(checked.bytes_of(kept) == 100);
    SECTION("nothing but the rules") {
      unsigned char bytes[100] = {};
      CUDA_CHECK(cudaMemcpyAsync(bytes, kept, sizeof bytes, cudaMemcpyDeviceToHost, stream.get()));
      stream.synchronize();
      for (const unsigned char byte : bytes) CHECK(byte == 0xff);
      checked.deallocate(returned, 50, stream.get());
      checked.deallocate(nullptr, 0, stream.get());
      CHECK_FALSE(checked.bytes_of(returned));
      CHECK_FALSE(checked.check({kept}));
    }
    SECTION("not given back") {
      contains(checked.check({kept}), failure_kind::wrong, "did not give back 50 bytes of 1 allocation");
      contains(checked.check({}), failure_kind::wrong, "did not give back 50 bytes");  // the first is kept
    }
    SECTION("given back twice") {
      checked.deallocate(returned, 50, stream.get());
      checked.deallocate(returned, 50, stream.get());
      contains(checked.check({kept}), failure_kind::wrong, "given back twice, or never handed out");
    }
    SECTION("given back with another size") {
      checked.deallocate(returned, 49, stream.get());
      contains(checked.check({kept}), failure_kind::wrong, "49 bytes given back of an allocation of 50");
    }
    SECTION("written to behind its end") {
      scribble(kept, 100, stream);
      checked.deallocate(returned, 50, stream.get());
      contains(checked.check({kept}), failure_kind::out_of_bounds,
               "a write 0 bytes behind the end of an allocation of 100 bytes");
    }
    SECTION("written to in front of it, and given back") {
      scribble(returned, -1, stream);
      checked.deallocate(returned, 50, stream.get());
      contains(checked.check({kept}), failure_kind::out_of_bounds,
               "a write 1 byte in front of an allocation of 50 bytes");
    }
    SECTION("written to after it was given back") {
      checked.deallocate(returned, 50, stream.get());
      scribble(returned, 3, stream);
      contains(checked.check({kept}), failure_kind::out_of_bounds,
               "a write to byte 3 of an allocation of 50");
    }
    checked.release_all();
    CHECK_FALSE(checked.check({}));
  }
  CHECK(lab::memory::in_use() == before);
}

TEST_CASE("of any number of watched allocations, each is looked at") {
  lab::skip_without_device();
  const lab::stream stream;
  lab::checked_resource checked(stream.get());
  std::vector<void*> all;
  for (int k = 0; k < 300; ++k) all.push_back(checked.allocate(8, stream.get()));
  SECTION("those that are kept") {
    const std::vector<const void*> kept(all.begin(), all.end());
    CHECK_FALSE(checked.check(kept));
    scribble(all[290], 8, stream);
    contains(checked.check(kept), failure_kind::out_of_bounds, "a write 0 bytes behind the end");
  }
  SECTION("those that were given back") {
    for (void* const one : all) checked.deallocate(one, 8, stream.get());
    scribble(all[270], 2, stream);
    contains(checked.check({}), failure_kind::out_of_bounds, "a write to byte 2 of an allocation of 8");
  }
  checked.release_all();
}

TEST_CASE("watched memory that is not there is an error, and nothing is kept") {
  lab::skip_without_device();
  const lab::stream stream;
  lab::checked_resource checked(stream.get());
  const std::size_t before = lab::memory::in_use();
  lab::memory::fail_after(1);
  CHECK_THROWS_AS(checked.allocate(100, stream.get()), lab::memory_error);
  lab::memory::fail_after(0);
  CHECK(lab::memory::in_use() == before);
  CHECK_FALSE(checked.check({}));
}

TEST_CASE("what becomes of arrays of any element type is found") {
  lab::skip_without_device();
  const lab::stream stream;
  const auto type = GENERATE(lab::element_type::float32, lab::element_type::float64, lab::element_type::int32,
                             lab::element_type::int64, lab::element_type::uint8, lab::element_type::uint32);
  const std::size_t bytes = lab::size_of(type);
  const lab::array_layout layout{.inputs = {{"a", {3, 7}, type}, {"b", {5}, type}},
                                 .output = {"c", {11}, type}};
  lab::array_memory memory(layout, {{{0, 21}, {0, 5}}, {0, 11}}, 100, stream.get());
  const lab::input_source source{lab::pattern::ramp, 5};
  const auto look = [&] { memory.look(source, lab::memory_fill::ones); };
  const auto damage = [&] { return memory.damage([](std::int64_t) { return false; }, " of GPU 1"); };
  memory.poison_inputs();
  memory.generate(source.kind, source.seed);
  memory.fill(lab::memory_fill::ones, 0);
  look();
  CHECK_FALSE(memory.changed_input());
  REQUIRE(damage());
  CHECK(damage()->kind == lab::failure_kind::unwritten);
  CHECK(damage()->index == 0);

  // The output is a part of the first input.
  auto* const output = static_cast<std::byte*>(memory.output());
  CUDA_CHECK(cudaMemcpyAsync(output, memory.inputs()[0], 11 * bytes, cudaMemcpyDeviceToDevice, stream.get()));
  look();
  CHECK_FALSE(damage());
  lab::host_values all(type, 11);
  memory.download(0, 11, all.bytes.data());
  const std::vector<std::int64_t> indices{2, 9};
  lab::host_values some(type, 2);
  memory.gather(indices.data(), 2, some.bytes.data());
  CHECK(std::memcmp(some.at(0), all.at(2), bytes) == 0);
  CHECK(std::memcmp(some.at(1), all.at(9), bytes) == 0);
  lab::with_element(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < 11; ++i)
      CHECK(all.as<T>()[i] == lab::input_value<T>(source.kind, source.seed, i));
  });

  const std::uint64_t before = memory.digest();
  CUDA_CHECK(cudaMemsetAsync(output + 4 * bytes, 0x55, 1, stream.get()));
  CHECK(memory.digest() != before);
  CUDA_CHECK(cudaMemsetAsync(output + 11 * bytes, 0, 1, stream.get()));
  CUDA_CHECK(cudaMemsetAsync(static_cast<std::byte*>(memory.inputs()[1]) + 3 * bytes, 0x55, 1, stream.get()));
  look();
  REQUIRE(damage());
  CHECK(damage()->kind == lab::failure_kind::out_of_bounds);
  CHECK(damage()->index == 11);
  CHECK(damage()->found == "a write to the output of GPU 1");
  REQUIRE(memory.changed_input());
  CHECK(memory.changed_input()->index == 3);
  CHECK(memory.changed_input()->found == "b");
}

TEST_CASE("a stage that needs scratch memory or outputs beyond the limit is refused, and nothing is leaked") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("moving_average/01_naive");
  const lab::track& track = lab::track_of(stage);
  const std::size_t before = lab::memory::in_use();
  lab::memory::set_limit(1 << 20);
  CHECK_THROWS_AS(track.make(stage, {{"n", 1'000'000}, {"window", 3}}, stream.get()), lab::memory_error);
  lab::memory::set_limit(0);
  // Each allocation in turn fails; whatever was allocated before it is given back.
  for (int nth = 1; nth <= 3; ++nth) {
    lab::memory::fail_after(nth);
    CHECK_THROWS_AS(track.make(stage, {{"n", 1000}, {"window", 3}}, stream.get()), lab::memory_error);
    CHECK(lab::memory::in_use() == before);
  }
  lab::memory::fail_after(0);
}
