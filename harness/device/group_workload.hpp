// The workload of an array track whose input and output are spread over several GPUs. Every GPU generates,
// poisons and guards its own part; the parts are those of one array, whatever the number of GPUs, and are
// judged as one. In one of several processes (common/process_group.hpp) it holds the one part of this
// process's GPU, and judges that; what they find is then put together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/nvtx.hpp"
#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/agreement.hpp"
#include "harness/device/array_track.hpp"
#include "harness/device/comparison.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/references.hpp"
#include "harness/device/track.hpp"
#include "harness/device/typed_stage.hpp"
#include "harness/device/watched_launch.hpp"
#if LAB_EMULATED
#include "common/emulator/deferred_streams.hpp"
#endif

namespace lab {

// gpus(p) is how many, part_of_input(p, k) and part_of_output(p, k) what GPU k has, key_of_results(p) a text
// that parameters of equal results share, and `is_replicated` whether every GPU has the same output, bit for
// bit.
template <class Problem>
concept has_parts = requires(const typename Problem::parameters& p, std::int64_t k) {
  { Problem::gpus(p) } -> std::convertible_to<std::int64_t>;
  { Problem::part_of_input(p, k) } -> std::same_as<part>;
  { Problem::part_of_output(p, k) } -> std::same_as<part>;
  { Problem::key_of_results(p) } -> std::convertible_to<std::string>;
  { Problem::is_replicated } -> std::convertible_to<bool>;
};

// What one GPU of a group holds. Made and ended with its device current.
template <class Output, class Input>
struct group_part {
  group_part(int its_device, cudaStream_t given, part its_input, part its_output, std::size_t scratch_bytes)
      : device(its_device),
        work(given == nullptr ? own.emplace().get() : given),
        input_part(its_input),
        output_part(its_output),
        input(its_input.count, work, array_use::read),
        output(its_output.count, work),
        scratch(static_cast<std::int64_t>(scratch_bytes), work),
        found(words, work) {}

  // What is looked for: the first element that was never written or was changed, and both guards of each
  // buffer.
  enum word { unwritten, output_guards, changed = 3, input_guards, scratch_guards = 6, words = 8 };

  int device;
  std::optional<stream> own;  // of all but the first GPU, whose stream is the worker's
  cudaStream_t work;
  stream side;
  untimed_event begin, work_end, side_end, events[4];
  part input_part, output_part;
  guarded_buffer<Input> input;
  guarded_buffer<Output> output;
  guarded_buffer<unsigned char> scratch;
  device_buffer<std::int64_t> found;
  std::int64_t found_words[words] = {};
};

template <class Problem, class Output, class Input>
class group_workload final : public workload {
 public:
  using parameters = typename Problem::parameters;
  using hooks = array_hooks<Problem>;
  using user_inputs = std::tuple<std::vector<Input>>;

  // `all` outlives this.
  group_workload(const hooks& all, const stage<Problem>& stage, const parameters& p, cudaStream_t stream)
      : hooks_(all),
        stage_(stage),
        parameters_(p),
        stream_(stream),
        layout_(Problem::layout(p)),
        bound_(relative_bound(all, stage, p)),
        devices_(group_devices(static_cast<int>(Problem::gpus(p)))),
        current_(own_device(devices_)),
        prepared_((share_memory(devices_), stage), p, stream) {
    for (std::size_t k = 0; k < devices_.size(); ++k) {
      if (devices_[k] < 0) continue;  // of another process
      const gpu_scope scope(devices_[k]);
      const auto number = static_cast<std::int64_t>(k);
      parts_.push_back(std::make_unique<device_part>(
          devices_[k], parts_.empty() ? stream : nullptr, Problem::part_of_input(p, number),
          Problem::part_of_output(p, number), prepared_.workspace_bytes()));
    }
    join();
  }
  ~group_workload() override {
    // Nothing may be under way that still touches a part.
    CUDA_REPORT(cudaStreamSynchronize(stream_));
    for (auto& one : parts_) {
      try {
        const gpu_scope scope(one->device);
        CUDA_REPORT(cudaStreamSynchronize(one->work));
        one.reset();
      } catch (const cuda_error&) {  // the device is lost, and this process with it
      }
    }
  }

  static bool drifts(const hooks& /*all*/, const stage<Problem>& /*stage*/, const parameters& /*p*/) {
    return false;
  }
  static double relative_bound(const hooks& /*all*/, const stage<Problem>& stage, const parameters& p) {
    return stage.relative_error == nullptr
               ? Problem::relative_error(p)
               : call_stage("relative_error", [&] { return stage.relative_error(p); });
  }

  // Of the GPU that has most.
  static std::size_t array_bytes(const parameters& p) {
    return guarded_buffer<Input>::needed_bytes(Problem::part_of_input(p, 0).count) +
           guarded_buffer<Output>::needed_bytes(Problem::part_of_output(p, 0).count);
  }
  static std::size_t needed_bytes(const stage<Problem>& stage, const parameters& p) {
    return array_bytes(p) + guarded_buffer<unsigned char>::needed_bytes(scratch_bytes(stage, p));
  }
  static std::int64_t scratch_bytes(const stage<Problem>& stage, const parameters& p) {
    return static_cast<std::int64_t>(asked_workspace(stage, p));
  }

  void prepare(pattern kind, std::uint64_t seed) override {
    pattern_ = kind;
    own_input_ = false;
    each([](device_part& one) { one.input.poison_all(); });
    vary(seed);
    poison(memory_fill::ones);
  }

  void prepare_to_count(pattern kind, std::uint64_t seed) override {
    prepare(kind, seed);
    in_order_ = true;  // as a timeline is read
  }

  void prepare_from(const user_inputs& values) {
    own_input_ = true;
    each([&](device_part& one) {
      one.input.poison_all();
      if (one.input_part.count == 0) return;
      CUDA_CHECK(cudaMemcpyAsync(one.input.data(), std::get<0>(values).data() + one.input_part.first,
                                 static_cast<std::size_t>(one.input_part.count) * sizeof(Input),
                                 cudaMemcpyHostToDevice, one.work));
      CUDA_CHECK(cudaStreamSynchronize(one.work));
    });
    poison(memory_fill::ones);
  }

  void vary(std::uint64_t seed) override {
    seed_ = seed;
    each([&](device_part& one) {
      generate(one.input.data(), one.input_part.count, pattern_, seed, one.work, one.input_part.first);
    });
    join();
  }

  void renew(std::uint64_t seed) override {
    vary(seed);
    fill_ = memory_fill::ones;
    each([](device_part& one) { one.output.poison_all(); });
    join();
  }

  using workload::poison;
  void poison(memory_fill fill) override {
    fill_ = fill;
    each([&](device_part& one) {
      one.output.poison_all();
      one.scratch.poison_all();
      if (fill == memory_fill::ones) return;
      one.output.fill(fill, seed_ + static_cast<std::uint64_t>(one.device));
      one.scratch.fill(fill, ~seed_ + static_cast<std::uint64_t>(one.device));
    });
    join();
  }

  // From a common start on the first GPU's stream to the end of the last one's, which that stream waits for.
  void launch() override {
    ++launches_;
    std::vector<group_member> members;
    std::vector<const Input*> inputs;
    std::vector<Output*> outputs;
    for (auto one = parts_.begin(); const int device : devices_) {
      group_member member{.device = device};
      if (device < 0) {
        members.push_back(member);
        inputs.push_back(nowhere<Input>());
        outputs.push_back(nowhere<Output>());
        continue;
      }
      const device_part& part = **one++;
      member.stream = part.work;
      member.side = part.side.get();
      for (int k = 0; k < 4; ++k) member.events[k] = part.events[k].get();
      member.scratch = part.scratch.data();
      members.push_back(member);
      inputs.push_back(part.input.data());
      outputs.push_back(part.output.data());
    }
    const auto input = Problem::bind_input(parameters_, inputs);
    const auto output = Problem::bind_output(parameters_, outputs);
    watched([&] {
      fork();
      {
        const gpu_scope scope(parts_.front()->device);
        prepared_.launch(input, output, gpu_group(members));
      }
      join();
    });
  }

  // A graph over several GPUs is another lesson.
  [[nodiscard]] bool capturable() const override { return false; }
  [[nodiscard]] double preparation_nanoseconds() const override { return prepared_.nanoseconds(); }

  check_result check() override {
    look_at_memory();
    const std::vector<Output> everywhere = replicated_outputs();
    return agreed(judged(everywhere));
  }

  check_result check_against(const user_inputs& values, std::vector<Output>& outputs) {
    look_at_memory();
    if (auto failure = memory_failure()) return {.failure = std::move(failure)};
    outputs = download_all();
    const auto& given = std::get<0>(values);
    const std::tuple element{[&](std::int64_t j) { return given[static_cast<std::size_t>(j)]; }};
    const std::vector<std::int64_t> indices = whole_cost() <= max_whole_cost ? all_indices() : sample();
    std::vector<Output> found;
    for (const std::int64_t index : indices) found.push_back(outputs[static_cast<std::size_t>(index)]);
    return with_gpu(judge().run(element, indices, found));
  }

  std::uint64_t digest() override {
    std::uint64_t total = 0;
    each([&](device_part& one) {
      const device_buffer<std::uint64_t> word(1, one.work);
      hash_bits(one.output.data(), one.output_part.count, word.data(), one.work, one.output_part.first);
      std::uint64_t value = 0;
      CUDA_CHECK(cudaMemcpyAsync(&value, word.data(), sizeof value, cudaMemcpyDeviceToHost, one.work));
      CUDA_CHECK(cudaStreamSynchronize(one.work));
      total += value;
    });
    const std::vector<std::uint64_t> all = processes::gather_values(total);
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }

 private:
  using device_part = group_part<Output, Input>;
  static_assert(has_reference<Problem, Input>,
                "a problem's reference(value, p, i) gives output i, with a `value` for its input");
  static_assert(check_reference_hooks<Problem, Input>());
  static_assert(has_parts<Problem>,
                "a problem over several GPUs has gpus(p), part_of_input(p, k), part_of_output(p, k), "
                "key_of_results(p) and `is_replicated`");

  // As of an array on one GPU (array_workload.hpp).
  static constexpr std::int64_t max_whole_cost = emulated ? 40'000'000 : 400'000'000;
  static constexpr std::int64_t sample_cost = emulated ? 4'000'000 : 20'000'000;

  // The first GPU of this process.
  static int own_device(const std::vector<int>& devices) {
    return *std::find_if(devices.begin(), devices.end(), [](int device) { return device >= 0; });
  }

  // In the place of another process's memory: an address that may be added to, and not used.
  template <class T>
  static T* nowhere() {
    return reinterpret_cast<T*>(std::uintptr_t{256});
  }

  // What this process finds.
  check_result judged(const std::vector<Output>& everywhere) {
    if (auto failure = first_of([](const device_part& one) -> std::optional<failure_record> {
          const std::int64_t changed = one.found_words[device_part::changed];
          if (changed >= one.input_part.count) return std::nullopt;
          return failure_record{.kind = failure_kind::input_changed, .index = one.input_part.first + changed};
        }))
      return {.failure = std::move(failure)};
    if (auto failure = memory_failure()) return {.failure = std::move(failure)};
    references::forget_use();
    check_result result = compare(everywhere);
    if (result.failure && references::distrust_received()) result = compare(everywhere);
    return with_gpu(std::move(result));
  }

  template <class Function>
  void each(const Function& function) {
    for (const auto& one : parts_) {
      const gpu_scope scope(one->device);
      function(*one);
    }
  }

  // Every stream waits for what is on the first GPU's.
  void fork() {
    CUDA_CHECK(cudaEventRecord(parts_.front()->begin.get(), stream_));
    for (const auto& one : parts_) {
      if (one->work != stream_) CUDA_CHECK(cudaStreamWaitEvent(one->work, parts_.front()->begin.get()));
      CUDA_CHECK(cudaStreamWaitEvent(one->side.get(), parts_.front()->begin.get()));
    }
  }
  // The first GPU's stream waits for all, and then all wait for it.
  void join() {
    for (const auto& one : parts_) {
      if (one->work != stream_) {
        CUDA_CHECK(cudaEventRecord(one->work_end.get(), one->work));
        CUDA_CHECK(cudaStreamWaitEvent(stream_, one->work_end.get()));
      }
      CUDA_CHECK(cudaEventRecord(one->side_end.get(), one->side.get()));
      CUDA_CHECK(cudaStreamWaitEvent(stream_, one->side_end.get()));
    }
    fork();
  }

  template <class Function>
  void watched(const Function& enqueue) {
#if LAB_EMULATED
    std::vector<cudaStream_t> streams;
    for (const auto& one : parts_) {
      streams.push_back(one->work);
      streams.push_back(one->side.get());
    }
    call_stage("launch", [&] {
      emulator::launch_watch watch(stream_, {.may_synchronise = stage_.traits.synchronises,
                                             .more_streams = streams,
                                             .may_choose_device = true});
      {
        // In the order of the program, the other way round, and then in one that is drawn; of some trials the
        // first one is another.
        const std::uint64_t drawn = seed_ + launches_ + 1000 * static_cast<std::uint64_t>(processes::rank());
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

  void look_at_memory() {
    each([&](device_part& one) {
      std::int64_t* const words = one.found.data();
      CUDA_CHECK(cudaMemsetAsync(words, 0x7f, sizeof one.found_words, one.work));  // more than any index
      if (fill_ == memory_fill::ones)
        find_poison(one.output.data(), one.output_part.count, words + device_part::unwritten, one.work);
      one.output.look_at_guards(words + device_part::output_guards);
      if (!own_input_) {
        find_changed_input(one.input.data(), one.input_part.count, pattern_, seed_,
                           words + device_part::changed, one.work, one.input_part.first);
      }
      one.input.look_at_guards(words + device_part::input_guards);
      one.scratch.look_at_guards(words + device_part::scratch_guards);
      CUDA_CHECK(
          cudaMemcpyAsync(one.found_words, words, sizeof one.found_words, cudaMemcpyDeviceToHost, one.work));
      CUDA_CHECK(cudaStreamSynchronize(one.work));
    });
  }

  // The first failure that `look` finds on a GPU.
  template <class Look>
  std::optional<failure_record> first_of(const Look& look) const {
    for (const auto& one : parts_) {
      if (auto failure = look(*one)) return failure;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<failure_record> memory_failure() const {
    return first_of([&](const device_part& one) -> std::optional<failure_record> {
      const std::string where = " of GPU " + std::to_string(one.device);
      if (const std::int64_t unwritten = one.found_words[device_part::unwritten];
          unwritten < one.output_part.count)
        return failure_record{.kind = failure_kind::unwritten, .index = one.output_part.first + unwritten};
      const auto stray = [&](const auto& buffer, const std::int64_t* found, std::int64_t first,
                             std::int64_t size, const char* what) -> std::optional<failure_record> {
        const auto byte = buffer.changed_byte(found);
        if (!byte) return std::nullopt;
        const std::int64_t element = *byte >= 0 ? *byte / size : -((-*byte + size - 1) / size);
        return failure_record{.kind = failure_kind::out_of_bounds,
                              .index = first + element,
                              .found = std::string("a write to the ") + what + where};
      };
      if (auto failure = stray(one.output, one.found_words + device_part::output_guards,
                               one.output_part.first, sizeof(Output), "output"))
        return failure;
      if (auto failure = stray(one.input, one.found_words + device_part::input_guards, one.input_part.first,
                               sizeof(Input), "input"))
        return failure;
      return stray(one.scratch, one.found_words + device_part::scratch_guards, 0, 1, "workspace");
    });
  }

  // A wrong output is told with its GPU; in one of several processes with the rank instead (agreed()).
  [[nodiscard]] check_result with_gpu(check_result result) const {
    if (!result.failure || !result.failure->index || processes::are_several()) return result;
    std::size_t gpu = 0;
    while (gpu + 1 < parts_.size() && *result.failure->index >= parts_[gpu + 1]->output_part.first) ++gpu;
    result.failure->found += " on GPU " + std::to_string(parts_[gpu]->device);
    return result;
  }

  [[nodiscard]] std::int64_t size() const {
    return layout_.output.size();
  }
  [[nodiscard]] std::int64_t whole_cost() const {
    return layout_.terms * size();
  }
  [[nodiscard]] bool has_exact_input() const {
    return !own_input_ && is_exact(pattern_);
  }

  [[nodiscard]] comparison<Problem, Output> judge() const {
    const double bound = has_exact_input() ? hooks_.exact_error : bound_;
    return {parameters_, layout_.terms, bound, 0, hooks_.keeps_zero_signs};
  }

  [[nodiscard]] std::tuple<generated_values<Input>> generated() const {
    return {generated_values<Input>{pattern_, seed_}};
  }

  check_result compare(const std::vector<Output>& everywhere) {
    constexpr bool streams = has_hook<Problem, reference_hook::exact_outputs>;
    if (auto failure = other_bits_on_a_gpu(everywhere)) return {.failure = std::move(failure)};
    if (streams && has_exact_input() && whole_cost() > 16 * size()) return compare_digests();
    const std::vector<std::int64_t> indices = whole_cost() <= max_whole_cost ? all_indices() : sample();
    return judge().run(generated(), indices, download(indices));
  }

  // Where every GPU must have the same result: those of all.
  std::vector<Output> replicated_outputs() {
    if constexpr (Problem::is_replicated) {
      const std::vector<Output> own = download_all();
      return processes::are_several() ? processes::gather_values(own.front()) : own;
    }
    return {};
  }

  std::optional<failure_record> other_bits_on_a_gpu(const std::vector<Output>& all) {
    if constexpr (Problem::is_replicated) {
      for (std::size_t k = 1; k < all.size(); ++k) {
        if (std::memcmp(&all[k], &all[0], sizeof(Output)) == 0) continue;
        if (processes::are_several() && static_cast<int>(k) != processes::rank()) continue;
        return failure_record{.kind = failure_kind::wrong,
                              .index = static_cast<std::int64_t>(k),
                              .expected = number_text<Output>(static_cast<long double>(all[0])) +
                                          ", bit for bit as on the first GPU",
                              .found = number_text<Output>(static_cast<long double>(all[k]))};
      }
    }
    return std::nullopt;
  }

  // A hash of all exact results, of which each GPU sums its own part; where it differs from the right one's,
  // the first wrong output is looked for.
  check_result compare_digests() {
    const double unit = hooks_.exact_unit(parameters_);
    std::uint64_t found = 0;
    each([&](device_part& one) {
      const device_buffer<std::uint64_t> word(1, one.work);
      std::uint64_t value = 0;
      hash_exact(one.output.data(), one.output_part.count, unit,
                 std::max<std::int64_t>(1, one.output_part.count), word.data(), one.work,
                 one.output_part.first);
      if (one.output_part.count > 0)
        CUDA_CHECK(cudaMemcpyAsync(&value, word.data(), sizeof value, cudaMemcpyDeviceToHost, one.work));
      CUDA_CHECK(cudaStreamSynchronize(one.work));
      found += value;
    });
    // The key knows nothing of GPUs: as many values are one array on any number of them. Of several
    // processes each knows its own part alone.
    const part own = own_outputs();
    std::string key = std::string("digest of a group ") + typeid(group_workload).name() + " " +
                      Problem::key_of_results(parameters_) + " " + to_string(pattern_) + " " +
                      std::to_string(seed_);
    if (processes::are_several()) key += " " + std::to_string(own.first) + " " + std::to_string(own.count);
    const auto right = references::kept(key, [&] {
      const auto all = exact_digests<Problem, Output>(generated(), parameters_, unit, own.first + own.count,
                                                      std::int64_t{1} << 18, own.first);
      return std::to_string(std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
    });
    check_result result{.compared = own.count};
    if (std::to_string(found) == right) return result;
    result.failure = first_other_output(unit);
    return result;
  }

  failure_record first_other_output(double unit) {
    failure_record failure{.kind = failure_kind::wrong,
                           .expected = "the digest of right outputs",
                           .found = "another, and no wrong output"};
    constexpr std::int64_t segment = std::int64_t{1} << 22;
    const part own = own_outputs();
    const std::int64_t end = own.first + own.count;
    for (std::int64_t first = own.first; first < end && !failure.index; first += segment) {
      std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(segment, end - first)));
      std::iota(indices.begin(), indices.end(), first);
      const std::vector<Output> outputs = download(indices);
      exact_keys<Problem, Output>(
          generated(), parameters_, unit, first, std::ssize(indices), [&](std::int64_t i, std::uint64_t key) {
            const Output output = outputs[static_cast<std::size_t>(i - first)];
            if (failure.index || exact_key_of(output, unit) == key) return;
            failure.index = i;
            failure.expected = number_text<Output>(reference_of<Problem>(generated(), parameters_, i).value);
            failure.found = number_text<Output>(static_cast<long double>(output));
          });
    }
    return failure;
  }

  // Both ends of every part, and random places: the same ones for the same seed.
  [[nodiscard]] std::vector<std::int64_t> sample() const {
    const std::int64_t wanted =
        std::clamp<std::int64_t>(sample_cost / std::max<std::int64_t>(1, layout_.terms), 512, 1 << 16);
    const part own = own_outputs();
    std::set<std::int64_t> chosen;
    const auto add = [&](std::int64_t index) {
      if (index >= own.first && index < own.first + own.count) chosen.insert(index);
    };
    for (std::int64_t k = 0; k < std::ssize(devices_); ++k) {
      const std::int64_t first = Problem::part_of_output(parameters_, k).first;
      for (std::int64_t i = 0; i < wanted / 16; ++i) {
        add(first + i);
        add(first - 1 - i);
        add(first + layout_.terms + i);
      }
    }
    for (std::int64_t i = 0; i < wanted / 16; ++i) add(size() - 1 - i);
    for (std::int64_t k = 0; k < wanted && size() > 0; ++k) {
      const std::uint64_t bits = random_bits(seed_ ^ 0x5eed, static_cast<std::uint64_t>(k));
      add(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(size())));
    }
    return {chosen.begin(), chosen.end()};
  }

  // Those of all GPUs, or of the one that this process has.
  [[nodiscard]] part own_outputs() const {
    return processes::are_several() ? parts_.front()->output_part : part{0, size()};
  }

  [[nodiscard]] std::vector<std::int64_t> all_indices() const {
    const part own = own_outputs();
    std::vector<std::int64_t> all(static_cast<std::size_t>(own.count));
    std::iota(all.begin(), all.end(), own.first);
    return all;
  }

  std::vector<Output> download_all() {
    return download(all_indices());
  }

  // Outputs by their indices, which ascend. Neighbours come together.
  std::vector<Output> download(const std::vector<std::int64_t>& indices) {
    std::vector<Output> values(indices.size());
    std::size_t k = 0;
    each([&](device_part& one) {
      const std::int64_t end = one.output_part.first + one.output_part.count;
      while (k < indices.size() && indices[k] < end) {
        std::size_t count = 1;
        while (k + count < indices.size() && indices[k + count] < end &&
               indices[k + count] == indices[k] + static_cast<std::int64_t>(count))
          ++count;
        CUDA_CHECK(cudaMemcpyAsync(values.data() + k,
                                   one.output.data() + (indices[k] - one.output_part.first),
                                   count * sizeof(Output), cudaMemcpyDeviceToHost, one.work));
        k += count;
      }
      CUDA_CHECK(cudaStreamSynchronize(one.work));
    });
    return values;
  }

  const hooks& hooks_;
  const stage<Problem>& stage_;
  parameters parameters_;
  cudaStream_t stream_;
  array_layout layout_;
  double bound_;  // asked for before anything is launched
  std::vector<int> devices_;
  gpu_scope current_;
  prepared_stage<Problem> prepared_;
  std::vector<std::unique_ptr<device_part>> parts_;
  pattern pattern_ = pattern::random;
  std::uint64_t seed_ = 0;
  std::uint64_t launches_ = 0;
  bool own_input_ = false;  // the user's
  static inline std::uint64_t made_ = 0;
  const std::uint64_t number_ = made_++;  // of this process
  bool in_order_ = false;
  memory_fill fill_ = memory_fill::ones;
};

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

template <class Problem, class Output, class Input>
requires is_spread<Problem>
struct workload_choice<Problem, Output, Input> {
  using type = group_workload<Problem, Output, Input>;
};

}  // namespace lab
