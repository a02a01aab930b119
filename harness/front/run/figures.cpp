#include "harness/front/run/figures.hpp"

#include <nlohmann/json.hpp>

namespace lab::front {
namespace {

// A sum over the launches of a run: the emulator's own name for it, and Nsight Compute's where that has
// another one.
struct counted_sum {
  const char* modelled;
  const char* measured;
};
constexpr counted_sum asked_bytes{"lab__bytes_asked_mem_global_op_ld.sum",
                                  "smsp__sass_data_bytes_mem_global_op_ld.sum"};
constexpr counted_sum bulk_bytes{"lab__bulk_copy_bytes_mem_global_op_ld.sum", nullptr};
constexpr counted_sum load_sectors{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", nullptr};
constexpr counted_sum store_sectors{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", nullptr};
constexpr counted_sum load_requests{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", nullptr};
constexpr counted_sum store_requests{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", nullptr};
constexpr counted_sum load_wavefronts{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", nullptr};
constexpr counted_sum store_wavefronts{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", nullptr};
constexpr counted_sum shared_loads{"lab__requests_mem_shared_op_ld.sum",
                                   "smsp__sass_inst_executed_op_shared_ld.sum"};
constexpr counted_sum shared_stores{"lab__requests_mem_shared_op_st.sum",
                                    "smsp__sass_inst_executed_op_shared_st.sum"};
constexpr counted_sum barriers{"lab__barriers.sum", nullptr};
constexpr counted_sum global_atomics{"lab__atomics_mem_global.sum", nullptr};
constexpr counted_sum shared_atomics{"lab__atomics_mem_shared.sum", nullptr};

constexpr const char* grid_size = "launch__grid_size";

class run_of_kernels {
 public:
  explicit run_of_kernels(const profile_record& profile) : profile_(profile) {}

  // Nothing where no kernel's launch has counted it.
  [[nodiscard]] std::optional<double> sum(const counted_sum& what) const {
    const char* const name = profile_.modelled || what.measured == nullptr ? what.modelled : what.measured;
    std::optional<double> all;
    for (const kernel_record& kernel : profile_.kernels) {
      if (const auto found = kernel.metrics.find(name); found != kernel.metrics.end())
        all = all.value_or(0) + found->second;
    }
    return all;
  }
  [[nodiscard]] std::optional<double> sum(const counted_sum& one, const counted_sum& other) const {
    const auto a = sum(one);
    const auto b = sum(other);
    if (!a && !b) return std::nullopt;
    return a.value_or(0) + b.value_or(0);
  }
  [[nodiscard]] std::optional<double> blocks() const {
    std::optional<double> all;
    for (const kernel_record& kernel : profile_.kernels) {
      if (const auto found = kernel.metrics.find(grid_size); found != kernel.metrics.end())
        all = all.value_or(0) + found->second * static_cast<double>(kernel.launches);
    }
    return all;
  }

 private:
  const profile_record& profile_;
};

// Nothing where nothing was counted, or where there is none of it.
std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || !(*part > 0) || !(*whole > 0)) return std::nullopt;
  return *part / *whole;
}

}  // namespace

std::vector<std::string> figure_metrics() {
  std::vector<std::string> names{grid_size};
  for (const counted_sum& one : {asked_bytes, load_sectors, store_sectors, load_requests, store_requests,
                                 load_wavefronts, store_wavefronts, shared_loads, shared_stores}) {
    names.emplace_back(one.measured == nullptr ? one.modelled : one.measured);
  }
  return names;
}

stage_figures figures_of(const profile_record& profile, std::int64_t outputs) {
  const run_of_kernels run(profile);
  return {ratio(run.sum(asked_bytes, bulk_bytes), static_cast<double>(outputs)),
          ratio(run.sum(load_sectors, store_sectors), run.sum(load_requests, store_requests)),
          ratio(run.sum(load_wavefronts, store_wavefronts), run.sum(shared_loads, shared_stores)),
          ratio(run.sum(barriers), run.blocks()),
          ratio(run.sum(global_atomics, shared_atomics), run.blocks())};
}

nlohmann::json figures_json(const stage_figures& figures) {
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t k = 0; k < figures.size(); ++k)
    json[figure_columns[k].name] = figures[k] ? nlohmann::json(*figures[k]) : nlohmann::json(nullptr);
  return json;
}

}  // namespace lab::front
