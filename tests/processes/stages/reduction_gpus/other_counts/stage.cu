// Rank 1 gives two values to a sum of one.
#include <memory>

#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus::wrong::other_counts {
namespace {

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& /*out*/, const gpu_group& group) {
    with_type(in, [&]<class T>() {
      for (std::size_t k = 0; k < group.size(); ++k) {
        const group_member& on = group[k];
        if (!is_here(on)) continue;
        enqueue_part<T>(in, k, on);
        NCCL_CHECK(ncclAllReduce(result_of<T>(on), result_of<T>(on, 2), k == 1 ? 2 : 1,
                                 sizeof(T) == 4 ? ncclFloat : ncclDouble, ncclSum, (*comms)[k], on.stream));
      }
    });
  }};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "two values to a sum of one",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong::other_counts
