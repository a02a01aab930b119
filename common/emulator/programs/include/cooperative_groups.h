// Cooperative groups: blocks, tiles of a warp, lanes that are there together, and the grid of a cooperative
// launch.
#pragma once

#include <cuda_runtime.h>

#include <cassert>
#include <cfloat>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "common/emulator/core/cluster_functions.hpp"

namespace cuda {

template <std::size_t Alignment>
struct aligned_size_t {
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
};

}  // namespace cuda

namespace cooperative_groups {

using lab::emulator::place;

template <class T>
inline constexpr bool is_exchangeable = sizeof(T) <= 8;

// ---- the block

class thread_block {
 public:
  static constexpr unsigned number_of_lanes = 0;
  void sync(place where = place::here()) const { lab::emulator::wait_at_barrier(false, where); }
  void barrier_sync(place where = place::here()) const { sync(where); }
  struct arrival_token {};
  // The block waits where it arrives: a barrier in two halves is one here.
  arrival_token barrier_arrive(place where = place::here()) const {
    sync(where);
    return {};
  }
  void barrier_wait(arrival_token) const {}
  static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}

// ---- the cluster

class cluster_group {
 public:
  void sync(place where = place::here()) const {
    lab::emulator::arrive_in_cluster(where);
    lab::emulator::wait_for_cluster(where);
  }
  struct arrival_token {};
  arrival_token barrier_arrive(place where = place::here()) const {
    lab::emulator::arrive_in_cluster(where);
    return {};
  }
  void barrier_wait(place where = place::here()) const { lab::emulator::wait_for_cluster(where); }
  void barrier_wait(arrival_token, place where = place::here()) const { barrier_wait(where); }
  static unsigned block_rank() { return lab::emulator::cluster_rank(); }
  static unsigned num_blocks() {
    const dim3 shape = dim_blocks();
    return shape.x * shape.y * shape.z;
  }
  static dim3 dim_blocks() { return lab::emulator::cluster_shape(); }
  static dim3 block_index() {
    const dim3 shape = dim_blocks();
    return {blockIdx.x % shape.x, blockIdx.y % shape.y, blockIdx.z % shape.z};
  }
  static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
  template <class T>
  T* map_shared_rank(T* own, int rank, place where = place::here()) const {
    return static_cast<T*>(lab::emulator::map_to_block(own, static_cast<unsigned>(rank), where));
  }
};
inline cluster_group this_cluster() {
  return {};
}

// ---- the grid

class grid_group {
 public:
  bool is_valid() const { return true; }
  void sync(place where = place::here()) const { lab::emulator::wait_for_grid(where); }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
};
inline grid_group this_grid() {
  return {};
}

// ---- lanes of a warp

// `lanes` of the warp, of which this one has the rank of its bit among them.
class lane_group {
 public:
  explicit lane_group(unsigned lanes) : lanes_(lanes) {}

  [[nodiscard]] unsigned lanes() const { return lanes_; }
  void sync(place where = place::here()) const { __syncwarp(lanes_, where); }
  [[nodiscard]] unsigned thread_rank() const {
    return static_cast<unsigned>(std::popcount(lanes_ & ((1u << lab::emulator::lane()) - 1u)));
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(std::popcount(lanes_)); }
  [[nodiscard]] unsigned num_threads() const { return size(); }

  template <class T>
  T shfl(T value, unsigned rank, place where = place::here()) const {
    return from_lane("shfl", value, lane_of(rank % size()), where);
  }
  template <class T>
  T shfl_down(T value, unsigned distance, place where = place::here()) const {
    const unsigned rank = thread_rank() + distance;
    return from_lane("shfl_down", value, lane_of(rank < size() ? rank : thread_rank()), where);
  }
  template <class T>
  T shfl_up(T value, unsigned distance, place where = place::here()) const {
    const unsigned rank = thread_rank();
    return from_lane("shfl_up", value, lane_of(rank >= distance ? rank - distance : rank), where);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, place where = place::here()) const {
    const unsigned rank = thread_rank() ^ mask;
    return from_lane("shfl_xor", value, lane_of(rank < size() ? rank : thread_rank()), where);
  }
  int any(int predicate, place where = place::here()) const { return __any_sync(lanes_, predicate, where); }
  int all(int predicate, place where = place::here()) const { return __all_sync(lanes_, predicate, where); }
  // Bit k is the predicate of the thread of rank k.
  unsigned ballot(int predicate, place where = place::here()) const {
    return packed(__ballot_sync(lanes_, predicate, where));
  }
  template <class T>
  unsigned match_any(T value, place where = place::here()) const {
    return packed(__match_any_sync(lanes_, value, where));
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, place where = place::here()) const {
    return packed(__match_all_sync(lanes_, value, &all_equal, where));
  }

 protected:
  [[nodiscard]] unsigned lane_of(unsigned rank) const {
    unsigned left = lanes_;
    for (; rank > 0; --rank) left &= left - 1;
    return static_cast<unsigned>(std::countr_zero(left));
  }
  [[nodiscard]] unsigned packed(unsigned of_warp) const {
    unsigned result = 0, rank = 0;
    for (unsigned left = lanes_; left != 0; left &= left - 1, ++rank)
      result |= (of_warp >> std::countr_zero(left) & 1u) << rank;
    return result;
  }
  // Larger values go in words of 8 bytes.
  template <class T>
  T from_lane(const char* name, const T& value, unsigned source, place where) const {
    if constexpr (is_exchangeable<T>) {
      return lab::emulator::shuffle(name, lanes_, value, source, where);
    } else {
      T result = value;
      auto* const bytes = reinterpret_cast<unsigned char*>(&result);
      for (std::size_t at = 0; at < sizeof(T); at += 8) {
        const std::size_t some = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        unsigned long long word = 0;
        __builtin_memcpy(&word, bytes + at, some);
        word = lab::emulator::shuffle(name, lanes_, word, source, where);
        __builtin_memcpy(bytes + at, &word, some);
      }
      return result;
    }
  }

 private:
  unsigned lanes_;
};

class coalesced_group : public lane_group {
 public:
  using lane_group::lane_group;
  [[nodiscard]] unsigned meta_group_rank() const { return 0; }
  [[nodiscard]] unsigned meta_group_size() const { return 1; }
};
// The lanes that are here when no lane of the warp can go on.
inline coalesced_group coalesced_threads(place where = place::here()) {
  return coalesced_group(__activemask(where));
}

template <unsigned Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size > 0 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads");

 public:
  // In a block whose size is no multiple of 32 the last tile has what there is.
  thread_block_tile() : lane_group(lanes_of_tile()) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) : lane_group(lanes_of_tile()) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  [[nodiscard]] unsigned thread_rank() const { return lab::emulator::lane() % Size; }
  [[nodiscard]] unsigned meta_group_rank() const {
    if constexpr (requires { Parent::size(); } && !std::is_same_v<Parent, thread_block>)
      return lab::emulator::lane() % Parent::size() / Size;
    return thread_block::thread_rank() / Size;
  }
  [[nodiscard]] unsigned meta_group_size() const {
    if constexpr (requires { Parent::size(); } && !std::is_same_v<Parent, thread_block>)
      return Parent::size() / Size;
    return (thread_block::size() + Size - 1) / Size;
  }
  template <class T>
  T shfl(T value, int rank, place where = place::here()) const {
    return this->from_lane("shfl", value, first_lane() + (static_cast<unsigned>(rank) & (Size - 1)), where);
  }
  template <class T>
  T shfl_down(T value, unsigned distance, place where = place::here()) const {
    const unsigned rank = thread_rank() + distance;
    return this->from_lane("shfl_down", value, first_lane() + (rank < Size ? rank : thread_rank()), where);
  }
  template <class T>
  T shfl_up(T value, unsigned distance, place where = place::here()) const {
    const unsigned rank = thread_rank();
    return this->from_lane("shfl_up", value, first_lane() + (rank >= distance ? rank - distance : rank),
                           where);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, place where = place::here()) const {
    const unsigned rank = thread_rank() ^ mask;
    return this->from_lane("shfl_xor", value, first_lane() + (rank < Size ? rank : thread_rank()), where);
  }

 private:
  static unsigned first_lane() { return lab::emulator::lane() / Size * Size; }
  static unsigned lanes_of_tile() {
    const unsigned tile = Size == 32 ? 0xffffffffu : ((1u << Size % 32) - 1u) << first_lane();
    const unsigned of_warp = thread_block::size() - thread_block::thread_rank() / 32 * 32;
    return of_warp < 32 ? tile & ((1u << of_warp) - 1u) : tile;
  }
};

// Shared memory through which threads of several warps exchange values.
template <unsigned MostThreads = 1024>
struct block_tile_memory {
  alignas(16) unsigned char bytes[MostThreads * 16];
};
// A tile of several warps. It waits as the block does: all tiles of the block have to wait equally often.
template <unsigned Size, class Parent>
requires(Size > 32) class thread_block_tile<Size, Parent> {
  static_assert((Size & (Size - 1)) == 0, "a tile has a power of two of threads");

 public:
  explicit thread_block_tile(unsigned char* memory) : memory_(memory) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  void sync(place where = place::here()) const { lab::emulator::wait_at_barrier(false, where); }
  template <class T>
  T shfl(T value, unsigned rank, place where = place::here()) const {
    return exchange(value, rank % Size, where);
  }
  template <class T>
  T shfl_down(T value, unsigned distance, place where = place::here()) const {
    return exchange(value, thread_rank() + distance < Size ? thread_rank() + distance : thread_rank(), where);
  }
  template <class T>
  T shfl_up(T value, unsigned distance, place where = place::here()) const {
    return exchange(value, thread_rank() >= distance ? thread_rank() - distance : thread_rank(), where);
  }
  template <class T>
  T shfl_xor(T value, unsigned mask, place where = place::here()) const {
    return exchange(value, (thread_rank() ^ mask) % Size, where);
  }
  bool any(int predicate, place where = place::here()) const {
    bool found = false;
    for (unsigned rank = 0; rank < Size; ++rank) found = shfl(predicate != 0, rank, where) || found;
    return found;
  }
  bool all(int predicate, place where = place::here()) const { return !any(predicate == 0, where); }

 private:
  template <class T>
  T exchange(const T& value, unsigned rank, place where) const {
    static_assert(sizeof(T) <= 16, "tiles of more than 32 threads exchange values of up to 16 bytes");
    // Without block_tile_memory there is nowhere to exchange anything, and CUDA does not compile it.
    if (memory_ == nullptr) lab::emulator::trap(where);
    T* const values = reinterpret_cast<T*>(memory_);
    values[thread_block::thread_rank()] = value;
    sync(where);
    const T result = values[meta_group_rank() * Size + rank];
    sync(where);
    return result;
  }
  unsigned char* memory_;
};
// The block with the memory that its tiles of several warps need.
class thread_block_with_memory : public thread_block {
 public:
  explicit thread_block_with_memory(unsigned char* memory) : memory_(memory) {}
  [[nodiscard]] unsigned char* memory() const { return memory_; }

 private:
  unsigned char* memory_;
};
template <unsigned MostThreads>
thread_block_with_memory this_thread_block(block_tile_memory<MostThreads>& memory) {
  return thread_block_with_memory(memory.bytes);
}
template <unsigned Size>
requires(Size >
         32) thread_block_tile<Size, thread_block> tiled_partition(const thread_block_with_memory& block) {
  return thread_block_tile<Size, thread_block>(block.memory());
}
template <unsigned Size>
requires(Size > 32) thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return thread_block_tile<Size, thread_block>(nullptr);
}

template <unsigned Size>
requires(Size <= 32) thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned Whole, class Parent>
thread_block_tile<Size, thread_block_tile<Whole, Parent>> tiled_partition(
    const thread_block_tile<Whole, Parent>&) {
  static_assert(Size <= Whole);
  return {};
}
template <unsigned Size>
coalesced_group tiled_partition(const coalesced_group& group) {
  const unsigned part = group.thread_rank() / Size;
  unsigned lanes = 0, rank = 0;
  for (unsigned left = group.lanes(); left != 0; left &= left - 1, ++rank) {
    if (rank / Size == part) lanes |= left & -left;
  }
  return coalesced_group(lanes);
}

// A group whose size is known when it runs only: a tile of up to 32 threads.
class thread_group {
 public:
  thread_group(thread_block) {}
  thread_group(const coalesced_group& group) : lanes_(group.lanes()) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) : lanes_(tile.lanes()) {}
  explicit thread_group(unsigned lanes) : lanes_(lanes) {}
  void sync(place where = place::here()) const {
    if (lanes_ == 0) return thread_block().sync(where);
    __syncwarp(lanes_, where);
  }
  [[nodiscard]] unsigned size() const {
    return lanes_ == 0 ? thread_block::size() : static_cast<unsigned>(std::popcount(lanes_));
  }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] unsigned thread_rank() const {
    return lanes_ == 0 ? thread_block::thread_rank() : lane_group(lanes_).thread_rank();
  }
  [[nodiscard]] unsigned lanes() const { return lanes_; }

 private:
  unsigned lanes_ = 0;  // 0: the block
};
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size >= 32 && parent.lanes() == 0 && size >= thread_block::size()) return parent;
  const unsigned tile = size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << lab::emulator::lane() / size * size;
  const unsigned of_warp = thread_block::size() - thread_block::thread_rank() / 32 * 32;
  const unsigned there = of_warp < 32 ? (1u << of_warp) - 1u : 0xffffffffu;
  return thread_group(tile & there & (parent.lanes() == 0 ? 0xffffffffu : parent.lanes()));
}

// The lanes of the group whose predicate, or label, is the same.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, place where = place::here()) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate, where);
  return coalesced_group(predicate ? yes : group.lanes() & ~yes);
}
template <class Label, class Group>
coalesced_group labeled_partition(const Group& group, Label label, place where = place::here()) {
  return coalesced_group(__match_any_sync(group.lanes(), label, where));
}

template <class Group>
void sync(const Group& group, place where = place::here()) {
  group.sync(where);
}
template <class Group>
void wait(const Group& group, place where = place::here()) {
  lab::emulator::wait_for_copies(0);
  group.sync(where);
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, place where = place::here()) {
  lab::emulator::wait_for_copies(Stages);
  group.sync(where);
}

// ---- reductions and scans

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// A block's threads are no such group: CUDA has neither reduce() nor scans for them.
template <class Group>
concept tile_or_coalesced_group = requires(const Group& group) {
  group.shfl(0, 0);
};

// How many threads of the group there are: the last tile of a block may have fewer than its size.
template <class Group>
unsigned members(const Group& group) {
  if constexpr (requires { group.lanes(); }) {
    return static_cast<unsigned>(std::popcount(group.lanes()));
  } else {
    return group.size();
  }
}

// Every thread gets the combination of all, in the order of the ranks.
template <tile_or_coalesced_group Group, class T, class Combine>
T reduce(const Group& group, T value, Combine combine, place where = place::here()) {
  const unsigned size = members(group);
  T result = value;
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const unsigned rank = group.thread_rank();
    const T other = group.shfl_down(result, distance, where);
    if (rank + distance < size) result = combine(result, other);
  }
  return group.shfl(result, 0, where);
}
template <tile_or_coalesced_group Group, class T, class Combine>
T inclusive_scan(const Group& group, T value, Combine combine, place where = place::here()) {
  const unsigned size = members(group);
  T result = value;
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_up(result, distance, where);
    if (group.thread_rank() >= distance) result = combine(other, result);
  }
  return result;
}
template <tile_or_coalesced_group Group, class T>
T inclusive_scan(const Group& group, T value, place where = place::here()) {
  return inclusive_scan(group, value, plus<T>(), where);
}
template <tile_or_coalesced_group Group, class T, class Combine>
T exclusive_scan(const Group& group, T value, Combine combine, place where = place::here()) {
  const T before = group.shfl_up(inclusive_scan(group, value, combine, where), 1, where);
  return group.thread_rank() == 0 ? T{} : before;
}
template <tile_or_coalesced_group Group, class T>
T exclusive_scan(const Group& group, T value, place where = place::here()) {
  return exclusive_scan(group, value, plus<T>(), where);
}

// Runs `function` in one thread and hands its result to all.
template <class Group, class Function>
void invoke_one(const Group& group, Function&& function) {
  if (group.thread_rank() == 0) function();
}

// ---- copies

// Each thread does its part, which goes on by itself if it is `late`.
template <bool late, class Group, class T>
[[gnu::always_inline]] inline void copy_elements(const Group& group, T* to, const T* from,
                                                 std::size_t count) {
  for (std::size_t at = group.thread_rank(); at < count; at += group.size()) {
    to[at] = from[at];
    if constexpr (late) lab::emulator::begin_copy(to + at, from + at, sizeof(T), sizeof(T));
  }
}
// By elements where there are whole ones of at least a word, else by words or by bytes.
template <bool late = true, class Group, class T, class From>
[[gnu::always_inline]] inline void copy_part(const Group& group, T* to, const From* from, std::size_t bytes) {
  if constexpr (std::is_same_v<T, From> && !std::is_void_v<T>) {
    if (sizeof(T) >= 4 && bytes % sizeof(T) == 0)
      return copy_elements<late>(group, to, from, bytes / sizeof(T));
  }
  void* const target = to;
  const void* const source = from;
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes) % 4 == 0) {
    copy_elements<late>(group, static_cast<unsigned*>(target), static_cast<const unsigned*>(source),
                        bytes / 4);
  } else {
    copy_elements<late>(group, static_cast<unsigned char*>(target),
                        static_cast<const unsigned char*>(source), bytes);
  }
}
template <class Group, class T>
[[gnu::always_inline]] inline void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
  copy_part(group, to, from, bytes);
  lab::emulator::commit_copies();
}
// Layouts are numbers of elements: as many are copied as both have.
template <class Group, class T, class To, class From>
[[gnu::always_inline]] inline void memcpy_async(const Group& group, T* to, const To& to_count, const T* from,
                                                const From& from_count) {
  const auto count = std::min(static_cast<std::size_t>(to_count), static_cast<std::size_t>(from_count));
  memcpy_async(group, to, from, count * sizeof(T));
}

}  // namespace cooperative_groups
