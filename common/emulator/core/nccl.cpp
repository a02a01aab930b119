#include "common/emulator/core/nccl.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/devices.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/runtime_call.hpp"

// The communicators that were made together: all in this process, or one in each of several.
struct nccl_clique {
  int ranks;
  std::optional<int> number = {};  // of those in several processes
};

struct ncclComm {
  std::shared_ptr<nccl_clique> all;
  int rank;
  int device;
  cudaStream_t order = nullptr;  // of one in several processes: its groups follow each other on it
};

namespace {

using namespace lab::emulator;

enum class kind { all_reduce, send, receive };

struct call {
  kind what;
  ncclComm_t comm;
  cudaStream_t stream;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;
};

std::set<ncclComm_t> comms;
int depth = 0;              // of open groups
std::vector<call> grouped;  // calls of the open group
std::string last_refusal;

ncclResult_t refuse(ncclResult_t result, std::string why) {
  add_diagnostic("NCCL: " + why);
  last_refusal = std::move(why);
  return result;
}

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
  }
  return 0;
}

const char* name_of(kind what) {
  return what == kind::all_reduce ? "ncclAllReduce" : what == kind::send ? "ncclSend" : "ncclRecv";
}

template <class T>
T combined(T a, T b, ncclRedOp_t op) {
  switch (op) {
    case ncclSum:
      return static_cast<T>(a + b);
    case ncclProd:
      return static_cast<T>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
  }
  return a;
}

template <class T>
void reduce(const std::vector<call>& ranks) {
  const std::size_t count = ranks.front().count;
  std::vector<T> total(count);
  for (std::size_t k = 0; k < count; ++k) {
    T value = static_cast<const T*>(ranks.front().from)[k];
    for (std::size_t r = 1; r < ranks.size(); ++r)
      value = combined(value, static_cast<const T*>(ranks[r].from)[k], ranks.front().op);
    total[k] = value;
  }
  for (const call& one : ranks) {
    std::memcpy(one.to, total.data(), count * sizeof(T));
    device_memory::instance().note_written(one.to, count * sizeof(T));
  }
}

void reduce_all(const std::vector<call>& ranks) {
  switch (ranks.front().type) {
    case ncclInt8:
      return reduce<std::int8_t>(ranks);
    case ncclUint8:
      return reduce<std::uint8_t>(ranks);
    case ncclInt32:
      return reduce<std::int32_t>(ranks);
    case ncclUint32:
      return reduce<std::uint32_t>(ranks);
    case ncclInt64:
      return reduce<std::int64_t>(ranks);
    case ncclUint64:
      return reduce<std::uint64_t>(ranks);
    case ncclFloat32:
      return reduce<float>(ranks);
    case ncclFloat64:
      return reduce<double>(ranks);
  }
}

// At once, or when the streams come to it.
void enqueue(const std::vector<cudaStream_t>& streams, std::function<void()> work) {
  const auto guarded = [work = std::move(work)] {
    if (sticky_error() != cudaSuccess) return;
    const runtime_access access;
    work();
  };
  if (is_deferring()) {
    defer_joint(streams, guarded);
  } else {
    guarded();
  }
}

std::string who(const call& one) {
  return format("%s of rank %d", name_of(one.what), one.comm->rank);
}

// A collective has one call of each rank, alike.
std::optional<std::string> start_all_reduces(const std::vector<call>& calls) {
  std::vector<call> left;
  for (const call& one : calls) {
    if (one.what == kind::all_reduce) left.push_back(one);
  }
  while (!left.empty()) {
    const std::shared_ptr<nccl_clique> all = left.front().comm->all;
    std::vector<call> ranks;
    for (int rank = 0; rank < all->ranks; ++rank) {
      const auto found = std::find_if(left.begin(), left.end(), [&](const call& one) {
        return one.comm->all == all && one.comm->rank == rank;
      });
      if (found == left.end()) {
        return format(
            "ncclAllReduce of %d ranks, and rank %d does not call it: elsewhere the others wait for ever. "
            "Calls "
            "for several devices of one thread stand between ncclGroupStart() and ncclGroupEnd()",
            all->ranks, rank);
      }
      ranks.push_back(*found);
      left.erase(found);
    }
    const call& first = ranks.front();
    for (const call& one : ranks) {
      if (one.count != first.count || one.type != first.type || one.op != first.op) {
        return format(
            "ncclAllReduce: rank %d has %zu values, and rank 0 has %zu, or another type or operation",
            one.comm->rank, one.count, first.count);
      }
    }
    std::vector<cudaStream_t> streams;
    for (const call& one : ranks) streams.push_back(one.stream);
    enqueue(streams, [ranks] {
      reduce_all(ranks);
      for (const call& one : ranks)
        device_memory::instance().note_written(one.to, one.count * bytes_of(one.type));
    });
  }
  return std::nullopt;
}

// The sends from one rank to another are received in their order.
std::optional<std::string> start_transfers(const std::vector<call>& calls) {
  std::vector<call> receives;
  for (const call& one : calls) {
    if (one.what == kind::receive) receives.push_back(one);
  }
  for (const call& send : calls) {
    if (send.what != kind::send) continue;
    const auto found = std::find_if(receives.begin(), receives.end(), [&](const call& one) {
      return one.comm->all == send.comm->all && one.comm->rank == send.peer && one.peer == send.comm->rank;
    });
    if (found == receives.end()) {
      return format("%s: %zu values for rank %d, which does not receive them in this group",
                    who(send).c_str(), send.count, send.peer);
    }
    const call receive = *found;
    receives.erase(found);
    if (receive.count != send.count || receive.type != send.type) {
      return format("%s: %zu values of %zu bytes, and rank %d receives %zu of %zu", who(send).c_str(),
                    send.count, bytes_of(send.type), send.peer, receive.count, bytes_of(receive.type));
    }
    const std::size_t bytes = send.count * bytes_of(send.type);
    enqueue({send.stream, receive.stream}, [send, receive, bytes] {
      std::memmove(receive.to, send.from, bytes);
      device_memory::instance().note_written(receive.to, bytes);
    });
  }
  if (receives.empty()) return std::nullopt;
  return format("%s: %zu values from rank %d, which does not send them in this group",
                who(receives.front()).c_str(), receives.front().count, receives.front().peer);
}

lab::emulator::nccl_transport* transport = nullptr;

// What goes from process to process: what the sender calls, and its values.
struct message_head {
  kind what;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
};

void send_to(int rank, const call& one) {
  const message_head head{one.what, one.count, one.type, one.op};
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message.append(static_cast<const char*>(one.from), one.count * bytes_of(one.type));
  transport->send(rank, *one.comm->all->number, message);
}

// The values of the rank, which must have called what goes with this; nothing, and an error of the device,
// where it has not.
std::optional<std::string> receive_from(int rank, const call& one) {
  const std::string message = transport->receive(rank, *one.comm->all->number);
  message_head head{};
  std::memcpy(&head, message.data(), sizeof head);
  const kind expected = one.what == kind::receive ? kind::send : one.what;
  const bool fits = head.what == expected && head.count == one.count && head.type == one.type &&
                    (expected == kind::send || head.op == one.op);
  if (fits) return message.substr(sizeof head);
  refuse(ncclInvalidUsage,
         format("%s: %zu values of %zu bytes, and rank %d calls %s with %zu of %zu", who(one).c_str(),
                one.count, bytes_of(one.type), rank, name_of(head.what), head.count, bytes_of(head.type)));
  set_sticky_error(cudaErrorUnknown);
  return std::nullopt;
}

// One collective: every rank sends its values to all, and combines them in the order of the ranks.
void all_reduce_with_others(const call& own) {
  const int ranks = own.comm->all->ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != own.comm->rank) send_to(rank, own);
  }
  std::vector<std::string> values(static_cast<std::size_t>(ranks));
  std::vector<call> all(static_cast<std::size_t>(ranks), own);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& theirs = values[static_cast<std::size_t>(rank)];
    if (rank == own.comm->rank) {
      theirs.assign(static_cast<const char*>(own.from), own.count * bytes_of(own.type));
    } else if (auto received = receive_from(rank, own)) {
      theirs = std::move(*received);
    } else {
      return;
    }
    all[static_cast<std::size_t>(rank)].from = theirs.data();
  }
  reduce_all(all);
  device_memory::instance().note_written(own.to, own.count * bytes_of(own.type));
}

// The calls of one group on one communicator of several processes, as one work on all their streams. What is
// sent goes first, so that no two ranks wait for each other.
void start_with_others(const std::vector<call>& calls) {
  std::vector<cudaStream_t> streams{calls.front().comm->order};
  for (const call& one : calls) streams.push_back(one.stream);
  enqueue(streams, [calls] {
    for (const call& one : calls) {
      if (one.what == kind::send) send_to(one.peer, one);
    }
    for (const call& one : calls) {
      if (one.what == kind::all_reduce) all_reduce_with_others(one);
      if (one.what != kind::receive) continue;
      const auto values = receive_from(one.peer, one);
      if (!values) return;
      std::memcpy(one.to, values->data(), values->size());
      device_memory::instance().note_written(one.to, values->size());
    }
  });
}

ncclResult_t start(std::vector<call> calls) {
  std::vector<call> with_others;
  for (auto one = calls.begin(); one != calls.end();) {
    const ncclComm_t comm = one->comm;
    if (!comm->all->number) {
      ++one;
      continue;
    }
    with_others.clear();
    for (const call& other : calls) {
      if (other.comm == comm) with_others.push_back(other);
    }
    start_with_others(with_others);
    std::erase_if(calls, [&](const call& other) { return other.comm == comm; });
    one = calls.begin();
  }
  if (auto why = start_all_reduces(calls)) return refuse(ncclInvalidUsage, *why);
  if (auto why = start_transfers(calls)) return refuse(ncclInvalidUsage, *why);
  return ncclSuccess;
}

// Whether the memory is the communicator's device's.
std::optional<std::string> complaint(const call& one, const void* pointer, const char* role) {
  const std::size_t bytes = one.count * bytes_of(one.type);
  if (bytes == 0) return std::nullopt;
  device_memory& memory = device_memory::instance();
  if (auto wrong = memory.complaint(pointer, bytes)) return format("the %s %s", role, wrong->c_str());
  if (memory.device_of(pointer) == one.comm->device) return std::nullopt;
  return format("the %s is memory of device %d, and the rank's device is %d", role, memory.device_of(pointer),
                one.comm->device);
}

ncclResult_t take(const call& one) {
  const char* const function = name_of(one.what);
  note_stream(function, one.stream);
  if (!comms.contains(one.comm)) return refuse(ncclInvalidArgument, format("%s: no communicator", function));
  if (bytes_of(one.type) == 0) return refuse(ncclInvalidArgument, format("%s: no such type", function));
  if (!is_stream(one.stream) || (one.stream != nullptr && device_of(one.stream) != one.comm->device)) {
    return refuse(ncclInvalidUsage,
                  format("%s: the stream is not one of device %d", who(one).c_str(), one.comm->device));
  }
  if (one.what != kind::all_reduce && (one.peer < 0 || one.peer >= one.comm->all->ranks)) {
    return refuse(ncclInvalidArgument, format("%s: there is no rank %d among %d", who(one).c_str(), one.peer,
                                              one.comm->all->ranks));
  }
  std::optional<std::string> wrong;
  if (one.what != kind::receive) wrong = complaint(one, one.from, "source");
  if (!wrong && one.what != kind::send) wrong = complaint(one, one.to, "destination");
  if (wrong) return refuse(ncclInvalidArgument, who(one) + ": " + *wrong);
  if (depth > 0) {
    grouped.push_back(one);
    return ncclSuccess;
  }
  return start({one});
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
#define LAB_TEXT_OF(NAME, NUMBER, TEXT) \
  case NAME:                            \
    return TEXT;
    LAB_NCCL_RESULTS(LAB_TEXT_OF)
#undef LAB_TEXT_OF
  }
  return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) {
  return last_refusal.c_str();
}

ncclResult_t ncclCommInitAll(ncclComm_t* made, int count, const int* devices) {
  note_forbidden("ncclCommInitAll", "a communicator is made beforehand, and kept");
  if (made == nullptr || count < 1) return refuse(ncclInvalidArgument, "ncclCommInitAll of no devices");
  std::set<int> seen;
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    if (device < 0 || device >= device_count())
      return refuse(ncclInvalidArgument, format("ncclCommInitAll: there is no device %d", device));
    if (!seen.insert(device).second)
      return refuse(ncclInvalidUsage, format("ncclCommInitAll: device %d is named twice", device));
  }
  const auto all = std::make_shared<nccl_clique>(nccl_clique{count});
  for (int rank = 0; rank < count; ++rank) {
    made[rank] = new ncclComm{all, rank, devices == nullptr ? rank : devices[rank]};
    comms.insert(made[rank]);
  }
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  if (id == nullptr) return ncclInvalidArgument;
  *id = {};
  std::memcpy(id->internal, &made, sizeof made);
  ++made;
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
  note_forbidden("ncclCommInitRank", "a communicator is made beforehand, and kept");
  if (made == nullptr || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, format("ncclCommInitRank: no rank %d of %d", rank, ranks));
  if (transport == nullptr)
    return refuse(ncclInvalidUsage, "ncclCommInitRank: this process is alone (lab run --processes)");
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  cudaStream_t order = nullptr;
  if (cudaStreamCreate(&order) != cudaSuccess) return ncclUnhandledCudaError;
  *made =
      new ncclComm{std::make_shared<nccl_clique>(nccl_clique{ranks, number}), rank, current_device(), order};
  comms.insert(*made);
  return ncclSuccess;
}

void lab::emulator::set_nccl_transport(nccl_transport* used) {
  transport = used;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  note_forbidden("ncclCommDestroy", "a communicator is made beforehand, and kept");
  if (comms.erase(comm) == 0) return refuse(ncclInvalidArgument, "ncclCommDestroy: no communicator");
  if (comm->order != nullptr) cudaStreamDestroy(comm->order);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!comms.contains(comm) || count == nullptr) return ncclInvalidArgument;
  *count = comm->all->ranks;
  return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (!comms.contains(comm) || device == nullptr) return ncclInvalidArgument;
  *device = comm->device;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (!comms.contains(comm) || rank == nullptr) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (!comms.contains(comm) || error == nullptr) return ncclInvalidArgument;
  *error = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--depth > 0) return ncclSuccess;
  return start(std::exchange(grouped, {}));
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return take({kind::all_reduce, comm, stream, from, to, count, type, op, 0});
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return take({kind::send, comm, stream, from, nullptr, count, type, ncclSum, peer});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return take({kind::receive, comm, stream, nullptr, to, count, type, ncclSum, peer});
}
