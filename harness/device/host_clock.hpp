// The host's clock for samples, which a stage cannot define away (system_call.hpp).
#pragma once

#include <cstdint>
#include <ctime>

#include "harness/device/system_call.hpp"

namespace lab {

// Nanoseconds of CLOCK_MONOTONIC. A call costs about 0.3 us: it goes round the C library and the vDSO.
[[gnu::always_inline]] inline std::int64_t host_nanoseconds() {
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[gnu::always_inline]] inline double host_seconds_since(std::int64_t start_nanoseconds) {
  return static_cast<double>(host_nanoseconds() - start_nanoseconds) * 1e-9;
}

}  // namespace lab
