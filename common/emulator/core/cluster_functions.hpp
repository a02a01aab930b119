// What common/cluster.hpp is on the emulator (block_cluster.hpp).
#pragma once

#include <cstdint>

#include "common/emulator/core/bulk_copy_functions.hpp"
#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// %cluster_nctaid, %cluster_ctarank.
dim3 cluster_shape();
unsigned cluster_rank();
// barrier.cluster
void arrive_in_cluster(place where);
void wait_for_cluster(place where);
// mapa
void* map_to_block(const void* own, unsigned rank, place where);
// The same, for an access that is made now: that block must have begun, and must not have left the kernel.
void* reach_block(const void* own, unsigned rank, place where);
// The number that PTX has for an address of shared memory: in the lower 24 bits how far behind the dynamic
// shared memory of its block, above them 1 more than that block's rank where it is another of the cluster.
inline constexpr int shared_offset_bits = 24;
std::uint32_t shared_number(const void* address);
void* shared_address(std::uint32_t number, place where);
// cp.async.bulk from shared memory to that of a block of the cluster. The addresses `there` and `barrier` are
// map_to_block()'s.
void copy_to_block(void* there, const void* shared, std::int64_t bytes, std::uint64_t* barrier, place where);

}  // namespace lab::emulator

namespace lab {

__forceinline__ unsigned cluster_rank() {
  return emulator::cluster_rank();
}
__forceinline__ unsigned cluster_blocks() {
  const dim3 shape = emulator::cluster_shape();
  return shape.x * shape.y * shape.z;
}

__forceinline__ void cluster_arrive(emulator::place where = emulator::place::here()) {
  emulator::arrive_in_cluster(where);
}
__forceinline__ void cluster_wait(emulator::place where = emulator::place::here()) {
  emulator::wait_for_cluster(where);
}
__forceinline__ void cluster_sync(emulator::place where = emulator::place::here()) {
  emulator::arrive_in_cluster(where);
  emulator::wait_for_cluster(where);
}

template <class T>
__forceinline__ T* map_to_block(T* own, int rank, emulator::place where = emulator::place::here()) {
  return static_cast<T*>(emulator::map_to_block(own, static_cast<unsigned>(rank), where));
}

template <class T>
__forceinline__ T read_from_block(const T* own, int rank, emulator::place where = emulator::place::here()) {
  return *static_cast<const T*>(emulator::reach_block(own, static_cast<unsigned>(rank), where));
}

__forceinline__ void arrive_at_block(mbarrier& own, int rank,
                                     emulator::place where = emulator::place::here()) {
  emulator::arrive_in_phase(&map_to_block(&own, rank, where)->state, true, 0, where);
}

template <class T>
__forceinline__ void copy_to_block(T* own, const T* shared, int count, mbarrier& barrier, int rank,
                                   emulator::place where = emulator::place::here()) {
  emulator::copy_to_block(map_to_block(own, rank, where), shared,
                          std::int64_t{count} * static_cast<std::int64_t>(sizeof(T)),
                          &map_to_block(&barrier, rank, where)->state, where);
}

template <class T>
__forceinline__ void copy_in_to_blocks(T* shared, const T* global, int count, mbarrier& barrier,
                                       unsigned blocks, emulator::place where = emulator::place::here()) {
  emulator::copy_in_bulk(shared, global, std::int64_t{count} * static_cast<std::int64_t>(sizeof(T)),
                         &barrier.state, blocks, where);
}

}  // namespace lab
