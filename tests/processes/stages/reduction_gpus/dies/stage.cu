// Rank 1 is killed in the middle of a launch.
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "harness/device/across_processes.hpp"
#include "stages/reduction_gpus/nccl_sum.hpp"

namespace lab::reduction_gpus::wrong::dies {
namespace {

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    if (processes::rank() == 1) raise(SIGKILL);
    with_type(in, [&]<class T>() {
      for (std::size_t k = 0; k < group.size(); ++k) {
        if (is_here(group[k])) enqueue_part<T>(in, k, group[k]);
      }
      all_reduce<T>(
          *comms, group, [&](std::size_t k) { return result_of<T>(group[k]); },
          [&](std::size_t k) { return static_cast<T*>(out.result[k]); },
          [&](std::size_t k) { return group[k].stream; });
    });
  }};
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a rank that is killed", .prepare = prepare, .workspace_bytes = workspace_bytes, .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong::dies
