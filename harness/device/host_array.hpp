// Arrays in the host's memory, of any length: the system finds the pages of a long one on all cores.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "common/all_cores.hpp"

namespace lab {

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
    void operator()(T* values) const { std::free(values); }
  };

  static T* found(std::int64_t size) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    std::size_t bytes = std::max<std::size_t>(1, static_cast<std::size_t>(size) * sizeof(T));
    const bool is_long = bytes >= 2 * huge_page;
    if (is_long) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
    void* const memory = is_long ? std::aligned_alloc(huge_page, bytes) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (is_long) find_pages(static_cast<char*>(memory), static_cast<std::int64_t>(bytes));
    return static_cast<T*>(memory);
  }

  // Asks for the pages of memory that is about to be filled, on all cores, and for huge ones where the system
  // has them. Threads that met in the same huge page would each clear one for it.
  static void find_pages(char* memory, std::int64_t bytes) {
    constexpr std::int64_t piece_bytes = std::int64_t{1} << 23;
    // Where either is refused, pages are found as they are touched.
    madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    for_pieces_on_all_cores(bytes, piece_bytes, [&](std::int64_t begin, std::int64_t end, unsigned) {
      madvise(memory + begin, static_cast<std::size_t>(end - begin), MADV_POPULATE_WRITE);
    });
  }

  std::unique_ptr<T[], give_back> values_;
  std::int64_t size_ = 0;
};

}  // namespace lab
