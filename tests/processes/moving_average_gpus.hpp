// The moving average over processes as it should be, from which each wrong kernel departs by its exchange.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong {

// Sends `count` values of GPU `owner` to the halo of GPU `rank`, each of which may be another process's, on
// one of their streams.
inline void exchange(const gpu_group& group, const communicators& comms, std::size_t owner, std::size_t rank,
                     const double* from, std::int64_t place, std::size_t count,
                     cudaStream_t group_member::*on) {
  if (is_here(group[owner]))
    NCCL_CHECK(ncclSend(from, count, ncclDouble, static_cast<int>(rank), comms[owner], group[owner].*on));
  if (is_here(group[rank]))
    NCCL_CHECK(ncclRecv(halo_memory(group[rank]) + place, count, ncclDouble, static_cast<int>(owner),
                        comms[rank], group[rank].*on));
}

// Every halo, as it should be.
inline void exchange_all(const input& in, const gpu_group& group, const communicators& comms,
                         cudaStream_t group_member::*on) {
  for (std::int64_t k = 1; k < in.gpus(); ++k) {
    for (const halo_piece& piece : halo_pieces(in, k))
      exchange(group, comms, static_cast<std::size_t>(piece.owner), static_cast<std::size_t>(k), piece.from,
               piece.place, static_cast<std::size_t>(piece.count), on);
  }
}

// A stage whose halos come by exchange(in, group, comms).
template <void (*exchange)(const input&, const gpu_group&, const communicators&)>
plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    // One group: neither side waits for a call that this thread would make only later.
    NCCL_CHECK(ncclGroupStart());
    exchange(in, group, *comms);
    NCCL_CHECK(ncclGroupEnd());
    for (std::int64_t k = 0; k < in.gpus(); ++k) {
      const group_member& on = group[static_cast<std::size_t>(k)];
      if (!is_here(on)) continue;
      const gpu_scope scope(on.device);
      launch_part(in, out, k, with_halo(in, k, on), on);
    }
  }};
}

template <void (*exchange)(const input&, const gpu_group&, const communicators&)>
stage<problem> as_stage(const char* idea) {
  return {.idea = idea,
          .prepare = prepare<exchange>,
          .workspace_bytes = workspace_with_halo,
          .unsupported = window_too_long,
          .tile = tile};
}

}  // namespace lab::moving_average_gpus::wrong
