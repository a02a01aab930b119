// Rank 1 gives two values to a sum of one.
#include "tests/processes/reduction_gpus.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  return plan_of(p, []<class T>(const input& in, const output& /*out*/, const gpu_group& group,
                                const communicators& comms) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const group_member& on = group[k];
      if (!is_here(on)) continue;
      enqueue_part<T>(in, k, on);
      NCCL_CHECK(ncclAllReduce(result_of<T>(on), result_of<T>(on, 2), k == 1 ? 2 : 1,
                               sizeof(T) == 4 ? ncclFloat : ncclDouble, ncclSum, comms[k], on.stream));
    }
  });
}

const registration<problem> registered{LAB_PATH, as_stage("two values to a sum of one", prepare)};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong
