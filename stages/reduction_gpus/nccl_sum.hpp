// One all-reduce of one value over the GPUs of a group.
#pragma once

#include "common/nccl.hpp"
#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus {

#if LAB_WITH_NCCL
// from(k), to(k) and stream(k) are GPU k's. All calls of this process stand in one group: this thread makes
// them one after the other, and each waits for all.
template <class T, class From, class To, class Stream>
void all_reduce(const communicators& comms, const gpu_group& group, const From& from, const To& to,
                const Stream& stream) {
  NCCL_CHECK(ncclGroupStart());
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (!is_here(group[k])) continue;
    NCCL_CHECK(ncclAllReduce(from(k), to(k), 1, sizeof(T) == 4 ? ncclFloat : ncclDouble, ncclSum, comms[k],
                             stream(k)));
  }
  NCCL_CHECK(ncclGroupEnd());
}
#endif

}  // namespace lab::reduction_gpus
