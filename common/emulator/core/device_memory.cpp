#include "common/emulator/core/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/observer.hpp"

namespace lab::emulator {
namespace {

constexpr std::size_t reserved_bytes = std::size_t{256} << 30;
constexpr std::size_t default_capacity_limit = std::size_t{8} << 30;
constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

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

// Whether the process has anything there.
bool is_memory(std::uintptr_t address, std::size_t page_bytes) {
  return msync(bytes_at(address / page_bytes * page_bytes), 1, MS_ASYNC) == 0;
}

}  // namespace

device_memory& device_memory::instance() {
  // Never destroyed: global objects of a program free memory when they are.
  static device_memory& memory = *new device_memory;
  return memory;
}

device_memory::device_memory()
    : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), capacity_(default_capacity()) {
  // Address space costs nothing, but it may be limited (ulimit -v): then less of it does.
  for (std::size_t bytes = reserved_bytes; bytes >= capacity_; bytes /= 2) {
    void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    // The first page stays inaccessible, as the one behind each allocation does.
    begin_ = reinterpret_cast<std::uintptr_t>(range);
    next_ = begin_ + page_bytes_;
    end_ = begin_ + bytes;
    break;
  }
}

std::uintptr_t device_memory::find_gap(std::size_t bytes) const {
  const auto search = [&](std::uintptr_t from, std::uintptr_t to) -> std::uintptr_t {
    for (auto entry = allocations_.lower_bound(from); entry != allocations_.end(); ++entry) {
      const range chunk = entry->second.chunk;
      if (chunk.begin >= to || (chunk.begin >= from && chunk.begin - from >= bytes)) break;
      from = chunk.begin + chunk.bytes + page_bytes_;
    }
    return from <= to && to - from >= bytes ? from : 0;
  };
  if (const std::uintptr_t found = search(next_, end_)) return found;
  return search(begin_ + page_bytes_, end_);
}

void* device_memory::allocate(std::size_t bytes, int device, const void* pool) {
  const bool is_zero = configuration().is_program && active_observer == nullptr;
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_[static_cast<std::size_t>(device)];
  if (bytes > capacity_ || used > capacity_ - bytes) return nullptr;
  const std::size_t aligned_bytes = round_up(bytes, alignment);
  const std::size_t chunk_bytes = round_up(aligned_bytes, page_bytes_);
  // Large pages make protection cheap: there are fewer to change.
  const std::size_t unit = chunk_bytes >= large_page_bytes ? large_page_bytes : page_bytes_;
  const std::uintptr_t gap = find_gap(chunk_bytes + unit);
  if (gap == 0) return nullptr;
  const std::uintptr_t chunk = round_up(gap, unit);
  if (mprotect(bytes_at(chunk), chunk_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  if (unit == large_page_bytes) madvise(bytes_at(chunk), chunk_bytes, MADV_HUGEPAGE);
  next_ = chunk + chunk_bytes + page_bytes_;
  const std::uintptr_t address = chunk + chunk_bytes - aligned_bytes;
  std::memset(bytes_at(chunk), red_zone_byte, address - chunk);
  if (!is_zero) std::memset(bytes_at(address), fresh_byte, bytes);  // its pages are zero
  std::memset(bytes_at(address + bytes), red_zone_byte, aligned_bytes - bytes);
  allocations_[address] = {bytes, {chunk, chunk_bytes}, {address, bytes}, ++numbers_, device,
                           pool,  ++versions_};
  // What was freed there is forgotten.
  for (auto old = freed_.lower_bound(chunk); old != freed_.end() && old->second.chunk.begin < next_;)
    old = freed_.erase(old);
  used += bytes;
  return bytes_at(address);
}

bool device_memory::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocations_.end()) return false;
  // MADV_DONTNEED gives the pages back at once; without it they would be kept behind the protection.
  const range chunk = found->second.chunk;
  madvise(bytes_at(chunk.begin), chunk.bytes, MADV_DONTNEED);
  mprotect(bytes_at(chunk.begin), chunk.bytes, PROT_NONE);
  used_[static_cast<std::size_t>(found->second.device)] -= found->second.bytes;
  freed_[found->first] = {found->second.bytes, chunk};
  constexpr std::size_t remembered = 1 << 16;
  if (freed_.size() > remembered) freed_.erase(freed_.begin());
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
  const auto within = [&](const auto& ranges, auto part_of) -> std::optional<std::string> {
    const auto after = ranges.upper_bound(address);
    if (after == ranges.begin()) return "lies in no allocation";
    const range part = part_of(*std::prev(after));
    const std::size_t offset = address - part.begin;
    if (address < part.begin || offset >= part.bytes) return "lies in no allocation";
    if (bytes <= part.bytes - offset) return std::nullopt;
    return format("has %zu bytes from offset %zu of an allocation of %zu bytes", bytes, offset, part.bytes);
  };
  if (address >= begin_ && address < end_) {
    // The guard zones are the owner's, and not a watched launch's.
    return within(allocations_, [this](const auto& entry) {
      return protected_ ? entry.second.usable : range{entry.first, entry.second.bytes};
    });
  }
  return within(symbols_, [](const auto& entry) { return range{entry.first, entry.second}; });
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

std::vector<device_memory::versioned_range> device_memory::usable_versions() const {
  const std::lock_guard lock(mutex_);
  std::vector<versioned_range> ranges;
  for (const auto& [address, what] : allocations_)
    ranges.push_back({what.usable, std::max(what.version, version_of_all_)});
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

void device_memory::forbid_writes(const void* pointer) {
  const std::lock_guard lock(mutex_);
  if (const allocation* const what = holder(reinterpret_cast<std::uintptr_t>(pointer)))
    const_cast<allocation*>(what)->is_read_only = true;
}

bool device_memory::is_read_only(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const allocation* const what = holder(reinterpret_cast<std::uintptr_t>(pointer));
  return what != nullptr && protected_ && what->is_read_only;
}

void device_memory::let_runtime_write(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const allocation* const what = holder(reinterpret_cast<std::uintptr_t>(pointer));
  if (what == nullptr || !protected_ || !what->is_read_only) return;
  const range pages = touchable(*what);
  mprotect(bytes_at(pages.begin), pages.bytes, PROT_READ | PROT_WRITE);
}

std::string device_memory::describe(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  constexpr std::uintptr_t null_bytes = 64 * 1024;  // no system maps these
  if (address < null_bytes)
    return address == 0 ? "at address 0, a null pointer"
                        : format("at address %zu, from a null pointer", address);
  if (address < begin_ || address >= end_) {
    return format(
        "at %p, which is %s", pointer,
        is_memory(address, page_bytes_) ? "host memory" : "no memory at all (a pointer that was never set)");
  }
  const std::lock_guard lock(mutex_);
  const auto after = freed_.upper_bound(address);
  if (after != freed_.begin()) {
    const auto& [begin, what] = *std::prev(after);
    if (address - begin < std::max<std::size_t>(what.bytes, 1)) {
      return format("at offset %zu of an allocation of %zu bytes that was freed", address - begin,
                    what.bytes);
    }
  }
  // The nearest allocation, if no more than an inaccessible page lies between.
  const allocation* nearest = nullptr;
  std::uintptr_t least = std::numeric_limits<std::uintptr_t>::max();
  for (const auto& [begin, what] : allocations_) {
    const std::uintptr_t end = what.chunk.begin + what.chunk.bytes;
    if (address + page_bytes_ < what.chunk.begin || address >= end + page_bytes_) continue;
    const std::uintptr_t usable_end = what.usable.begin + what.usable.bytes;
    const std::uintptr_t distance = address < what.usable.begin ? what.usable.begin - address
                                    : address >= usable_end     ? address - usable_end + 1
                                                                : 0;
    if (distance < least) {
      nearest = &what;
      least = distance;
    }
  }
  if (nearest == nullptr) return format("at %p, which no allocation holds", pointer);
  if (is_hidden(*nearest)) {
    return format(
        "memory of device %d, at offset %td of %zu bytes, which device %d has no access to "
        "(cudaDeviceEnablePeerAccess, and for a pool cudaMemPoolSetAccess)",
        nearest->device, static_cast<std::ptrdiff_t>(address - nearest->usable.begin), nearest->usable.bytes,
        hidden_from_);
  }
  return format("at offset %td of an allocation of %zu bytes%s",
                static_cast<std::ptrdiff_t>(address - nearest->usable.begin), nearest->usable.bytes,
                least == 0 && nearest->is_read_only ? ", which a launch may only read" : "");
}

// ---- who has written

void device_memory::set_managed(const void* pointer) {
  const std::lock_guard lock(mutex_);
  allocations_.at(reinterpret_cast<std::uintptr_t>(pointer)).is_managed = true;
  has_managed_ = true;
}

bool device_memory::is_managed(const void* pointer) const {
  if (!has_managed_) return false;
  const std::lock_guard lock(mutex_);
  const allocation* const what = holder(reinterpret_cast<std::uintptr_t>(pointer));
  return what != nullptr && what->is_managed;
}

void device_memory::add_mapped(const void* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  mapped_[reinterpret_cast<std::uintptr_t>(pointer)] = bytes;
}

void device_memory::remove_mapped(const void* pointer) {
  const std::lock_guard lock(mutex_);
  mapped_.erase(reinterpret_cast<std::uintptr_t>(pointer));
}

bool device_memory::is_mapped(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const auto after = mapped_.upper_bound(address);
  return after != mapped_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

std::vector<device_memory::range> device_memory::mapped_ranges() const {
  const std::lock_guard lock(mutex_);
  std::vector<range> ranges;
  for (const auto& [begin, bytes] : mapped_) ranges.push_back({begin, bytes});
  return ranges;
}

bool device_memory::is_host_memory(const void* pointer) const {
  return !holds(pointer) && is_memory(reinterpret_cast<std::uintptr_t>(pointer), page_bytes_);
}

const device_memory::allocation* device_memory::holder(std::uintptr_t address) const {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const auto& [begin, what] = *std::prev(after);
  return address - begin < what.bytes ? &what : nullptr;
}

void device_memory::note_written(const void* pointer, std::size_t bytes) {
  std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(pointer), end = begin + bytes;
  const std::lock_guard lock(mutex_);
  auto* const what = const_cast<allocation*>(holds(pointer) ? holder(begin) : nullptr);
  if (what == nullptr) return;
  what->version = ++versions_;
  if (what->number <= written_up_to_) return;
  auto& written = what->written;
  auto next = written.upper_bound(begin);
  if (next != written.begin() && std::prev(next)->second >= begin) --next;
  while (next != written.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = written.erase(next);
  }
  written[begin] = end;
}

void device_memory::note_all_written() {
  const std::lock_guard lock(mutex_);
  written_up_to_ = numbers_;
}

bool device_memory::may_be_written(const void* pointer, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  const allocation* const what = holder(begin);
  if (what == nullptr || what->number <= written_up_to_) return true;
  const auto next = what->written.lower_bound(begin + bytes);
  return next != what->written.begin() && std::prev(next)->second > begin;
}

// ---- protection

device_memory::range device_memory::pages_of(range bytes) const {
  const std::uintptr_t begin = bytes.begin / page_bytes_ * page_bytes_;
  return {begin, round_up(bytes.begin + bytes.bytes, page_bytes_) - begin};
}

// What kernels can touch: all of it, or under protection the pages of the usable part.
device_memory::range device_memory::touchable(const allocation& what) const {
  return protected_ ? pages_of(what.usable) : what.chunk;
}

void device_memory::show(const allocation& what) {
  const range pages = touchable(what);
  const int writes = protected_ && what.is_read_only ? 0 : PROT_WRITE;
  mprotect(bytes_at(pages.begin), pages.bytes, PROT_READ | writes);
}

void device_memory::open() {
  for (const auto& [address, what] : allocations_) show(what);
  closed_.clear();
}

void device_memory::close() {
  closed_.clear();
  for (const auto& [address, what] : allocations_) {
    mprotect(bytes_at(what.chunk.begin), what.chunk.bytes, PROT_NONE);
    closed_.push_back(what.chunk);
  }
}

void device_memory::protect() {
  const std::lock_guard lock(mutex_);
  protected_ = true;
  close();
  if (lifted_ > 0) open();
}

void device_memory::unprotect() {
  const std::lock_guard lock(mutex_);
  protected_ = false;
  open();
}

void device_memory::lift_protection(writes where) {
  const std::lock_guard lock(mutex_);
  if (where == writes::anywhere) version_of_all_ = ++versions_;
  if (lifted_++ == 0 && protected_) open();
}

void device_memory::restore_protection(writes where) {
  const std::lock_guard lock(mutex_);
  if (where == writes::anywhere) version_of_all_ = ++versions_;
  if (--lifted_ == 0 && protected_) close();
}

bool device_memory::is_lifted() const {
  const std::lock_guard lock(mutex_);
  return lifted_ > 0;
}

bool device_memory::open_after_fault(std::uintptr_t address) {
  if (!protected_ || lifted_ > 0) return false;
  for (const range& pages : closed_) {
    if (address - pages.begin < pages.bytes)
      return mprotect(bytes_at(pages.begin), pages.bytes, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

// ---- red zones

std::optional<std::string> device_memory::check_red_zones(std::uintptr_t address, const allocation& what) {
  // What is out of reach cannot be damaged, nor looked at.
  const range pages = touchable(what);
  const std::uintptr_t begin = std::max(what.chunk.begin, pages.begin);
  const std::uintptr_t end = std::min(what.chunk.begin + what.chunk.bytes, pages.begin + pages.bytes);
  unsigned char* const before = bytes_at(begin);
  unsigned char* const after = bytes_at(address + what.bytes);
  const std::size_t before_bytes = begin < address ? address - begin : 0;
  const std::size_t after_bytes = end > address + what.bytes ? end - (address + what.bytes) : 0;
  const std::size_t damage_before = first_damage(before, before_bytes);
  const std::size_t damage_after = first_damage(after, after_bytes);
  std::optional<std::string> result;
  if (damage_after < after_bytes) {
    result =
        format("wrote at offset %zu of an allocation of %zu bytes", what.bytes + damage_after, what.bytes);
  } else if (damage_before < before_bytes) {
    result = format("wrote at offset -%zu of an allocation of %zu bytes", before_bytes - damage_before,
                    what.bytes);
  }
  if (result) {
    std::memset(before, red_zone_byte, before_bytes);
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

std::size_t device_memory::used(int device) const {
  const std::lock_guard lock(mutex_);
  return used_[static_cast<std::size_t>(device)];
}

// ---- several devices

int device_memory::device_of(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const allocation* const what = holder(reinterpret_cast<std::uintptr_t>(pointer));
  return what == nullptr ? 0 : what->device;
}

void device_memory::hide_from(int device) {
  const std::lock_guard lock(mutex_);
  hidden_from_ = device;
  for (const auto& [address, what] : allocations_) {
    if (is_hidden(what)) mprotect(bytes_at(what.chunk.begin), what.chunk.bytes, PROT_NONE);
  }
}

void device_memory::show_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, what] : allocations_) {
    if (is_hidden(what)) show(what);
  }
  hidden_from_ = -1;
}

}  // namespace lab::emulator
