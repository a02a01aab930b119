#include "harness/device/group_workload.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "common/process_group.hpp"
#include "harness/device/agreement.hpp"
#include "harness/device/watched_launch.hpp"
#if LAB_EMULATED
#include "common/emulator/core/deferred_streams.hpp"
#endif

namespace lab {
namespace {

// The first GPU of this process.
int own_device(const std::vector<int>& devices) {
  return *std::find_if(devices.begin(), devices.end(), [](int device) { return device >= 0; });
}

// For another process's memory: an address that may be added to, and not used.
void* placeholder() {
  return reinterpret_cast<void*>(std::uintptr_t{256});
}

std::uint64_t next_number(const std::string& problem) {
  static std::map<std::string, std::uint64_t> numbers;
  return numbers[problem]++;
}

}  // namespace

group_workload::group_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream)
    : array_workload(std::move(problem), stream, without_parts{}),
      devices_(group_devices(static_cast<int>(facts_.gpus))),
      current_(own_device(devices_)),
      number_(next_number(facts_.name)) {
  share_memory(devices_);
  prepared_ = problem_->prepare(stream);
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    const int device = devices_[k];
    group_member member{.device = device};
    launch_arguments::arrays arrays{{placeholder()}, placeholder()};
    if (device >= 0) {  // else another process's
      const gpu_scope scope(device);
      const gpu_streams& its =
          *streams_.emplace_back(std::make_unique<gpu_streams>(parts_.empty() ? stream : nullptr));
      const array_memory& memory =
          *parts_.emplace_back(gpu_part{device, make_memory(static_cast<std::int64_t>(k), its.work)}).memory;
      member.stream = its.work;
      member.side = its.side.get();
      for (int event = 0; event < 4; ++event) member.events[event] = its.events[event].get();
      member.scratch = memory.scratch().data;
      arrays = {memory.inputs(), memory.output()};
    }
    members_.push_back(member);
    arguments_.gpus.push_back(arrays);
  }
  group_ = members_;
  arguments_.group = &group_;
  join();
}

group_workload::~group_workload() {
  // Nothing may be under way that still touches a part.
  CUDA_REPORT(cudaStreamSynchronize(stream_));
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    try {
      const gpu_scope scope(parts_[k].device);
      CUDA_REPORT(cudaStreamSynchronize(streams_[k]->work));
      parts_[k].memory.reset();
      streams_[k].reset();
    } catch (const cuda_error&) {  // the device is lost, and this process with it
    }
  }
  prepared_ = {};
}

void group_workload::prepare_to_count(pattern kind, std::uint64_t seed) {
  prepare(kind, seed);
  in_order_ = true;  // as a timeline is read
}

// ---- launches

void group_workload::launch() {
  ++launches_;
  watched([&] {
    fork();
    {
      const gpu_scope scope(parts_.front().device);
      prepared_.enqueue(arguments_);
    }
    join();
  });
}

void group_workload::watched(const std::function<void()>& enqueue) {
#if LAB_EMULATED
  std::vector<cudaStream_t> streams;
  for (const auto& one : streams_) {
    streams.push_back(one->work);
    streams.push_back(one->side.get());
  }
  call_stage("launch", [&] {
    emulator::launch_watch watch(
        stream_,
        {.may_synchronise = facts_.traits.synchronises, .more_streams = streams, .may_choose_device = true});
    {
      // In the order of the program, the other way round, and then in one that is drawn; of some trials the
      // first one is another.
      const std::uint64_t drawn =
          source_.seed + launches_ + 1000 * static_cast<std::uint64_t>(processes::rank());
      const std::uint64_t turn = launches_ + number_ % 4;
      const std::uint64_t order = turn <= 2 ? turn - 1 : drawn;
      emulator::deferred_streams deferred(in_order_ ? 0 : order);
      enqueue();
    }
    require_none(watch.violations());
  });
#else
  call_stage("launch", enqueue);
#endif
}

// Every stream waits for what is on the first GPU's.
void group_workload::fork() {
  CUDA_CHECK(cudaEventRecord(streams_.front()->begin.get(), stream_));
  for (const auto& one : streams_) {
    if (one->work != stream_) CUDA_CHECK(cudaStreamWaitEvent(one->work, streams_.front()->begin.get()));
    CUDA_CHECK(cudaStreamWaitEvent(one->side.get(), streams_.front()->begin.get()));
  }
}

// The first GPU's stream waits for all, and then all wait for it.
void group_workload::join() {
  for (const auto& one : streams_) {
    if (one->work != stream_) {
      CUDA_CHECK(cudaEventRecord(one->work_end.get(), one->work));
      CUDA_CHECK(cudaStreamWaitEvent(stream_, one->work_end.get()));
    }
    CUDA_CHECK(cudaEventRecord(one->side_end.get(), one->side.get()));
    CUDA_CHECK(cudaStreamWaitEvent(stream_, one->side_end.get()));
  }
  fork();
}

// ---- checks

check_result group_workload::check() {
  look_at_memory();
  everywhere_ = replicated_outputs();
  return agreed(judged());
}

check_result group_workload::judged() {
  if (auto failure = changed_input()) return {.failure = std::move(failure)};
  if (auto failure = memory_failure()) return {.failure = std::move(failure)};
  return located(compare_with_references());
}

std::string group_workload::where(const gpu_part& of) const {
  return " of GPU " + std::to_string(of.device);
}

// A wrong output is told with its GPU; in one of several processes with the rank instead (agreed()).
check_result group_workload::located(check_result result) const {
  if (!result.failure || !result.failure->index || processes::are_several()) return result;
  std::size_t gpu = 0;
  while (gpu + 1 < parts_.size() && *result.failure->index >= parts_[gpu + 1].memory->output_part().first)
    ++gpu;
  result.failure->found += " on GPU " + std::to_string(parts_[gpu].device);
  return result;
}

check_result group_workload::compare() {
  if (auto failure = other_bits_on_a_gpu()) return {.failure = std::move(failure)};
  if (facts_.has_exact_outputs && has_exact_input() && whole_cost() > 16 * size()) {
    std::string key = reference_key();
    // Of several processes each knows its own part alone.
    const part own = own_outputs();
    if (processes::are_several()) key += " " + std::to_string(own.first) + " " + std::to_string(own.count);
    return compare_digests(std::int64_t{1} << 18, 1, key);
  }
  const std::vector<std::int64_t> indices = whole_cost() <= max_whole_cost ? all_indices() : sample();
  return compare_listed(make_comparison(largest_input()), source_, indices, download(indices));
}

host_values group_workload::replicated_outputs() {
  if (!facts_.is_replicated) return {};
  host_values own = download(all_indices());
  if (!processes::are_several()) return own;
  const std::string bytes(reinterpret_cast<const char*>(own.bytes.data()), size_of(own.type));
  host_values all(own.type, processes::count());
  std::int64_t rank = 0;
  for (const std::string& theirs : processes::gather(bytes))
    std::memcpy(all.at(rank++), theirs.data(), theirs.size());
  return all;
}

std::optional<failure_record> group_workload::other_bits_on_a_gpu() const {
  const auto text = [&](std::int64_t k) {
    return with_element(everywhere_.type, [&](auto zero) {
      return number_text(everywhere_.type, static_cast<long double>(everywhere_.as<decltype(zero)>()[k]));
    });
  };
  for (std::int64_t k = 1; k < everywhere_.size(); ++k) {
    if (std::memcmp(everywhere_.at(k), everywhere_.at(0), size_of(everywhere_.type)) == 0) continue;
    if (processes::are_several() && k != processes::rank()) continue;
    return failure_record{.kind = failure_kind::wrong,
                          .index = k,
                          .expected = text(0) + ", bit for bit as on the first GPU",
                          .found = text(k)};
  }
  return std::nullopt;
}

// Those of all GPUs, or of the one that this process has.
part group_workload::own_outputs() const {
  return processes::are_several() ? parts_.front().memory->output_part() : part{0, size()};
}

}  // namespace lab
