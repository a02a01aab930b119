// Any number of input arrays, one output array and scratch memory on the device: the workload of an array
// track.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "common/memory.hpp"
#include "common/random.hpp"
#include "common/stream.hpp"
#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/comparison.hpp"
#include "harness/device/fold.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/references.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/typed_stage.hpp"
#include "harness/device/watched_launch.hpp"

namespace lab {

template <class Problem, class Output, class... Inputs>
class array_workload final : public workload {
  static_assert(has_reference<Problem, Inputs...>,
                "a problem's reference(value..., p, i) gives output i, with a `value` for each input");
  static_assert(check_reference_hooks<Problem, Inputs...>());

 public:
  using parameters = typename Problem::parameters;
  using hooks = array_hooks<Problem>;
  using output_element = Output;
  using user_inputs = std::tuple<std::vector<Inputs>...>;

  // `all` outlives this.
  array_workload(const hooks& all, const stage<Problem>& stage, const parameters& p, cudaStream_t stream)
      : hooks_(all),
        stage_(stage),
        parameters_(p),
        stream_(stream),
        layout_(Problem::layout(p)),
        bound_(relative_bound(all, stage, p)),
        prepared_(stage, p, stream),
        inputs_(make_inputs(layout_, stream, every_input)),
        output_(layout_.output.size(), stream),
        scratch_(static_cast<std::int64_t>(prepared_.workspace_bytes()), stream),
        found_(memory_words, stream) {}

  // Whether the stage's results carry rounding errors of values that have left them.
  static bool drifts(const hooks& all, const stage<Problem>& stage, const parameters& p) {
    return stage.traits.drifts && all.drift_error(p) > 0;
  }

  // Of inputs and outputs.
  static std::size_t array_bytes(const parameters& p) {
    const array_layout layout = Problem::layout(p);
    std::size_t bytes = guarded_buffer<output_element>::needed_bytes(layout.output.size());
    each_input([&]<std::size_t k>() {
      using element = std::tuple_element_t<k, std::tuple<Inputs...>>;
      bytes += guarded_buffer<element>::needed_bytes(layout.inputs.at(k).size());
    });
    return bytes;
  }
  static std::size_t needed_bytes(const stage<Problem>& stage, const parameters& p) {
    return array_bytes(p) + guarded_buffer<unsigned char>::needed_bytes(scratch_bytes(stage, p));
  }

  // Scratch memory that the stage asks for.
  static std::int64_t scratch_bytes(const stage<Problem>& stage, const parameters& p) {
    return static_cast<std::int64_t>(asked_workspace(stage, p));
  }

  // What the stage declares instead of the problem's bound; the problem's, where it declares nothing.
  static double relative_bound(const hooks& all, const stage<Problem>& stage, const parameters& p) {
    if (stage.relative_error == nullptr)
      return drifts(all, stage, p) ? all.drift_error(p) : Problem::relative_error(p);
    const double declared = declared_error(stage, p);
    if (!(declared >= 0) || std::isinf(declared))
      throw stage_error("relative_error answered " + number_text<double>(declared) +
                        ", which bounds nothing");
    const double most = std::max(largest_declared, 16 * Problem::relative_error(p));
    const bool has_exact_inputs = sizeof...(Inputs) > 0 && all.is_exact(p);
    if (declared > most && !has_exact_inputs) {
      throw stage_error("relative_error answered " + number_text<double>(declared) + ", and may be at most " +
                        number_text<double>(most) +
                        " where no inputs have exact results, by which a wrong one would show");
    }
    return declared;
  }

  // The user's own inputs instead of generated ones.
  void prepare_from(const user_inputs& values) {
    own_input_ = true;
    each_input([&]<std::size_t k>() { send(std::get<k>(values), std::get<k>(inputs_)); });
    poison(memory_fill::ones);
  }

  void prepare(pattern kind, std::uint64_t seed) override {
    pattern_ = kind;
    own_input_ = false;
    each_input([&]<std::size_t k>() { std::get<k>(inputs_).poison_all(); });
    vary(seed);
    poison(memory_fill::ones);
  }

  void vary(std::uint64_t seed) override {
    seed_ = seed;
    each_input([&]<std::size_t k>() {
      const auto& input = std::get<k>(inputs_);
      generate(input.data(), input.size(), pattern_, seed_of_input(pattern_, seed, k), stream_);
    });
  }

  void renew(std::uint64_t seed) override {
    vary(seed);
    output_.poison_all();
    fill_ = memory_fill::ones;
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
    try {
      launch_watched();
    } catch (const memory_error& lacking) {
      // It asks for none while it is launched.
      throw stage_error(std::string("launch threw an exception: ") + lacking.what());
    }
  }

  [[nodiscard]] double preparation_nanoseconds() const override { return prepared_.nanoseconds(); }

  std::optional<failure_record> damage() override {
    const auto found = look_at_memory();
    if (auto changed = changed_input(found)) return changed;
    return memory_failure(found, [&](std::int64_t i) { return is_poison_right(generated(), i); });
  }

  std::optional<bool> writes_what_it_finds(std::int64_t index) override {
    if (index < 0 || index >= output_.size()) return std::nullopt;
    struct kept {
      output_element before;
      bool stays;
    };
    const auto launch_over = [&](memory_fill fill) {
      poison(fill);
      const output_element before = download(index, 1)[0];
      launch();
      const output_element after = download(index, 1)[0];
      return kept{before, std::memcmp(&before, &after, sizeof before) == 0};
    };
    const kept poisoned = launch_over(memory_fill::ones);
    const kept one = launch_over(memory_fill::random);
    const kept other = launch_over(memory_fill::random);
    // Where both held the same, that may be what the stage writes.
    if (one.stays && other.stays && std::memcmp(&one.before, &other.before, sizeof one.before) != 0)
      return false;
    return poisoned.stays && !one.stays ? std::optional(true) : std::nullopt;
  }

  check_result check() override {
    if (auto failure = damage()) return {.failure = std::move(failure)};
    references::forget_use();
    check_result result = compare();
    if (result.failure && references::distrust_received()) result = compare();
    if (result.failure) add_owner(*result.failure);
    return result;
  }

  // The outputs of the user's own inputs, a sample of which is compared with the reference.
  check_result check_against(const user_inputs& values, std::vector<output_element>& outputs) {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    const auto element = elements_of(values);
    if (auto failure =
            memory_failure(look_at_memory(), [&](std::int64_t i) { return is_poison_right(element, i); }))
      return {.failure = std::move(failure)};
    outputs = download(0, output_.size());
    const std::vector<std::int64_t> indices =
        whole_cost() <= max_whole_cost ? all_indices() : sample_indices();
    std::vector<output_element> sample;
    sample.reserve(indices.size());
    for (const std::int64_t index : indices) sample.push_back(outputs[static_cast<std::size_t>(index)]);
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    each_input([&]<std::size_t k>() {
      for (const auto value : std::get<k>(values)) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
        if (magnitude > 0) smallest = std::min(smallest, magnitude);
      }
    });
    auto compare = make_comparison(largest);
    const double beyond = error_by_traits(largest);
    if (beyond > 0) compare.look_beyond(Problem::relative_error(parameters_));
    check_result result = compare.run(element, indices, sample);
    result.remark = hooks_.remark(parameters_, smallest);
    const bool is_whole = std::ssize(indices) == output_.size();
    if (beyond > 0 && (result.forgot || !is_whole)) {
      const std::string trait =
          stage_.traits.forgets > 0 ? "`forgets`: old values are missing" : "`drifts`: what has left is felt";
      result.remark += (result.remark.empty() ? "" : "; ") + std::string("results may be wrong by up to ") +
                       short_text(beyond) + " by the trait " + trait;
    }
    if (result.failure) add_owner(*result.failure);
    return result;
  }

  // The outputs of the user's own inputs, where no reference says what they must be: every one written, and
  // nothing beside them.
  check_result take(std::vector<output_element>& outputs) {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    const auto may_be_right = [](std::int64_t) { return poison_is_a_value; };
    if (auto failure = memory_failure(look_at_memory(), may_be_right)) return {.failure = std::move(failure)};
    outputs = download(0, output_.size());
    return {};
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
  void launch_watched() {
    watched_launch(stage_.traits, stream_, [&](const launch_watch&) {
      const auto input = std::apply(
          [&](const auto&... arrays) { return Problem::bind_input(parameters_, arrays.data()...); }, inputs_);
      const auto output = Problem::bind_output(parameters_, output_.data());
      const workspace scratch{scratch_.data(), static_cast<std::size_t>(scratch_.size())};
      prepared_.launch(input, output, scratch, stream_);
    });
  }

  [[nodiscard]] bool drifts() const { return drifts(hooks_, stage_, parameters_); }

  // The error that the stage's traits allow beside the track's bound, where such values have passed.
  [[nodiscard]] double error_by_traits(double largest) const {
    if (drifts()) return bound_ * hooks_.drift_scale(parameters_, largest);
    return stage_.traits.forgets * largest;
  }
  static std::string short_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", number);
    return text;
  }

  // What the stage answers first is what it declares.
  static double declared_error(const stage<Problem>& stage, const parameters& p) {
    static std::map<std::pair<const void*, std::string>, double> known;
    std::string which;
    for (const auto& [name, value] : values_of(Problem::describe(), p)) which += value.text() + " ";
    const auto [place, is_new] = known.try_emplace({&stage, which}, 0.0);
    if (is_new) place->second = call_stage("relative_error", [&] { return stage.relative_error(p); });
    return place->second;
  }

  // What a stage may declare where nothing but its bound tells a right output from a wrong one.
  static constexpr double largest_declared = 1e-6;

  // Reference evaluations (outputs times inputs of each) up to which every output is compared, and about how
  // many a sample may cost: a quarter of a second and some tens of milliseconds of one core. On the emulator
  // fewer will do, since exact inputs are compared whole at any size.
  static constexpr std::int64_t max_whole_cost = emulated ? 40'000'000 : 400'000'000;
  static constexpr std::int64_t sample_cost = emulated ? 4'000'000 : 20'000'000;
  // And with exact inputs: some seconds of one core.
  static constexpr std::int64_t max_exact_cost = emulated ? 400'000'000 : 20'000'000'000;

  using sources = std::tuple<generated_values<Inputs>...>;
  static constexpr bool runs = has_hook<Problem, reference_hook::reference_run>;
  static constexpr bool has_exact_outputs = has_hook<Problem, reference_hook::exact_outputs>;
  static constexpr std::index_sequence_for<Inputs...> every_input{};

  // What look_at_memory() finds: the first element that was never written or was changed, and for each buffer
  // both guards.
  enum memory_word { unwritten_output, output_guards, scratch_guards = 3, first_input = 5 };
  // Of each input: the first changed element, and both guards.
  static constexpr std::size_t words_of_input = 3;
  static constexpr std::size_t memory_words = first_input + words_of_input * sizeof...(Inputs);
  using memory_findings = std::array<std::int64_t, memory_words>;

  // Calls visit.operator()<k>() for the number of each input.
  template <class Visit>
  static void each_input(const Visit& visit) {
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      (visit.template operator()<k>(), ...);
    }
    (every_input);
  }

  template <std::size_t... k>
  static std::tuple<guarded_buffer<Inputs>...> make_inputs(const array_layout& layout,
                                                           [[maybe_unused]] cudaStream_t stream,
                                                           std::index_sequence<k...> /*which*/) {
    return {guarded_buffer<Inputs>(layout.inputs.at(k).size(), stream, array_use::read)...};
  }

  template <class T>
  void send(const std::vector<T>& values, const guarded_buffer<T>& to) {
    to.poison_all();
    // The one NaN that is the poison, bit for bit, becomes the usual one: some multiprocessors hand a NaN's
    // bits on, and an output that holds them would seem unwritten.
    std::vector<T> sent = values;
    for (T& value : sent) {
      if (is_poison(value)) value = std::numeric_limits<T>::quiet_NaN();
    }
    if (sent.empty()) return;
    CUDA_CHECK(
        cudaMemcpyAsync(to.data(), sent.data(), sent.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  // Every bit set, and a NaN: an integer with all bits set is a value like any other, and is left alone.
  template <class T>
  static bool is_poison(const T& value) {
    if constexpr (!std::is_floating_point_v<T>) return false;
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char byte) { return byte == 0xff; });
  }

  // The inputs as the reference sees them.
  [[nodiscard]] sources generated() const { return generated(every_input); }
  template <std::size_t... k>
  [[nodiscard]] sources generated(std::index_sequence<k...> /*which*/) const {
    return {generated_values<Inputs>{pattern_, seed_of_input(pattern_, seed_, k)}...};
  }
  // Likewise, from arrays; `arrays` must outlive it.
  static auto elements_of(const user_inputs& arrays) {
    return std::apply(
        [](const auto&... values) {
          return std::tuple{[&values](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }...};
        },
        arrays);
  }

  [[nodiscard]] std::int64_t all_inputs() const {
    return std::accumulate(layout_.inputs.begin(), layout_.inputs.end(), std::int64_t{0},
                           [](std::int64_t sum, const array_member& input) { return sum + input.size(); });
  }
  [[nodiscard]] std::int64_t whole_cost() const {
    constexpr std::int64_t terms_of_run = 16;
    return (runs ? terms_of_run : layout_.terms) * output_.size();
  }

  // Everything is looked for on the device, and copied back at once.
  memory_findings look_at_memory() {
    memory_findings found{};
    std::int64_t* const words = found_.data();
    CUDA_CHECK(cudaMemsetAsync(words, 0x7f, sizeof found, stream_));  // more than any index
    if (fill_ == memory_fill::ones)
      find_poison(output_.data(), output_.size(), words + unwritten_output, stream_);
    output_.look_at_guards(words + output_guards);
    each_input([&]<std::size_t k>() {
      const auto& input = std::get<k>(inputs_);
      std::int64_t* const its_words = words + first_input + words_of_input * k;
      if (!own_input_) {
        find_changed_input(input.data(), input.size(), pattern_, seed_of_input(pattern_, seed_, k), its_words,
                           stream_);
      }
      input.look_at_guards(its_words + 1);
    });
    scratch_.look_at_guards(words + scratch_guards);
    CUDA_CHECK(cudaMemcpyAsync(found.data(), words, sizeof found, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return found;
  }

  [[nodiscard]] std::optional<failure_record> changed_input(const memory_findings& found) const {
    std::optional<failure_record> failure;
    each_input([&]<std::size_t k>() {
      const std::int64_t changed = found[first_input + words_of_input * k];
      if (failure || changed >= layout_.inputs[k].size()) return;
      failure = failure_record{.kind = failure_kind::input_changed, .index = changed};
      if (sizeof...(Inputs) > 1) failure->found = layout_.inputs[k].name;
    });
    return failure;
  }

  // Whether an output may have the poison's bits: -1 is an integer like any other, the NaN of all ones is
  // never computed, and no bool is a byte of ones.
  static constexpr bool poison_is_a_value = std::is_integral_v<Output> && sizeof(Output) > 1;

  // Whether output i must have the poison's bits.
  template <class Sources>
  [[nodiscard]] bool is_poison_right(const Sources& from, std::int64_t i) const {
    if constexpr (poison_is_a_value) {
      return reference_of<Problem>(from, parameters_, i).value == static_cast<Output>(~Output{0});
    } else {
      return false;
    }
  }

  // Everything written, and nothing beside it. Outputs of which the first with the poison's bits is right are
  // left to the comparison.
  template <class PoisonIsRight>
  [[nodiscard]] std::optional<failure_record> memory_failure(const memory_findings& found,
                                                             const PoisonIsRight& is_right) const {
    if (const std::int64_t unwritten = found[unwritten_output];
        unwritten < output_.size() && !is_right(unwritten)) {
      failure_record failure{.kind = failure_kind::unwritten, .index = unwritten};
      add_owner(failure);
      return failure;
    }
    const auto stray = [](const std::string& what, std::int64_t byte, std::size_t element) {
      // Rounded toward minus infinity: byte -1 lies in element -1.
      const auto size = static_cast<std::int64_t>(element);
      const std::int64_t index = byte >= 0 ? byte / size : -((-byte + size - 1) / size);
      return failure_record{
          .kind = failure_kind::out_of_bounds, .index = index, .found = "a write to the " + what};
    };
    if (const auto byte = output_.changed_byte(&found[output_guards]))
      return stray("output", *byte, sizeof(output_element));
    std::optional<failure_record> beside_input;
    each_input([&]<std::size_t k>() {
      const auto byte = std::get<k>(inputs_).changed_byte(&found[first_input + words_of_input * k + 1]);
      if (!byte || beside_input) return;
      const std::string name =
          sizeof...(Inputs) > 1 ? std::string("input ") + layout_.inputs[k].name : "input";
      beside_input = stray(name, *byte, sizeof(std::tuple_element_t<k, std::tuple<Inputs...>>));
    });
    if (beside_input) return beside_input;
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
    if (has_exact_results())
      return {parameters_, layout_.terms, hooks_.exact_error, 0, hooks_.keeps_zero_signs};
    const double bound = bound_;
    const double of_person = own_input_ ? hooks_.drift_scale(parameters_, largest) : largest;
    comparison<Problem, Output> made(parameters_, layout_.terms, bound, drifts() ? of_person : 0,
                                     hooks_.keeps_zero_signs);
    made.forget(stage_.traits.forgets);
    if (own_input_) return made;
    // A trait excuses what comes after the first rare value, and nothing before it: rounding errors of the
    // largest value that has passed, and NaN and Inf where one has.
    const bool drifted = drifts() && shows_drift(pattern_);
    const bool leaks =
        stage_.traits.leaks_nonfinite && hooks_.drift_error(parameters_) > 0 && shows_leaks(pattern_);
    if (!drifted && !leaks) return made;
    const bool one_each = sizeof...(Inputs) == 1 && layout_.inputs[0].size() == output_.size();
    const double passed = pattern_ == pattern::spikes ? 1e16 : largest;
    made.excuse(one_each && has_rare_values(pattern_) ? first_rare_index(pattern_, seed_) : 0,
                drifted ? bound * hooks_.drift_scale(parameters_, passed) : 0, leaks);
    return made;
  }

  [[nodiscard]] bool has_exact_input() const { return !own_input_ && is_exact(pattern_); }
  // Whole numbers whose results need no rounding.
  [[nodiscard]] bool has_exact_results() const { return has_exact_input() && hooks_.is_exact(parameters_); }

  // Outputs first .. first + count - 1.
  std::vector<output_element> download(std::int64_t first, std::int64_t count) {
    std::vector<output_element> values(static_cast<std::size_t>(count));
    download(first, count, values.data());
    return values;
  }
  void download(std::int64_t first, std::int64_t count, output_element* to) {
    if (count > 0) {
      CUDA_CHECK(cudaMemcpyAsync(to, output_.data() + first,
                                 static_cast<std::size_t>(count) * sizeof(output_element),
                                 cudaMemcpyDeviceToHost, stream_));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  [[nodiscard]] std::vector<std::int64_t> all_indices() const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(output_.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Whole where that can be afforded: output by output, or with exact results by digests of them.
  check_result compare() {
    if constexpr (runs)
      return has_exact_input() || whole_cost() <= max_whole_cost ? check_runs() : check_sample();
    const bool streams = has_exact_outputs && hooks_.streams(parameters_);
    if constexpr (has_hook<Problem, reference_hook::stream>) {
      if (has_exact_input() && !has_exact_results() && streams) return check_streamed();
    }
    const bool exact = has_exact_results() || bound_ == 0;
    const bool are_many = output_.size() > std::int64_t{1} << 24;
    if (exact && streams && (are_many || whole_cost() > 16 * output_.size())) return check_digests();
    // Where no two of them share an input: once for all stages.
    if (has_exact_results() && hooks_.exact_error == 0 && output_.size() > 1 && is_worth_keeping() &&
        whole_cost() <= all_inputs())
      return check_digests();
    if (whole_cost() <= max_whole_cost) return check_whole();
    // Results that are updated from one to the next are right where nothing rounds.
    const bool by_digests =
        streams || (whole_cost() <= max_exact_cost && (!has_exact_outputs || has_exact_results()));
    return exact && by_digests ? check_digests() : check_sample();
  }

  // Digests of the exact results in segments, worked out on the device and by the host; where they differ,
  // the first wrong output is looked for.
  check_result check_digests() {
    const std::int64_t n = output_.size();
    const std::int64_t segment = std::max<std::int64_t>(1 << 16, (n + 4095) / 4096);
    const sources value = generated();
    const double unit = hooks_.exact_unit(parameters_);
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
    const std::int64_t terms = has_exact_outputs ? 1 : layout_.terms;
    const auto in_segments = [&] {
      return exact_digests<Problem, Output>(value, parameters_, unit, n, segment, 0, terms);
    };
    const auto together = [](const std::vector<std::uint64_t>& all) {
      return std::to_string(std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
    };
    const auto work_out = [&] { return together(in_segments()); };
    if (together(found) == (is_worth_keeping() ? references::kept(reference_key(), work_out) : work_out()))
      return result;
    const std::vector<std::uint64_t> expected = in_segments();
    const auto other = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (other == found.end()) return result;
    result.failure = first_other_output((other - found.begin()) * segment, segment, unit);
    return result;
  }

  // Every output against expectations that come one after another, within the bound.
  check_result check_streamed() {
    const sources value = generated();
    return check_pieces([&](std::int64_t first, std::int64_t count, const auto& visit) {
      std::apply([&](const auto&... values) { Problem::stream(values..., parameters_, first, count, visit); },
                 in_order(value));
    });
  }

  // Likewise, where what came before a piece is known from a pass over the inputs.
  check_result check_runs() {
    const sources value = generated();
    const auto before = runs_before<Problem>(value, parameters_, output_.size(), streamed_piece);
    return check_pieces([&](std::int64_t first, std::int64_t count, const auto& visit) {
      auto run = before[static_cast<std::size_t>(first / streamed_piece)];
      extend(run, in_order(value), first, first + count, [&](std::int64_t i) { visit(i, run.expected()); });
    });
  }

  static constexpr std::int64_t streamed_piece = std::int64_t{1} << 18;  // by one core

  // stream(first, count, visit) calls visit(i, expectation) for outputs of one piece.
  template <class Stream>
  check_result check_pieces(const Stream& stream) {
    constexpr std::int64_t segment = std::int64_t{1} << 24;  // downloaded at once
    static_assert(segment % streamed_piece == 0);
    const auto compare = make_comparison(largest_input());
    check_result total;
    std::vector<output_element> found(static_cast<std::size_t>(std::min(segment, output_.size())));
    for (std::int64_t first = 0; first < output_.size(); first += segment) {
      const std::int64_t count = std::min(segment, output_.size() - first);
      download(first, count, found.data());
      std::vector<check_result> parts(threads_for(count, streamed_piece));
      for_pieces_on_all_cores(
          count, streamed_piece, [&](std::int64_t begin, std::int64_t end, unsigned thread) {
            stream(first + begin, end - begin, [&](std::int64_t i, const expectation& expected) {
              compare.judge(expected, i, found[static_cast<std::size_t>(i - first)], parts[thread]);
            });
          });
      compare.add(parts, total);
      if (total.failure) break;
    }
    return total;
  }

  // Whether working out the digests costs more than keeping them: all that is kept travels with every
  // request.
  [[nodiscard]] bool is_worth_keeping() const {
    constexpr std::int64_t terms_of_stream = 16;
    const bool streams = has_exact_outputs && hooks_.streams(parameters_);
    return (streams ? terms_of_stream * output_.size() : whole_cost()) >= many_to_fold;
  }

  // Of the inputs of this pattern, whatever their seed.
  [[nodiscard]] std::string problem_key() const {
    std::string key = typeid(array_workload).name();
    for (const auto& [name, value] : values_of(Problem::describe(), parameters_))
      key += " " + name + "=" + value.text();
    return key + " " + to_string(pattern_);
  }
  [[nodiscard]] std::string reference_key() const {
    return "digest " + problem_key() + " " + std::to_string(seed_);
  }

  failure_record first_other_output(std::int64_t first, std::int64_t segment, double unit) {
    const std::int64_t count = std::min(segment, output_.size() - first);
    const std::vector<output_element> outputs = download(first, count);
    const sources value = generated();
    failure_record failure{.kind = failure_kind::wrong,
                           .expected = "the digest of right outputs",
                           .found = "another, and no wrong output"};
    exact_keys<Problem, Output>(
        value, parameters_, unit, first, count, [&](std::int64_t i, std::uint64_t key) {
          const output_element output = outputs[static_cast<std::size_t>(i - first)];
          if (failure.index || exact_key_of(output, unit) == key) return;
          failure.index = i;
          failure.expected = number_text<output_element>(reference_of<Problem>(value, parameters_, i).value);
          failure.found = number_text<output_element>(output);
        });
    return failure;
  }

  check_result check_whole() {
    const auto compare = make_comparison(largest_input());
    const std::vector<output_element> outputs = download(0, output_.size());
    if constexpr (sizeof...(Inputs) == 0) return check_once(compare, outputs);
    const std::vector<std::int64_t> all = all_indices();
    const sources value = generated();
    // What only one output needs is generated where it is needed; what many need, once.
    if (whole_cost() <= all_inputs()) return compare.run(value, all, outputs);
    user_inputs arrays;
    each_input([&]<std::size_t k>() {
      auto& array = std::get<k>(arrays);
      array.resize(static_cast<std::size_t>(layout_.inputs[k].size()));
      for (std::size_t j = 0; j < array.size(); ++j)
        array[j] = std::get<k>(value)(static_cast<std::int64_t>(j));
    });
    return compare.run(elements_of(arrays), all, outputs);
  }

  // Without inputs the same is right every time: outputs that were found right need not be judged again.
  check_result check_once(const comparison<Problem, Output>& compare,
                          const std::vector<output_element>& outputs) {
    struct judged {
      const void* stage = nullptr;
      std::string key;
      std::vector<output_element> outputs;
      check_result result;
    };
    static judged last;
    const std::string key = problem_key();
    const auto have_bits_of = [&](const std::vector<output_element>& others) {
      return outputs.size() == others.size() &&
             std::memcmp(outputs.data(), others.data(), outputs.size() * sizeof(output_element)) == 0;
    };
    if (last.stage == &stage_ && last.key == key && have_bits_of(last.outputs)) return last.result;
    const check_result result = compare.run(generated(), all_indices(), outputs);
    if (!result.failure && !result.drifted && !result.leaked) last = {&stage_, key, outputs, result};
    return result;
  }

  [[nodiscard]] double largest_input() const {
    double largest = 0;
    for (const array_member& input : layout_.inputs)
      largest = std::max(largest, largest_magnitude(pattern_, input.size()));
    return largest;
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
    return make_comparison(largest_input()).run(generated(), indices, found);
  }

  // Both ends, both sides of some tile borders, and random places: the same ones for the same seed.
  std::vector<std::int64_t> sample_indices() const {
    const std::int64_t n = output_.size();
    const std::int64_t wanted =
        std::clamp<std::int64_t>(sample_cost / std::max<std::int64_t>(1, layout_.terms), 512, 1 << 16);
    std::set<std::int64_t> chosen;
    const auto add = [&](std::int64_t index) {
      if (index >= 0 && index < n) chosen.insert(index);
    };
    for (std::int64_t i = 0; i < wanted / 16; ++i) {
      add(i);
      add(n - 1 - i);
    }
    for (std::int64_t i = -2; i <= 2; ++i) add(layout_.terms + i);
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

  const hooks& hooks_;
  const stage<Problem>& stage_;
  parameters parameters_;
  cudaStream_t stream_;
  array_layout layout_;
  double bound_;  // asked for before anything is launched: nothing of the stage's runs between a launch and
                  // its check
  prepared_stage<Problem> prepared_;
  std::tuple<guarded_buffer<Inputs>...> inputs_;
  guarded_buffer<output_element> output_;
  guarded_buffer<unsigned char> scratch_;
  device_buffer<std::int64_t> found_;
  pattern pattern_ = pattern::random;
  std::uint64_t seed_ = 0;
  bool own_input_ = false;  // the user's
  memory_fill fill_ = memory_fill::ones;
};

}  // namespace lab
