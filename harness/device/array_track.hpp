// A track with one input array and one output array, made from its problem's description (array_problem.hpp;
// see stages/moving_average/problem.hpp for all that a problem declares).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/memory.hpp"
#include "common/npy.hpp"
#include "common/random.hpp"
#include "common/stream.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/track.hpp"

namespace lab {

// Compares found outputs with the reference, on all cores.
template <class Problem, class Output>
class comparison {
 public:
  using parameters = typename Problem::parameters;
  using output_element = Output;

  // Errors are bounded by relative_error times the scale of the output or `least_scale`, whichever is larger.
  comparison(const parameters& p, double relative_error, double least_scale)
      : parameters_(p), relative_error_(relative_error), least_scale_(least_scale) {}

  // Compares found[k] with the reference of output indices[k], for all k. `value(j)` is input j.
  template <class Value>
  check_result run(const Value& value, const std::vector<std::int64_t>& indices,
                   const std::vector<output_element>& found) const {
    const auto count = static_cast<std::int64_t>(indices.size());
    const std::int64_t piece = 1024;
    std::atomic<std::int64_t> next{0};
    const unsigned threads =
        std::clamp<unsigned>(std::thread::hardware_concurrency(), 1,
                             static_cast<unsigned>(std::max<std::int64_t>(1, count / piece)));
    std::vector<check_result> results(threads);
    const auto work = [&](check_result& result) {
      for (std::int64_t start = next.fetch_add(piece); start < count; start = next.fetch_add(piece)) {
        for (std::int64_t k = start; k < std::min(start + piece, count); ++k) {
          compare(value, indices[static_cast<std::size_t>(k)], found[static_cast<std::size_t>(k)], result);
        }
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (unsigned t = 1; t < threads; ++t) helpers.emplace_back([&, t] { work(results[t]); });
      work(results[0]);
    }
    check_result total{.relative_bound = relative_error_};
    for (check_result& part : results) {
      total.compared += part.compared;
      total.largest_error = std::max(total.largest_error, part.largest_error);
      total.relative_error = std::max(total.relative_error, part.relative_error);
      const bool earlier = part.failure && (!total.failure || *part.failure->index < *total.failure->index);
      if (earlier) total.failure = std::move(part.failure);
    }
    return total;
  }

 private:
  template <class Value>
  void compare(const Value& value, std::int64_t index, output_element found, check_result& result) const {
    const expectation expected = Problem::reference(value, parameters_, index);
    ++result.compared;
    bool right = false;
    const auto found_value = static_cast<long double>(found);
    if (std::isnan(expected.value)) {
      right = std::isnan(found_value);
    } else if (std::isinf(expected.value) || relative_error_ == 0) {
      right = found == static_cast<output_element>(expected.value);
    } else if (std::isinf(found_value) && may_overflow(expected)) {
      right = true;  // the reference is wider than the element: what overflows there is no fault of the stage
    } else {
      const long double error = std::abs(found_value - expected.value);
      // The last term is for results among the denormals, whose spacing no relative bound reaches.
      const long double bound =
          static_cast<long double>(relative_error_) *
              std::max(expected.scale, static_cast<long double>(least_scale_)) +
          2 * static_cast<long double>(std::numeric_limits<output_element>::denorm_min());
      right = !std::isnan(error) && error <= bound;
      if (right) {
        result.largest_error = std::max(result.largest_error, static_cast<double>(error / bound));
        if (expected.scale > 0)
          result.relative_error =
              std::max(result.relative_error, static_cast<double>(error / expected.scale));
      }
    }
    if (right || (result.failure && *result.failure->index < index)) return;
    result.failure = failure_record{.kind = failure_kind::wrong,
                                    .index = index,
                                    .expected = number_text(expected.value),
                                    .found = number_text(found_value)};
  }

  // Whether the terms of an output, added up without their signs, leave the range of its element.
  [[nodiscard]] bool may_overflow(const expectation& expected) const {
    return expected.scale * static_cast<long double>(Problem::cost(parameters_)) >
           static_cast<long double>(std::numeric_limits<output_element>::max());
  }

  static std::string number_text(long double number) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*Lg", std::numeric_limits<output_element>::max_digits10, number);
    return text;
  }

  parameters parameters_;
  double relative_error_;
  double least_scale_;
};

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
        found_(1, stream) {}

  static std::size_t needed_bytes(const stage<Problem>& stage, const parameters& p) {
    return guarded_buffer<input_element>::needed_bytes(Problem::input_size(p)) +
           guarded_buffer<output_element>::needed_bytes(Problem::output_size(p)) +
           guarded_buffer<unsigned char>::needed_bytes(scratch_bytes(stage, p));
  }

  // The user's own input instead of a generated one.
  void prepare_from(const std::vector<input_element>& values) {
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
    poison_outputs();
  }

  void prepare(pattern kind, std::uint64_t seed) override {
    pattern_ = kind;
    seed_ = seed;
    input_.poison_all();
    generate(input_.data(), input_.size(), kind, seed, stream_);
    poison_outputs();
  }

  void poison() override { poison_outputs(); }

  void launch() override {
    stage_.launch(Problem::bind_input(parameters_, input_.data()),
                  Problem::bind_output(parameters_, output_.data()),
                  {scratch_.data(), static_cast<std::size_t>(scratch_.size())}, stream_);
  }

  check_result check() override {
    find_changed_input(input_.data(), input_.size(), pattern_, seed_, found_.data(), stream_);
    if (const std::int64_t changed = read_found(); changed < input_.size()) {
      return {.failure = failure_record{.kind = failure_kind::input_changed, .index = changed}};
    }
    if (auto failure = check_memory()) return {.failure = std::move(failure)};
    check_result result = whole_cost() <= most_whole_cost ? check_whole() : check_sample();
    if (result.failure) add_owner(*result.failure);
    if (input_.size() == output_.size())
      result.clean_outputs = std::min(output_.size(), first_rare_index(seed_));
    return result;
  }

  // The outputs of the user's own input, a sample of which is compared with the reference.
  check_result check_against(const std::vector<input_element>& values, std::vector<output_element>& outputs) {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    if (auto failure = check_memory()) return {.failure = std::move(failure)};
    outputs = download();
    const std::vector<std::int64_t> indices =
        whole_cost() <= most_whole_cost ? all_indices() : sample_indices();
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
  // many a sample may cost: a quarter of a second and some tens of milliseconds of one core.
  static constexpr std::int64_t most_whole_cost = 400'000'000;
  static constexpr std::int64_t sample_cost = 20'000'000;

  static std::int64_t scratch_bytes(const stage<Problem>& stage, const parameters& p) {
    return stage.workspace_bytes == nullptr ? 0 : static_cast<std::int64_t>(stage.workspace_bytes(p));
  }

  void poison_outputs() {
    output_.poison_all();
    scratch_.poison_all();
  }

  // Every bit set, and a NaN: an integer with all bits set is a value like any other, and is left alone.
  static bool is_poison(const input_element& value) {
    if constexpr (!std::is_floating_point_v<input_element>) return false;
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char byte) { return byte == 0xff; });
  }

  [[nodiscard]] std::int64_t whole_cost() const { return Problem::cost(parameters_) * output_.size(); }

  std::int64_t read_found() {
    std::int64_t value = 0;
    CUDA_CHECK(cudaMemcpyAsync(&value, found_.data(), sizeof value, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return value;
  }

  // Everything written, and nothing beside it.
  std::optional<failure_record> check_memory() {
    find_poison(output_.data(), output_.size(), found_.data(), stream_);
    if (const std::int64_t unwritten = read_found(); unwritten < output_.size()) {
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
    if (const auto byte = output_.changed_guard(found_.data()))
      return stray("output", *byte, sizeof(output_element));
    if (const auto byte = input_.changed_guard(found_.data()))
      return stray("input", *byte, sizeof(input_element));
    if (const auto byte = scratch_.changed_guard(found_.data())) return stray("workspace", *byte, 1);
    return std::nullopt;
  }

  void add_owner(failure_record& failure) const {
    if (stage_.owner_of == nullptr || !failure.index) return;
    const owner computed_by = stage_.owner_of(parameters_, *failure.index);
    failure.block = computed_by.block;
    failure.thread = computed_by.thread;
  }

  // A stage that drifts carries the rounding errors of everything that passed through its running sums, so
  // its bound is a fraction of `largest`, the largest magnitude among the inputs.
  comparison<Problem, Output> make_comparison(double largest) const {
    const double bound = stage_.relative_error != nullptr ? stage_.relative_error(parameters_)
                         : stage_.traits.drifts           ? Problem::drift_error
                                                          : Problem::relative_error(parameters_);
    return {parameters_, bound, stage_.traits.drifts ? largest : 0};
  }

  std::vector<output_element> download() {
    std::vector<output_element> values(static_cast<std::size_t>(output_.size()));
    if (!values.empty()) {
      CUDA_CHECK(cudaMemcpyAsync(values.data(), output_.data(), values.size() * sizeof(output_element),
                                 cudaMemcpyDeviceToHost, stream_));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return values;
  }

  [[nodiscard]] std::vector<std::int64_t> all_indices() const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(output_.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  check_result check_whole() {
    const std::vector<std::int64_t> all = all_indices();
    const auto compare = make_comparison(largest_magnitude(pattern_, input_.size()));
    const generated_values<input_element> generated{pattern_, seed_};
    // What only one output needs is generated where it is needed; what many need, once.
    if (whole_cost() <= input_.size()) return compare.run(generated, all, download());
    std::vector<input_element> values(static_cast<std::size_t>(input_.size()));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = generated(static_cast<std::int64_t>(j));
    return compare.run([&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }, all, download());
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
};

// The shape of a file that must have so many dimensions.
template <std::size_t dimensions>
std::array<std::int64_t, dimensions> extents(const npy_header& header, const std::string& path) {
  if (header.shape.size() != dimensions) {
    throw usage_error(path + ": an array of " + std::to_string(dimensions) +
                      (dimensions == 1 ? " dimension" : " dimensions") + " is needed, not one of " +
                      std::to_string(header.shape.size()));
  }
  std::array<std::int64_t, dimensions> shape{};
  std::copy(header.shape.begin(), header.shape.end(), shape.begin());
  return shape;
}

template <class Problem>
class array_track final : public track {
 public:
  using parameters = typename Problem::parameters;

  [[nodiscard]] track_description describe() const override {
    track_description description{.title = Problem::title, .unit = Problem::unit};
    description.parameters = describe_parameters(Problem::describe());
    return description;
  }

  [[nodiscard]] parameter_values complete(const parameter_values& given) const override {
    parameter_values complete = complete_parameters(Problem::describe(), given);
    if constexpr (requires(const parameters& p) { Problem::why_invalid(p); }) {
      if (const std::string why = Problem::why_invalid(typed(complete)); !why.empty()) throw usage_error(why);
    }
    return complete;
  }

  [[nodiscard]] std::vector<trial> trials(const stage_entry& entry, bool thorough) const override {
    std::vector<trial> list;
    for (const auto& one : Problem::cases(typed(entry).tile, thorough)) {
      trial added{.input = one.input};
      for (const auto& spec : Problem::describe()) added.parameters[spec.name] = one.parameters.*spec.member;
      list.push_back(std::move(added));
    }
    return list;
  }

  [[nodiscard]] ceiling_need ceiling(const parameter_values& values, std::uint64_t /*seed*/) const override {
    const bool reads = Problem::ceiling == array_ceiling::read;
    return {.kind = reads ? "read" : "copy", .bytes = Problem::fewest_bytes(typed(values))};
  }

  [[nodiscard]] std::string unsupported(const stage_entry& entry,
                                        const parameter_values& values) const override {
    const stage<Problem>& found = typed(entry);
    return found.unsupported == nullptr ? "" : found.unsupported(typed(values));
  }

  [[nodiscard]] std::unique_ptr<workload> make(const stage_entry& entry, const parameter_values& values,
                                               cudaStream_t stream) const override {
    const parameters p = typed(values);
    return with_elements<Problem>(p, [&]<class Input, class Output>() -> std::unique_ptr<workload> {
      return make_typed<Input, Output>(entry, p, stream);
    });
  }

  [[nodiscard]] check_result apply(const stage_entry& entry, const parameter_values& given,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs,
                                   cudaStream_t stream) const override {
    if (inputs.size() != 1)
      throw usage_error("this track takes one input file, not " + std::to_string(inputs.size()));
    if (outputs.size() != 1)
      throw usage_error("this track writes one output file, not " + std::to_string(outputs.size()));
    require_writable(outputs[0]);
    const npy_header header = read_npy_header(inputs[0]);
    parameter_values values = given;
    for (const auto& [name, value] : parameters_of_file(header, inputs[0])) {
      if (given.contains(name)) throw usage_error(name + " is what the input file says, not an option here");
      values[name] = value;
    }
    // A default that depends on the device would give other results on another one.
    for (const auto& spec : Problem::describe()) {
      if (!values.contains(spec.name)) throw usage_error(std::string("--") + spec.name + " is needed");
    }
    values = complete(values);
    const parameters p = typed(values);
    if (const std::string why = unsupported(entry, values); !why.empty())
      throw unsupported_error(entry.path + ": " + why);
    return with_elements<Problem>(p, [&]<class Input, class Output>() {
      const npy_array<Input> file = read_npy<Input>(inputs[0]);
      refuse_leaks(entry, file.values);
      const auto work = make_typed<Input, Output>(entry, p, stream);
      work->prepare_from(file.values);
      work->launch();
      std::vector<Output> results;
      check_result result = work->check_against(file.values, results);
      if (!result.failure) write_npy<Output>(outputs[0], results, std::array{Problem::output_size(p)});
      return result;
    });
  }

 private:
  // A stage that leaks would spoil outputs that the user's NaN or Inf has nothing to do with.
  template <class Input>
  static void refuse_leaks(const stage_entry& entry, const std::vector<Input>& values) {
    if (!entry.traits.leaks_nonfinite) return;
    const auto found = std::find_if(values.begin(), values.end(),
                                    [](Input value) { return !std::isfinite(static_cast<double>(value)); });
    if (found == values.end()) return;
    throw unsupported_error(entry.path + ": value " + std::to_string(found - values.begin()) +
                            " is NaN or Inf, and this stage lets such values leak into other outputs; take a "
                            "stage without the trait leaks_nonfinite (lab list)");
  }

  static const stage<Problem>& typed(const stage_entry& entry) {
    if (entry.problem != typeid(Problem))
      throw std::logic_error(entry.path + " is registered for another problem");
    return *static_cast<const stage<Problem>*>(entry.typed);
  }

  static parameters typed(const parameter_values& values) {
    return typed_parameters(Problem::describe(), values);
  }

  // The parameters that the file's shape and type settle: n, unless the problem has a function of this name.
  static parameter_values parameters_of_file(const npy_header& header, const std::string& path) {
    if constexpr (requires { Problem::parameters_of_file(header, path); }) {
      return Problem::parameters_of_file(header, path);
    } else {
      return {{"n", extents<1>(header, path)[0]}};
    }
  }

  template <class Input, class Output>
  static std::unique_ptr<array_workload<Problem, Input, Output>> make_typed(const stage_entry& entry,
                                                                            const parameters& p,
                                                                            cudaStream_t stream) {
    using made = array_workload<Problem, Input, Output>;
    const stage<Problem>& found = typed(entry);
    const std::size_t needed = made::needed_bytes(found, p);
    const std::size_t available = memory::available();
    if (needed > available) throw memory_error(needed, available);
    return std::make_unique<made>(found, p, stream);
  }
};

// Registers the track of `Problem` under its directory's name, which the build passes as LAB_PATH.
template <class Problem>
struct array_track_registration {
  explicit array_track_registration(const char* path) {
    register_track(path, std::make_unique<array_track<Problem>>());
  }
};

}  // namespace lab
