// Counts what the lanes of a warp did, from how it was grouped. Internal.
#pragma once

#include <array>
#include <cstdint>

#include "common/emulator/observe/access_model.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

// Is told of every request as it was grouped.
class request_sink {
 public:
  virtual ~request_sink() = default;
  // One access of `lanes` of a warp, at address[lane].
  virtual void take_request(std::uint32_t place, unsigned warp, unsigned lanes, const std::uintptr_t* address,
                            memory_space space, memory_operation operation, unsigned bytes,
                            const access_cost& cost) = 0;
};

class warp_counter {
 public:
  // Null: nobody is told.
  void set_sink(request_sink* sink) { sink_ = sink; }
  [[nodiscard]] bool has_sink() const { return sink_ != nullptr; }
  void count(const warp_events& events, site_table& sites);

 private:
  struct affine_cost {
    packed_access head = 0;  // of lane 0, its address within 128 bytes; 0 is no entry
    std::uint64_t step = 0;  // from lane to lane
    std::uint64_t jump = 0;  // from lane 15 to lane 16
    access_cost cost;
  };

  void perform(unsigned group, std::uint32_t length, site_table& sites);
  void perform_together(std::uint32_t begin, std::uint32_t length, site_table& sites);
  void count_access(unsigned group, const packed_access* access, std::uint32_t code, site_table& sites);
  void tell_sink(std::uint32_t number, std::uint32_t code, const access_cost& cost);
  const access_cost& cost_of_steps(packed_access first, std::uint64_t step, std::uint64_t jump);

  const lane_stream* streams_ = nullptr;        // that are counted
  std::array<std::uint32_t, warp_lanes> at_{};  // next event of each lane
  unsigned warp_ = 0;
  request_sink* sink_ = nullptr;
  std::array<affine_cost, 4096> costs_;
};

}  // namespace lab::emulator
