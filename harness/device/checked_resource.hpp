// A memory resource that watches over another one, for launches that are checked and not timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/memory_resource.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/records.hpp"

namespace lab {

// Hands out memory between two guard zones, all of it poisoned (0xff, a byte that occurs in no UTF-8 text),
// and keeps account. Memory that is given back is poisoned again and kept for a while, so that a late write
// shows. Waits for the device at every deallocation: not for launches that are timed or captured.
class checked_resource final : public memory_resource {
 public:
  explicit checked_resource(cudaStream_t stream);

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

  // Gives everything back, leaked or not, and forgets what was wrong.
  void release_all() noexcept;

 private:
  static constexpr std::size_t most_at_once = 256;

  void complain(failure_kind kind, const std::string& found, const char* expected = "");
  // Calls look(k, where to note what it finds) for every k < count, and take(k, what was found) once it is
  // known: two numbers each. Waits once for `most_at_once` of them.
  void find_all(std::size_t count, const std::function<void(std::size_t, std::int64_t*)>& look,
                const std::function<void(std::size_t, const std::int64_t*)>& take);
  // Complains about writes beside allocations, and about what was written to after it was given back.
  void look_at_guards(const std::vector<const guarded_buffer*>& of);
  void look_at_quarantine();

  cudaStream_t stream_;
  device_buffer<std::int64_t> found_;
  std::map<const void*, guarded_buffer> live_;  // by the address handed out
  std::vector<guarded_buffer> quarantine_;
  std::size_t quarantined_bytes_ = 0;
  std::optional<failure_record> first_failure_;
  memory_fill fill_ = memory_fill::ones;
};

}  // namespace lab
