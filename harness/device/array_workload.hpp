// One input array (or none), one output array and scratch memory on the device: the workload of an array
// track.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "common/memory.hpp"
#include "common/random.hpp"
#include "common/stream.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/comparison.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/references.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/watched_launch.hpp"

namespace lab {

template <class Problem, class Input, class Output>
class array_workload final : public workload {
 public:
  using parameters = typename Problem::parameters;
  using input_element = Input;
  using output_element = Output;

  array_workload(const stage<Problem>& stage, const parameters& p, cudaStream_t stream)
      : stage_(stage),
        parameters_(p),
        stream_(stream),
        input_(Problem::input_size(p), stream),
        output_(Problem::output_size(p), stream),
        scratch_(scratch_bytes(stage, p), stream),
        found_(memory_words, stream) {}

  // Of inputs and outputs.
  static std::size_t array_bytes(const parameters& p) {
    return guarded_buffer<input_element>::needed_bytes(Problem::input_size(p)) +
           guarded_buffer<output_element>::needed_bytes(Problem::output_size(p));
  }
  static std::size_t needed_bytes(const stage<Problem>& stage, const parameters& p) {
    return array_bytes(p) + guarded_buffer<unsigned char>::needed_bytes(scratch_bytes(stage, p));
  }

  // Scratch memory that the stage asks for; absurd amounts are cut, to be refused as too many.
  static std::int64_t scratch_bytes(const stage<Problem>& stage, const parameters& p) {
    if (stage.workspace_bytes == nullptr) return 0;
    constexpr std::size_t most = std::size_t{1} << 52;
    return static_cast<std::int64_t>(
        std::min(call_stage("workspace_bytes", [&] { return stage.workspace_bytes(p); }), most));
  }

  // What the stage declares instead of the problem's bound; the problem's, where it declares nothing.
  static double relative_bound(const stage<Problem>& stage, const parameters& p) {
    if (stage.relative_error == nullptr)
      return stage.traits.drifts ? Problem::drift_error : Problem::relative_error(p);
    const double declared = call_stage("relative_error", [&] { return stage.relative_error(p); });
    if (!(declared >= 0) || std::isinf(declared))
      throw stage_error("relative_error answered " + number_text<double>(declared) +
                        ", which bounds nothing");
    return declared;
  }

  // The user's own input instead of a generated one.
  void prepare_from(const std::vector<input_element>& values) {
    own_input_ = true;
    input_.poison_all();
    // The one NaN that is the poison, bit for bit, becomes the usual one: some processors hand a NaN's bits
    // on, and an output that holds them would seem unwritten.
    std::vector<input_element> sent = values;
    for (input_element& value : sent) {
      if (is_poison(value)) value = std::numeric_limits<input_element>::quiet_NaN();
    }
    if (!sent.empty()) {
      CUDA_CHECK(cudaMemcpyAsync(input_.data(), sent.data(), sent.size() * sizeof(input_element),
                                 cudaMemcpyHostToDevice, stream_));
      CUDA_CHECK(cudaStreamSynchronize(stream_));
    }
    poison(memory_fill::ones);
  }

  void prepare(pattern kind, std::uint64_t seed) override {
    pattern_ = kind;
    own_input_ = false;
    input_.poison_all();
    vary(seed);
    poison(memory_fill::ones);
  }

  void vary(std::uint64_t seed) override {
    seed_ = seed;
    generate(input_.data(), input_.size(), pattern_, seed, stream_);
  }

  using workload::poison;
  void poison(memory_fill fill) override {
    fill_ = fill;
    output_.poison_all();
    scratch_.poison_all();
    if (fill == memory_fill::ones) return;
    output_.fill(fill, seed_);
    scratch_.fill(fill, ~seed_);
  }

  void launch() override {
    watched_launch(stage_.traits, stream_, [&] {
      stage_.launch(Problem::bind_input(parameters_, input_.data()),
                    Problem::bind_output(parameters_, output_.data()),
                    {scratch_.data(), static_cast<std::size_t>(scratch_.size())}, stream_);
    });
  }

  check_result check() override {
    const auto found = look_at_memory();
    if (const std::int64_t changed = found[changed_input]; changed < input_.size()) {
      return {.failure = failure_record{.kind = failure_kind::input_changed, .index = changed}};
    }
    if (auto failure = memory_failure(found)) return {.failure = std::move(failure)};
    check_result result = compare();
    if (result.failure && references::distrust_received()) result = compare();
    if (result.failure) add_owner(*result.failure);
    if (input_.size() == output_.size() && has_rare_values(pattern_))
      result.clean_outputs = std::min(output_.size(), first_rare_index(seed_));
    return result;
  }

  // The outputs of the user's own input, a sample of which is compared with the reference.
  check_result check_against(const std::vector<input_element>& values, std::vector<output_element>& outputs) {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    if (auto failure = memory_failure(look_at_memory())) return {.failure = std::move(failure)};
    outputs = download(0, output_.size());
    const std::vector<std::int64_t> indices =
        whole_cost() <= max_whole_cost ? all_indices() : sample_indices();
    std::vector<output_element> sample;
    sample.reserve(indices.size());
    for (const std::int64_t index : indices) sample.push_back(outputs[static_cast<std::size_t>(index)]);
    double largest = 0;
    for (const input_element value : values) {
      if (std::isfinite(static_cast<double>(value)))
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    check_result result = make_comparison(largest).run(
        [&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }, indices, sample);
    if (result.failure) add_owner(*result.failure);
    return result;
  }

  std::uint64_t digest() override {
    device_buffer<std::uint64_t> word(1, stream_);
    hash_bits(output_.data(), output_.size(), word.data(), stream_);
    std::uint64_t value = 0;
    CUDA_CHECK(cudaMemcpyAsync(&value, word.data(), sizeof value, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return value;
  }

 private:
  // Reference evaluations (outputs times inputs of each) up to which every output is compared, and about how
  // many a sample may cost: a quarter of a second and some tens of milliseconds of one core. On the emulator
  // fewer will do, since exact inputs are compared whole at any size.
  static constexpr std::int64_t max_whole_cost = emulated ? 40'000'000 : 400'000'000;
  static constexpr std::int64_t sample_cost = emulated ? 4'000'000 : 20'000'000;
  // And with exact inputs: some seconds of one core.
  static constexpr std::int64_t max_exact_cost = emulated ? 400'000'000 : 20'000'000'000;

  // What look_at_memory() finds: the first element that was changed, or never written, and for each buffer
  // both guards.
  enum memory_word { changed_input, unwritten_output, output_guards, input_guards = 4, scratch_guards = 6 };
  static constexpr std::size_t memory_words = 8;
  using memory_findings = std::array<std::int64_t, memory_words>;

  // Every bit set, and a NaN: an integer with all bits set is a value like any other, and is left alone.
  static bool is_poison(const input_element& value) {
    if constexpr (!std::is_floating_point_v<input_element>) return false;
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char byte) { return byte == 0xff; });
  }

  [[nodiscard]] std::int64_t whole_cost() const { return Problem::cost(parameters_) * output_.size(); }

  // Everything is looked for on the device, and copied back at once.
  memory_findings look_at_memory() {
    memory_findings found{};
    std::int64_t* const words = found_.data();
    CUDA_CHECK(cudaMemsetAsync(words, 0x7f, sizeof found, stream_));  // more than any index
    if (!own_input_)
      find_changed_input(input_.data(), input_.size(), pattern_, seed_, words + changed_input, stream_);
    if (fill_ == memory_fill::ones)
      find_poison(output_.data(), output_.size(), words + unwritten_output, stream_);
    output_.look_at_guards(words + output_guards);
    input_.look_at_guards(words + input_guards);
    scratch_.look_at_guards(words + scratch_guards);
    CUDA_CHECK(cudaMemcpyAsync(found.data(), words, sizeof found, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return found;
  }

  // Everything written, and nothing beside it.
  [[nodiscard]] std::optional<failure_record> memory_failure(const memory_findings& found) const {
    if (const std::int64_t unwritten = found[unwritten_output]; unwritten < output_.size()) {
      failure_record failure{.kind = failure_kind::unwritten, .index = unwritten};
      add_owner(failure);
      return failure;
    }
    const auto stray = [](const char* what, std::int64_t byte, std::size_t element) {
      // Rounded toward minus infinity: byte -1 lies in element -1.
      const auto size = static_cast<std::int64_t>(element);
      const std::int64_t index = byte >= 0 ? byte / size : -((-byte + size - 1) / size);
      return failure_record{.kind = failure_kind::out_of_bounds,
                            .index = index,
                            .found = std::string("a write to the ") + what};
    };
    if (const auto byte = output_.changed_byte(&found[output_guards]))
      return stray("output", *byte, sizeof(output_element));
    if (const auto byte = input_.changed_byte(&found[input_guards]))
      return stray("input", *byte, sizeof(input_element));
    if (const auto byte = scratch_.changed_byte(&found[scratch_guards])) return stray("workspace", *byte, 1);
    return std::nullopt;
  }

  void add_owner(failure_record& failure) const {
    if (stage_.owner_of == nullptr || !failure.index) return;
    const owner computed_by =
        call_stage("owner_of", [&] { return stage_.owner_of(parameters_, *failure.index); });
    failure.block = computed_by.block;
    failure.thread = computed_by.thread;
  }

  // A stage that drifts carries the rounding errors of everything that passed through its running sums, so
  // its bound is a fraction of `largest`, the largest magnitude among the inputs. Exact inputs leave no room
  // for rounding, whatever a stage declares, but for what finishes an exact result (a division, say).
  comparison<Problem, Output> make_comparison(double largest) const {
    if (has_exact_input()) return {parameters_, exact_error(), 0};
    return {parameters_, relative_bound(stage_, parameters_), stage_.traits.drifts ? largest : 0};
  }

  [[nodiscard]] bool has_exact_input() const { return !own_input_ && is_exact(pattern_); }

  static double exact_error() {
    if constexpr (requires { Problem::exact_error; }) return Problem::exact_error;
    return 0;
  }

  // Outputs first .. first + count - 1.
  std::vector<output_element> download(std::int64_t first, std::int64_t count) {
    std::vector<output_element> values(static_cast<std::size_t>(count));
    if (!values.empty()) {
      CUDA_CHECK(cudaMemcpyAsync(values.data(), output_.data() + first,
                                 values.size() * sizeof(output_element), cudaMemcpyDeviceToHost, stream_));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return values;
  }

  [[nodiscard]] std::vector<std::int64_t> all_indices() const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(output_.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Whole where that can be afforded: output by output, or with exact results by digests of them.
  check_result compare() {
    constexpr bool streams = exactness<Problem>::template streams<generated_values<input_element>>;
    const bool exact = has_exact_input() || relative_bound(stage_, parameters_) == 0;
    if (exact && streams && whole_cost() > 16 * output_.size()) return check_digests();
    if (whole_cost() <= max_whole_cost) return check_whole();
    return exact && (streams || whole_cost() <= max_exact_cost) ? check_digests() : check_sample();
  }

  // Digests of the exact results in segments, worked out on the device and by the host; where they differ,
  // the first wrong output is looked for.
  check_result check_digests() {
    const std::int64_t n = output_.size();
    const std::int64_t segment = std::max<std::int64_t>(1 << 16, (n + 4095) / 4096);
    const generated_values<input_element> value{pattern_, seed_};
    const double unit = exactness<Problem>::unit(parameters_);
    const device_buffer<std::uint64_t> digests(static_cast<std::size_t>((n + segment - 1) / segment),
                                               stream_);
    hash_exact(output_.data(), n, unit, segment, digests.data(), stream_);
    std::vector<std::uint64_t> found(digests.size());
    if (n > 0) {
      CUDA_CHECK(
          cudaMemcpyAsync(found.data(), digests.data(), digests.bytes(), cudaMemcpyDeviceToHost, stream_));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    check_result result{.compared = n};
    const auto in_segments = [&] { return exact_digests<Problem, Output>(value, parameters_, n, segment); };
    const auto together = [](const std::vector<std::uint64_t>& all) {
      return std::to_string(std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
    };
    if (together(found) == references::kept(digest_key(), [&] { return together(in_segments()); }))
      return result;
    const std::vector<std::uint64_t> expected = in_segments();
    const auto other = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (other == found.end()) return result;
    result.failure = first_other_output((other - found.begin()) * segment, segment, unit);
    return result;
  }

  [[nodiscard]] std::string digest_key() const {
    static_assert(std::has_unique_object_representations_v<parameters>,
                  "parameters are told apart by their bytes");
    std::string key = std::string("digest ") + typeid(Problem).name() + typeid(Output).name();
    std::array<std::int64_t, sizeof(parameters) / sizeof(std::int64_t)> words{};
    std::memcpy(words.data(), &parameters_, sizeof parameters_);
    for (const std::int64_t word : words) key += " " + std::to_string(word);
    return key + " " + to_string(pattern_) + " " + std::to_string(seed_);
  }

  failure_record first_other_output(std::int64_t first, std::int64_t segment, double unit) {
    const std::int64_t count = std::min(segment, output_.size() - first);
    const std::vector<output_element> outputs = download(first, count);
    const generated_values<input_element> value{pattern_, seed_};
    failure_record failure{.kind = failure_kind::wrong,
                           .expected = "the digest of right outputs",
                           .found = "another, and no wrong output"};
    exactness<Problem>::template keys<Output>(
        value, parameters_, first, count, [&](std::int64_t i, std::uint64_t key) {
          const output_element output = outputs[static_cast<std::size_t>(i - first)];
          if (failure.index || exact_key(static_cast<double>(output), unit) == key) return;
          failure.index = i;
          failure.expected = number_text<output_element>(Problem::reference(value, parameters_, i).value);
          failure.found = number_text<output_element>(output);
        });
    return failure;
  }

  check_result check_whole() {
    const std::vector<std::int64_t> all = all_indices();
    const auto compare = make_comparison(largest_magnitude(pattern_, input_.size()));
    const generated_values<input_element> generated{pattern_, seed_};
    const std::vector<output_element> outputs = download(0, output_.size());
    // What only one output needs is generated where it is needed; what many need, once.
    if (whole_cost() <= input_.size()) return compare.run(generated, all, outputs);
    std::vector<input_element> values(static_cast<std::size_t>(input_.size()));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = generated(static_cast<std::int64_t>(j));
    return compare.run([&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }, all, outputs);
  }

  check_result check_sample() {
    const std::vector<std::int64_t> indices = sample_indices();
    const auto count = static_cast<std::int64_t>(indices.size());
    device_buffer<std::int64_t> device_indices(indices.size(), stream_);
    device_buffer<output_element> device_found(indices.size(), stream_);
    std::vector<output_element> found(indices.size());
    CUDA_CHECK(cudaMemcpyAsync(device_indices.data(), indices.data(), device_indices.bytes(),
                               cudaMemcpyHostToDevice, stream_));
    gather(output_.data(), device_indices.data(), device_found.data(), count, stream_);
    CUDA_CHECK(cudaMemcpyAsync(found.data(), device_found.data(), device_found.bytes(),
                               cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return make_comparison(largest_magnitude(pattern_, input_.size()))
        .run(generated_values<input_element>{pattern_, seed_}, indices, found);
  }

  // Both ends, both sides of some tile borders, and random places: the same ones for the same seed.
  std::vector<std::int64_t> sample_indices() const {
    const std::int64_t n = output_.size();
    const std::int64_t wanted = std::clamp<std::int64_t>(
        sample_cost / std::max<std::int64_t>(1, Problem::cost(parameters_)), 512, 1 << 16);
    std::set<std::int64_t> chosen;
    const auto add = [&](std::int64_t index) {
      if (index >= 0 && index < n) chosen.insert(index);
    };
    for (std::int64_t i = 0; i < wanted / 16; ++i) {
      add(i);
      add(n - 1 - i);
    }
    for (std::int64_t i = -2; i <= 2; ++i) add(Problem::cost(parameters_) + i);
    const std::int64_t tiles = n / std::max<std::int64_t>(1, stage_.tile);
    for (std::int64_t k = 0; k < wanted && n > 0; ++k) {
      const std::uint64_t bits = random_bits(seed_ ^ 0x5eed, static_cast<std::uint64_t>(k));
      if (k % 4 == 0 && tiles > 0) {
        const auto border =
            static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(tiles + 1)) * stage_.tile;
        add(border - 1);
        add(border);
      } else {
        add(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n)));
      }
    }
    return {chosen.begin(), chosen.end()};
  }

  const stage<Problem>& stage_;
  parameters parameters_;
  cudaStream_t stream_;
  guarded_buffer<input_element> input_;
  guarded_buffer<output_element> output_;
  guarded_buffer<unsigned char> scratch_;
  device_buffer<std::int64_t> found_;
  pattern pattern_ = pattern::random;
  std::uint64_t seed_ = 0;
  bool own_input_ = false;  // the user's
  memory_fill fill_ = memory_fill::ones;
};

}  // namespace lab
