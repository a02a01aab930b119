// NCCL as a stage uses it: the library's own header, or the emulator's. A stage that includes this links the
// library in its link.cmake (common/nccl.cmake); LAB_WITH_NCCL is 0 where a CUDA build has found none, and
// then nothing is declared here but that.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda.hpp"
#include "common/gpu_group.hpp"
#include "common/process_group.hpp"

#if LAB_EMULATED
#define LAB_WITH_NCCL 1
#include "common/emulator/core/nccl.hpp"
#elif !defined(LAB_WITH_NCCL)
#define LAB_WITH_NCCL 0
#elif LAB_WITH_NCCL
#include <nccl.h>
#endif

namespace lab {

// Whether the GPU is this process's. Of another process's there is no device, no stream and no memory, and
// the pointers to its parts must not be used.
inline bool is_here(const group_member& member) {
  return member.device >= 0;
}

// Why a stage that needs NCCL cannot run; empty when it can.
inline std::string why_no_nccl() {
#if !LAB_WITH_NCCL
  return "needs NCCL, which this build was made without (libnccl-dev, or the wheel nvidia-nccl-cu13)";
#else
  // Group calls for several devices of one thread, and sends: version 2.7. The major version is the
  // interface.
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess || version < 2700)
    return "needs NCCL 2.7 or later, and finds version " + std::to_string(version);
  return "";
#endif
}

#if LAB_WITH_NCCL

// Throws std::runtime_error with NCCL's own words.
inline void check_nccl(ncclResult_t result, const char* expression) {
  if (result == ncclSuccess) return;
  std::string text = std::string(expression) + ": " + ncclGetErrorString(result);
  if (const char* const more = ncclGetLastError(nullptr); more != nullptr && *more != '\0')
    text += std::string(" (") + more + ")";
  throw std::runtime_error(text);
}
#define NCCL_CHECK(expression) ::lab::check_nccl((expression), #expression)

// One communicator for each of the devices, in their order: of rank k on devices[k]. In one of several
// processes there is this process's alone; all of them make theirs at the same time.
class communicators {
 public:
  explicit communicators(const std::vector<int>& devices) : comms_(devices.size()) {
    // The lab does without NVLink multicast, which is set up for a whole host.
    ::setenv("NCCL_NVLS_ENABLE", "0", 1);
    const int ranks = static_cast<int>(devices.size());
    if (processes::are_several()) {
      ncclUniqueId id{};
      if (processes::rank() == 0) NCCL_CHECK(ncclGetUniqueId(&id));
      const auto rank = static_cast<std::size_t>(processes::rank());
      const gpu_scope scope(devices[rank]);
      NCCL_CHECK(ncclCommInitRank(&comms_[rank], ranks, processes::of_rank_0(id), processes::rank()));
      return;
    }
    const gpu_scope scope(devices.front());
    NCCL_CHECK(ncclCommInitAll(comms_.data(), ranks, devices.data()));
  }
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;
  ~communicators() {
    for (const ncclComm_t comm : comms_) {
      if (comm != nullptr) ncclCommDestroy(comm);
    }
  }

  ncclComm_t operator[](std::size_t rank) const { return comms_[rank]; }

 private:
  std::vector<ncclComm_t> comms_;
};

// Those of the group of a plan: made at its first plan and kept by the process, for NCCL takes longer to make
// them than the harness does for a whole trial. Every process of a group makes the same plans.
inline std::shared_ptr<const communicators> communicators_of(const std::vector<int>& devices) {
  // Never destroyed: when statics are, the driver may be gone.
  static auto* const made = new std::map<std::vector<int>, std::shared_ptr<const communicators>>;
  std::shared_ptr<const communicators>& comms = (*made)[devices];
  if (comms == nullptr) comms = std::make_shared<const communicators>(devices);
  return comms;
}

#endif

}  // namespace lab
