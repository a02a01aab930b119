// The sum over processes as it should be, from which each wrong kernel departs in one way.
#pragma once

#include "harness/device/across_processes.hpp"
#include "stages/reduction_gpus/nccl_sum.hpp"

namespace lab::reduction_gpus::wrong {

// Calls launch<T>(in, out, group, comms), of the type of the values.
template <class Launch>
plan<problem> plan_of(const problem::parameters& p, const Launch& launch) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms, launch](const input& in, const output& out, const gpu_group& group) {
    with_type(in, [&]<class T>() { launch.template operator()<T>(in, out, group, *comms); });
  }};
}

// Right, but that rank 1 calls `hinder` first.
template <void (*hinder)()>
plan<problem> prepare_hindered(const problem::parameters& p, cudaStream_t /*stream*/) {
  return plan_of(
      p, []<class T>(const input& in, const output& out, const gpu_group& group, const communicators& comms) {
        if (processes::rank() == 1) hinder();
        for (std::size_t k = 0; k < group.size(); ++k) {
          if (is_here(group[k])) enqueue_part<T>(in, k, group[k]);
        }
        all_reduce<T>(
            comms, group, [&](std::size_t k) { return result_of<T>(group[k]); },
            [&](std::size_t k) { return static_cast<T*>(out.result[k]); },
            [&](std::size_t k) { return group[k].stream; });
      });
}

inline stage<problem> as_stage(const char* idea,
                               plan<problem> (*prepare)(const problem::parameters&, cudaStream_t)) {
  return {.idea = idea, .prepare = prepare, .workspace_bytes = workspace_bytes, .tile = tile};
}

}  // namespace lab::reduction_gpus::wrong
