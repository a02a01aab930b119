#include "harness/device/counters.hpp"

#include <fstream>
#include <iterator>
#include <optional>

#include "common/emulator/observed/observation.hpp"
#include "harness/device/observed_fault.hpp"
#include "harness/device/verify/verifier.hpp"

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

}  // namespace

failure_record failure_of(const emulator::observed_fault& fault) {
  return {.kind = kind_of(fault.kind), .found = fault.text};
}

namespace {

std::optional<std::string> read_source(const std::string& file) {
  std::ifstream source(std::string(LAB_SOURCE_ROOT "/") + file);
  if (!source) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(source), {});
}

// Observes the stage's own launches, and not those with which the harness prepares and checks.
class observed_workload final : public workload {
 public:
  explicit observed_workload(workload& inner) : inner_(inner) {}

  void prepare(pattern kind, std::uint64_t seed) override { inner_.prepare_to_count(kind, seed); }
  void vary(std::uint64_t seed) override { inner_.vary(seed); }
  using workload::poison;
  void poison(memory_fill fill) override { inner_.poison(fill); }
  check_result check() override { return inner_.check(); }
  std::uint64_t digest() override { return inner_.digest(); }

  void launch() override {
    const emulator::observation observation;
    try {
      inner_.launch();
    } catch (...) {
      take(observation);
      throw;
    }
    take(observation);
  }

  profile_record profile;
  std::optional<emulator::observed_fault> first_fault;

 private:
  void take(const emulator::observation& observation) {
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
    if (!observation.faults().empty()) first_fault = observation.faults().front();
  }

  workload& inner_;
};

counted count_observed_kernels(workload& work, const launch_setup& setup, cudaStream_t stream) {
  observed_workload observed(work);
  check_result result = run_and_check(observed, setup, stream);
  if (observed.first_fault) result.failure = failure_of(*observed.first_fault);
  return {std::move(result), std::move(observed.profile)};
}

[[maybe_unused]] const bool counters_registered = [] {
  count_kernels = count_observed_kernels;
  return true;
}();

}  // namespace
}  // namespace lab
