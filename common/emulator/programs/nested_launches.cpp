// Kernels that kernels launch: they run when the grid of those that launched them has ended, which counts as
// ended when they have.
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "common/emulator/core/kernel_launches.hpp"
#include "common/emulator/core/kernel_memory.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/programs/program_api.hpp"

namespace lab::emulator {
namespace {

class nested_launches final : public kernel_launches {
 public:
  cudaError_t add(const cudaLaunchConfig_t& asked, const kernel_call& call) override {
    constexpr unsigned most_depth = 24;
    if (depth_ == most_depth)
      return refuse_launch(call, cudaErrorLaunchOutOfResources,
                           "a kernel below 24 others that launched one another");
    cudaLaunchConfig_t config = asked;
    config.stream = nullptr;
    if (const cudaError_t error = check_launch(config, call); error != cudaSuccess) return error;
    note_side_effect(effect::is_seen, call.kernel);
    const std::lock_guard lock(mutex_);
    children_.push_back(
        {asked.stream == cudaStreamTailLaunch, running_block().number(), config, kept_call(call)});
    return cudaSuccess;
  }

  bool run(const std::function<bool()>& run_grid) override {
    // A grid that begins early has the one before it run meanwhile.
    std::vector<child> others = std::exchange(children_, {});
    const bool is_right = run_grid();
    std::vector<child> mine = std::exchange(children_, std::move(others));
    if (!is_right) return false;
    std::stable_sort(mine.begin(), mine.end(), [](const child& a, const child& b) {
      return std::pair(a.is_tail, a.block) < std::pair(b.is_tail, b.block);
    });
    ++depth_;
    for (const child& one : mine) {
      if (sticky_error() != cudaSuccess) break;
      run_kernel(one.config, one.call.call());
    }
    --depth_;
    return sticky_error() == cudaSuccess;
  }

  void refuse_waiting(const void* instruction) override {
    const std::uint64_t block = running_block().number();
    {
      const std::lock_guard lock(mutex_);
      if (std::none_of(children_.begin(), children_.end(),
                       [block](const child& one) { return one.block == block; }))
        return;
    }
    running_block().fail_at(
        instruction,
        "waits for a kernel that its block has launched, which CUDA 12 and later do not have: put what comes "
        "then into a kernel of its own, launched behind it",
        cudaErrorNotSupported);
  }

 private:
  struct child {
    bool is_tail;         // waits for the others (cudaStreamTailLaunch)
    std::uint64_t block;  // that has launched it
    cudaLaunchConfig_t config;
    kept_call call;
  };

  std::mutex mutex_;
  std::vector<child> children_;  // of the grid that runs
  unsigned depth_ = 0;           // of that grid, below one that the host has launched
};

// Never destroyed: kernels may be launched by the destructors of the program's own objects.
struct from_the_beginning {
  from_the_beginning() { active_kernel_launches = new nested_launches; }
};
[[gnu::init_priority(103)]] const from_the_beginning registered;

}  // namespace
}  // namespace lab::emulator
