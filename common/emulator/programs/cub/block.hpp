// CUB's parts for a block and for a warp: each is what the collective means, by shared memory and barriers or
// by shuffles, and not how CUB does it on a GPU. The counters of a kernel that uses them are those of this
// header.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <type_traits>

#include "common/emulator/programs/cub/operators.hpp"

namespace cub {

using lab::emulator::place;

inline unsigned thread_of_block() {
  return cooperative_groups::thread_block::thread_rank();
}

// One value of each thread, in a block's shared memory.
template <class T, int Count>
struct shared_values {
  lab::emulator::storage_use use;
  alignas(T) unsigned char bytes[sizeof(T) * static_cast<std::size_t>(Count)];
  T* values() { return reinterpret_cast<T*>(bytes); }
};
// A collective that is given no storage has some of its own, as in CUB.
template <class Collective>
typename Collective::TempStorage& storage_of_its_own() {
  static thread_local typename Collective::TempStorage storage;
  return storage;
}
struct NullType {};

// ---- a block

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int SizeX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int SizeY = 1,
          int SizeZ = 1, int = 0>
class BlockReduce {
  static constexpr int threads = SizeX * SizeY * SizeZ;

 public:
  using TempStorage = shared_values<T, threads>;
  BlockReduce() : BlockReduce(storage_of_its_own<BlockReduce>()) {}
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  // The result is thread 0's; the others have their own value.
  template <class Combine>
  T Reduce(T value, Combine combine, place where = place::here()) {
    return Reduce(value, combine, threads, where);
  }
  template <class Combine>
  T Reduce(T value, Combine combine, int count, place where = place::here()) {
    const lab::emulator::collective_use use(storage_.use, false, where);
    const unsigned thread = thread_of_block();
    T* const values = storage_.values();
    values[thread] = value;
    lab::emulator::wait_at_barrier(false, where);
    if (thread == 0) {
      for (int i = 1; i < count; ++i) value = combine(value, values[i]);
    }
    return value;
  }
  template <int Items, class Combine>
  T Reduce(const T (&values)[Items], Combine combine, place where = place::here()) {
    T sum = values[0];
    for (int i = 1; i < Items; ++i) sum = combine(sum, values[i]);
    return Reduce(sum, combine, where);
  }
  T Sum(T value, place where = place::here()) { return Reduce(value, cub::Sum(), where); }
  T Sum(T value, int count, place where = place::here()) { return Reduce(value, cub::Sum(), count, where); }
  template <int Items>
  T Sum(const T (&values)[Items], place where = place::here()) {
    return Reduce(values, cub::Sum(), where);
  }

 private:
  TempStorage& storage_;
};

template <class T, int SizeX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int SizeY = 1, int SizeZ = 1, int = 0>
class BlockScan {
  static constexpr int threads = SizeX * SizeY * SizeZ;

 public:
  using TempStorage = shared_values<T, threads + 1>;
  BlockScan() : BlockScan(storage_of_its_own<BlockScan>()) {}
  explicit BlockScan(TempStorage& storage) : storage_(storage), values_(storage.values()) {}

  template <class Combine>
  void InclusiveScan(T value, T& result, Combine combine, T& whole, place where = place::here()) {
    const lab::emulator::collective_use use(storage_.use, false, where);
    scan(value, combine, where);
    result = values_[thread_of_block()];
    whole = values_[threads - 1];
  }
  // `whole` is without `first`, as in CUB.
  template <class Combine>
  void ExclusiveScan(T value, T& result, T first, Combine combine, T& whole, place where = place::here()) {
    const lab::emulator::collective_use use(storage_.use, false, where);
    scan(value, combine, where);
    const unsigned thread = thread_of_block();
    result = thread == 0 ? first : combine(first, values_[thread - 1]);
    whole = values_[threads - 1];
  }
  template <int Items, class Combine>
  void InclusiveScan(const T (&values)[Items], T (&results)[Items], Combine combine, T& whole,
                     place where = place::here()) {
    T sum = values[0];
    results[0] = values[0];
    for (int i = 1; i < Items; ++i) results[i] = sum = combine(sum, values[i]);
    const lab::emulator::collective_use use(storage_.use, false, where);
    scan(sum, combine, where);
    const unsigned thread = thread_of_block();
    for (int i = 0; thread > 0 && i < Items; ++i) results[i] = combine(values_[thread - 1], results[i]);
    whole = values_[threads - 1];
  }
  template <int Items, class Combine>
  void ExclusiveScan(const T (&values)[Items], T (&results)[Items], T first, Combine combine, T& whole,
                     place where = place::here()) {
    T sum = values[0];
    for (int i = 1; i < Items; ++i) sum = combine(sum, values[i]);
    T before;
    ExclusiveScan(sum, before, first, combine, whole, where);
    for (int i = 0; i < Items; ++i) {
      const T next = combine(before, values[i]);  // results may be values
      results[i] = before;
      before = next;
    }
  }
  // One value of each thread, or an array of them: without the whole, and by addition.
  template <class In, class Out, class Combine>
  void InclusiveScan(const In& in, Out& out, Combine combine, place where = place::here()) {
    T whole;
    InclusiveScan(in, out, combine, whole, where);
  }
  template <class In, class Out, class Combine>
  void ExclusiveScan(const In& in, Out& out, T first, Combine combine, place where = place::here()) {
    T whole;
    ExclusiveScan(in, out, first, combine, whole, where);
  }
  // From a first value on; and from none, so that the block's first result means nothing.
  template <class In, class Out, class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void InclusiveScan(const In& in, Out& out, T first, Combine combine, place where = place::here()) {
    T whole;
    InclusiveScan(in, out, first, combine, whole, where);
  }
  // `whole` is without `first`.
  template <class In, class Out, class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void InclusiveScan(const In& in, Out& out, T first, Combine combine, T& whole,
                     place where = place::here()) {
    auto begin = [&](T) { return first; };
    scan_behind(in, out, combine, begin, true, where);
    whole = values_[threads - 1];
  }
  template <class In, class Out, class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void ExclusiveScan(const In& in, Out& out, Combine combine, place where = place::here()) {
    T whole;
    ExclusiveScan(in, out, combine, whole, where);
  }
  template <class In, class Out, class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void ExclusiveScan(const In& in, Out& out, Combine combine, T& whole, place where = place::here()) {
    std::conditional_t<std::is_array_v<In>, std::remove_const_t<In>, T> all;
    InclusiveScan(in, all, combine, whole, where);
    const unsigned thread = thread_of_block();
    const auto set_first = [&](auto& first) {
      if (thread > 0) first = values_[thread - 1];
    };
    if constexpr (std::is_array_v<In>) {
      for (std::size_t i = std::extent_v<In>; --i > 0;) out[i] = all[i - 1];
      set_first(out[0]);
    } else {
      set_first(out);
    }
  }
  template <class In, class Out>
  void InclusiveSum(const In& in, Out& out, place where = place::here()) {
    InclusiveScan(in, out, cub::Sum(), where);
  }
  template <class In, class Out>
  void InclusiveSum(const In& in, Out& out, T& whole, place where = place::here()) {
    InclusiveScan(in, out, cub::Sum(), whole, where);
  }
  template <class In, class Out>
  void ExclusiveSum(const In& in, Out& out, place where = place::here()) {
    ExclusiveScan(in, out, T{}, cub::Sum(), where);
  }
  template <class In, class Out>
  void ExclusiveSum(const In& in, Out& out, T& whole, place where = place::here()) {
    ExclusiveScan(in, out, T{}, cub::Sum(), whole, where);
  }
  // Behind what `prefix` returns to the block's first thread when its first warp has told it the whole.
  template <class In, class Out, class Combine, class Prefix>
  requires std::is_invocable_r_v<T, Prefix&, T>
  void InclusiveScan(const In& in, Out& out, Combine combine, Prefix& prefix, place where = place::here()) {
    scan_behind(in, out, combine, prefix, true, where);
  }
  template <class In, class Out, class Combine, class Prefix>
  requires std::is_invocable_r_v<T, Prefix&, T>
  void ExclusiveScan(const In& in, Out& out, Combine combine, Prefix& prefix, place where = place::here()) {
    scan_behind(in, out, combine, prefix, false, where);
  }
  template <class In, class Out, class Prefix>
  requires std::is_invocable_r_v<T, Prefix&, T>
  void InclusiveSum(const In& in, Out& out, Prefix& prefix, place where = place::here()) {
    scan_behind(in, out, cub::Sum(), prefix, true, where);
  }
  template <class In, class Out, class Prefix>
  requires std::is_invocable_r_v<T, Prefix&, T>
  void ExclusiveSum(const In& in, Out& out, Prefix& prefix, place where = place::here()) {
    scan_behind(in, out, cub::Sum(), prefix, false, where);
  }

 private:
  // values_[threads] takes the prefix.
  template <class In, class Out, class Combine, class Prefix>
  void scan_behind(const In& in, Out& out, Combine combine, Prefix& prefix, bool is_inclusive, place where) {
    constexpr int items = std::is_array_v<In> ? static_cast<int>(std::extent_v<In>) : 1;
    const auto item = [](auto& all, int i) -> auto& {
      if constexpr (std::is_array_v<In>) {
        return all[i];
      } else {
        return all;
      }
    };
    T sum = item(in, 0);
    for (int i = 1; i < items; ++i) sum = combine(sum, item(in, i));
    const lab::emulator::collective_use use(storage_.use, false, where);
    scan(sum, combine, where);
    const unsigned thread = thread_of_block();
    if (thread < 32) {
      const T first = prefix(values_[threads - 1]);
      if (thread == 0) values_[threads] = first;
    }
    lab::emulator::wait_at_barrier(false, where);
    T before = thread == 0 ? values_[threads] : combine(values_[threads], values_[thread - 1]);
    for (int i = 0; i < items; ++i) {
      const T next = combine(before, item(in, i));  // out may be in
      item(out, i) = is_inclusive ? next : before;
      before = next;
    }
  }
  template <class Combine>
  void scan(T value, Combine combine, place where) {
    const unsigned thread = thread_of_block();
    values_[thread] = value;
    lab::emulator::wait_at_barrier(false, where);
    if (thread == 0) {
      for (int i = 1; i < threads; ++i) values_[i] = combine(values_[i - 1], values_[i]);
    }
    lab::emulator::wait_at_barrier(false, where);
  }
  TempStorage& storage_;
  T* values_;
};

// What the algorithms that exchange items need; here each thread takes its own.
struct transposing {
  lab::emulator::storage_use use;
};
struct direct {};
// In its scope a collective uses the storage, if the algorithm needs any.
class use_of_transposing {
 public:
  use_of_transposing(transposing* storage, bool is_of_warps, place where) {
    if (storage == nullptr) return;
    use_.emplace(storage->use, is_of_warps, where);
    if (!is_of_warps) lab::emulator::wait_at_barrier(false, where);
  }
  use_of_transposing(direct*, bool, place) {}

 private:
  std::optional<lab::emulator::collective_use> use_;
};

// Items are blocked, thread by thread, but for the striped algorithm.
template <class T, int SizeX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int SizeY = 1,
          int SizeZ = 1, int = 0>
class BlockLoad {
  static constexpr bool transposes = Algorithm >= BLOCK_LOAD_TRANSPOSE;
  static constexpr bool by_warps = Algorithm > BLOCK_LOAD_TRANSPOSE;

 public:
  using TempStorage = std::conditional_t<transposes, transposing, direct>;
  BlockLoad() : BlockLoad(storage_of_its_own<BlockLoad>()) {}
  explicit BlockLoad(TempStorage& storage) : storage_(&storage) {}
  template <class In>
  void Load(In from, T (&items)[Items], place where = place::here()) {
    const use_of_transposing use(storage_, by_warps, where);
    for (int i = 0; i < Items; ++i) items[i] = from[position(i)];
  }
  template <class In>
  void Load(In from, T (&items)[Items], int count, place where = place::here()) {
    const use_of_transposing use(storage_, by_warps, where);
    for (int i = 0; i < Items; ++i) {
      if (position(i) < count) items[i] = from[position(i)];
    }
  }
  template <class In, class Default>
  requires(!std::is_same_v<Default, place>) void Load(In from, T (&items)[Items], int count, Default value,
                                                      place where = place::here()) {
    const use_of_transposing use(storage_, by_warps, where);
    for (int i = 0; i < Items; ++i)
      items[i] = position(i) < count ? from[position(i)] : static_cast<T>(value);
  }

 private:
  static int position(int i) {
    const int thread = static_cast<int>(thread_of_block());
    return Algorithm == BLOCK_LOAD_STRIPED ? thread + i * SizeX * SizeY * SizeZ : thread * Items + i;
  }
  TempStorage* storage_ = nullptr;
};
template <class T, int SizeX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int SizeY = 1,
          int SizeZ = 1, int = 0>
class BlockStore {
  static constexpr bool transposes = Algorithm >= BLOCK_STORE_TRANSPOSE;
  static constexpr bool by_warps = Algorithm > BLOCK_STORE_TRANSPOSE;

 public:
  using TempStorage = std::conditional_t<transposes, transposing, direct>;
  BlockStore() : BlockStore(storage_of_its_own<BlockStore>()) {}
  explicit BlockStore(TempStorage& storage) : storage_(&storage) {}
  template <class Out>
  void Store(Out to, T (&items)[Items], place where = place::here()) {
    const use_of_transposing use(storage_, by_warps, where);
    for (int i = 0; i < Items; ++i) to[position(i)] = items[i];
  }
  template <class Out>
  void Store(Out to, T (&items)[Items], int count, place where = place::here()) {
    const use_of_transposing use(storage_, by_warps, where);
    for (int i = 0; i < Items; ++i) {
      if (position(i) < count) to[position(i)] = items[i];
    }
  }

 private:
  static int position(int i) {
    const int thread = static_cast<int>(thread_of_block());
    return Algorithm == BLOCK_STORE_STRIPED ? thread + i * SizeX * SizeY * SizeZ : thread * Items + i;
  }
  TempStorage* storage_ = nullptr;
};

template <class T, class Out, int Items>
void StoreDirectBlocked(int thread, Out to, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) to[thread * Items + i] = items[i];
}
template <int Threads, class T, class Out, int Items>
void StoreDirectStriped(int thread, Out to, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) to[thread + i * Threads] = items[i];
}
template <class T, class In, int Items>
void LoadDirectBlocked(int thread, In from, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = from[thread * Items + i];
}
template <int Threads, class T, class In, int Items>
void LoadDirectStriped(int thread, In from, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = from[thread + i * Threads];
}

// ---- a warp

template <class T, int Threads = 32, int = 0>
class WarpReduce {
 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage&) {}
  // The result is the first lane's.
  template <class Combine>
  T Reduce(T value, Combine combine, place where = place::here()) {
    return Reduce(value, combine, Threads, where);
  }
  template <class Combine>
  T Reduce(T value, Combine combine, int count, place where = place::here()) {
    const cooperative_groups::thread_block_tile<Threads> tile;
    const unsigned lane = tile.thread_rank(), end = static_cast<unsigned>(count);
    for (unsigned distance = 1; distance < Threads; distance *= 2) {
      const T other = tile.shfl_down(value, distance, where);
      if (lane + distance < end && lane + distance < tile.lane_group::size()) value = combine(value, other);
    }
    return value;
  }
  T Sum(T value, place where = place::here()) { return Reduce(value, cub::Sum(), where); }
  T Sum(T value, int count, place where = place::here()) { return Reduce(value, cub::Sum(), count, where); }
  // The lanes fall into segments, of which each begins at a flag, or ends at one: the first lane of each has
  // its result.
  template <class Flag, class Combine>
  T HeadSegmentedReduce(T value, Flag flag, Combine combine, place where = place::here()) {
    const cooperative_groups::thread_block_tile<Threads> tile;
    const unsigned behind = tile.ballot(flag != 0, where) & ~((2u << tile.thread_rank()) - 1);
    return Reduce(value, combine, behind == 0 ? Threads : std::countr_zero(behind), where);
  }
  template <class Flag, class Combine>
  T TailSegmentedReduce(T value, Flag flag, Combine combine, place where = place::here()) {
    const cooperative_groups::thread_block_tile<Threads> tile;
    const unsigned from_here = tile.ballot(flag != 0, where) & ~((1u << tile.thread_rank()) - 1);
    return Reduce(value, combine, from_here == 0 ? Threads : std::countr_zero(from_here) + 1, where);
  }
  template <class Flag>
  T HeadSegmentedSum(T value, Flag flag, place where = place::here()) {
    return HeadSegmentedReduce(value, flag, cub::Sum(), where);
  }
  template <class Flag>
  T TailSegmentedSum(T value, Flag flag, place where = place::here()) {
    return TailSegmentedReduce(value, flag, cub::Sum(), where);
  }
};

template <class T, int Threads = 32, int = 0>
class WarpScan {
  using tile = cooperative_groups::thread_block_tile<Threads>;

 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage&) {}
  template <class Combine>
  void InclusiveScan(T value, T& result, Combine combine, place where = place::here()) {
    result = cooperative_groups::inclusive_scan(tile(), value, combine, where);
  }
  template <class Combine>
  void InclusiveScan(T value, T& result, Combine combine, T& whole, place where = place::here()) {
    InclusiveScan(value, result, combine, where);
    whole = tile().shfl(result, Threads - 1, where);
  }
  template <class Combine>
  void ExclusiveScan(T value, T& result, T first, Combine combine, place where = place::here()) {
    T all;
    Scan(value, all, result, first, combine, where);
  }
  void InclusiveSum(T value, T& result, place where = place::here()) {
    InclusiveScan(value, result, cub::Sum(), where);
  }
  void InclusiveSum(T value, T& result, T& whole, place where = place::here()) {
    InclusiveScan(value, result, cub::Sum(), whole, where);
  }
  void ExclusiveSum(T value, T& result, place where = place::here()) {
    ExclusiveScan(value, result, T{}, cub::Sum(), where);
  }
  void ExclusiveSum(T value, T& result, T& whole, place where = place::here()) {
    ExclusiveScan(value, result, cub::Sum(), whole, where);
    if (tile().thread_rank() == 0) result = T{};
  }
  // From a first value on, which the whole is without.
  template <class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void InclusiveScan(T value, T& result, T first, Combine combine, place where = place::here()) {
    InclusiveScan(value, result, combine, where);
    result = combine(first, result);
  }
  template <class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void InclusiveScan(T value, T& result, T first, Combine combine, T& whole, place where = place::here()) {
    InclusiveScan(value, result, combine, whole, where);
    result = combine(first, result);
  }
  template <class Combine>
  void ExclusiveScan(T value, T& result, T first, Combine combine, T& whole, place where = place::here()) {
    ExclusiveScan(value, result, combine, whole, where);
    result = tile().thread_rank() == 0 ? first : combine(first, result);
  }
  template <class Combine>
  void Scan(T value, T& inclusive, T& exclusive, T first, Combine combine, place where = place::here()) {
    Scan(value, inclusive, exclusive, combine, where);
    exclusive = tile().thread_rank() == 0 ? first : combine(first, exclusive);
    inclusive = combine(first, inclusive);
  }
  // From none, so that the first lane's result means nothing.
  template <class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void ExclusiveScan(T value, T& result, Combine combine, place where = place::here()) {
    T all;
    Scan(value, all, result, combine, where);
  }
  template <class Combine>
  requires std::is_invocable_r_v<T, Combine&, T, T>
  void ExclusiveScan(T value, T& result, Combine combine, T& whole, place where = place::here()) {
    T all;
    Scan(value, all, result, combine, where);
    whole = tile().shfl(all, Threads - 1, where);
  }
  template <class Combine>
  void Scan(T value, T& inclusive, T& exclusive, Combine combine, place where = place::here()) {
    InclusiveScan(value, inclusive, combine, where);
    exclusive = tile().shfl_up(inclusive, 1, where);
  }
  T Broadcast(T value, unsigned lane, place where = place::here()) {
    return tile().shfl(value, static_cast<int>(lane), where);
  }
};

}  // namespace cub
