// A memory resource that watches over another one, for launches that are checked and not timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/memory.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/memory_fill.hpp"
#include "harness/records.hpp"

namespace lab {

// Hands out memory of `upstream` between two guard zones, all of it poisoned (0xff, a byte that occurs in no
// UTF-8 text), and keeps account. Memory that is given back is poisoned again and kept for a while, so that a
// late write shows. Waits for the device at every deallocation: not for launches that are timed or captured.
class checked_resource final : public memory_resource {
 public:
  static constexpr std::size_t guard_bytes = 16 * 1024;
  static constexpr unsigned char poison = 0xff;

  // `upstream` outlives this.
  checked_resource(memory_resource& upstream, cudaStream_t stream);
  ~checked_resource() override;

  void* allocate(std::size_t bytes, cudaStream_t stream) override;
  void deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept override;

  // What later allocations hold when they are handed out; the guards are as always.
  void fill_with(memory_fill fill) { fill_ = fill; }
  [[nodiscard]] memory_fill fill() const { return fill_; }

  // Bytes of the allocation that begins at `pointer`; nothing when it was not handed out here, or given back.
  [[nodiscard]] std::optional<std::size_t> bytes_of(const void* pointer) const;

  // Waits, and returns the first thing that was wrong since the last release_all(). Everything but `kept`
  // must have been given back.
  std::optional<failure_record> check(const std::vector<const void*>& kept);

  // Gives everything back to the upstream, leaked or not, and forgets what was wrong.
  void release_all() noexcept;

 private:
  struct block {
    unsigned char* whole;  // from the first guard on
    std::size_t bytes;     // between the guards
    cudaStream_t stream;
  };

  static constexpr std::size_t most_at_once = 256;

  static std::size_t whole_bytes(const block& one) { return one.bytes + 2 * guard_bytes; }
  void complain(failure_kind kind, const std::string& found, const char* expected = "");
  struct stretch {
    const unsigned char* bytes;
    std::size_t count;
  };
  // Of each stretch the first byte that is not the poison, or its count. Waits once for `most_at_once` of
  // them.
  std::vector<std::size_t> first_changed(const std::vector<stretch>& all);
  // Complains about what was written to since it was poisoned: the guards of some blocks, and all of those
  // that were given back.
  void look_for_writes(const std::vector<block>& guards, const std::vector<block>& given_back);
  // Lets go of what was given back, and has been checked.
  void empty_quarantine() noexcept;
  void give_up(const block& one) noexcept;

  memory_resource& upstream_;
  cudaStream_t stream_;
  device_buffer<std::int64_t> found_;
  std::map<const void*, block> live_;  // by the address handed out
  std::vector<block> quarantine_;
  std::size_t quarantined_bytes_ = 0;
  std::optional<failure_record> first_failure_;
  memory_fill fill_ = memory_fill::ones;
};

}  // namespace lab
