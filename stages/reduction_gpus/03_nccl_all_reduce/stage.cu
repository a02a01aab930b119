// The sums meet in a collective operation: every GPU contributes its sum, and every GPU gets the total. NCCL
// chooses the route and the order. The same call works between machines.
#include <memory>

#include "harness/device/across_processes.hpp"
#include "stages/reduction_gpus/nccl_sum.hpp"

namespace lab::reduction_gpus::nccl_all_reduce {
namespace {

plan<problem> prepare([[maybe_unused]] const problem::parameters& p, cudaStream_t /*stream*/) {
#if LAB_WITH_NCCL
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    with_type(in, [&]<class T>() {
      for (std::size_t k = 0; k < group.size(); ++k) {
        if (!is_here(group[k])) continue;
        const gpu_scope scope(group[k].device);
        enqueue_part<T>(in, k, group[k]);
      }
      all_reduce<T>(
          *comms, group, [&](std::size_t k) { return result_of<T>(group[k]); },
          [&](std::size_t k) { return static_cast<T*>(out.result[k]); },
          [&](std::size_t k) { return group[k].stream; });
    });
  }};
#else
  return {};
#endif
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the GPUs' sums by NCCL's all-reduce",
     .prepare = prepare,
     .workspace_bytes = workspace_bytes,
     .unsupported = [](const problem::parameters& /*p*/) { return why_no_nccl(); },
     .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::nccl_all_reduce
