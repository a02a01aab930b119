#include "harness/device/verify/checked_launch.hpp"

#include <vector>

#include "common/stream.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/stage_call.hpp"

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

}  // namespace

// The emulator knows which allocation a stray access lies beside.
failure_record launch_failure(const cuda_error& error, failure_kind kind) {
  failure_record failure{.kind = kind, .found = diagnosis(error)};
  const bool beside = failure.found.find(" of an allocation of ") != std::string::npos;
  if (emulated && error.code() == cudaErrorIllegalAddress && beside)
    failure.kind = failure_kind::out_of_bounds;
  // A misaligned access changes nothing.
  if (emulated && error.code() != cudaErrorMisalignedAddress &&
      failure.found.find(", which a launch may only read") != std::string::npos)
    failure.kind = failure_kind::input_changed;
  return failure;
}

#if LAB_EMULATED
thread_order::thread_order(bool reversed, const block_order& order) : before_(emulator::configuration()) {
  emulator::options wanted = before_;
  wanted.reverse = before_.reverse != reversed;
  wanted.reverse_blocks = before_.reverse_blocks != (reversed && !order.blocks_wait);
  emulator::configure(wanted);
}
thread_order::~thread_order() {
  emulator::configure(before_);
}
#endif

bool waits_for_ever(const std::optional<failure_record>& failure) {
  return failure && failure->found.find("waits in a loop for ever") != std::string::npos;
}
bool other_bits(workload& work, int repetitions) {
  const std::uint64_t once = work.digest();
  for (int k = 0; k < repetitions; ++k) {
    work.poison();  // a launch that finds its answer in place must not pass for one that computed it
    work.launch();
    if (work.digest() != once) return true;
  }
  return false;
}

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

bool device_lost() noexcept {
  return cudaDeviceSynchronize() != cudaSuccess;
}

std::string trial_name(const parameter_values& parameters, const launch_setup& setup) {
  std::string text = text_of(parameters);
  text += std::string(text.empty() ? "" : " ") + "input=" + to_string(setup.input) +
          " seed=" + std::to_string(setup.seed);
  if (setup.fill != memory_fill::ones)
    text += std::string(", ") + memory_fill_names[static_cast<int>(setup.fill)];
  if (setup.reversed) text += ", last block and thread first";
  return text;
}

check_result launch_and_check(const std::function<void()>& prepare, const std::function<void()>& launch,
                              workload& work, bool reversed, cudaStream_t stream, const block_order& order) {
  const thread_order ordered(reversed, order);
  prepare();
  CUDA_CHECK(cudaStreamSynchronize(stream));
  try {
    launch();
  } catch (const cuda_error& error) {
    return {.failure = launch_failure(error, device_lost() ? failure_kind::crash : failure_kind::launch)};
  }
  try {
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } catch (const cuda_error& error) {
    return {.failure = launch_failure(error, failure_kind::crash)};
  }
  return work.check();
}

check_result run_and_check(const std::function<void()>& prepare, const std::function<void()>& launch,
                           workload& work, bool reversed, cudaStream_t stream, block_order& order) {
  check_result result = launch_and_check(prepare, launch, work, reversed, stream, order);
#if LAB_EMULATED
  if (reversed && !order.blocks_wait && waits_for_ever(result.failure)) {
    // In ascending order whoever it waits for has started.
    order.blocks_wait = true;
    emulator::reset();
    return launch_and_check(prepare, launch, work, reversed, stream, order);
  }
#endif
  return result;
}

check_result run_and_check(workload& work, const launch_setup& setup, cudaStream_t stream,
                           block_order* order) {
  const auto prepare = [&] {
    work.prepare(setup.input, setup.seed);
    if (setup.fill != memory_fill::ones) work.poison(setup.fill);
  };
  block_order own;
  return run_and_check(
      prepare, [&] { work.launch(); }, work, setup.reversed, stream, order == nullptr ? own : *order);
}

}  // namespace lab
