// Every rank has the others' sums sent, and adds its own before them: the additions have another order on
// each.
#include "tests/processes/reduction_gpus.hpp"

namespace lab::reduction_gpus::wrong::own_first {
namespace {

template <class T>
void launch(const input& in, const output& out, const gpu_group& group, const communicators& comms) {
  constexpr ncclDataType_t type = sizeof(T) == 4 ? ncclFloat : ncclDouble;
  const auto count = static_cast<int>(group.size());
  for (int k = 0; k < count; ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    if (!is_here(on)) continue;
    const gpu_scope scope(on.device);
    enqueue_part<T>(in, static_cast<std::size_t>(k), on);
    NCCL_CHECK(ncclGroupStart());
    for (int step = 1; step < count; ++step) {
      const ncclComm_t comm = comms[static_cast<std::size_t>(k)];
      NCCL_CHECK(ncclSend(result_of<T>(on), 1, type, (k + step) % count, comm, on.stream));
      NCCL_CHECK(ncclRecv(result_of<T>(on, static_cast<std::size_t>(step)), 1, type, (k + step) % count, comm,
                          on.stream));
    }
    NCCL_CHECK(ncclGroupEnd());
    lab::launch(add_kernel<T>, dim3(1), dim3(1), 0, on.stream, result_of<T>(on), count,
                static_cast<T*>(out.result[static_cast<std::size_t>(k)]));
  }
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  return plan_of(p, []<class T>(const input& in, const output& out, const gpu_group& group,
                                const communicators& comms) { launch<T>(in, out, group, comms); });
}

const registration<problem> registered{LAB_PATH, as_stage("each adds its own sum first", prepare)};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong::own_first
