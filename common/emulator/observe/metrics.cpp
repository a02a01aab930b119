#include "common/emulator/observe/metrics.hpp"

namespace lab::emulator {

metric_values metrics_of(const site_counters& counters) {
  metric_values values;
  const auto set = [&values](const std::string& name, std::uint64_t value) {
    values[name] = static_cast<double>(value);
  };
  for (const auto& [operation, suffix] :
       {std::pair{memory_operation::load, "_op_ld"}, std::pair{memory_operation::store, "_op_st"}}) {
    const memory_counters& global = counters.of(memory_space::global, operation);
    set("l1tex__t_requests_pipe_lsu_mem_global" + std::string(suffix) + ".sum", global.requests);
    set("l1tex__t_sectors_pipe_lsu_mem_global" + std::string(suffix) + ".sum", global.units);
    set("l1tex__t_bytes_pipe_lsu_mem_global" + std::string(suffix) + ".sum", global.units * sector_bytes);
    set("lab__bytes_asked_mem_global" + std::string(suffix) + ".sum", global.bytes);
    const memory_counters& shared = counters.of(memory_space::shared, operation);
    set("lab__requests_mem_shared" + std::string(suffix) + ".sum", shared.requests);
    set("l1tex__data_pipe_lsu_wavefronts_mem_shared" + std::string(suffix) + ".sum", shared.units);
    set("l1tex__data_bank_conflicts_pipe_lsu_mem_shared" + std::string(suffix) + ".sum",
        shared.units - shared.least);
  }
  set("lab__atomics_mem_global.sum", counters.of(memory_space::global, memory_operation::atomic).lanes);
  set("lab__atomics_mem_shared.sum", counters.of(memory_space::shared, memory_operation::atomic).lanes);
  if (counters.executed != 0) {
    values["smsp__thread_inst_executed_per_inst_executed.ratio"] =
        static_cast<double>(counters.executed_lanes) / static_cast<double>(counters.executed);
  }
  return values;
}

}  // namespace lab::emulator
