// Counts what a kernel asks of memory as its compiled code asks for it. Internal.
//
// The emulator observes the accesses of the source. A GPU's compiler merges neighbouring ones of a thread,
// and drops those whose value a register holds. Its code is read (compiled_code.hpp), and what was observed
// is counted in several readings at once: as it is written, with neighbours merged to the widths that the
// code has at their line, and with repetitions dropped besides. In the end the code says which of them is its
// own. How often each thread runs each block is unknown; that as many enter a block as leave it, and what the
// code cannot have changed (barriers, and lines of which all readings are the same), are equations. A reading
// of a line is taken if the figures that it makes, for each width, are those that the equations allow, and no
// other reading's are. Lines for which that is not so stay as they are written.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/emulator/observe/access_model.hpp"
#include "common/emulator/observe/compiled_code.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

// One access of lanes of a warp, as it was observed.
struct observed_request {
  std::uint32_t place = 0;
  unsigned warp = 0;
  unsigned lanes = 0;
  const std::uintptr_t* address = nullptr;  // of each lane
  memory_space space{};
  memory_operation operation{};
  unsigned bytes = 0;
  access_cost cost;
};

class compiled_counts {
 public:
  struct line {
    std::string file;
    int number = 0;
  };
  // Of a place in the program.
  using line_lookup = std::function<line(std::uint32_t)>;

  compiled_counts(const compiled_kernel& kernel, line_lookup lookup);
  ~compiled_counts();
  compiled_counts(const compiled_counts&) = delete;
  compiled_counts& operator=(const compiled_counts&) = delete;

  // Threads of the launch in all.
  void begin_launch(std::uint64_t threads);
  void begin_block();
  // The warp's accesses come in the order in which it makes them.
  void take(const observed_request& request);
  // Of `threads` threads; nothing where it is not known.
  void barrier_passed(std::optional<std::uint64_t> threads);
  void end_block();

  // What has been counted, for launches that are not computed again.
  struct totals;
  [[nodiscard]] std::shared_ptr<totals> snapshot() const;
  // Adds what was counted since `before` once more.
  [[nodiscard]] std::shared_ptr<totals> since(const totals& before) const;
  void add(const totals& more);

  using key = std::pair<memory_space, memory_operation>;
  struct result {
    // By place, what takes the place of its counters as written.
    std::map<std::pair<std::uint32_t, key>, memory_counters> counters;
    // Lines by file and number, whose accesses are all as compiled; the others are not in it.
    std::map<std::pair<std::string, int>, bool> as_compiled;
  };
  [[nodiscard]] result resolve() const;

 private:
  class engine;
  class registers;
  struct row;

  std::uint32_t slot_of(const observed_request& request);
  void forget();
  const access_cost& cost_of(memory_space space, unsigned lanes,
                             const std::array<std::uintptr_t, warp_lanes>& address, unsigned bytes);

  const compiled_kernel& kernel_;
  const line_lookup lookup_;
  std::unordered_map<std::uint64_t, std::uint32_t> slots_;  // by place, space and operation
  std::vector<std::unique_ptr<row>> rows_;                  // lines, by space and operation
  std::vector<std::size_t> row_of_slot_;
  std::vector<std::uint32_t> place_of_slot_;
  std::vector<std::unique_ptr<engine>> engines_;       // of each reading but the first
  std::vector<std::unique_ptr<registers>> registers_;  // of the two ways to forget
  std::array<std::array<unsigned, 3>, 2>
      allowed_{};  // widths that the code has anywhere, by space and operation
  struct {
    memory_space space{};
    unsigned lanes = 0, bytes = 0;
    std::array<std::uintptr_t, warp_lanes> address{};
    access_cost cost;
  } last_cost_;
  std::shared_ptr<totals> totals_;
};

}  // namespace lab::emulator
