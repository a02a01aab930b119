// Arrays in the host's memory, of any length: the system finds the pages of a long one on all cores, and
// once.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "common/all_cores.hpp"

namespace lab {

// Blocks of at least `long_bytes`, in whole huge pages. A block that is given back is kept for the next one,
// as long as all of those kept are not much: memory that is found anew costs up to half a second a gigabyte.
class long_blocks {
 public:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t long_bytes = 2 * huge_page;

  struct block {
    void* memory;
    std::size_t bytes;  // as many as were asked for, or more
  };

  static block take(std::size_t bytes) {
    {
      store& kept = the_store();
      const std::lock_guard lock(kept.access);
      const auto found = kept.free.lower_bound(bytes);
      if (found != kept.free.end() && found->first <= 2 * bytes) {
        const block one{found->second, found->first};
        kept.free.erase(found);
        kept.bytes -= one.bytes;
        return one;
      }
    }
    const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    void* const memory = std::aligned_alloc(huge_page, whole);
    if (memory == nullptr) throw std::bad_alloc();
    find_pages(memory, whole);
    return {memory, whole};
  }

  static void give_back(const block& one) noexcept {
    constexpr std::size_t max_kept_bytes = std::size_t{1} << 30;
    store& kept = the_store();
    const std::lock_guard lock(kept.access);
    if (kept.bytes + one.bytes > max_kept_bytes) return std::free(one.memory);
    try {
      kept.free.emplace(one.bytes, one.memory);
      kept.bytes += one.bytes;
    } catch (const std::bad_alloc&) {
      std::free(one.memory);
    }
  }

 private:
  struct store {
    std::mutex access;
    std::multimap<std::size_t, void*> free;
    std::size_t bytes = 0;
  };

  // Never destroyed: arrays that live as long as the program are given back after every destructor.
  static store& the_store() {
    static store& one = *new store;
    return one;
  }

  // Asks for the pages of memory that is about to be filled, on all cores, and for huge ones where the system
  // has them. Threads that met in the same huge page would each clear one for it.
  static void find_pages(void* memory, std::size_t bytes) {
    constexpr std::int64_t piece_bytes = std::int64_t{1} << 23;
    auto* const chars = static_cast<char*>(memory);
    // Where either is refused, pages are found as they are touched.
    madvise(memory, bytes, MADV_HUGEPAGE);
    for_pieces_on_all_cores(
        static_cast<std::int64_t>(bytes), piece_bytes, [&](std::int64_t begin, std::int64_t end, unsigned) {
          madvise(chars + begin, static_cast<std::size_t>(end - begin), MADV_POPULATE_WRITE);
        });
  }
};

// `size` values of T, uninitialised.
template <class T>
class host_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  host_array() = default;
  explicit host_array(std::int64_t size) : values_(found(size)), size_(size) {}

  [[nodiscard]] T* data() const { return values_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  T& operator[](std::int64_t index) { return values_[static_cast<std::size_t>(index)]; }
  const T& operator[](std::int64_t index) const { return values_[static_cast<std::size_t>(index)]; }

 private:
  struct give_back {
    void operator()(T* values) const {
      if (bytes < long_blocks::long_bytes) return std::free(values);
      long_blocks::give_back({values, bytes});
    }
    std::size_t bytes = 0;
  };
  using owner = std::unique_ptr<T[], give_back>;

  static owner found(std::int64_t size) {
    const std::size_t bytes = std::max<std::size_t>(1, static_cast<std::size_t>(size) * sizeof(T));
    if (bytes >= long_blocks::long_bytes) {
      const long_blocks::block one = long_blocks::take(bytes);
      return owner(static_cast<T*>(one.memory), {one.bytes});
    }
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return owner(static_cast<T*>(memory), {bytes});
  }

  owner values_;
  std::int64_t size_ = 0;
};

// All of an array, copied on all cores.
template <class T>
host_array<T> copy_of(const host_array<T>& from) {
  constexpr std::int64_t piece_values = (std::int64_t{1} << 20) / static_cast<std::int64_t>(sizeof(T));
  host_array<T> copy(from.size());
  for_pieces_on_all_cores(from.size(), piece_values, [&](std::int64_t begin, std::int64_t end, unsigned) {
    std::copy(from.data() + begin, from.data() + end, copy.data() + begin);
  });
  return copy;
}

}  // namespace lab
