// The speed of light: what the plain operations take that move as many bytes as a stage must.
#pragma once

#include <optional>

#include "common/cuda.hpp"
#include "harness/device/track.hpp"
#include "harness/records.hpp"

namespace lab {

// Times the plain operations that move `need.bytes` (the runtime's own, and kernels of several shapes), and
// returns the fastest. Throws memory_error, before allocating, when it does not fit.
ceiling_record measure_ceiling(const ceiling_need& need, const sampling_options& sampling,
                               cudaStream_t stream);

// Times the fewest operations in a kernel that does nothing else, scaled from those that its threads share
// out. Nothing where the problem names none.
std::optional<ceiling_record> measure_arithmetic(const ceiling_need& need, const sampling_options& sampling,
                                                 cudaStream_t stream);

}  // namespace lab
