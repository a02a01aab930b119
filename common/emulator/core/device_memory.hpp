// The memory of the emulated devices. Internal.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/core/devices.hpp"

namespace lab::emulator {

// Allocations live in one reserved range of addresses, each on pages of its own between two inaccessible
// pages. An allocation ends where its last page does, but for the 256 bytes of its alignment: what is left of
// its pages are red zones. Fresh memory is filled with a pattern, so that nobody takes it for zeros (in a
// program that is not observed it is zero, as a GPU's often is). Freed memory is unmapped, and its addresses
// come round again only after the whole range has been used: a later access faults.
//
// While a launch is watched, allocations are inaccessible but for the duration of a runtime_access, and what
// narrow() has taken away stays so.
class device_memory {
 public:
  static constexpr unsigned char fresh_byte = 0xcd;
  static constexpr unsigned char red_zone_byte = 0xfd;
  static constexpr std::size_t alignment = 256;

  static device_memory& instance();

  // Memory of one device, of its pool or of none; null if it does not suffice.
  void* allocate(std::size_t bytes, int device = 0, const void* pool = nullptr);
  // False if `pointer` is not the beginning of an allocation.
  bool release(void* pointer);

  // Whether the address lies in the device's range, allocated or not, or in a registered symbol.
  bool owns(const void* pointer) const;
  // As owns(), without the symbols.
  bool holds(const void* pointer) const {
    return reinterpret_cast<std::uintptr_t>(pointer) - begin_ < end_ - begin_;
  }
  // Why [pointer, pointer + bytes) is not within one allocation; empty if it is.
  std::optional<std::string> complaint(const void* pointer, std::size_t bytes) const;
  void add_symbol(const void* symbol, std::size_t bytes);

  // The part of an allocation that kernels may touch.
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  // By address.
  std::vector<range> usable_ranges() const;
  // The same, each with a number that is another one as soon as anybody but a kernel may have written there.
  // Of managed memory, which host code writes unseen, it says nothing.
  struct versioned_range {
    range bytes;
    std::uint64_t version;
  };
  std::vector<versioned_range> usable_versions() const;
  // Kernels of a watched launch may only read the allocation that holds the address.
  void forbid_writes(const void* pointer);
  bool is_read_only(const void* pointer) const;
  // But the runtime's own functions may write where they are asked to.
  void let_runtime_write(const void* pointer);
  // Takes [pointer, pointer + bytes) for all that kernels may touch of the allocation that holds it.
  void narrow(const void* pointer, std::size_t bytes);
  // All addresses that device memory can have.
  range addresses() const { return {begin_, end_ - begin_}; }
  // Where the address lies, in words: "at offset 8 of an allocation of 8 bytes".
  std::string describe(const void* pointer) const;

  // Managed memory, which host code may touch as kernels do; `pointer` is the beginning of an allocation.
  void set_managed(const void* pointer);
  bool is_managed(const void* pointer) const;

  // Page-locked host memory, which kernels may touch as well.
  void add_mapped(const void* pointer, std::size_t bytes);
  void remove_mapped(const void* pointer);
  bool is_mapped(const void* pointer) const;
  std::vector<range> mapped_ranges() const;
  // Whether the process has memory there, and the device has not.
  bool is_host_memory(const void* pointer) const;

  // What the runtime has written, and what kernels may have that nobody has watched: all there is now.
  void note_written(const void* pointer, std::size_t bytes);
  void note_all_written();
  // Whether that holds any byte of [pointer, pointer + bytes).
  bool may_be_written(const void* pointer, std::size_t bytes) const;

  // Host code may touch no device memory from here on, until unprotect().
  void protect();
  void unprotect();
  // Between them kernels, and the runtime, may touch what is theirs. They nest. `writes` is `anywhere` for
  // who does not tell by note_written() where.
  enum class writes { as_noted, anywhere };
  void lift_protection(writes where);
  void restore_protection(writes where);
  bool is_lifted() const;
  // Managed memory, and all device memory while the runtime or a library works on it for the host.
  bool host_may_touch(const void* pointer) const { return is_lifted() || is_managed(pointer); }
  // Makes the allocation accessible that holds the address, in which host code has faulted; false if
  // protection is not the reason. Called by a signal handler, so it takes no lock.
  bool open_after_fault(std::uintptr_t address);

  // The first damage found in a red zone, and the zones made whole again; empty if there is none.
  std::optional<std::string> check_red_zones();

  void set_capacity(std::size_t bytes);
  // Of each device.
  std::size_t capacity() const;
  std::size_t used(int device) const;

  // The device of the allocation that holds the address; 0 where none does.
  int device_of(const void* pointer) const;
  // Between them nobody may touch what kernels of `device` may not.
  void hide_from(int device);
  void show_all();

 private:
  struct allocation {
    std::size_t bytes;  // as asked for
    range chunk;        // with red zones, in whole pages
    range usable;
    std::uint64_t number;  // counts allocations
    int device;
    const void* pool;  // null: of cudaMalloc()
    std::uint64_t version;
    bool is_read_only = false;
    bool is_managed = false;
    std::map<std::uintptr_t, std::uintptr_t>
        written{};  // beginnings and ends of what the runtime has written
  };
  struct freed {
    std::size_t bytes;
    range chunk;
  };
  bool is_hidden(const allocation& what) const {
    return hidden_from_ >= 0 && !may_access(hidden_from_, what.device, what.pool);
  }

  const allocation* holder(std::uintptr_t address) const;

  device_memory();
  std::uintptr_t find_gap(std::size_t bytes) const;
  std::optional<std::string> check_red_zones(std::uintptr_t address, const allocation& what);
  range pages_of(range bytes) const;
  range touchable(const allocation& what) const;
  // What kernels can touch becomes accessible, as they may use it.
  void show(const allocation& what);
  void open();
  void close();

  mutable std::mutex mutex_;
  std::uintptr_t begin_ = 0, end_ = 0;  // the reserved range
  std::uintptr_t next_ = 0;             // where the search for a gap begins
  std::size_t page_bytes_;
  std::size_t capacity_;
  std::array<std::size_t, max_devices> used_{};
  int hidden_from_ = -1;                              // the device whose kernels run, where there are others
  std::map<std::uintptr_t, allocation> allocations_;  // by the address handed out
  std::map<std::uintptr_t, freed> freed_;             // until their addresses come round again
  std::map<std::uintptr_t, std::size_t> symbols_;
  std::map<std::uintptr_t, std::size_t> mapped_;
  std::uint64_t numbers_ = 0;
  std::uint64_t versions_ = 0, version_of_all_ = 0;
  std::uint64_t written_up_to_ = 0;  // allocations up to this number may be written anywhere
  bool protected_ = false;
  std::atomic<bool> has_managed_{false};  // ever
  int lifted_ = 0;                        // runtime accesses under way
  std::vector<range> closed_;             // what host code may not touch, for the signal handler
};

// The runtime touches device memory in this scope: watched launches may, through the runtime.
class runtime_access {
 public:
  runtime_access() { device_memory::instance().lift_protection(device_memory::writes::as_noted); }
  runtime_access(const runtime_access&) = delete;
  runtime_access& operator=(const runtime_access&) = delete;
  ~runtime_access() { device_memory::instance().restore_protection(device_memory::writes::as_noted); }
};

}  // namespace lab::emulator
