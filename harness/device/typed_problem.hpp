// A problem of arrays as the harness asks it (bound_problem.hpp): all that needs the types of its parameters
// and elements, compiled for each track.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "harness/device/array_hooks.hpp"
#include "harness/device/bound_problem.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/reference_run.hpp"
#include "harness/device/stage_call.hpp"

namespace lab {

// What a stage is launched with, made of pointers to the arrays.
template <class Problem, class... Pointers>
typename Problem::input bound_input(const typename Problem::parameters& p, const Pointers&... pointers) {
  if constexpr (requires { Problem::bind_input(p, pointers...); }) {
    return Problem::bind_input(p, pointers...);
  } else {
    return {pointers..., p.n};
  }
}
template <class Problem, class Pointer>
typename Problem::output bound_output(const typename Problem::parameters& p, const Pointer& pointer) {
  if constexpr (requires { Problem::bind_output(p, pointer); }) {
    return Problem::bind_output(p, pointer);
  } else {
    return {pointer};
  }
}

template <class Problem, class Output, class... Inputs>
class typed_problem final : public bound_problem {
  static_assert(
      requires(const generated_values<Inputs>&... values, const typename Problem::parameters& p) {
        { Problem::reference(values..., p, 0) } -> std::same_as<expectation>;
      },
      "a problem's reference(value..., p, i) gives output i, with a `value` for each input");
  static_assert(
      names_its_hooks<Problem, Inputs...>(),
      "reference_hooks names exact_outputs(value..., p, first, count, visit), stream(value..., p, "
      "first, count, visit), reference_run and first_needed(value..., p, i, most) where the problem "
      "has them, and only there");
  static_assert(
      !is_spread<Problem> ||
          requires(const typename Problem::parameters& p, std::int64_t k) {
            { Problem::gpus(p) } -> std::convertible_to<std::int64_t>;
            { Problem::part_of_input(p, k) } -> std::same_as<part>;
            { Problem::part_of_output(p, k) } -> std::same_as<part>;
            { Problem::key_of_results(p) } -> std::convertible_to<std::string>;
            { Problem::is_replicated } -> std::convertible_to<bool>;
          },
      "a problem over several GPUs has gpus(p), part_of_input(p, k) and part_of_output(p, k) of GPU k, "
      "key_of_results(p), which parameters of equal results share, and `is_replicated`");

 public:
  using parameters = typename Problem::parameters;

  // `hooks` and `its_stage` outlive this.
  typed_problem(const array_hooks<Problem>& hooks, const stage<Problem>* its_stage, const parameters& p)
      : hooks_(hooks),
        stage_(its_stage),
        parameters_(p),
        layout_(with_types(Problem::layout(p), element_of<Output>(), {element_of<Inputs>()...})) {}

  [[nodiscard]] problem_facts facts() const override {
    problem_facts facts{.layout = layout_,
                        .relative_error = Problem::relative_error(parameters_),
                        .random_input = hooks_.random_input(parameters_),
                        .is_exact = hooks_.is_exact(parameters_),
                        .exact_unit = hooks_.exact_unit(parameters_),
                        .exact_error = hooks_.exact_error,
                        .streams = hooks_.streams(parameters_),
                        .keeps_zero_signs = hooks_.keeps_zero_signs,
                        .drift_error = hooks_.drift_error(parameters_),
                        .has_exact_outputs = has_hook<Problem, reference_hook::exact_outputs>,
                        .has_stream = has_hook<Problem, reference_hook::stream>,
                        .has_reference_run = has_runs,
                        .name = typeid(typed_problem).name()};
    // The reference of one element, where no error is allowed, is as fast a way.
    if (facts.layout.terms == 1 && facts.relative_error == 0) facts.has_exact_outputs = true;
    if constexpr (is_spread<Problem>) {
      facts.gpus = Problem::gpus(parameters_);
      facts.is_replicated = Problem::is_replicated;
      facts.key = Problem::key_of_results(parameters_);
    } else {
      facts.key = text_of(values_of(Problem::describe(), parameters_));
    }
    if (stage_ != nullptr) {
      facts.stage = stage_;
      facts.tile = stage_->tile;
      facts.traits = stage_->traits;
    }
    return facts;
  }

  [[nodiscard]] array_layout layout() const override { return layout_; }

  [[nodiscard]] double drift_scale(double largest) const override {
    return hooks_.drift_scale(parameters_, largest);
  }
  [[nodiscard]] std::string remark(double smallest) const override {
    return hooks_.remark(parameters_, smallest);
  }

  [[nodiscard]] array_parts parts([[maybe_unused]] std::int64_t k) const override {
    if constexpr (is_spread<Problem>) {
      return {{Problem::part_of_input(parameters_, k)}, Problem::part_of_output(parameters_, k)};
    } else {
      return all_of(layout_);
    }
  }

  [[nodiscard]] std::string unsupported() const override { return unsupported_by(*stage_, parameters_); }
  [[nodiscard]] std::size_t requested_workspace() const override {
    return lab::requested_workspace(*stage_, parameters_);
  }
  [[nodiscard]] std::optional<double> declared_error() const override {
    if (stage_->relative_error == nullptr) return std::nullopt;
    return call_stage("relative_error", [&] { return stage_->relative_error(parameters_); });
  }
  void add_owner(failure_record& failure) const override { lab::add_owner(failure, *stage_, parameters_); }
  [[nodiscard]] prepared_launch prepare(cudaStream_t stream) const override {
    const auto prepared = std::make_shared<prepared_stage<Problem>>(*stage_, parameters_, stream);
    return {prepared->workspace_bytes(), prepared->nanoseconds(),
            [this, prepared](const launch_arguments& arguments) { enqueue(*prepared, arguments); }};
  }

  void references(const input_source& source, const std::int64_t* indices, std::int64_t count,
                  expectation* to) const override {
    with_values(source, [&](const auto& values) {
      for (std::int64_t k = 0; k < count; ++k) to[k] = reference_of<Problem>(values, parameters_, indices[k]);
    });
  }

  [[nodiscard]] ordered_references in_order(const input_source& source, [[maybe_unused]] std::int64_t n,
                                            [[maybe_unused]] std::int64_t piece) const override {
    ordered_references ordered;
    if constexpr (has_runs) {
      with_values(source, [&](const auto& values) {
        ordered = [this, values, piece, before = runs_before<Problem>(values, parameters_, n, piece)](
                      std::int64_t first, std::int64_t count, const take_expectations& take) {
          auto run = before[static_cast<std::size_t>(first / piece)];
          buffer<expectation> held(first, take);
          extend(run, lab::in_order(values), first, first + count,
                 [&](std::int64_t /*i*/) { held.add(run.expected()); });
          held.hand_on();
        };
      });
    } else if constexpr (has_hook<Problem, reference_hook::stream>) {
      ordered = [this, values = generated(source)](std::int64_t first, std::int64_t count,
                                                   const take_expectations& take) {
        buffer<expectation> held(first, take);
        std::apply(
            [&](const auto&... value) {
              Problem::stream(value..., parameters_, first, count,
                              [&](std::int64_t /*i*/, const expectation& expected) { held.add(expected); });
            },
            lab::in_order(values));
        held.hand_on();
      };
    }
    return ordered;
  }

  [[nodiscard]] std::optional<expectation> near([[maybe_unused]] const input_source& source,
                                                [[maybe_unused]] std::int64_t i,
                                                [[maybe_unused]] std::int64_t most) const override {
    std::optional<expectation> found;
    if constexpr (has_runs) {
      with_values(source, [&](const auto& values) {
        if (const auto run = near_run<Problem>(values, parameters_, i, most)) found = run->expected();
      });
    }
    return found;
  }

  void exact_keys(const input_source& source, std::int64_t first, std::int64_t count,
                  const take_keys& take) const override {
    const double unit = hooks_.exact_unit(parameters_);
    buffer<std::uint64_t> keys(first, take);
    const auto values = generated(source);
    if constexpr (has_hook<Problem, reference_hook::exact_outputs>) {
      // Already times the unit.
      const auto visit = [&](std::int64_t /*i*/, auto scaled) {
        if constexpr (std::is_integral_v<Output>) {
          keys.add(exact_key_of(static_cast<Output>(scaled), 0));
        } else {
          keys.add(exact_key(static_cast<double>(scaled), unit == 0 ? 0 : 1));
        }
      };
      std::apply(
          [&](const auto&... value) { Problem::exact_outputs(value..., parameters_, first, count, visit); },
          lab::in_order(values));
    } else {
      for (std::int64_t i = first; i < first + count; ++i) {
        const auto output = static_cast<Output>(reference_of<Problem>(values, parameters_, i).value);
        keys.add(exact_key_of(output, unit));
      }
    }
    keys.hand_on();
  }

 private:
  static constexpr bool has_runs = has_hook<Problem, reference_hook::reference_run>;

  // Hands on what comes one after another, some at a time.
  template <class T>
  class buffer {
   public:
    buffer(std::int64_t first, const std::function<void(std::int64_t, const T*, std::int64_t)>& take)
        : first_(first), take_(take) {}
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    void add(const T& value) {
      held_[count_++] = value;
      if (count_ == held_.size()) hand_on();
    }
    void hand_on() {
      if (count_ == 0) return;
      take_(first_, held_.data(), static_cast<std::int64_t>(count_));
      first_ += static_cast<std::int64_t>(count_);
      count_ = 0;
    }

   private:
    std::int64_t first_;
    const std::function<void(std::int64_t, const T*, std::int64_t)>& take_;
    std::array<T, 256> held_;
    std::size_t count_ = 0;
  };

  // Calls launch(input, output, ...) of the stage with what the problem makes of the arrays.
  void enqueue(const prepared_stage<Problem>& prepared, const launch_arguments& arguments) const {
    if constexpr (is_spread<Problem>) {
      static_assert(sizeof...(Inputs) == 1, "a problem over several GPUs has one input");
      std::vector<const std::tuple_element_t<0, std::tuple<Inputs...>>*> inputs;
      std::vector<Output*> outputs;
      for (const launch_arguments::arrays& of_gpu : arguments.gpus) {
        inputs.push_back(static_cast<typename decltype(inputs)::value_type>(of_gpu.inputs[0]));
        outputs.push_back(static_cast<Output*>(of_gpu.output));
      }
      prepared.launch(bound_input<Problem>(parameters_, inputs), bound_output<Problem>(parameters_, outputs),
                      *arguments.group);
    } else {
      const launch_arguments::arrays& arrays = arguments.gpus[0];
      [[maybe_unused]] auto next = [one = arrays.inputs.begin()]() mutable { return *one++; };
      const std::tuple<Inputs*...> inputs{static_cast<Inputs*>(next())...};
      std::apply(
          [&](const auto&... input) {
            prepared.launch(bound_input<Problem>(parameters_, input...),
                            bound_output<Problem>(parameters_, static_cast<Output*>(arrays.output)),
                            arguments.scratch, arguments.stream);
          },
          inputs);
    }
  }

  [[nodiscard]] std::tuple<generated_values<Inputs>...> generated(const input_source& source) const {
    [[maybe_unused]] auto next = [&, count = std::size_t{0}]() mutable {
      const std::size_t k = count++;
      return drawn(layout_.inputs[k], source.kind, source.seed, k);
    };
    return {generated_values<Inputs>{next()}...};
  }
  template <class T>
  struct given_values {
    const T* values;
    T operator()(std::int64_t j) const { return values[j]; }
  };
  // Calls visit with a tuple of a value(j) for each input.
  template <class Visit>
  void with_values(const input_source& source, const Visit& visit) const {
    if (source.own == nullptr) return visit(generated(source));
    [[maybe_unused]] auto next = [&all = *source.own, k = std::size_t{0}]() mutable -> const host_values& {
      return all.at(k++);
    };
    visit(std::tuple{given_values<Inputs>{next().template as<Inputs>()}...});
  }

  const array_hooks<Problem>& hooks_;
  const stage<Problem>* stage_;
  parameters parameters_;
  array_layout layout_;
};

template <class Problem>
class typed_array_problem final : public any_array_problem {
  // What a problem must say of itself (docs/add-a-track.md), all functions and constants static. What it may
  // say beside is in array_hooks.hpp.
  static_assert(
      requires {
        { Problem::title } -> std::convertible_to<std::string>;
        { Problem::unit } -> std::convertible_to<std::string>;
      },
      "a problem says what it is and what one output is called: `title`, `unit`");
  static_assert(
      requires {
        typename Problem::parameters;
        { Problem::describe() } -> std::convertible_to<std::vector<parameter<typename Problem::parameters>>>;
      },
      "a problem has `parameters`, and describe() tells of each of them");
  static_assert(
      requires { typename Problem::elements; } ||
          requires(const typename Problem::parameters& p) {
            Problem::with_elements(p, []<class Output, class... Inputs>(element_types<Output, Inputs...>) {});
          },
      "a problem's `elements` are the types of its output and of its inputs");
  static_assert(
      requires(const typename Problem::parameters& p) {
        { Problem::layout(p) } -> std::same_as<array_layout>;
        { Problem::ceiling } -> std::convertible_to<array_ceiling>;
      },
      "a problem's layout(p) names its arrays, and `ceiling` what moves as many bytes");
  static_assert(
      requires {
        typename Problem::input;
        typename Problem::output;
      },
      "a problem's stages are launched with an `input` and an `output`");
  static_assert(
      requires(const typename Problem::parameters& p) {
        { Problem::relative_error(p) } -> std::convertible_to<double>;
      },
      "a problem bounds the error of an output: relative_error(p)");
  static_assert(
      requires(std::int64_t tile, bool thorough, std::uint64_t seed) {
        { Problem::cases(tile, thorough, seed) } -> std::same_as<cases_of<typename Problem::parameters>>;
      },
      "a problem lists what its stages are tried on: cases(tile, thorough, seed)");

 public:
  using parameters = typename Problem::parameters;

  explicit typed_array_problem(const array_hooks<Problem>& hooks)
      : hooks_(hooks), right_{.idea = "the right results", .prepare = hooks.prepare_right} {}

  [[nodiscard]] array_track_facts facts() const override {
    array_track_facts facts{.description = {.title = Problem::title,
                                            .unit = Problem::unit,
                                            .inputs = std::ssize(Problem::layout(parameters{}).inputs),
                                            .draws = hooks_.draw != nullptr,
                                            .parameters = describe_parameters(Problem::describe()),
                                            .texts = hooks_.texts()},
                            .ceiling = Problem::ceiling,
                            .is_spread = lab::is_spread<Problem>,
                            .has_exact_cases = hooks_.exact_cases != nullptr,
                            .goes_back = has_hook<Problem, reference_hook::first_needed>,
                            .parameters_of_files = hooks_.parameters_of_files,
                            .stand_in_for = hooks_.stand_in_for};
    for (const auto& spec : Problem::describe()) {
      if (spec.apply_default) facts.apply_defaults[spec.name] = *spec.apply_default;
    }
    return facts;
  }
  [[nodiscard]] std::string why_invalid(const parameter_values& values) const override {
    return hooks_.why_invalid(typed(values));
  }
  [[nodiscard]] parameter_values fitted(const parameter_values& values,
                                        const parameter_values& before) const override {
    return named(hooks_.fitted(typed(values), typed(before)));
  }
  [[nodiscard]] std::vector<parameter_values> alternatives(const parameter_values& values,
                                                           pattern input) const override {
    std::vector<parameter_values> all;
    for (const parameters& p : hooks_.alternatives(typed(values), input)) all.push_back(named(p));
    return all;
  }
  [[nodiscard]] std::vector<trial> cases(std::int64_t tile, bool thorough,
                                         std::uint64_t seed) const override {
    std::vector<trial> all;
    for (const auto& one : Problem::cases(tile, thorough, seed)) {
      trial added{.parameters = named(one.parameters), .input = one.input, .brief = one.brief};
      if (one.index) added.seed = static_cast<std::uint64_t>(*one.index);
      all.push_back(std::move(added));
    }
    return all;
  }
  [[nodiscard]] std::vector<exact_case> exact_cases(const parameter_values& values, std::int64_t tile,
                                                    std::uint64_t seed) const override {
    return hooks_.exact_cases(typed(values), tile, seed);
  }
  void draw(const std::string& path, const parameter_values& values, const std::vector<float>& image,
            bool is_difference) const override {
    (is_difference ? hooks_.draw_difference : hooks_.draw)(path, typed(values), image);
  }

  [[nodiscard]] std::int64_t tile_of(const stage_entry& entry) const override {
    return typed_stage<Problem>(entry).tile;
  }
  [[nodiscard]] std::unique_ptr<bound_problem> bind(
      const stage_entry* entry, const parameter_values& values,
      const std::map<std::string, std::string>& texts) const override {
    return bind_typed(entry == nullptr ? nullptr : &typed_stage<Problem>(*entry), values, texts);
  }
  [[nodiscard]] std::unique_ptr<bound_problem> bind_right(
      const parameter_values& values, const std::map<std::string, std::string>& texts) const override {
    return bind_typed(&right_, values, texts);
  }

 private:
  static parameters typed(const parameter_values& values) {
    return typed_parameters(Problem::describe(), values);
  }
  static parameter_values named(const parameters& p) { return values_of(Problem::describe(), p); }

  std::unique_ptr<bound_problem> bind_typed(const stage<Problem>* its_stage, const parameter_values& values,
                                            const std::map<std::string, std::string>& texts) const {
    parameters p = typed(values);
    if (!texts.empty()) hooks_.take(texts, p);
    return with_elements<Problem>(p,
                                  [&]<class Output, class... Inputs>(
                                      element_types<Output, Inputs...>) -> std::unique_ptr<bound_problem> {
                                    return std::make_unique<typed_problem<Problem, Output, Inputs...>>(
                                        hooks_, its_stage, p);
                                  });
  }

  const array_hooks<Problem> hooks_;
  const stage<Problem> right_;
};

}  // namespace lab
