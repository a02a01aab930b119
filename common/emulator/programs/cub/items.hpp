// CUB's parts for a block and for a warp that put the items of all threads in order, compare neighbours or
// count: each is what the collective means, as in block.hpp.
#pragma once

#include "common/emulator/programs/cub/block.hpp"

namespace cub {

// Threads of a block, or of a warp, that meet.
template <int Threads, bool OfWarp>
struct group_of_threads {
  static int rank() { return static_cast<int>(OfWarp ? thread_of_block() % Threads : thread_of_block()); }
  static void meet(place where) {
    if constexpr (OfWarp) {
      cooperative_groups::thread_block_tile<Threads>().sync(where);
    } else {
      lab::emulator::wait_at_barrier(false, where);
    }
  }
};

// ---- exchanges

// Items that lie blocked, thread by thread, and striped, one of each thread in turn.
template <class T, int Threads, int Items, bool OfWarp>
class exchanged_items {
  using group = group_of_threads<Threads, OfWarp>;

 public:
  using TempStorage = shared_values<T, Threads * Items>;
  explicit exchanged_items(TempStorage& storage) : storage_(storage), values_(storage.values()) {}

  template <class Out>
  void BlockedToStriped(const T (&in)[Items], Out (&out)[Items], place where = place::here()) {
    exchange(in, out, blocked, striped, where);
  }
  template <class Out>
  void StripedToBlocked(const T (&in)[Items], Out (&out)[Items], place where = place::here()) {
    exchange(in, out, striped, blocked, where);
  }
  void BlockedToStriped(T (&items)[Items], place where = place::here()) {
    exchange(items, items, blocked, striped, where);
  }
  void StripedToBlocked(T (&items)[Items], place where = place::here()) {
    exchange(items, items, striped, blocked, where);
  }
  template <class Out>
  void BlockedToWarpStriped(const T (&in)[Items], Out (&out)[Items], place where = place::here()) {
    exchange(in, out, blocked, warp_striped, where);
  }
  template <class Out>
  void WarpStripedToBlocked(const T (&in)[Items], Out (&out)[Items], place where = place::here()) {
    exchange(in, out, warp_striped, blocked, where);
  }
  void BlockedToWarpStriped(T (&items)[Items], place where = place::here()) {
    exchange(items, items, blocked, warp_striped, where);
  }
  void WarpStripedToBlocked(T (&items)[Items], place where = place::here()) {
    exchange(items, items, warp_striped, blocked, where);
  }
  // Item i goes to position ranks[i].
  template <class Out, class Rank>
  void ScatterToBlocked(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items],
                        place where = place::here()) {
    exchange(
        in, out, [&](int i) { return static_cast<int>(ranks[i]); }, blocked, where);
  }
  template <class Out, class Rank>
  void ScatterToStriped(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items],
                        place where = place::here()) {
    exchange(
        in, out, [&](int i) { return static_cast<int>(ranks[i]); }, striped, where);
  }
  template <class Rank>
  void ScatterToBlocked(T (&items)[Items], Rank (&ranks)[Items], place where = place::here()) {
    ScatterToBlocked(items, items, ranks, where);
  }
  template <class Rank>
  void ScatterToStriped(T (&items)[Items], Rank (&ranks)[Items], place where = place::here()) {
    ScatterToStriped(items, items, ranks, where);
  }
  template <class Rank>
  void ScatterToStripedGuarded(T (&items)[Items], Rank (&ranks)[Items], place where = place::here()) {
    ScatterToStripedGuarded(items, items, ranks, where);
  }
  template <class Rank, class Flag>
  void ScatterToStripedFlagged(T (&items)[Items], Rank (&ranks)[Items], Flag (&flags)[Items],
                               place where = place::here()) {
    ScatterToStripedFlagged(items, items, ranks, flags, where);
  }
  // Those with a negative rank, or without a flag, go nowhere.
  template <class Out, class Rank>
  void ScatterToStripedGuarded(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items],
                               place where = place::here()) {
    const auto put = [&](int i) { return static_cast<int>(ranks[i]); };
    exchange(in, out, put, striped, where, [&](int i) { return ranks[i] >= 0; });
  }
  template <class Out, class Rank, class Flag>
  void ScatterToStripedFlagged(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items],
                               Flag (&flags)[Items], place where = place::here()) {
    const auto put = [&](int i) { return static_cast<int>(ranks[i]); };
    exchange(in, out, put, striped, where, [&](int i) { return flags[i] != 0; });
  }

 private:
  static int blocked(int i) { return group::rank() * Items + i; }
  static int striped(int i) { return group::rank() + i * Threads; }
  static int warp_striped(int i) {
    constexpr int width = std::min(Threads, 32);
    const int thread = group::rank();
    return thread / width * width * Items + thread % width + i * width;
  }
  template <class Out, class Put, class Take, class Has = bool (*)(int)>
  void exchange(
      const T (&in)[Items], Out (&out)[Items], Put put, Take take, place where,
      Has has = [](int) { return true; }) {
    const lab::emulator::collective_use use(storage_.use, OfWarp, where);
    for (int i = 0; i < Items; ++i) {
      if (has(i)) values_[put(i)] = in[i];
    }
    group::meet(where);
    for (int i = 0; i < Items; ++i) out[i] = values_[take(i)];
    if (OfWarp) group::meet(where);
  }
  TempStorage& storage_;
  T* values_;
};
template <class T, int SizeX, int Items, bool = false, int SizeY = 1, int SizeZ = 1, int = 0>
class BlockExchange : public exchanged_items<T, SizeX * SizeY * SizeZ, Items, false> {
  using base = exchanged_items<T, SizeX * SizeY * SizeZ, Items, false>;

 public:
  using base::base;
  BlockExchange() : base(storage_of_its_own<BlockExchange>()) {}
};
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int Items, int Threads = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange : public exchanged_items<T, Threads, Items, true> {
  using exchanged_items<T, Threads, Items, true>::exchanged_items;
};

// ---- sorts

// Items that one thread of the group puts in order.
template <class Key, class Value, int Threads, int Items, bool OfWarp = false>
class sorted_items {
  using group = group_of_threads<Threads, OfWarp>;
  struct element {
    Key key;
    [[no_unique_address]] Value
        value;  // none takes no room, which would be read though nobody has written it
  };

 public:
  using TempStorage = shared_values<element, Threads * Items>;

 protected:
  explicit sorted_items(TempStorage& storage) : storage_(storage), elements_(storage.values()) {}
  template <class Less>
  void sort(Key (&keys)[Items], Value (&values)[Items], Less less, bool striped, place where) {
    const lab::emulator::collective_use use(storage_.use, OfWarp, where);
    const int thread = group::rank();
    for (int i = 0; i < Items; ++i) elements_[thread * Items + i] = {keys[i], values[i]};
    group::meet(where);
    if (thread == 0) {
      std::stable_sort(elements_, elements_ + Threads * Items,
                       [&](const element& a, const element& b) { return less(a.key, b.key); });
    }
    group::meet(where);
    for (int i = 0; i < Items; ++i) {
      const element& mine = elements_[striped ? thread + i * Threads : thread * Items + i];
      keys[i] = mine.key;
      values[i] = mine.value;
    }
    if (OfWarp) group::meet(where);
  }

 private:
  TempStorage& storage_;
  element* elements_;
};

template <class Key, int SizeX, int Items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int SizeY = 1, int SizeZ = 1>
class BlockRadixSort : sorted_items<Key, Value, SizeX * SizeY * SizeZ, Items> {
  using base = sorted_items<Key, Value, SizeX * SizeY * SizeZ, Items>;
  static constexpr int all_bits = sizeof(Key) * 8;

 public:
  using typename base::TempStorage;
  BlockRadixSort() : BlockRadixSort(storage_of_its_own<BlockRadixSort>()) {}
  explicit BlockRadixSort(TempStorage& storage) : base(storage) {}
  void Sort(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = all_bits,
            place where = place::here()) {
    this->sort(keys, values, by_bits{begin, end, false}, false, where);
  }
  void SortDescending(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = all_bits,
                      place where = place::here()) {
    this->sort(keys, values, by_bits{begin, end, true}, false, where);
  }
  void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = all_bits,
                            place where = place::here()) {
    this->sort(keys, values, by_bits{begin, end, false}, true, where);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                      int end = all_bits, place where = place::here()) {
    this->sort(keys, values, by_bits{begin, end, true}, true, where);
  }
  void Sort(Key (&keys)[Items], int begin = 0, int end = all_bits, place where = place::here()) {
    Value none[Items];
    Sort(keys, none, begin, end, where);
  }
  void SortDescending(Key (&keys)[Items], int begin = 0, int end = all_bits, place where = place::here()) {
    Value none[Items];
    SortDescending(keys, none, begin, end, where);
  }
  void SortBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = all_bits,
                            place where = place::here()) {
    Value none[Items];
    SortBlockedToStriped(keys, none, begin, end, where);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = all_bits,
                                      place where = place::here()) {
    Value none[Items];
    SortDescendingBlockedToStriped(keys, none, begin, end, where);
  }
};

// By any order. Of the first `count` items, if so many are given: behind them come copies of `last`, which no
// item may follow.
template <class Key, class Value, int Threads, int Items, bool OfWarp>
class merge_sort : sorted_items<Key, Value, Threads, Items, OfWarp> {
  using base = sorted_items<Key, Value, Threads, Items, OfWarp>;

 public:
  using typename base::TempStorage;
  explicit merge_sort(TempStorage& storage) : base(storage) {}
  template <class Less>
  void StableSort(Key (&keys)[Items], Value (&values)[Items], Less less, place where = place::here()) {
    this->sort(keys, values, less, false, where);
  }
  template <class Less>
  void StableSort(Key (&keys)[Items], Value (&values)[Items], Less less, int count, Key last,
                  place where = place::here()) {
    const int first = group_of_threads<Threads, OfWarp>::rank() * Items;
    for (int i = std::max(0, count - first); i < Items; ++i) keys[i] = last;
    this->sort(keys, values, less, false, where);
  }
  template <class Less>
  void StableSort(Key (&keys)[Items], Less less, place where = place::here()) {
    Value none[Items];
    StableSort(keys, none, less, where);
  }
  template <class Less>
  void StableSort(Key (&keys)[Items], Less less, int count, Key last, place where = place::here()) {
    Value none[Items];
    StableSort(keys, none, less, count, last, where);
  }
  template <class Less>
  void Sort(Key (&keys)[Items], Value (&values)[Items], Less less, place where = place::here()) {
    StableSort(keys, values, less, where);
  }
  template <class Less>
  void Sort(Key (&keys)[Items], Value (&values)[Items], Less less, int count, Key last,
            place where = place::here()) {
    StableSort(keys, values, less, count, last, where);
  }
  template <class Less>
  void Sort(Key (&keys)[Items], Less less, place where = place::here()) {
    StableSort(keys, less, where);
  }
  template <class Less>
  void Sort(Key (&keys)[Items], Less less, int count, Key last, place where = place::here()) {
    StableSort(keys, less, count, last, where);
  }
};
template <class Key, int SizeX, int Items, class Value = NullType, int SizeY = 1, int SizeZ = 1>
class BlockMergeSort : public merge_sort<Key, Value, SizeX * SizeY * SizeZ, Items, false> {
  using base = merge_sort<Key, Value, SizeX * SizeY * SizeZ, Items, false>;

 public:
  using base::base;
  BlockMergeSort() : base(storage_of_its_own<BlockMergeSort>()) {}
};
template <class Key, int Items, int Threads = 32, class Value = NullType>
class WarpMergeSort : public merge_sort<Key, Value, Threads, Items, true> {
  using merge_sort<Key, Value, Threads, Items, true>::merge_sort;
};

// ---- neighbours

// What each thread sees of the thread before and of the one behind.
template <class T, int Threads>
class neighbours {
 public:
  using TempStorage = shared_values<T, 2 * Threads>;

 protected:
  explicit neighbours(TempStorage& storage) : storage_(storage) {}
  // found(the last item of the thread before, the first of the one behind): null for the first, and the last.
  template <int Items, class Found>
  void look(const T (&items)[Items], place where, Found found) {
    const lab::emulator::collective_use use(storage_.use, false, where);
    T* const first = storage_.values();
    T* const last = first + Threads;
    const unsigned thread = thread_of_block();
    first[thread] = items[0];
    last[thread] = items[Items - 1];
    lab::emulator::wait_at_barrier(false, where);
    found(thread == 0 ? nullptr : &last[thread - 1], thread == Threads - 1 ? nullptr : &first[thread + 1]);
  }
  TempStorage& storage_;
};

template <class T, int SizeX, int SizeY = 1, int SizeZ = 1>
class BlockShuffle : neighbours<T, SizeX * SizeY * SizeZ> {
  static constexpr int threads = SizeX * SizeY * SizeZ;
  using base = neighbours<T, threads>;

 public:
  using typename base::TempStorage;
  BlockShuffle() : BlockShuffle(storage_of_its_own<BlockShuffle>()) {}
  explicit BlockShuffle(TempStorage& storage) : base(storage) {}
  // A thread whose partner there is not keeps its result.
  void Offset(T value, T& result, int distance = 1, place where = place::here()) {
    take(value, result, static_cast<int>(thread_of_block()) + distance, where);
  }
  void Rotate(T value, T& result, unsigned distance = 1, place where = place::here()) {
    take(value, result, static_cast<int>((thread_of_block() + distance) % threads), where);
  }
  template <int Items>
  void Up(T (&items)[Items], T (&results)[Items], place where = place::here()) {
    T last;
    Up(items, results, last, where);
  }
  template <int Items>
  void Up(T (&items)[Items], T (&results)[Items], T& last, place where = place::here()) {
    this->look(items, where, [&](const T* before, const T*) {
      for (int i = Items - 1; i > 0; --i) results[i] = items[i - 1];
      if (before != nullptr) results[0] = *before;
      last = this->storage_.values()[2 * threads - 1];
    });
  }
  template <int Items>
  void Down(T (&items)[Items], T (&results)[Items], place where = place::here()) {
    T first;
    Down(items, results, first, where);
  }
  template <int Items>
  void Down(T (&items)[Items], T (&results)[Items], T& first, place where = place::here()) {
    this->look(items, where, [&](const T*, const T* behind) {
      for (int i = 0; i < Items - 1; ++i) results[i] = items[i + 1];
      if (behind != nullptr) results[Items - 1] = *behind;
      first = this->storage_.values()[0];
    });
  }

 private:
  void take(T value, T& result, int thread, place where) {
    const T items[1] = {value};
    this->look(items, where, [&](const T*, const T*) {
      if (thread >= 0 && thread < threads) result = this->storage_.values()[thread];
    });
  }
};

// Where an item differs from the one before (a head) or behind (a tail), by an operation of both and, if it
// takes one, of the second's index. The block's first item is a head and its last one a tail, unless what
// lies beyond is given.
template <class T, int SizeX, int SizeY = 1, int SizeZ = 1>
class BlockDiscontinuity : neighbours<T, SizeX * SizeY * SizeZ> {
  using base = neighbours<T, SizeX * SizeY * SizeZ>;

 public:
  using typename base::TempStorage;
  BlockDiscontinuity() : BlockDiscontinuity(storage_of_its_own<BlockDiscontinuity>()) {}
  explicit BlockDiscontinuity(TempStorage& storage) : base(storage) {}
  template <int Items, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[Items], T (&items)[Items], Differ differ, place where = place::here()) {
    flag(&heads, (Flag(*)[Items]) nullptr, items, differ, nullptr, nullptr, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[Items], T (&items)[Items], Differ differ, T before,
                 place where = place::here()) {
    flag(&heads, (Flag(*)[Items]) nullptr, items, differ, &before, nullptr, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagTails(Flag (&tails)[Items], T (&items)[Items], Differ differ, place where = place::here()) {
    flag((Flag(*)[Items]) nullptr, &tails, items, differ, nullptr, nullptr, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagTails(Flag (&tails)[Items], T (&items)[Items], Differ differ, T behind,
                 place where = place::here()) {
    flag((Flag(*)[Items]) nullptr, &tails, items, differ, nullptr, &behind, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T (&items)[Items], Differ differ,
                         place where = place::here()) {
    flag(&heads, &tails, items, differ, nullptr, nullptr, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T behind, T (&items)[Items],
                         Differ differ, place where = place::here()) {
    flag(&heads, &tails, items, differ, nullptr, &behind, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[Items], T before, Flag (&tails)[Items], T (&items)[Items],
                         Differ differ, place where = place::here()) {
    flag(&heads, &tails, items, differ, &before, nullptr, where);
  }
  template <int Items, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[Items], T before, Flag (&tails)[Items], T behind, T (&items)[Items],
                         Differ differ, place where = place::here()) {
    flag(&heads, &tails, items, differ, &before, &behind, where);
  }

 private:
  template <int Items, class Flag, class Differ>
  void flag(Flag (*heads)[Items], Flag (*tails)[Items], const T (&items)[Items], Differ differ,
            const T* before_all, const T* behind_all, place where) {
    this->look(items, where, [&](const T* before, const T* behind) {
      if (before == nullptr) before = before_all;
      if (behind == nullptr) behind = behind_all;
      const int index = static_cast<int>(thread_of_block()) * Items;
      const auto differs = [&](const T* a, const T* b, int second) -> bool {
        if (a == nullptr || b == nullptr) return true;
        if constexpr (std::is_invocable_v<Differ&, const T&, const T&, int>) {
          return differ(*a, *b, second);
        } else {
          return differ(*a, *b);
        }
      };
      for (int i = 0; i < Items; ++i) {
        if (heads != nullptr)
          (*heads)[i] = static_cast<Flag>(differs(i == 0 ? before : &items[i - 1], &items[i], index + i));
        if (tails != nullptr)
          (*tails)[i] =
              static_cast<Flag>(differs(&items[i], i == Items - 1 ? behind : &items[i + 1], index + i + 1));
      }
    });
  }
};

// Each item with its neighbour, by an operation; the block's outermost one, and those behind `count`, as they
// are.
template <class T, int SizeX, int SizeY = 1, int SizeZ = 1>
class BlockAdjacentDifference : neighbours<T, SizeX * SizeY * SizeZ> {
  static constexpr int threads = SizeX * SizeY * SizeZ;
  using base = neighbours<T, threads>;

 public:
  using typename base::TempStorage;
  BlockAdjacentDifference() : BlockAdjacentDifference(storage_of_its_own<BlockAdjacentDifference>()) {}
  explicit BlockAdjacentDifference(TempStorage& storage) : base(storage) {}
  template <int Items, class Out, class Combine>
  void SubtractLeft(T (&items)[Items], Out (&results)[Items], Combine combine, place where = place::here()) {
    left(items, results, combine, threads * Items, nullptr, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractLeft(T (&items)[Items], Out (&results)[Items], Combine combine, T before,
                    place where = place::here()) {
    left(items, results, combine, threads * Items, &before, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractLeftPartialTile(T (&items)[Items], Out (&results)[Items], Combine combine, int count,
                               place where = place::here()) {
    left(items, results, combine, count, nullptr, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractLeftPartialTile(T (&items)[Items], Out (&results)[Items], Combine combine, int count, T before,
                               place where = place::here()) {
    left(items, results, combine, count, &before, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractRight(T (&items)[Items], Out (&results)[Items], Combine combine, place where = place::here()) {
    right(items, results, combine, threads * Items + 1, nullptr, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractRight(T (&items)[Items], Out (&results)[Items], Combine combine, T behind,
                     place where = place::here()) {
    right(items, results, combine, threads * Items + 1, &behind, where);
  }
  template <int Items, class Out, class Combine>
  void SubtractRightPartialTile(T (&items)[Items], Out (&results)[Items], Combine combine, int count,
                                place where = place::here()) {
    right(items, results, combine, count, nullptr, where);
  }

 private:
  template <int Items, class Out, class Combine>
  void left(T (&items)[Items], Out (&results)[Items], Combine combine, int count, const T* before_all,
            place where) {
    this->look(items, where, [&](const T* before, const T*) {
      if (before == nullptr) before = before_all;
      for (int i = Items - 1; i >= 0; --i) {  // results may be items
        const T* const other = i > 0 ? &items[i - 1] : before;
        const bool both = static_cast<int>(thread_of_block()) * Items + i < count && other != nullptr;
        results[i] = both ? static_cast<Out>(combine(items[i], *other)) : static_cast<Out>(items[i]);
      }
    });
  }
  template <int Items, class Out, class Combine>
  void right(T (&items)[Items], Out (&results)[Items], Combine combine, int count, const T* behind_all,
             place where) {
    this->look(items, where, [&](const T*, const T* behind) {
      if (behind == nullptr) behind = behind_all;
      for (int i = 0; i < Items; ++i) {
        const T* const other = i < Items - 1 ? &items[i + 1] : behind;
        const bool both = static_cast<int>(thread_of_block()) * Items + i < count - 1 && other != nullptr;
        results[i] = both ? static_cast<Out>(combine(items[i], *other)) : static_cast<Out>(items[i]);
      }
    });
  }
};

// ---- counts

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int SizeX, int Items, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT,
          int SizeY = 1, int SizeZ = 1>
class BlockHistogram {
  static constexpr int threads = SizeX * SizeY * SizeZ;
  static constexpr bool is_atomic = Algorithm == BLOCK_HISTO_ATOMIC;

 public:
  using TempStorage = shared_values<T, is_atomic ? 1 : threads * Items>;
  BlockHistogram() : BlockHistogram(storage_of_its_own<BlockHistogram>()) {}
  explicit BlockHistogram(TempStorage& storage) : storage_(storage) {}
  template <class Counter>
  void InitHistogram(Counter* histogram) {
    for (unsigned bin = thread_of_block(); bin < Bins; bin += threads) histogram[bin] = 0;
  }
  // Adds to what is there.
  template <class Counter>
  void Composite(T (&items)[Items], Counter* histogram, place where = place::here()) {
    if constexpr (is_atomic) {
      for (int i = 0; i < Items; ++i) atomicAdd(&histogram[items[i]], Counter{1});
    } else {
      const lab::emulator::collective_use use(storage_.use, false, where);
      T* const all = storage_.values();
      const int thread = static_cast<int>(thread_of_block());
      for (int i = 0; i < Items; ++i) all[thread * Items + i] = items[i];
      lab::emulator::wait_at_barrier(false, where);
      for (int i = 0; thread == 0 && i < threads * Items; ++i) ++histogram[all[i]];
    }
  }
  template <class Counter>
  void Histogram(T (&items)[Items], Counter* histogram, place where = place::here()) {
    InitHistogram(histogram);
    lab::emulator::wait_at_barrier(false, where);
    Composite(items, histogram, where);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
