#include "harness/device/counters.hpp"

#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/device/observed_launch.hpp"

namespace lab {
namespace {

failure_kind kind_of(emulator::fault fault) {
  switch (fault) {
    case emulator::fault::race:
      return failure_kind::race;
    case emulator::fault::uninitialised:
      return failure_kind::uninitialised;
    case emulator::fault::out_of_bounds:
      return failure_kind::out_of_bounds;
    case emulator::fault::host_access:
      break;
  }
  return failure_kind::crash;
}

std::optional<std::string> read_source(const std::string& file) {
  std::ifstream source(std::string(LAB_SOURCE_ROOT "/") + file);
  if (!source) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(source), {});
}

void add_to(profile_record& profile, const emulator::observation& observation) {
  for (const emulator::observed_kernel& kernel : observation.kernels()) {
    kernel_record record{.name = kernel.name,
                         .launches = static_cast<std::int64_t>(kernel.launches),
                         .metrics = kernel.metrics};
    for (const emulator::observed_line& line : kernel.lines) {
      record.lines.push_back({line.file, line.line, line.function, line.metrics});
      if (profile.sources.contains(line.file)) continue;
      if (auto text = read_source(line.file)) profile.sources[line.file] = std::move(*text);
    }
    profile.kernels.push_back(std::move(record));
  }
  for (const emulator::observed_fault& fault : observation.faults())
    profile.diagnostics.push_back(fault.text);
  for (const std::string& warning : observation.warnings())
    profile.diagnostics.push_back("warning: " + warning);
}

counted count_observed_kernels(workload& work, const launch_setup& setup, cudaStream_t stream) {
  counted found;
  found.check = run_observed(work, setup, stream, [&](const emulator::observation& observation) {
    add_to(found.profile, observation);
  });
  return found;
}

[[maybe_unused]] const bool counters_registered = [] {
  count_kernels = count_observed_kernels;
  return true;
}();

}  // namespace

check_result run_observed(workload& work, const launch_setup& setup, cudaStream_t stream,
                          const std::function<void(const emulator::observation&)>& look,
                          std::optional<std::uint64_t> block) {
  std::optional<failure_record> fault;
  const auto launch = [&] {
    emulator::observation observation;
    if (block) observation.keep_block(*block);
    const auto take = [&] {
      look(observation);
      if (observation.faults().empty()) return;
      const emulator::observed_fault& first = observation.faults().front();
      fault = failure_record{.kind = kind_of(first.kind), .found = first.text};
    };
    try {
      work.launch();
    } catch (...) {
      take();
      throw;
    }
    take();
  };
  block_order order;
  check_result result = run_and_check([&] { work.prepare_to_count(setup.input, setup.seed); }, launch, work,
                                      setup.reversed, stream, order);
  if (fault) result.failure = fault;
  return result;
}

}  // namespace lab
