// The host's clock for samples.
#pragma once

#include <chrono>
#include <cstdint>

namespace lab {

// Nanoseconds of a clock that is never set.
inline std::int64_t host_nanoseconds() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double host_seconds_since(std::int64_t start_nanoseconds) {
  return static_cast<double>(host_nanoseconds() - start_nanoseconds) * 1e-9;
}

}  // namespace lab
