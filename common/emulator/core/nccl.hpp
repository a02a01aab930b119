// The part of NCCL that the lab's stages use, under its own names, between the emulated devices of one
// process, or of several. A call enqueues its work on the stream that it is given, as every other work of the
// runtime.
//
// What ends in a hang elsewhere is refused here at ncclGroupEnd(), with ncclInvalidUsage and a diagnostic: a
// send that nobody receives in the same group, other counts on both sides, a collective that some ranks
// leave out, one that is called outside of a group although its communicator has several ranks.
//
// Of several processes (ncclCommInitRank) none sees the others' calls. What does not fit together is found
// when it meets, and fails as a kernel does; who is never answered waits. A communicator does one group after
// the other, in the order of the program, whatever streams they are on.
#pragma once

#include <cstddef>
#include <string>

#include "common/emulator/core/runtime_api.hpp"

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define NCCL_UNIQUE_ID_BYTES 128

using ncclComm_t = struct ncclComm*;

#define LAB_NCCL_RESULTS(X)                                                   \
  X(ncclSuccess, 0, "no error")                                               \
  X(ncclUnhandledCudaError, 1, "unhandled cuda error")                        \
  X(ncclSystemError, 2, "unhandled system error")                             \
  X(ncclInternalError, 3, "internal error")                                   \
  X(ncclInvalidArgument, 4, "invalid argument")                               \
  X(ncclInvalidUsage, 5, "invalid usage")                                     \
  X(ncclRemoteError, 6, "remote process exited or there was a network error") \
  X(ncclInProgress, 7, "NCCL operation in progress")
#define LAB_RESULT(NAME, NUMBER, ...) NAME = NUMBER,
enum ncclResult_t : int { LAB_NCCL_RESULTS(LAB_RESULT) };
#undef LAB_RESULT

enum ncclRedOp_t : int { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3 };

enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
};

ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
// The last refusal of this process in words.
const char* ncclGetLastError(ncclComm_t comm);

// One communicator for each device of the list (null: 0 to count - 1), of which each may be named once.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices);
// The same from several processes, each of which makes the communicator of its own rank, on the current
// device; `id` is what ncclGetUniqueId() gave one of them.
struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommCount(ncclComm_t comm, int* count);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

// The results are combined in the order of the ranks; NCCL promises no order.
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);

namespace lab::emulator {

// How the processes of a communicator reach each other. Messages of one rank to another with one number come
// in their order.
class nccl_transport {
 public:
  nccl_transport() = default;
  nccl_transport(const nccl_transport&) = delete;
  nccl_transport& operator=(const nccl_transport&) = delete;
  virtual ~nccl_transport() = default;

  // Never waits for the other side.
  virtual void send(int rank, int number, const std::string& message) = 0;
  virtual std::string receive(int rank, int number) = 0;
};

// That of this process; null: it has none, and is alone.
void set_nccl_transport(nccl_transport* transport);

}  // namespace lab::emulator
