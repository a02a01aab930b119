// One launch of a stage, and everything that is judged of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/device/track.hpp"
#include "harness/failure_message.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

namespace lab {

// How one launch is set up. On the emulator the blocks of a grid and the threads of a block run first to last
// or, `reversed`, last to first: a missing barrier may be right in one of the two orders.
struct launch_setup {
  pattern input = pattern::random;
  std::uint64_t seed = 1;
  memory_fill fill = memory_fill::ones;
  bool reversed = false;
};

// What is known of the order in which a stage's launches may start their blocks.
struct block_order {
  // Whether blocks wait for blocks that started before them (decoupled look-back by the number of the block),
  // which devices do start in ascending order in practice.
  bool blocks_wait = false;
};

// Runs the stage once on fresh inputs into poisoned outputs and checks everything. CUDA errors become
// failures of kind `launch` or `crash`, with what the emulator says about them. Throws memory_error when it
// does not fit, and stage_error when the stage throws.
check_result run_and_check(workload& work, const launch_setup& setup, cudaStream_t stream,
                           block_order* order = nullptr);
// The same of a workload that `prepare` makes ready and `launch` launches.
check_result run_and_check(const std::function<void()>& prepare, const std::function<void()>& launch,
                           workload& work, bool reversed, cudaStream_t stream, block_order& order);

// Likewise, in this order alone.
check_result launch_and_check(const std::function<void()>& prepare, const std::function<void()>& launch,
                              workload& work, bool reversed, cudaStream_t stream, const block_order& order);

// The order of a block's threads and of a grid's blocks on the emulator, for as long as this lives.
class thread_order {
 public:
#if LAB_EMULATED
  thread_order(bool reversed, const block_order& order);
  ~thread_order();
#else
  thread_order(bool /*reversed*/, const block_order& /*order*/) {}
  ~thread_order() = default;
#endif
  thread_order(const thread_order&) = delete;
  thread_order& operator=(const thread_order&) = delete;

#if LAB_EMULATED
 private:
  emulator::options before_;
#endif
};

// True when one of `repetitions` more launches changes a bit of the outputs.
bool other_bits(workload& work, int repetitions);

// Launches through a captured graph: what a launch does beside its stream (on another stream, on the default
// one, by allocating or waiting) is refused by the capture or missing from the replay. A stage that declares
// `synchronises` must be refused. Nothing on the emulator.
std::optional<failure_record> check_capture(workload& work, bool synchronises, cudaStream_t stream);

// Whether a loop that waits for ever is what failed (emulator).
bool waits_for_ever(const std::optional<failure_record>& failure);

// A launch that failed, with what the emulator says about it, of the kind that it shows; else of `kind`.
failure_record launch_failure(const cuda_error& error, failure_kind kind);

// "n=1000 window=7 input=random seed=1": names a trial in messages.
std::string trial_name(const parameter_values& parameters, const launch_setup& setup);

// True when the device is lost to this process: the error stays whatever is called.
bool device_lost() noexcept;

}  // namespace lab
