// Any number of input arrays, one output array and scratch memory on the device: the workload of an array
// track, whatever the types of its elements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/array_memory.hpp"
#include "harness/device/bound_problem.hpp"
#include "harness/device/comparison.hpp"
#include "harness/device/track.hpp"

namespace lab {

// What the stage declares instead of the problem's bound; the problem's, where it declares nothing. Throws
// stage_error for one that bounds nothing.
double relative_bound(const bound_problem& problem, const problem_facts& facts);
// Whether the stage's results carry rounding errors of values that have left them.
inline bool drifts(const problem_facts& facts) {
  return facts.traits.drifts && facts.drift_error > 0;
}
// Of inputs and outputs, of the GPU that has most.
inline std::size_t array_bytes(const bound_problem& problem) {
  return array_memory::array_bytes(problem.layout(), problem.parts(0));
}
// Scratch memory that the stage asks for; absurd amounts are cut, and still do not fit.
std::size_t scratch_bytes(const bound_problem& problem);
// All that is allocated on one GPU.
std::size_t needed_bytes(const bound_problem& problem);

// Has all arrays on the current device. group_workload.hpp has them on several.
class array_workload : public workload {
 public:
  array_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream);

  // The user's own inputs instead of generated ones; `values` outlive the check.
  void prepare_from(const host_arrays& values);
  void prepare(pattern kind, std::uint64_t seed) override;
  void vary(std::uint64_t seed) override;
  void renew(std::uint64_t seed) override;
  using workload::poison;
  void poison(memory_fill fill) override;
  void launch() override;
  [[nodiscard]] double preparation_nanoseconds() const override { return prepared_.nanoseconds; }

  std::optional<failure_record> damage() override;
  std::optional<bool> writes_what_it_finds(std::int64_t index) override;
  check_result check() override;
  std::uint64_t digest() override;

  // The outputs of the user's own inputs, a sample of which is compared with the reference.
  check_result check_against_reference(host_values& outputs);
  // Likewise, where no reference says what they must be: every one written, and nothing beside them.
  check_result take(host_values& outputs);

 protected:
  // For one whose arrays are on several GPUs, which makes `parts_`.
  struct without_parts {};
  array_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream, without_parts /*unused*/);

  // Reference evaluations (outputs times inputs of each) up to which every output is compared, and about how
  // many a sample may cost: a quarter of a second and some tens of milliseconds of one core. On the emulator
  // fewer will do, since exact inputs are compared whole at any size.
  static constexpr std::int64_t max_whole_cost = emulated ? 40'000'000 : 400'000'000;
  static constexpr std::int64_t sample_cost = emulated ? 4'000'000 : 20'000'000;
  // And with exact inputs: some seconds of one core.
  static constexpr std::int64_t max_exact_cost = emulated ? 400'000'000 : 20'000'000'000;

  struct gpu_part {
    int device = -1;  // -1: the current one
    std::unique_ptr<array_memory> memory;
  };

  // What GPU k of the group has, on the current device.
  [[nodiscard]] std::unique_ptr<array_memory> make_memory(std::int64_t k, cudaStream_t stream) const {
    return std::make_unique<array_memory>(facts_.layout, problem_->parts(k), prepared_.workspace_bytes,
                                          stream);
  }
  // Calls function(part) with the part's device current.
  void each(const std::function<void(gpu_part&)>& function);
  // Has all streams wait for each other.
  virtual void join() {}
  // Of a wrong write: " of GPU 1".
  [[nodiscard]] virtual std::string where(const gpu_part& /*of*/) const { return ""; }
  // Outputs that this process has.
  [[nodiscard]] virtual part own_outputs() const { return {0, size()}; }
  // Those that are compared, where not all are.
  [[nodiscard]] std::vector<std::int64_t> sample() const;
  // What the comparison has found, told with where the output is computed.
  [[nodiscard]] virtual check_result located(check_result result) const;
  // Whole (at most 2^28 outputs) where that can be afforded: output by output, or with exact results by
  // digests of them.
  virtual check_result compare();

  void look_at_memory();
  [[nodiscard]] std::optional<failure_record> changed_input() const;
  [[nodiscard]] std::optional<failure_record> memory_failure() const;
  [[nodiscard]] std::optional<failure_record> memory_failure(
      const std::function<bool(std::int64_t)>& is_poison_right) const;
  // compare(), once more with references of its own where others' were used.
  check_result compare_with_references();

  [[nodiscard]] std::int64_t size() const { return facts_.layout.output.size(); }
  [[nodiscard]] std::int64_t whole_cost() const;
  [[nodiscard]] std::int64_t cost_one_by_one() const;
  [[nodiscard]] bool has_exact_input() const { return source_.own == nullptr && is_exact(source_.kind); }
  [[nodiscard]] std::vector<std::int64_t> all_indices() const;

  // Outputs by their indices, which ascend; or neighbours.
  host_values download(const std::vector<std::int64_t>& indices);
  void download(std::int64_t first, std::int64_t count, void* to);

  // Outputs of these indices against the reference.
  [[nodiscard]] check_result compare_listed(const comparison& rules, const input_source& source,
                                            const std::vector<std::int64_t>& indices,
                                            const host_values& found) const;
  // Digests of exact results in segments (of at most 2^28 outputs a GPU), worked out on the device and by the
  // host; where they differ, the first wrong output is looked for. The host's are known by `key`, where they
  // are to be kept.
  check_result compare_digests(std::int64_t segment, std::int64_t terms,
                               const std::optional<std::string>& key);
  [[nodiscard]] comparison make_comparison(double largest) const;
  [[nodiscard]] double largest_input() const;
  // What makes a process's exact results, by their inputs.
  [[nodiscard]] std::string reference_key() const;

  const std::unique_ptr<bound_problem> problem_;
  const cudaStream_t stream_;
  const problem_facts facts_;
  const double bound_;  // asked for before anything is launched: nothing of the stage's runs between a launch
                        // and its check
  prepared_launch prepared_;
  std::vector<gpu_part> parts_;
  launch_arguments arguments_;  // made once: a launch is to cost the host nothing more
  input_source source_;
  memory_fill fill_ = memory_fill::ones;

 private:
  [[nodiscard]] double error_by_traits(double largest) const;
  [[nodiscard]] bool is_poison_right(std::int64_t index) const;
  [[nodiscard]] bool has_exact_results() const { return has_exact_input() && facts_.is_exact; }
  [[nodiscard]] bool streams() const { return facts_.has_exact_outputs && facts_.streams; }
  [[nodiscard]] bool is_worth_keeping() const;
  [[nodiscard]] std::int64_t all_inputs() const;
  check_result compare_in_order(std::int64_t most);
  check_result compare_whole();
  [[nodiscard]] check_result compare_runs(const comparison& rules, const input_source& source,
                                          const std::vector<std::int64_t>& indices,
                                          const host_values& found) const;
  [[nodiscard]] std::optional<check_result> compare_near(const comparison& rules, const input_source& source,
                                                         const std::vector<std::int64_t>& indices,
                                                         const host_values& found) const;
  [[nodiscard]] std::vector<std::uint64_t> right_digests(const part& of, std::int64_t segment,
                                                         const std::vector<std::int64_t>& chosen,
                                                         std::int64_t terms) const;
  [[nodiscard]] std::function<void(std::int64_t first, std::int64_t count, const take_keys& take)> exact_keys(
      std::int64_t n, std::int64_t piece) const;
  failure_record first_other_output(std::int64_t first, std::int64_t count);

  bool poison_is_a_value_;
};

}  // namespace lab
