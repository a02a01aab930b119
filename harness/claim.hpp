// What a stage's page promises, as data that the program can test: docs/claims.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/parameter_value.hpp"

namespace lab {

enum class relation { equal, at_most, at_least };
inline constexpr const char* relation_names[] = {"equal", "at_most", "at_least"};

// The metrics of claims about time: how many times as fast as the previous stage, the first stage, or the
// fastest library of the track, and the percentage of the speed of light.
inline constexpr const char* speed_up_metric = "speedup";
inline constexpr const char* speed_up_over_first_metric = "speedup_over_first";
inline constexpr const char* speed_up_over_library_metric = "speedup_over_library";
inline constexpr const char* speed_of_light_metric = "speed_of_light_percent";

// Nsight Compute's names of the counters that most claims are about.
inline constexpr const char* load_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* load_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* store_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
inline constexpr const char* store_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
inline constexpr const char* shared_load_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
inline constexpr const char* shared_load_conflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
inline constexpr const char* shared_store_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
inline constexpr const char* shared_store_conflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";

struct claim {
  std::string metric;          // a counter by Nsight Compute's name, or one of time
  std::string per;             // when not empty, the claim is about metric / per
  bool over_previous = false;  // of a counter: the claim is about this figure over the previous stage's
  relation holds = relation::equal;
  double value = 0;
  parameter_values at;  // parameters for which it holds; the defaults of the others
  // Where it holds: part of the device's name, and its compute capability ("9.0"). Empty: on every GPU and,
  // of a counter that the emulator models, there too.
  std::string device = {};
  std::string compute_capability = {};
};

inline bool is_about_time(const claim& claim) {
  return claim.metric == speed_up_metric || claim.metric == speed_up_over_first_metric ||
         claim.metric == speed_up_over_library_metric || claim.metric == speed_of_light_metric;
}

}  // namespace lab
