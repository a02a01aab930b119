#include "common/emulator/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/emulator/diagnostics.hpp"

namespace lab::emulator {
namespace {

constexpr std::size_t reserved_bytes = std::size_t{256} << 30;
constexpr std::size_t default_capacity_limit = std::size_t{8} << 30;

std::size_t default_capacity() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min(default_capacity_limit, pages * page_bytes / 2);
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

unsigned char* bytes_at(std::uintptr_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

// Offset of the first byte of [begin, begin + size) that is not the red zone's; `size` if there is none.
std::size_t first_damage(const unsigned char* begin, std::size_t size) {
  return static_cast<std::size_t>(
      std::find_if(begin, begin + size,
                   [](unsigned char byte) { return byte != device_memory::red_zone_byte; }) -
      begin);
}

}  // namespace

device_memory& device_memory::instance() {
  static device_memory memory;
  return memory;
}

device_memory::device_memory()
    : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), capacity_(default_capacity()) {
  // Address space costs nothing, but it may be limited (ulimit -v): then less of it does.
  for (std::size_t bytes = reserved_bytes; bytes >= capacity_; bytes /= 2) {
    void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    begin_ = next_ = reinterpret_cast<std::uintptr_t>(range);
    end_ = begin_ + bytes;
    break;
  }
}

std::uintptr_t device_memory::find_gap(std::size_t bytes) const {
  const auto search = [&](std::uintptr_t from, std::uintptr_t to) -> std::uintptr_t {
    for (auto entry = allocations_.lower_bound(from); entry != allocations_.end(); ++entry) {
      const std::uintptr_t chunk = entry->first - red_zone_bytes;
      if (chunk >= to || (chunk >= from && chunk - from >= bytes)) break;
      from = chunk + entry->second.chunk_bytes + page_bytes_;
    }
    return from <= to && to - from >= bytes ? from : 0;
  };
  if (const std::uintptr_t found = search(next_, end_)) return found;
  return search(begin_, end_);
}

void* device_memory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > capacity_ || used_ > capacity_ - bytes) return nullptr;
  const std::size_t chunk_bytes = round_up(red_zone_bytes + bytes + red_zone_bytes, page_bytes_);
  const std::uintptr_t chunk = find_gap(chunk_bytes + page_bytes_);
  if (chunk == 0 || mprotect(bytes_at(chunk), chunk_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  next_ = chunk + chunk_bytes + page_bytes_;
  const std::uintptr_t address = chunk + red_zone_bytes;
  std::memset(bytes_at(chunk), red_zone_byte, red_zone_bytes);
  std::memset(bytes_at(address), fresh_byte, bytes);
  std::memset(bytes_at(address + bytes), red_zone_byte, chunk + chunk_bytes - (address + bytes));
  allocations_[address] = {bytes, chunk_bytes, {address, bytes}};
  used_ += bytes;
  return bytes_at(address);
}

bool device_memory::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocations_.end()) return false;
  // MADV_DONTNEED gives the pages back at once; without it they would be kept behind the protection.
  unsigned char* const chunk = bytes_at(found->first - red_zone_bytes);
  madvise(chunk, found->second.chunk_bytes, MADV_DONTNEED);
  mprotect(chunk, found->second.chunk_bytes, PROT_NONE);
  used_ -= found->second.bytes;
  allocations_.erase(found);
  return true;
}

bool device_memory::owns(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address >= begin_ && address < end_) return true;
  const std::lock_guard lock(mutex_);
  const auto after = symbols_.upper_bound(address);
  return after != symbols_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

std::optional<std::string> device_memory::complaint(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto within = [&](const auto& ranges, auto size_of) -> std::optional<std::string> {
    const auto after = ranges.upper_bound(address);
    if (after == ranges.begin()) return "lies in no allocation";
    const std::uintptr_t begin = std::prev(after)->first;
    const std::size_t size = size_of(std::prev(after)->second);
    const std::size_t offset = address - begin;
    if (offset >= size) return "lies in no allocation";
    if (bytes <= size - offset) return std::nullopt;
    return format("has %zu bytes from offset %zu of an allocation of %zu bytes", bytes, offset, size);
  };
  if (address >= begin_ && address < end_) {
    return within(allocations_, [](const allocation& entry) { return entry.bytes; });
  }
  return within(symbols_, [](std::size_t size) { return size; });
}

void device_memory::add_symbol(const void* symbol, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  symbols_[reinterpret_cast<std::uintptr_t>(symbol)] = bytes;
}

std::vector<device_memory::range> device_memory::usable_ranges() const {
  const std::lock_guard lock(mutex_);
  std::vector<range> ranges;
  for (const auto& [address, what] : allocations_) ranges.push_back(what.usable);
  return ranges;
}

void device_memory::narrow(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return;
  const auto [begin, what] = *std::prev(after);
  if (address - begin > what.bytes || bytes > what.bytes - (address - begin)) return;
  std::prev(after)->second.usable = {address, bytes};
}

std::optional<std::string> device_memory::check_red_zones(std::uintptr_t address, const allocation& what) {
  unsigned char* const before = bytes_at(address - red_zone_bytes);
  unsigned char* const after = bytes_at(address + what.bytes);
  const std::size_t after_bytes = what.chunk_bytes - red_zone_bytes - what.bytes;
  const std::size_t damage_before = first_damage(before, red_zone_bytes);
  const std::size_t damage_after = first_damage(after, after_bytes);
  std::optional<std::string> result;
  if (damage_after < after_bytes) {
    result =
        format("wrote at offset %zu of an allocation of %zu bytes", what.bytes + damage_after, what.bytes);
  } else if (damage_before < red_zone_bytes) {
    result = format("wrote at offset -%zu of an allocation of %zu bytes", red_zone_bytes - damage_before,
                    what.bytes);
  }
  if (result) {
    std::memset(before, red_zone_byte, red_zone_bytes);
    std::memset(after, red_zone_byte, after_bytes);
  }
  return result;
}

std::optional<std::string> device_memory::check_red_zones() {
  const std::lock_guard lock(mutex_);
  std::optional<std::string> first;
  for (const auto& [address, what] : allocations_) {
    const auto damage = check_red_zones(address, what);
    if (!first) first = damage;
  }
  return first;
}

void device_memory::set_capacity(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes != 0 ? bytes : default_capacity();
}

std::size_t device_memory::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

std::size_t device_memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace lab::emulator
