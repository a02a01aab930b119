// The parameters that the tracks over several GPUs share: n, gpus, scaling. `Parameters` has members of these
// names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/process_group.hpp"
#include "harness/device/parameter.hpp"

namespace lab {

// Values of `scaling`: n is that of all GPUs together, or of each.
enum scaling : std::int64_t { strong_scaling, weak_scaling };

template <class Parameters>
parameter<Parameters> parameter_spread_n(std::int64_t emulator_bench) {
  return {.name = "n",
          .member = &Parameters::n,
          .meaning = "values, in all or on each GPU",
          .bench = {1'000'000'000},
          .emulator_bench = {emulator_bench}};
}

template <class Parameters>
parameter<Parameters> parameter_gpus() {
  parameter<Parameters> gpus = {.name = "gpus",
                                .member = &Parameters::gpus,
                                .meaning = "GPUs",
                                .minimum = 1,
                                .bench = {1, 2},
                                .apply_default = 2};
  // Several processes are a group of as many GPUs, and of no other number.
  if (processes::are_several()) gpus.bench = {processes::count()};
  return gpus;
}

template <class Parameters>
parameter<Parameters> parameter_scaling() {
  return {.name = "scaling",
          .member = &Parameters::scaling,
          .meaning = "whether n is fixed or that of each GPU",
          .bench = {"strong", "weak"},
          .emulator_bench = {"strong"},
          .choices = {{strong_scaling, "strong"}, {weak_scaling, "weak"}},
          .apply_default = "strong"};
}

// Of all GPUs together.
template <class Parameters>
constexpr std::int64_t spread_values(const Parameters& p) {
  return p.scaling == weak_scaling ? p.n * p.gpus : p.n;
}

// The sizes of groups that stages are tried on: one to four GPUs, as there are; of several processes theirs.
inline std::vector<std::int64_t> tried_groups() {
  if (processes::are_several()) return {processes::count()};
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::min(4, available_gpus())));
  std::iota(sizes.begin(), sizes.end(), 1);
  return sizes;
}
// The group of so many GPUs among them, or the largest.
inline std::int64_t tried_group_of(const std::vector<std::int64_t>& groups, std::size_t gpus) {
  return groups[std::min(gpus, groups.size()) - 1];
}

}  // namespace lab
