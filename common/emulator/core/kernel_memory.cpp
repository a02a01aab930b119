#include "common/emulator/core/kernel_memory.hpp"

#include <array>
#include <cstring>

#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/spin_watch.hpp"

namespace lab::emulator {

// Multiplies each word into one of eight lanes, so that its place counts; eight, since a
// multiplication takes some cycles.
checksum checksum_of(device_memory::range bytes) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  constexpr std::size_t lanes = 8;
  std::array<std::uint64_t, lanes> sums{1, 2, 3, 4, 5, 6, 7, 8};
  // Both halves of the product: in the lower one alone a word's highest bit changes nothing but itself.
  const auto mix = [](std::uint64_t sum, std::uint64_t word) {
    __extension__ const auto product = static_cast<unsigned __int128>(sum ^ word) * factor;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.begin);
  std::size_t left = bytes.bytes;
  for (; left >= sizeof sums; at += sizeof sums, left -= sizeof sums) {
    std::array<std::uint64_t, lanes> words;
    std::memcpy(words.data(), at, sizeof words);
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = mix(sums[lane], words[lane]);
  }
  std::array<std::uint64_t, lanes> rest{};
  std::memcpy(rest.data(), at, left);
  checksum result{bytes.bytes, ~bytes.bytes};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t sum = mix(sums[lane], rest[lane]);
    result.low = mix(result.low, sum);
    result.high = mix(result.high, sum << 32 | sum >> 32);
  }
  return result;
}

std::vector<memory_part> reachable_memory() {
  std::vector<memory_part> state;
  const device_memory& memory = device_memory::instance();
  for (const auto& [bytes, version] : memory.usable_versions())
    state.push_back(
        {bytes, false, memory.is_managed(reinterpret_cast<const void*>(bytes.begin)) ? 0 : version});
  for (const device_memory::range one : memory.mapped_ranges()) state.push_back({one, false, 0});
  for (const memory_range one : program_variables()) state.push_back({{one.begin, one.bytes}, true, 0});
  return state;
}

void note_side_effect(effect kind, const void* caller) {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const bool is_on_its_stack =
      current_thread.stack_begin <= stack && stack < current_thread.stack_end && !allocates_for_itself;
  if (!is_on_its_stack || !inside_kernel()) return;
  // An observer does its work on the threads' stacks.
  if (active_observer && !is_users_code(reinterpret_cast<std::uintptr_t>(caller))) return;
  effects_of_kernels.seen.fetch_add(1, std::memory_order_relaxed);
  if (kind == effect::allocates) effects_of_kernels.has_heap.store(true, std::memory_order_relaxed);
}

std::optional<std::uint64_t> digest_of_kernels_memory() {
  if (effects_of_kernels.has_heap || configuration().devices > 1) return std::nullopt;
  checksum sum{effects_of_kernels.seen, effects_of_kernels.unseen_changes};
  for (const memory_part& one : reachable_memory()) {
    const std::array<checksum, 2> both{sum, checksum_of(one.bytes)};
    sum = checksum_of({reinterpret_cast<std::uintptr_t>(both.data()), sizeof both});
  }
  return sum.low ^ sum.high;
}

}  // namespace lab::emulator
