// The first half's all-reduce runs while the second half is summed. Each GPU sums its part in two halves, and
// the first half's total crosses the link on a second stream meanwhile. At the end the two totals are added.
#include <memory>

#include "harness/device/across_processes.hpp"
#include "stages/reduction_gpus/nccl_sum.hpp"

namespace lab::reduction_gpus::overlap {
namespace {

#if LAB_WITH_NCCL

// Results of a GPU's scratch memory: a half's own sum, and its total over the GPUs. The totals lie side by
// side.
enum place : std::size_t { first_own, second_own, first_total, second_total };

template <class T>
void launch(const input& in, const output& out, const gpu_group& group, const communicators& comms) {
  // A multiple of a load, which must be aligned.
  const auto half = [&](std::size_t k) { return in.part(static_cast<std::int64_t>(k)).count / 2 / 64 * 64; };
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    if (!is_here(on)) continue;
    const gpu_scope scope(on.device);
    enqueue_sum(static_cast<const T*>(in.values[k]), half(k), on, result_of<T>(on, first_own));
    CUDA_CHECK(cudaEventRecord(on.events[0], on.stream));
    CUDA_CHECK(cudaStreamWaitEvent(on.side, on.events[0], 0));
    enqueue_sum(static_cast<const T*>(in.values[k]) + half(k),
                in.part(static_cast<std::int64_t>(k)).count - half(k), on, result_of<T>(on, second_own));
    CUDA_CHECK(cudaEventRecord(on.events[1], on.stream));
  }
  const auto result = [&](place which) {
    return [&group, which](std::size_t k) { return result_of<T>(group[k], which); };
  };
  const auto side = [&](std::size_t k) { return group[k].side; };
  all_reduce<T>(comms, group, result(first_own), result(first_total), side);
  // On the same stream: a communicator does one thing after another.
  for (const group_member& on : group) {
    if (is_here(on)) CUDA_CHECK(cudaStreamWaitEvent(on.side, on.events[1], 0));
  }
  all_reduce<T>(comms, group, result(second_own), result(second_total), side);
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (!is_here(group[k])) continue;
    const gpu_scope scope(group[k].device);
    lab::launch(add_kernel<T>, dim3(1), dim3(1), 0, group[k].side, result_of<T>(group[k], first_total), 2,
                static_cast<T*>(out.result[k]));
  }
}

#endif

plan<problem> prepare([[maybe_unused]] const problem::parameters& p, cudaStream_t /*stream*/) {
#if LAB_WITH_NCCL
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    with_type(in, [&]<class T>() { launch<T>(in, out, group, *comms); });
  }};
#else
  return {};
#endif
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the first half's all-reduce behind the second half's sum",
     .prepare = prepare,
     .workspace_bytes = workspace_bytes,
     .unsupported = [](const problem::parameters& /*p*/) { return why_no_nccl(); },
     .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::overlap
