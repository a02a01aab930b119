#include "common/emulator/observe/access_log.hpp"

#include <algorithm>
#include <bit>

namespace lab::emulator {

void access_log::add(logged_request request) {
  request.phase = phase_;
  if (phase_ < max_phases) {
    if (phases_.size() <= phase_) phases_.resize(phase_ + 1);
    logged_activity& activity = phases_[phase_][{request.place, {request.space, request.operation}}];
    if (activity.requests == 0) {
      activity.lanes.resize(warps_);
      activity.array = request.array;
      activity.lowest = ~std::uintptr_t{0};
    }
    ++activity.requests;
    activity.cost.units += request.cost.units;
    activity.cost.least += request.cost.least;
    if (request.warp < warps_) activity.lanes[request.warp] |= request.lanes;
    for (std::uint32_t left = request.lanes; left != 0; left &= left - 1) {
      const std::uintptr_t address = request.address[static_cast<unsigned>(std::countr_zero(left))];
      activity.lowest = std::min(activity.lowest, address);
      activity.end = std::max(activity.end, address + request.bytes);
    }
  }
  if (++counts_[{request.place, request.warp}] <= max_requests) requests_.push_back(std::move(request));
}

std::uint64_t access_log::count_of(std::uint32_t place, std::uint32_t warp) const {
  const auto found = counts_.find({place, warp});
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace lab::emulator
