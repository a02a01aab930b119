// What the warps of one block ask of memory, request by request: the addresses behind the counters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

// The array, or the __shared__ variable, in which a request's first address lies.
struct touched_array {
  std::string name;          // of a __shared__ variable; of device memory there is none
  std::uintptr_t begin = 0;  // an address
  std::uint64_t bytes = 0;
};

// One access of a warp, as it was grouped.
struct logged_request {
  std::uint32_t place = 0;  // offset into the program's code
  std::uint32_t warp = 0;   // within the block
  std::uint32_t phase = 0;  // block barriers passed before
  std::uint32_t lanes = 0;  // a bit for each that takes part
  memory_space space{};
  memory_operation operation{};
  std::uint32_t bytes = 0;                           // of each lane
  std::array<std::uintptr_t, warp_lanes> address{};  // of each of `lanes`
  access_cost cost;
  touched_array array;
};

// What a place in the program does between two barriers, summed over the block's warps.
struct logged_activity {
  std::uint64_t requests = 0;
  access_cost cost;
  std::vector<std::uint32_t> lanes;  // that took part, by warp
  touched_array array;               // of the first request
  std::uintptr_t lowest = 0;         // address
  std::uintptr_t end = 0;            // behind the highest byte
};

// The log of one block of one kernel. Bounded: of each place in the program the first requests of every warp.
class access_log {
 public:
  static constexpr std::uint32_t max_requests = 256;  // of a warp at one place
  static constexpr std::uint32_t max_phases = 4096;   // later ones are counted and not kept

  using activity_key = std::pair<memory_space, memory_operation>;
  using activities = std::map<std::pair<std::uint32_t, activity_key>, logged_activity>;

  access_log(std::uint64_t block, unsigned warps) : block_(block), warps_(warps) {}

  void barrier_passed() { ++phase_; }
  // `array` is in which array the first lane's address lies.
  void add(logged_request request);

  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] unsigned warps() const { return warps_; }
  [[nodiscard]] const std::vector<logged_request>& requests() const { return requests_; }
  // By phase, each by place, space and operation.
  [[nodiscard]] const std::vector<activities>& phases() const { return phases_; }
  [[nodiscard]] std::uint64_t phase_count() const { return std::uint64_t{phase_} + 1; }
  // Requests of `warp` at `place`, kept or not.
  [[nodiscard]] std::uint64_t count_of(std::uint32_t place, std::uint32_t warp) const;

 private:
  std::uint64_t block_;
  unsigned warps_;
  std::uint32_t phase_ = 0;
  std::vector<logged_request> requests_;
  std::vector<activities> phases_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts_;  // by place and warp
};

}  // namespace lab::emulator
