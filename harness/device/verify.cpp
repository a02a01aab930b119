#include "harness/device/verify.hpp"

#include <algorithm>

#include "common/memory.hpp"
#include "common/stream.hpp"
#if LAB_EMULATED
#include "common/emulator/emulator.hpp"
#endif

namespace lab {
namespace {

// What the device has to say about the launch that failed, beyond its error code.
std::string diagnosis(const cuda_error& error) {
  std::string text = std::string(cudaGetErrorName(error.code())) + ": ";
#if LAB_EMULATED
  const std::vector<std::string> lines = emulator::take_diagnostics();
  for (const std::string& line : lines) text += (&line == lines.data() ? "" : "; ") + line;
  if (!lines.empty()) return text;
#endif
  return text + cudaGetErrorString(error.code());
}

bool shows_drift(pattern kind) {
  return kind == pattern::spikes;
}
bool shows_leaks(pattern kind) {
  return kind == pattern::nonfinite;
}

// Launches on one input after which a nondeterministic stage must have shown that it is.
constexpr int most_repetitions = 20;

// True when one of `repetitions` more launches changes a bit of the outputs.
bool other_bits(workload& work, int repetitions) {
  const std::uint64_t once = work.digest();
  for (int k = 0; k < repetitions; ++k) {
    work.poison();  // a launch that finds its answer in place must not pass for one that computed it
    work.launch();
    if (work.digest() != once) return true;
  }
  return false;
}

// Launches through a captured graph: what a launch does beside its stream (on another stream, on the default
// one, by allocating or waiting) is refused by the capture or missing from the replay. A stage that declares
// `synchronises` must be refused.
std::optional<failure_record> check_capture([[maybe_unused]] workload& work,
                                            [[maybe_unused]] bool synchronises,
                                            [[maybe_unused]] cudaStream_t stream) {
#if LAB_EMULATED
  return std::nullopt;
#else
  // Once as it will be captured: what only the first launch needs (a library's set-up, memory that is kept)
  // is there afterwards.
  work.poison();
  work.launch();
  CUDA_CHECK(cudaStreamSynchronize(stream));
  work.poison();
  try {
    const graph captured(stream, [&] { work.launch(); });
    if (synchronises) {
      return failure_record{.kind = failure_kind::wrong,
                            .expected = "a stage that declares synchronises",
                            .found = "a stage that a graph can hold"};
    }
    work.poison();
    captured.replay(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } catch (const cuda_error& error) {
    if (synchronises && !device_lost()) return std::nullopt;
    return failure_record{.kind = failure_kind::launch,
                          .found = "a launch must only enqueue work on its stream: " + diagnosis(error)};
  }
  check_result replayed = work.check();
  if (replayed.failure) {
    replayed.failure->found +=
        " (when replayed as a graph: did the launch enqueue everything on its stream?)";
  }
  return std::move(replayed.failure);
#endif
}

}  // namespace

bool device_lost() noexcept {
  return cudaDeviceSynchronize() != cudaSuccess;
}

std::string trial_name(const parameter_values& parameters, pattern kind, std::uint64_t seed) {
  std::string text;
  for (const auto& [name, value] : parameters) text += name + "=" + std::to_string(value) + " ";
  return text + "input=" + to_string(kind) + " seed=" + std::to_string(seed);
}

std::string failure_message(const failure_record& failure) {
  const std::string index = failure.index ? std::to_string(*failure.index) : "?";
  std::string text;
  switch (failure.kind) {
    case failure_kind::wrong:
      text = (failure.index ? "wrong at index " + index + ": " : "") + "expected " + failure.expected +
             ", found " + failure.found;
      break;
    case failure_kind::unwritten:
      text = "output " + index + " was never written";
      break;
    case failure_kind::out_of_bounds:
      text = "out of bounds: " + failure.found + (failure.index ? ", index " + index : "");
      break;
    case failure_kind::input_changed:
      text = "changed its input at index " + index;
      break;
    case failure_kind::launch:
      text = "the launch was refused: " + failure.found;
      break;
    case failure_kind::crash:
      text = "crashed: " + failure.found;
      break;
    case failure_kind::race:
      text = "race: " + failure.found;
      break;
    case failure_kind::uninitialised:
      text = "uninitialised: " + failure.found;
      break;
    case failure_kind::unsupported:
    case failure_kind::hang:
      text = to_string(failure.kind) + ": " + failure.found;
      break;
  }
  if (!failure.block.empty()) text += ", block " + failure.block;
  if (!failure.thread.empty()) text += ", thread " + failure.thread;
  if (!failure.test_case.empty()) text += " (" + failure.test_case + ")";
  return text;
}

std::string announcement(const stage_entry& stage) {
  std::string text;
  for (const announced_failure& one : stage.traits.specimen.failures) {
    text += (text.empty() ? "" : ", or ") + to_string(one.kind);
    if (*one.words != '\0') text += std::string(": \"") + one.words + "\"";
  }
  return text;
}

bool is_announced(const stage_entry& stage, const failure_record& failure) {
  const std::string message = failure_message(failure);
  const auto& announced = stage.traits.specimen.failures;
  return std::any_of(announced.begin(), announced.end(), [&](const announced_failure& one) {
    return one.kind == failure.kind && message.find(one.words) != std::string::npos;
  });
}

std::string why_not_runnable(const stage_entry& stage) {
  const specimen& fault = stage.traits.specimen;
  if (fault) {
    const std::string hidden = emulated ? fault.hidden_on_emulator : fault.hidden_on_gpu;
    if (!hidden.empty()) return "is a specimen whose fault does not show here: " + hidden;
  }
  if (emulated) {
    return stage.traits.gpu_only ? "needs a GPU: it uses what the emulator does not model" : "";
  }
  if (stage.traits.minimum_compute_capability == 0) return "";
  int device = 0;
  int major = 0;
  int minor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  const int found = 10 * major + minor;
  const int needed = stage.traits.minimum_compute_capability;
  if (found >= needed) return "";
  const auto text = [](int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  };
  return "needs compute capability " + text(needed) + ", and this device has " + text(found);
}

void require_runnable(const stage_entry& stage) {
  if (const std::string why = why_not_runnable(stage); !why.empty())
    throw unsupported_error(stage.path + " " + why);
}

check_result run_and_check(workload& work, pattern kind, std::uint64_t seed, cudaStream_t stream) {
  work.prepare(kind, seed);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  try {
    work.launch();
  } catch (const cuda_error& error) {
    const bool refused = !device_lost();
    return {.failure = failure_record{.kind = refused ? failure_kind::launch : failure_kind::crash,
                                      .found = diagnosis(error)}};
  }
  try {
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } catch (const cuda_error& error) {
    return {.failure = failure_record{.kind = failure_kind::crash, .found = diagnosis(error)}};
  }
  return work.check();
}

verification_record verify(const stage_entry& stage, std::uint64_t seed, bool thorough, cudaStream_t stream) {
  const track& its_track = track_of(stage);
  verification_record record{.passed = true, .reproducible = !stage.traits.nondeterministic, .seeds = {seed}};
  bool tried_drift = false;
  bool tried_leaks = false;
  bool showed_drift = false;
  bool showed_leaks = false;
  bool tried_capture = false;
  // The emulator runs blocks in an order of its own, the same every time.
  const bool try_other_bits = stage.traits.nondeterministic && thorough && !emulated;
  bool showed_other_bits = false;
  std::int64_t too_large = 0;
  for (const trial& one : its_track.trials(stage, thorough)) {
    if (!its_track.unsupported(stage, one.parameters).empty()) continue;
    const bool may_drift = stage.traits.drifts && shows_drift(one.input);
    const bool may_leak = stage.traits.leaks_nonfinite && shows_leaks(one.input);
    std::unique_ptr<workload> work;
    try {
      work = its_track.make(stage, one.parameters, stream);
    } catch (const memory_error&) {
      ++too_large;  // a trial beyond this device's memory is no fault of the stage
      continue;
    }
    check_result result = run_and_check(*work, one.input, seed, stream);
    ++record.cases;
    record.compared += result.compared;
    tried_drift |= may_drift;
    tried_leaks |= may_leak;
    // A trait excuses what comes after the first rare value, and nothing before it.
    if (result.failure && result.failure->kind == failure_kind::wrong && (may_drift || may_leak) &&
        *result.failure->index >= result.clean_outputs) {
      showed_drift |= may_drift;
      showed_leaks |= may_leak;
      continue;
    }
    record.largest_error = std::max(record.largest_error, result.largest_error);
    if (!result.failure && !stage.traits.nondeterministic && other_bits(*work, 1)) {
      result.failure = failure_record{.kind = failure_kind::wrong,
                                      .expected = "the same bits as the run before",
                                      .found = "other bits, and the stage is not declared nondeterministic"};
    }
    if (!result.failure && !tried_capture && work->capturable()) {
      tried_capture = true;
      if (auto failure = check_capture(*work, stage.traits.synchronises, stream))
        result.failure = std::move(*failure);
    }
    if (!result.failure && try_other_bits && !showed_other_bits)
      showed_other_bits = other_bits(*work, most_repetitions);
    if (result.failure) {
      record.passed = false;
      record.failure = std::move(result.failure);
      record.failure->test_case = trial_name(one.parameters, one.input, seed);
      record.as_announced = is_announced(stage, *record.failure);
      if (stage.traits.specimen && !record.as_announced) {
        record.failure =
            failure_record{.kind = failure_kind::wrong,
                           .expected = "a specimen that fails as it announces (" + announcement(stage) + ")",
                           .found = "another failure: " + failure_message(*record.failure)};
      }
      return record;
    }
  }
  const auto hollow = [&](const char* trait, const char* inputs) {
    record.passed = false;
    record.failure =
        failure_record{.kind = failure_kind::wrong,
                       .expected = std::string("a stage that declares ") + trait,
                       .found = std::string("a stage that is right on every input with ") + inputs};
  };
  if (thorough && tried_drift && !showed_drift) hollow("drifts", to_string(pattern::spikes));
  if (thorough && tried_leaks && !showed_leaks) hollow("leaks_nonfinite", to_string(pattern::nonfinite));
  if (try_other_bits && !showed_other_bits && record.cases > 0) {
    record.passed = false;
    record.failure =
        failure_record{.kind = failure_kind::wrong,
                       .expected = "a stage that declares nondeterministic",
                       .found = "a stage that gives the same bits on every input and in every run"};
  }
  if (stage.traits.specimen && record.cases > 0) {
    record.passed = false;
    record.failure =
        failure_record{.kind = failure_kind::wrong,
                       .expected = "a specimen that fails as it announces (" + announcement(stage) + ")",
                       .found = "a stage that is right on every input"};
  }
  if (record.cases == 0)
    throw unsupported_error(stage.path + ": none of the trials could be run" +
                            (too_large > 0 ? ": too little memory" : ""));
  return record;
}

}  // namespace lab
