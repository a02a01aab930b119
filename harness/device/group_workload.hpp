// The workload of an array track whose input and output are spread over several GPUs. Every GPU generates,
// poisons and guards its own part; the parts are those of one array, whatever the number of GPUs, and are
// judged as one. In one of several processes (common/process_group.hpp) it holds the one part of this
// process's GPU, and judges that; what they find is then put together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/stream.hpp"
#include "harness/device/array_workload.hpp"

namespace lab {

class group_workload final : public array_workload {
 public:
  group_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream);
  ~group_workload() override;

  void prepare_to_count(pattern kind, std::uint64_t seed) override;
  // From a common start on the first GPU's stream to the end of the last one's, which that stream waits for.
  void launch() override;
  // A graph over several GPUs is another lesson.
  [[nodiscard]] bool capturable() const override { return false; }

  std::optional<failure_record> damage() override { return std::nullopt; }
  std::optional<bool> writes_what_it_finds(std::int64_t /*index*/) override { return std::nullopt; }
  check_result check() override;

 protected:
  void join() override;
  [[nodiscard]] std::string where(const gpu_part& of) const override;
  [[nodiscard]] part own_outputs() const override;
  [[nodiscard]] check_result located(check_result result) const override;
  check_result compare() override;

 private:
  // What a GPU of the group has for launches. Made and ended with its device current.
  struct gpu_streams {
    explicit gpu_streams(cudaStream_t given) : work(given == nullptr ? own.emplace().get() : given) {}

    std::optional<stream> own;  // of all but the first GPU, whose stream is the worker's
    cudaStream_t work;
    stream side;
    untimed_event begin, work_end, side_end, events[4];
  };

  void fork();
  void watched(const std::function<void()>& enqueue);
  // What this process finds.
  check_result judged();
  [[nodiscard]] host_values replicated_outputs();
  [[nodiscard]] std::optional<failure_record> other_bits_on_a_gpu() const;

  std::vector<int> devices_;
  gpu_scope current_;
  std::vector<std::unique_ptr<gpu_streams>> streams_;  // of `parts_`
  std::vector<group_member> members_;
  gpu_group group_;
  host_values everywhere_;  // where every GPU must have the same result: those of all
  std::uint64_t launches_ = 0;
  const std::uint64_t number_;  // of the problem's workloads in this process
  bool in_order_ = false;
};

}  // namespace lab
