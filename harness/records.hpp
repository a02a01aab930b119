// What the front and its workers tell each other of stages, devices and results: plain data, whose JSON is in
// protocol.hpp. Nothing here knows of CUDA.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/failure_kind.hpp"
#include "harness/parameter_value.hpp"

namespace lab {

// A worker answers `describe` with this number; the front refuses a worker built from other words.
inline constexpr int protocol_version = 2;

// ---------------------------------------------------------------------------------------------------------------
// Verification

// The first thing that was wrong. What is not known is empty. Values are text, so that "nan" and strings fit.
struct failure_record {
  failure_kind kind = failure_kind::wrong;
  std::optional<std::int64_t> index;  // of the first bad output
  std::string expected;
  std::string found;
  std::string block;      // that computed the output, such as "12" or "(12, 0, 3)"
  std::string thread;     // within the block
  std::string test_case;  // "case" in JSON: the input and parameters that showed it
};

struct verification_record {
  bool passed = false;
  std::int64_t cases = 0;     // inputs that were tried
  std::int64_t compared = 0;  // outputs compared with the reference
  double largest_error = 0;   // as a fraction of its bound: at most 1 when passed; may be NaN when not
  double relative_error = 0;  // at the measured size: the largest, as a fraction of the output's own scale
  double relative_bound = 0;  // what of that scale is allowed at the measured size; 0 asks for equality
  bool reproducible = true;   // the same bits in every run; false: declared, and checked, not to be
  std::vector<std::uint64_t> seeds;  // of the inputs
  bool failed_as_expected = false;   // of an expected failure: it failed, and in a way that it says
  double declared_bound = 0;  // a larger error than the default that the stage declares; 0: the default holds
  std::int64_t trials = 0;    // that the track has for the stage
  std::int64_t skipped = 0;   // of them: the stage called them unsupported, or wanted too much memory
  std::int64_t kept_bytes = 0;  // device memory that the stage keeps between launches
  double longest_trial = 0;     // of the trials, in seconds of the process's processor time
  std::optional<failure_record> failure;
};

// ---------------------------------------------------------------------------------------------------------------
// Timing

// What the L2 cache holds when a sample begins; `none` where there is no such cache (the emulator).
enum class cache_state { cold, warm, none };
inline constexpr const char* cache_state_names[] = {"cold", "warm", "none"};
inline std::string to_string(cache_state state) {
  return cache_state_names[static_cast<int>(state)];
}

// How the sampler decides how many samples to take.
struct sampling_options {
  std::int64_t minimum_samples = 10;
  double time_limit_seconds = 0.5;
  double spread_target = 0.005;  // inter-quartile range over median at which ten samples are enough
  std::int64_t warmups = 3;
  cache_state l2 = cache_state::cold;
};

// The SM clock during the samples, in MHz.
struct clock_record {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};

// A median that may be wrong by more than this part of itself is unstable (docs/measuring.md): most steps of
// a ladder are larger.
inline constexpr double unstable_spread = 0.03;
// How far a median of samples may be from the one of infinitely many, as a part of it: 1.57 times the spread
// over the root of their number, the notch of a box plot (McGill, Tukey and Larsen, Variations of Box Plots,
// 1978), which holds in some 95 of 100 cases.
inline double uncertainty_of_median(double spread, std::size_t samples) {
  return samples == 0 ? 0 : 1.57 * spread / std::sqrt(static_cast<double>(samples));
}

// The time of one launch, in nanoseconds.
struct timing_record {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  double lower_quartile = 0;  // a quarter of the samples is faster
  double upper_quartile = 0;  // a quarter is slower
  double interquartile_range = 0;
  double spread = 0;            // interquartile_range / median
  std::vector<double> samples;  // in the order taken, each already divided by launches_per_sample
  std::int64_t launches_per_sample = 1;
  std::string method = "events";  // or "graph", "host clock"
  cache_state l2 = cache_state::cold;
  std::string stopped_by = "spread";  // or "time limit", "sample limit"
  std::optional<clock_record> sm_clock_mhz;
  bool unstable = false;     // throttled, or its median's uncertainty is above unstable_spread
  std::int64_t retried = 0;  // samples thrown away because the clock fell
  double preparation = 0;    // nanoseconds of the host's clock that the stage's preparation took, once
};

// What the link between two GPUs of a group does: a copy from the second's memory to the first's.
struct link_record {
  bool direct = false;     // without peer access the copy goes through the host's memory
  std::int64_t bytes = 0;  // of a copy that is long enough to show the link's bandwidth
  timing_record timing;
  timing_record of_8_bytes;  // a copy's latency
};

// A roof of the speed of light: the fewest bytes that the track's problem must move, moved by a plain copy
// (or read); or its fewest operations, done by a kernel that does nothing else.
struct ceiling_record {
  std::string kind = "copy";  // or "read", "write"; of operations, their unit: "fp32", "tensor"
  std::string operation;      // the fastest of those tried: "memcpy", "copy kernel, 4 x 16 bytes a thread"
  std::int64_t bytes = 0;     // the fewest bytes, read and written together
  double operations = 0;      // the fewest operations; 0: a roof of bytes
  bool cached = false;        // so few that the L2 cache has a hand in it: no measure of the memory
  timing_record timing;
  std::optional<link_record> link;  // where the bytes are spread over several GPUs
};

// ---------------------------------------------------------------------------------------------------------------
// Counters

// By Nsight Compute's names; names that begin with lab__ are the lab's own.
using metric_values = std::map<std::string, double>;

// The counters of one line of the source. A line of an inlined or generic function may appear once per
// function.
struct line_record {
  std::string file;  // from the repository's root
  std::int64_t line = 0;
  std::string function;
  metric_values metrics;
};

struct kernel_record {
  std::string name;
  std::int64_t launches = 0;
  metric_values metrics;  // of all launches together
  std::vector<line_record> lines;
};

// What the kernels of one run of a stage did.
struct profile_record {
  bool modelled = true;  // by the emulator; false: measured by a GPU's counters
  std::vector<kernel_record> kernels;
  std::vector<std::string> diagnostics;  // what was wrong, and what need not work on a GPU
  std::map<std::string, std::string>
      sources;  // the text of each file that `lines` name, where it could be read
};

// ---------------------------------------------------------------------------------------------------------------
// Description

struct device_record {
  std::string id;                  // "cuda:0" or "emulator"
  std::string name;                // "NVIDIA H200", or the host's processor
  std::string compute_capability;  // "9.0"; empty on the emulator, as are all fields below
  std::string driver;              // "580.65.06 (CUDA 13.0)"
  std::string toolkit;             // of the runtime in use: "13.0"
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> l2_bytes;
  std::optional<double> sm_clock_mhz;  // the highest that the device allows
  std::optional<double> memory_clock_mhz;
};

inline bool is_emulator(const device_record& device) {
  return device.id == "emulator";
}

// How a worker was built.
struct build_record {
  std::string compiler;
  std::string flags;
};

// One parameter of a track. Defaults are those of the worker's own device; several values are a sweep.
struct parameter_description {
  std::string name;
  std::string meaning;
  parameter_kind kind = parameter_kind::whole;
  parameter_value minimum = 0;  // of numbers
  parameter_value maximum = std::numeric_limits<std::int64_t>::max();
  std::vector<parameter_value> choices;      // empty: any number from the minimum up
  std::vector<std::int64_t> choice_numbers;  // by which words were once known, and may be given; or empty
  std::vector<parameter_value> verify_defaults;
  std::vector<parameter_value> bench_defaults;
};

// True, false, or a number.
using trait_value = std::variant<bool, std::int64_t>;

struct stage_description {
  std::string name;  // "02_tree"
  std::string path;  // "track/02_tree"
  std::string idea;
  std::map<std::string, trait_value> traits;
  std::string needs;             // "GPU, compute capability 9.0"; empty when nothing special
  bool library = false;          // somebody else's kernel, there to be compared with
  std::string expected_failure;  // wrong on purpose: how it must fail; empty for a stage that must be right
  bool runnable = true;          // on the worker's device
  std::string why_not;
  std::string broken;  // what its worker did instead of describing it; the front alone knows
};

// A text of a person's own that `apply` of a track takes beside parameters, as an option of this name.
struct text_description {
  std::string name;
  std::string meaning;
  bool is_file = false;  // the name of one
};

// Stages come in the order of their ladder.
struct track_description {
  std::string name;
  std::string title;
  std::string unit;         // what an output is: "float", "row"
  std::int64_t inputs = 1;  // files that `apply` needs
  bool draws =
      false;  // its output is an image, and `apply` draws a second: the difference from what is right
  std::vector<parameter_description> parameters;
  std::vector<text_description> texts = {};
  std::vector<stage_description> stages;
};

// The answer to `describe`. A worker without a device still describes its tracks and says why there is none.
struct worker_description {
  int protocol = protocol_version;
  std::optional<device_record> device;
  std::string no_device;
  build_record build;
  std::vector<track_description> tracks;
};

}  // namespace lab
