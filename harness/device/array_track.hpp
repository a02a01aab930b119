// A track with any number of input arrays and one output array, made from its problem (array_problem.hpp) and
// what that may say beside (array_hooks.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/npy.hpp"
#include "common/process_group.hpp"
#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/array_workload.hpp"
#include "harness/device/larger_trials.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify.hpp"

namespace lab {

// The workload of one set of element types: group_workload.hpp has another one for problems whose arrays are
// spread over several GPUs (is_spread).
template <class Problem, class Output, class... Inputs>
struct workload_choice {
  using type = array_workload<Problem, Output, Inputs...>;
};
template <class Problem, class Output, class... Inputs>
using workload_of = typename workload_choice<Problem, Output, Inputs...>::type;

template <class Problem>
class array_track final : public track {
  static_assert(has_title<Problem>,
                "a problem says what it is and what one output is called: `title`, `unit`");
  static_assert(has_parameters<Problem>, "a problem has `parameters`, and describe() tells of each of them");
  static_assert(has_elements<Problem>,
                "a problem's `elements` are the types of its output and of its inputs");
  static_assert(has_layout<Problem>,
                "a problem's layout(p) names its arrays, and `ceiling` what moves as many bytes");
  static_assert(has_arguments<Problem>, "a problem's stages are launched with an `input` and an `output`");
  static_assert(has_bound<Problem>, "a problem bounds the error of an output: relative_error(p)");
  static_assert(has_cases<Problem>,
                "a problem lists what its stages are tried on: cases(tile, thorough, seed)");

 public:
  using parameters = typename Problem::parameters;

  explicit array_track(const array_hooks<Problem>& hooks) : hooks_(hooks) {}

  [[nodiscard]] track_description describe() const override {
    track_description description{.title = Problem::title,
                                  .unit = Problem::unit,
                                  .inputs = input_count(),
                                  .draws = hooks_.draw != nullptr};
    description.parameters = describe_parameters(Problem::describe());
    description.texts = hooks_.texts();
    return description;
  }

  [[nodiscard]] parameter_values complete(const parameter_values& given) const override {
    parameter_values complete = complete_parameters(Problem::describe(), given);
    if (const std::string why = hooks_.why_invalid(typed(complete)); !why.empty()) throw usage_error(why);
    return complete;
  }

  [[nodiscard]] std::vector<trial> trials(const stage_entry& entry, bool thorough,
                                          std::uint64_t seed) const override {
    std::vector<trial> list;
    for (const auto& one : Problem::cases(tile_of(entry), thorough, seed)) {
      trial added{.parameters = values_of(Problem::describe(), runnable(entry, one.parameters, one.input)),
                  .input = one.input,
                  .brief = one.brief};
      if (one.index) added.seed = static_cast<std::uint64_t>(*one.index);
      list.push_back(std::move(added));
    }
    if (thorough) {
      add_changed(list, Problem::cases(tile_of(entry), false, seed).size(), seed);
    } else {
      add_whole_tiles(list, entry);
    }
    return list;
  }

  [[nodiscard]] std::vector<trial> exact_trials(const stage_entry& entry, const parameter_values& values,
                                                std::uint64_t seed) const override {
    std::vector<trial> list;
    if (hooks_.exact_cases != nullptr) {
      for (const exact_case& one : hooks_.exact_cases(typed(values), tile_of(entry), seed)) {
        trial added{.parameters = values, .input = one.input};
        if (one.index) added.seed = static_cast<std::uint64_t>(*one.index);
        list.push_back(std::move(added));
      }
    }
    with_elements<Problem>(
        typed(values), [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) {
          constexpr bool are_real =
              std::is_floating_point_v<Output> && (std::is_floating_point_v<Inputs> && ...);
          if constexpr (are_real && sizeof...(Inputs) > 0) {
            list.push_back({.parameters = values, .input = pattern::gaps});
          }
        });
    return list;
  }

  [[nodiscard]] std::vector<trial> larger_trials(const stage_entry& entry,
                                                 std::uint64_t seed) const override {
    if constexpr (is_spread<Problem>) return {};
    std::vector<trial> list = larger().in_between(trials(entry, true, seed), seed);
    for (trial& one : list) {
      const parameters p = runnable(entry, typed(one.parameters), one.input);
      one.parameters = values_of(Problem::describe(), p);
    }
    return list;
  }

  [[nodiscard]] std::vector<trial> other_inputs(const stage_entry& entry, const parameter_values& values,
                                                std::uint64_t seed) const override {
    if constexpr (is_spread<Problem>) return {};
    std::vector<trial> list = larger().at(values, trials(entry, true, seed), seed);
    if (hooks_.exact_cases != nullptr) add_lone_value(list, values, seed);
    const array_layout layout = Problem::layout(typed(values));
    if (layout.inputs.size() != 1 || layout.inputs[0].size() < 2) return list;
    const auto n = static_cast<std::uint64_t>(layout.inputs[0].size());
    const std::uint64_t place = random_bits(seed ^ 0x91a27, 0);
    for (const std::uint64_t planted : {n - 1 - place % std::min<std::uint64_t>(n, 32), place % n})
      list.push_back({.parameters = values, .input = pattern::planted, .seed = planted});
    // An answer that was kept for an input that looks alike.
    const std::uint64_t base = random_bits(seed ^ 0x0c4c, 0) >> 32;
    const auto changed = [&](std::uint64_t k) {
      return seed_of_change(base, static_cast<std::int64_t>(random_bits(seed ^ 0x0c4c, k) % n));
    };
    list.push_back(
        {.parameters = values, .input = pattern::one_changed, .seed = changed(1), .then = {changed(2)}});
    return list;
  }

  [[nodiscard]] parameter_values nearly(const parameter_values& measured) const override {
    if constexpr (is_spread<Problem>) return measured;
    return larger().nearly(measured);
  }

  [[nodiscard]] double declared_bound(const stage_entry& entry,
                                      const parameter_values& values) const override {
    const parameters p = typed(values);
    return with_elements<Problem>(p, [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) {
      using made = workload_of<Problem, Output, Inputs...>;
      const double bound = made::relative_bound(hooks_, typed(entry), p);
      return bound > Problem::relative_error(p) && !made::drifts(hooks_, typed(entry), p) ? bound : 0.0;
    });
  }

  [[nodiscard]] bool has_running_sums(const parameter_values& values) const override {
    return hooks_.drift_error(typed(values)) > 0;
  }

  [[nodiscard]] ceiling_need ceiling(const parameter_values& values, std::uint64_t /*seed*/) const override {
    const array_layout layout = Problem::layout(typed(values));
    return {.kind = array_ceiling_names[static_cast<int>(Problem::ceiling)],
            .bytes = layout.fewest_bytes,
            .written_bytes = layout.written_bytes,
            .gpus = gpus_of(typed(values)),
            .outputs = layout.output.size()};
  }

  [[nodiscard]] std::string why_not_runnable(const stage_entry& entry) const override {
    if constexpr (is_spread<Problem>) {
      // One GPU alone shows nothing of what the stages differ in.
      const std::int64_t gpus = std::max(2, processes::count());
      if (std::string why = why_no_group(gpus); !why.empty()) return why;
      parameter_values values = default_parameters(describe()).front();
      values["gpus"] = gpus;
      return unsupported_by(entry, typed(complete(values)));
    }
    return "";
  }

  [[nodiscard]] std::string unsupported(const stage_entry& entry,
                                        const parameter_values& values) const override {
    const stage<Problem>& found = typed(entry);
    const parameters p = typed(values);
    if (std::string why = unsupported_by(entry, p); !why.empty()) return why;
    return with_elements<Problem>(
        p, [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) -> std::string {
          using made = workload_of<Problem, Output, Inputs...>;
          if (std::string why = absurd_workspace(requested_workspace(found, p)); !why.empty()) return why;
          if (made::needed_bytes(found, p) <= memory::always_there) return "";
          const std::size_t available = processes::smallest(memory::available());
          if (made::array_bytes(p) > available || made::needed_bytes(found, p) <= available) return "";
          return "asks for " + std::to_string(made::scratch_bytes(found, p)) +
                 " bytes of scratch memory, and " + std::to_string(available - made::array_bytes(p)) +
                 " are free beside inputs and outputs";
        });
  }

  [[nodiscard]] std::unique_ptr<workload> make(const stage_entry& entry, const parameter_values& values,
                                               cudaStream_t stream) const override {
    const parameters p = typed(values);
    return with_elements<Problem>(
        p, [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) -> std::unique_ptr<workload> {
          return make_typed<Output, Inputs...>(entry, p, stream);
        });
  }

  [[nodiscard]] check_result apply(const stage_entry& entry, const application& to,
                                   cudaStream_t stream) const override {
    const auto& [given, inputs, outputs, texts, allow_inexact] = to;
    const bool takes_texts = !hooks_.texts().empty();
    if (!takes_texts) refuse_texts(texts);
    if (input_count() == 0) return apply_nothing(entry, given, inputs, outputs, stream);
    if (std::ssize(inputs) != input_count()) {
      throw usage_error("this track takes " + files_text(input_count(), "input") + ", not " +
                        std::to_string(inputs.size()));
    }
    if (outputs.size() != 1)
      throw usage_error("this track writes one output file, not " + std::to_string(outputs.size()));
    require_writable(outputs[0]);
    std::vector<npy_header> headers;
    for (const std::string& path : inputs) headers.push_back(read_npy_header(path));
    parameter_values values = given;
    for (const auto& [name, value] : hooks_.parameters_of_files(headers, inputs)) {
      if (given.contains(name)) throw usage_error(name + " is what the input file says, not an option here");
      try {
        values[name] = complete_parameters(Problem::describe(), {{name, value}}).at(name);
      } catch (const usage_error& unfit) {
        throw usage_error(inputs[0] + ": " + unfit.what());
      }
    }
    if (takes_texts) hooks_.stand_in_for(texts, values);
    // A default that depends on the device would give other results on another one.
    for (const auto& spec : Problem::describe()) {
      if (!values.contains(spec.name) && spec.apply_default) values[spec.name] = *spec.apply_default;
      if (!values.contains(spec.name)) throw usage_error(std::string("--") + spec.name + " is needed");
    }
    values = complete(values);
    parameters p = typed(values);
    if (takes_texts) hooks_.take(texts, p);
    require_shapes(p, headers, inputs);
    if (const std::string why = unsupported(entry, values); !why.empty())
      throw unsupported_error(entry.path + ": " + why);
    if (const std::string why = unsupported_by(entry, p); !why.empty())
      throw unsupported_error(entry.path + ": " + why);
    return with_elements<Problem>(p, [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) {
      const auto arrays = read_all<Inputs...>(inputs, std::index_sequence_for<Inputs...>{});
      if (has_running_sums(values))
        std::apply([&](const auto&... array) { (refuse_leaks(entry, array), ...); }, arrays);
      if (check_result result = right_at(entry, values, stream); result.failure) return result;
      std::vector<Output> results;
      check_result result;
      if constexpr (!is_spread<Problem>) {
        if (!texts.empty()) {
          result = apply_own<Output, Inputs...>(entry, p, arrays, results, stream);
          if (!result.failure) write_npy<Output>(outputs[0], results, Problem::layout(p).output.shape);
          return result;
        }
      }
      const auto work = make_typed<Output, Inputs...>(entry, p, stream);
      work->prepare_from(arrays);
      work->launch();
      result = work->check_against(arrays, results);
      if (!result.failure && result.useless && !allow_inexact) {
        const failure_record& first = *result.useless;
        throw unsupported_error(entry.path + ": output " + std::to_string(*first.index) + " is " +
                                first.found + " where " + first.expected + " is right: " + result.remark +
                                "; take a stage without that trait (lab list), or --allow-inexact");
      }
      if (!result.failure || is_expected(entry, *result.failure))
        write_npy<Output>(outputs[0], results, Problem::layout(p).output.shape);
      return result;
    });
  }

 private:
  // What a trial costs.
  struct trial_cost {
    const array_hooks<Problem>& hooks;

    double operator()(const parameters& p) const {
      if (!hooks.why_invalid(p).empty()) return -1;
      const array_layout layout = Problem::layout(p);
      constexpr double of_input = 16;  // to make it, move it and look at it
      const auto outputs = static_cast<double>(layout.output.size());
      const double given = values(p);
      // An output of several inputs may be the work of a block, however few they are.
      constexpr double of_block = emulated ? 512 : 0;
      const double blocks = 2 * outputs <= given ? outputs : 0;
      return static_cast<double>(layout.terms) * outputs + of_input * given + of_block * blocks;
    }
    [[nodiscard]] double reach(const parameters& p) const {
      return values(p) * static_cast<double>(Problem::layout(p).output.size());
    }
    [[nodiscard]] parameters fitted(const parameters& p, const parameters& before) const {
      return hooks.fitted(p, before);
    }
    // All that is read, or written where nothing is.
    [[nodiscard]] double values(const parameters& p) const {
      const array_layout layout = Problem::layout(p);
      double all = layout.inputs.empty() ? static_cast<double>(layout.output.size()) : 0;
      for (const array_member& input : layout.inputs) all += static_cast<double>(input.size());
      return all;
    }
  };
  auto larger() const { return lab::larger_trials(Problem::describe(), trial_cost{hooks_}); }

  // One value that needs many digits, at a place that nobody knows.
  static void add_lone_value(std::vector<trial>& list, const parameter_values& values, std::uint64_t seed) {
    const array_layout layout = Problem::layout(typed(values));
    if (layout.inputs.size() != 1 || layout.inputs[0].size() == 0) return;
    const auto size = static_cast<std::uint64_t>(layout.inputs[0].size());
    list.push_back(
        {.parameters = values, .input = pattern::lone_value, .seed = random_bits(seed ^ 0x10e, size) % size});
  }

  // Inputs that differ in one value, one after the other, at some sizes of the `quick` trials with which the
  // list begins.
  static void add_changed(std::vector<trial>& list, std::size_t quick, std::uint64_t seed) {
    constexpr std::uint64_t places = 4;
    if (input_count() == 0 || quick == 0) return;
    for (const std::size_t which : std::set<std::size_t>{0, quick / 2, quick - 1}) {
      const std::int64_t n = Problem::layout(typed(list[which].parameters)).inputs[0].size();
      if (n < 2) continue;
      const std::uint64_t base = random_bits(seed ^ 0x0c4a, which) >> 32;
      const auto changed = [&](std::uint64_t k) {
        const std::uint64_t bits = random_bits(seed ^ 0x0c4b, places * which + k);
        return seed_of_change(base, static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n)));
      };
      trial added{.parameters = list[which].parameters, .input = pattern::one_changed, .seed = changed(0)};
      for (std::uint64_t k = 1; k < places; ++k) added.then.push_back(changed(k));
      list.push_back(std::move(added));
    }
  }

  // The first of the quick trials once more, of whole tiles alone: a kernel that takes its last tile for a
  // ragged one is wrong there.
  void add_whole_tiles(std::vector<trial>& list, const stage_entry& entry) const {
    if constexpr (!is_spread<Problem> && requires(parameters & p) { p.n; }) {
      if (list.empty()) return;
      const std::int64_t tile = tile_of(entry);
      parameters p = typed(list.front().parameters);
      if (p.n < tile) return;
      p.n -= p.n % tile;
      trial added{.parameters = values_of(Problem::describe(), runnable(entry, p, list.front().input)),
                  .input = list.front().input};
      list.push_back(std::move(added));
    }
  }

  // Why the stage itself says that it cannot run these parameters; empty when it can.
  static std::string unsupported_by(const stage_entry& entry, const parameters& p) {
    if constexpr (is_spread<Problem>) {
      if (std::string why = why_no_group(Problem::gpus(p)); !why.empty()) return why;
    }
    const stage<Problem>& found = typed(entry);
    if (found.unsupported == nullptr) return "";
    return call_stage("unsupported", [&] { return found.unsupported(p); });
  }

  // What the stage makes of a person's own function is compared, all of it, with what a plain launch of the
  // same function makes that was prepared another way: no reference knows the function.
  template <class Output, class... Inputs>
  check_result apply_own(const stage_entry& entry, const parameters& p,
                         const std::tuple<std::vector<Inputs>...>& arrays, std::vector<Output>& results,
                         cudaStream_t stream) const {
    {
      const auto work = make_typed<Output, Inputs...>(entry, p, stream);
      work->prepare_from(arrays);
      work->launch();
      if (check_result result = work->take(results); result.failure) return result;
    }
    static const stage<Problem> plain{.idea = "the right results", .prepare = hooks_.prepare_right};
    workload_of<Problem, Output, Inputs...> other(hooks_, plain, p, stream);
    other.prepare_from(arrays);
    other.launch();
    std::vector<Output> right;
    // What fails in the plain launch fails by the function itself.
    if (check_result result = other.take(right); result.failure) return result;
    check_result result = compare_with(results, right);
    if (result.failure) {
      const stage<Problem>& found = typed(entry);
      if (found.owner_of != nullptr) {
        const owner by = call_stage("owner_of", [&] { return found.owner_of(p, *result.failure->index); });
        result.failure->block = by.block;
        result.failure->thread = by.thread;
      }
    }
    return result;
  }

  static int gpus_of([[maybe_unused]] const parameters& p) {
    if constexpr (is_spread<Problem>) {
      return static_cast<int>(Problem::gpus(p));
    } else {
      return 1;
    }
  }
  static std::int64_t input_count() { return std::ssize(Problem::layout(parameters{}).inputs); }
  static std::string files_text(std::int64_t count, const std::string& what) {
    return count == 1 ? "one " + what + " file" : std::to_string(count) + " " + what + " files";
  }
  // `apply` of a problem without input: writes the output, and to a second file its difference from the right
  // one. A name that ends in .npy gets the numbers, one in .png an image where the problem draws.
  check_result apply_nothing(const stage_entry& entry, const parameter_values& given,
                             const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                             cudaStream_t stream) const {
    if (!inputs.empty()) throw usage_error("this track takes no input file");
    if (outputs.empty() || outputs.size() > 2) {
      throw usage_error(
          "this track writes its output and, to a second file, the difference from the right one, not " +
          std::to_string(outputs.size()) + " files");
    }
    const bool draws = hooks_.draw != nullptr;
    for (const std::string& path : outputs) {
      if (!path.ends_with(".npy") && !(draws && path.ends_with(".png")))
        throw usage_error(path + ": the name must end in .npy" + (draws ? " or .png" : ""));
      require_writable(path);
    }
    const parameter_values values = complete(given);
    const parameters p = typed(values);
    if (const std::string why = unsupported(entry, values); !why.empty())
      throw unsupported_error(entry.path + ": " + why);
    return with_elements<Problem>(p, [&]<class Output, class... Inputs>(element_types<Output, Inputs...>) {
      const auto work = make_typed<Output, Inputs...>(entry, p, stream);
      work->prepare_from({});
      work->launch();
      std::vector<Output> results;
      check_result result = work->check_against({}, results);
      if (result.failure && !is_expected(entry, *result.failure)) return result;
      write_output(outputs[0], p, results, hooks_.draw);
      if (outputs.size() == 1) return result;
      const std::tuple no_input{[](std::int64_t) { return Inputs{}; }...};
      for (std::size_t i = 0; i < results.size(); ++i) {
        const expectation right = reference_of<Problem>(no_input, p, static_cast<std::int64_t>(i));
        results[i] = static_cast<Output>(static_cast<long double>(results[i]) - right.value);
      }
      write_output(outputs[1], p, results, hooks_.draw_difference);
      return result;
    });
  }

  // As numbers, or as `draw` does it, by the name's ending.
  template <class Output>
  static void write_output(const std::string& path, const parameters& p, const std::vector<Output>& values,
                           void (*draw)(const std::string&, const parameters&, const std::vector<float>&)) {
    if (!path.ends_with(".npy")) {
      draw(path, p, {values.begin(), values.end()});
    } else {
      write_npy<Output>(path, values, Problem::layout(p).output.shape);
    }
  }

  // A sample of the user's outputs shows less than all of an exact trial's of the same size.
  [[nodiscard]] check_result right_at(const stage_entry& entry, const parameter_values& values,
                                      cudaStream_t stream) const {
    constexpr std::uint64_t seed = 1;
    for (const trial& one : exact_trials(entry, values, seed)) {
      // What a trait may excuse tells nothing of the stage at this size.
      if (one.input == pattern::gaps) continue;
      const auto work = make(entry, one.parameters, stream);
      check_result result =
          run_and_check(*work, {.input = one.input, .seed = one.seed.value_or(seed)}, stream);
      if (result.failure) return result;
    }
    return {};
  }

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

  static const stage<Problem>& typed(const stage_entry& entry) { return typed_stage<Problem>(entry); }

  // What a stage that cannot run an operation is tried on in its place.
  [[nodiscard]] parameters runnable(const stage_entry& entry, const parameters& p, pattern input) const {
    const stage<Problem>& found = typed(entry);
    if (found.unsupported == nullptr) return p;
    const auto runs = [&](const parameters& q) {
      return call_stage("unsupported", [&] { return found.unsupported(q); }).empty();
    };
    if (runs(p)) return p;
    for (const parameters& q : hooks_.alternatives(p, input)) {
      if (runs(q)) return q;
    }
    return p;
  }

  static parameters typed(const parameter_values& values) {
    return typed_parameters(Problem::describe(), values);
  }

  // Outputs of a block, as the stage says. Sizes around it are tried, so it must be one that can be.
  static std::int64_t tile_of(const stage_entry& entry) {
    constexpr std::int64_t largest = std::int64_t{1} << 20;
    const std::int64_t tile = typed(entry).tile;
    if (tile >= 1 && tile <= largest) return tile;
    throw stage_error("its tile is " + std::to_string(tile) + " outputs, and must be from 1 to " +
                      std::to_string(largest));
  }

  template <class... Inputs, std::size_t... k>
  static std::tuple<std::vector<Inputs>...> read_all([[maybe_unused]] const std::vector<std::string>& paths,
                                                     std::index_sequence<k...> /*which*/) {
    return {read_npy<Inputs>(paths.at(k)).values...};
  }

  static void require_shapes(const parameters& p, const std::vector<npy_header>& headers,
                             const std::vector<std::string>& paths) {
    const array_layout layout = Problem::layout(p);
    for (std::size_t k = 0; k < headers.size(); ++k) {
      if (headers[k].shape == layout.inputs.at(k).shape) continue;
      const auto text = [](const std::vector<std::int64_t>& shape) {
        std::string all;
        for (const std::int64_t extent : shape) all += (all.empty() ? "" : " x ") + std::to_string(extent);
        return all;
      };
      throw usage_error(paths[k] + ": " + layout.inputs[k].name + " must be " + text(layout.inputs[k].shape) +
                        ", not " + text(headers[k].shape));
    }
  }

  template <class Output, class... Inputs>
  std::unique_ptr<workload_of<Problem, Output, Inputs...>> make_typed(const stage_entry& entry,
                                                                      const parameters& p,
                                                                      cudaStream_t stream) const {
    using made = workload_of<Problem, Output, Inputs...>;
    const stage<Problem>& found = typed(entry);
    const std::size_t needed = made::needed_bytes(found, p);
    if (needed > memory::always_there || memory::is_limited()) {
      const std::size_t available = processes::smallest(memory::available());
      if (needed > available) throw memory_error(needed, available);
    }
    return std::make_unique<made>(hooks_, found, p, stream);
  }

  const array_hooks<Problem> hooks_;
};

// Registers the track of `Problem` under its directory's name, which the build passes as LAB_PATH.
template <class Problem>
struct array_track_registration {
  explicit array_track_registration(const char* path, const array_hooks<Problem>& hooks = {}) {
    register_track(path, std::make_unique<array_track<Problem>>(hooks));
  }
};

}  // namespace lab
