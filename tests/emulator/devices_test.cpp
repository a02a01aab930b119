// Several devices: whose memory is whose, who may touch it, and what streams of different devices wait for.
#include "common/emulator/core/devices.hpp"

#include <algorithm>

#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/nccl.hpp"
#include "tests/emulator/support.hpp"

namespace {

using lab::emulator::deferred_streams;

// So many devices for a test.
class devices {
 public:
  explicit devices(int count) : before_(lab::emulator::configuration()) {
    lab::emulator::reset();
    lab::emulator::options wanted = before_;
    wanted.devices = count;
    lab::emulator::configure(wanted);
  }
  ~devices() {
    cudaSetDevice(0);
    lab::emulator::forget_peer_access();
    lab::emulator::reset();
    lab::emulator::configure(before_);
  }

 private:
  lab::emulator::options before_;
};

class on_device {
 public:
  explicit on_device(int device) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaMalloc(&values, 64 * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(values, 0, 64 * sizeof(int)) == cudaSuccess);
  }
  ~on_device() {
    cudaFree(values);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
  }
  cudaStream_t stream{};
  cudaEvent_t event{};
  int* values{};
};

__global__ void add(const int* from, int* to, int more) {
  to[threadIdx.x] = from[threadIdx.x] + more;
}

void launch_add(const on_device& on, const int* from, int* to, int more = 1) {
  lab::launch(add, dim3(1), dim3(64), 0, on.stream, from, to, more);
}

int first_of(const int* values) {
  int value = -1;
  REQUIRE(cudaMemcpy(&value, values, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  return value;
}

}  // namespace

TEST_CASE("several devices are counted, chosen and refused") {
  const devices three(3);
  int count = 0, device = -1, can = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 3);
  CHECK(cudaSetDevice(2) == cudaSuccess);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 2);
  CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 2) == cudaSuccess);
  CHECK(can == 1);
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 1) == cudaSuccess);
  CHECK(can == 0);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 3) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(2, 0) == cudaErrorInvalidDevice);  // itself
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  std::size_t before = 0, after = 0, total = 0;
  CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
  const on_device zero(0);
  cudaPointerAttributes attributes{};
  const on_device one(1);
  CHECK(cudaPointerGetAttributes(&attributes, one.values) == cudaSuccess);
  CHECK(attributes.device == 1);
  CHECK(cudaSetDevice(2) == cudaSuccess);
  CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(after == before);  // what the others have is not this device's
}

TEST_CASE("a kernel may touch another device's memory with peer access alone") {
  const devices two(2);
  const on_device zero(0);
  const on_device one(1);
  SECTION("without it the launch fails and says whose memory it is") {
    CHECK_THROWS(launch_add(one, zero.values, one.values));
    const auto texts = lab::emulator::take_diagnostics();
    REQUIRE(texts.size() == 1);
    INFO(texts[0]);
    CHECK(texts[0].find("memory of device 0, at offset ") != std::string::npos);
  }
  SECTION("with it, one way") {
    REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
    CHECK_NOTHROW(launch_add(one, zero.values, one.values));
    CHECK(first_of(one.values) == 1);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    CHECK_THROWS(launch_add(zero, one.values, zero.values));
  }
  SECTION("memory of a pool has its own permission") {
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    int* pooled = nullptr;
    REQUIRE(cudaMallocAsync(&pooled, 64 * sizeof(int), zero.stream) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(pooled, 0, 64 * sizeof(int), zero.stream) == cudaSuccess);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
    CHECK_THROWS(launch_add(one, pooled, one.values));
    lab::emulator::reset();
    cudaMemPool_t pool{};
    REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
    REQUIRE(cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess);
    CHECK_NOTHROW(launch_add(one, pooled, one.values, 5));
    CHECK(first_of(one.values) == 5);
    const cudaMemAccessDesc nobody{{cudaMemLocationTypeDevice, 7}, cudaMemAccessFlagsProtReadWrite};
    CHECK(cudaMemPoolSetAccess(pool, &nobody, 1) == cudaErrorInvalidDevice);
    CHECK(cudaFreeAsync(pooled, zero.stream) == cudaSuccess);
  }
}

TEST_CASE("copies between devices need no access, and name both") {
  const devices two(2);
  const on_device zero(0);
  const on_device one(1);
  const std::size_t bytes = 64 * sizeof(int);
  launch_add(one, one.values, one.values, 3);
  CHECK(cudaMemcpyPeerAsync(zero.values, 0, one.values, 1, bytes, one.stream) == cudaSuccess);
  CHECK(first_of(zero.values) == 3);
  CHECK(cudaMemcpyPeer(zero.values, 0, one.values, 2, bytes) == cudaErrorInvalidDevice);
  CHECK(cudaMemcpyPeer(zero.values, 1, one.values, 0, bytes) == cudaErrorInvalidValue);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(texts[0] == "cudaMemcpyPeer: the destination is memory of device 0, and not of device 1");
}

TEST_CASE("a stream and an event belong to the device on which they were created") {
  const devices two(2);
  const on_device zero(0);
  const on_device one(1);
  CHECK_THROWS(launch_add(zero, zero.values, zero.values));  // device 1 is the current one
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].find("a stream of device 0, where device 1 is the current one") != std::string::npos);
  CHECK(cudaEventRecord(zero.event, one.stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(zero.event, zero.stream) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(one.stream, zero.event) == cudaSuccess);  // across devices
}

TEST_CASE("deferred streams show a missing wait, and never one that is there") {
  const devices two(2);
  const on_device zero(0);
  const on_device one(1);
  REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
  // Device 1 reads what device 0 makes: 10 if it has waited, 0 if it came too early.
  const auto seen = [&](std::uint64_t seed, bool waits, bool records_first) {
    REQUIRE(cudaMemset(zero.values, 0, 64 * sizeof(int)) == cudaSuccess);
    {
      deferred_streams deferred(seed);
      REQUIRE(cudaSetDevice(0) == cudaSuccess);
      if (!records_first) REQUIRE(cudaStreamWaitEvent(one.stream, zero.event) == cudaSuccess);
      launch_add(zero, zero.values, zero.values, 10);
      REQUIRE(cudaEventRecord(zero.event, zero.stream) == cudaSuccess);
      if (waits && records_first) REQUIRE(cudaStreamWaitEvent(one.stream, zero.event) == cudaSuccess);
      REQUIRE(cudaSetDevice(1) == cudaSuccess);
      launch_add(one, zero.values, one.values, 0);
    }
    return first_of(one.values);
  };
  int early = 0, in_order = 0, early_after_wait = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(seen(seed, true, true) == 10);
    (seen(seed, false, true) == 0 ? early : in_order) += 1;
    early_after_wait += seen(seed, true, false) == 0;  // waits for an event that is recorded only later
  }
  CHECK(early > 3);
  CHECK(in_order > 3);
  CHECK(early_after_wait > 3);
}

TEST_CASE("who waits for a deferred stream finds its work done, and the arguments as they were") {
  const devices two(2);
  const on_device zero(0);
  const on_device one(1);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  deferred_streams deferred(1);
  CHECK_THROWS_AS(deferred_streams(1), std::logic_error);
  int more = 4;
  launch_add(zero, zero.values, zero.values, more);
  more = 5;
  CHECK(cudaStreamSynchronize(one.stream) == cudaSuccess);
  int pageable = 0;
  CHECK(cudaMemcpyAsync(&pageable, zero.values, sizeof pageable, cudaMemcpyDeviceToHost, zero.stream) ==
        cudaSuccess);
  CHECK(pageable == 4);
  // Page-locked memory is written when the stream comes to it.
  int* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);
  *pinned = -1;
  launch_add(zero, zero.values, zero.values, more);
  CHECK(cudaMemcpyAsync(pinned, zero.values, sizeof(int), cudaMemcpyDeviceToHost, zero.stream) ==
        cudaSuccess);
  CHECK(*pinned == -1);
  CHECK(cudaEventRecord(zero.event, zero.stream) == cudaSuccess);
  CHECK(cudaEventSynchronize(zero.event) == cudaSuccess);
  CHECK(*pinned == 9);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("NCCL's calls of one group are matched, and done in the order of their streams") {
  const devices three(3);
  const on_device members[] = {on_device(0), on_device(1), on_device(2)};
  ncclComm_t comms[3] = {};
  REQUIRE(ncclCommInitAll(comms, 3, nullptr) == ncclSuccess);
  const auto start_all = [&](auto each) {
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int rank = 0; rank < 3; ++rank) REQUIRE(each(rank) == ncclSuccess);
    return ncclGroupEnd();
  };
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    {
      deferred_streams deferred(seed);
      for (int rank = 0; rank < 3; ++rank) {
        REQUIRE(cudaSetDevice(rank) == cudaSuccess);
        REQUIRE(cudaMemsetAsync(members[rank].values, 0, 64 * sizeof(int), members[rank].stream) ==
                cudaSuccess);
        launch_add(members[rank], members[rank].values, members[rank].values, rank + 1);
      }
      REQUIRE(start_all([&](int rank) {
                return ncclAllReduce(members[rank].values, members[rank].values, 8, ncclInt32, ncclSum,
                                     comms[rank], members[rank].stream);
              }) == ncclSuccess);
      // Each hands its second half on to the next.
      REQUIRE(ncclGroupStart() == ncclSuccess);
      for (int rank = 0; rank < 3; ++rank) {
        if (rank > 0)
          REQUIRE(ncclRecv(members[rank].values, 4, ncclInt32, rank - 1, comms[rank], members[rank].stream) ==
                  ncclSuccess);
        if (rank < 2)
          REQUIRE(ncclSend(members[rank].values + 32, 4, ncclInt32, rank + 1, comms[rank],
                           members[rank].stream) == ncclSuccess);
      }
      REQUIRE(ncclGroupEnd() == ncclSuccess);
      // One sends to itself, on one stream.
      REQUIRE(ncclGroupStart() == ncclSuccess);
      REQUIRE(ncclSend(members[0].values, 4, ncclInt32, 0, comms[0], members[0].stream) == ncclSuccess);
      REQUIRE(ncclRecv(members[0].values + 16, 4, ncclInt32, 0, comms[0], members[0].stream) == ncclSuccess);
      REQUIRE(ncclGroupEnd() == ncclSuccess);
    }
    CHECK(first_of(members[0].values) == 6);
    CHECK(first_of(members[0].values + 16) == 6);
    CHECK(first_of(members[1].values) == 1);
    CHECK(first_of(members[2].values) == 2);
    CHECK(first_of(members[2].values + 4) == 6);
  }
  for (const ncclComm_t comm : comms) CHECK(ncclCommDestroy(comm) == ncclSuccess);
  CHECK(ncclCommDestroy(comms[0]) == ncclInvalidArgument);
}

TEST_CASE("NCCL's calls that would hang, or are for another device, are refused by name") {
  const devices two(2);
  const on_device members[] = {on_device(0), on_device(1)};
  ncclComm_t comms[2] = {};
  const auto says = [](const char* words) {
    INFO(ncclGetLastError(nullptr));
    return std::string(ncclGetLastError(nullptr)).find(words) != std::string::npos;
  };
  const int twice[] = {1, 1}, beyond[] = {0, 2};
  CHECK(ncclCommInitAll(comms, 2, twice) == ncclInvalidUsage);
  CHECK(std::string(ncclGetLastError(nullptr)) == "ncclCommInitAll: device 1 is named twice");
  CHECK(ncclCommInitAll(comms, 2, beyond) == ncclInvalidArgument);
  ncclUniqueId id{};
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  CHECK(ncclCommInitRank(comms, 2, id, 2) == ncclInvalidArgument);
  CHECK(ncclCommInitRank(comms, 2, id, 0) == ncclInvalidUsage);
  CHECK(says("this process is alone"));
  REQUIRE(ncclCommInitAll(comms, 2, nullptr) == ncclSuccess);
  const auto reduce = [&](int rank, std::size_t count, int of_device) {
    return ncclAllReduce(members[of_device].values, members[of_device].values, count, ncclInt32, ncclSum,
                         comms[rank], members[rank].stream);
  };
  CHECK(reduce(0, 8, 0) == ncclInvalidUsage);  // outside of a group
  CHECK(says("rank 1 does not call it"));
  CHECK(reduce(0, 8, 1) == ncclInvalidArgument);
  CHECK(says("memory of device 1, and the rank's device is 0"));
  CHECK(reduce(0, 65, 0) == ncclInvalidArgument);
  CHECK(ncclAllReduce(members[0].values, members[0].values, 8, ncclInt32, ncclSum, comms[0],
                      members[1].stream) == ncclInvalidUsage);
  CHECK(says("not one of device 0"));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  CHECK(reduce(0, 8, 0) == ncclSuccess);
  CHECK(reduce(1, 4, 1) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(says("rank 1 has 4 values, and rank 0 has 8"));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  CHECK(ncclSend(members[0].values, 8, ncclInt32, 1, comms[0], members[0].stream) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(says("8 values for rank 1, which does not receive them"));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  CHECK(ncclSend(members[0].values, 8, ncclInt32, 1, comms[0], members[0].stream) == ncclSuccess);
  CHECK(ncclRecv(members[1].values, 7, ncclInt32, 0, comms[1], members[1].stream) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(says("rank 1 receives 7"));
  REQUIRE(ncclGroupStart() == ncclSuccess);
  CHECK(ncclRecv(members[1].values, 8, ncclInt32, 0, comms[1], members[1].stream) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(says("which does not send them"));
  CHECK(ncclSend(members[0].values, 8, ncclInt32, 2, comms[0], members[0].stream) == ncclInvalidArgument);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  for (const ncclComm_t comm : comms) CHECK(ncclCommDestroy(comm) == ncclSuccess);
}
