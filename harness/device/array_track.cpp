#include "harness/device/array_track.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/process_group.hpp"
#include "harness/device/array_workload.hpp"
#include "harness/device/group_workload.hpp"
#include "harness/device/larger_trials.hpp"
#include "harness/device/verify/verifier.hpp"

namespace lab {
namespace {

// Calls visit with a zero of each type that files may have, and else with none.
template <class Visit>
void with_file_type(element_type type, const Visit& visit) {
  with_element(type, [&](auto zero) {
    if constexpr (!npy_type<decltype(zero)>.empty()) {
      visit(zero);
    } else {
      throw usage_error("no file holds elements of this type");
    }
  });
}

host_arrays read_files(const array_layout& layout, const std::vector<std::string>& paths) {
  host_arrays arrays;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    with_file_type(layout.inputs[k].type, [&](auto zero) {
      using T = decltype(zero);
      const npy_reader file(paths[k], npy_type<T>, sizeof(T));
      file.read(arrays.emplace_back(layout.inputs[k].type, file.header().elements).bytes);
    });
  }
  return arrays;
}

void write_file(const std::string& path, const host_values& values, const std::vector<std::int64_t>& shape) {
  with_file_type(values.type, [&](auto zero) {
    write_npy(path, npy_type<decltype(zero)>, sizeof zero, values.bytes, shape);
  });
}

void require_shapes(const array_layout& layout, const std::vector<npy_header>& headers,
                    const std::vector<std::string>& paths) {
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string all;
    for (const std::int64_t extent : shape) all += (all.empty() ? "" : " x ") + std::to_string(extent);
    return all;
  };
  for (std::size_t k = 0; k < headers.size(); ++k) {
    const array_member& input = layout.inputs.at(k);
    if (headers[k].shape == input.shape) continue;
    throw usage_error(paths[k] + ": " + input.name + " must be " + text(input.shape) + ", not " +
                      text(headers[k].shape));
  }
}

// A stage that leaks would spoil outputs that the user's NaN or Inf has nothing to do with.
void refuse_leaks(const stage_entry& entry, const host_arrays& arrays) {
  if (!entry.traits.leaks_nonfinite) return;
  for (const host_values& values : arrays) {
    with_element(values.type, [&](auto zero) {
      const auto* const array = values.as<decltype(zero)>();
      for (std::int64_t j = 0; j < values.size(); ++j) {
        if (std::isfinite(static_cast<double>(array[j]))) continue;
        throw unsupported_error(entry.path + ": value " + std::to_string(j) +
                                " is NaN or Inf, and this stage lets such values leak into other outputs; "
                                "take a stage without the trait leaks_nonfinite (lab list)");
      }
    });
  }
}

class array_track final : public track, trial_cost {
 public:
  explicit array_track(std::unique_ptr<any_array_problem> problem) : problem_(std::move(problem)) {}

  [[nodiscard]] track_description describe() const override { return facts().description; }

  [[nodiscard]] parameter_values complete(const parameter_values& given) const override {
    parameter_values complete = complete_parameters(facts().description.parameters, given);
    if (const std::string why = problem_->why_invalid(complete); !why.empty()) throw usage_error(why);
    return complete;
  }

  [[nodiscard]] std::vector<trial> trials(const stage_entry& entry, bool thorough,
                                          std::uint64_t seed) const override {
    const std::int64_t tile = tile_of(entry);
    std::vector<trial> list = valid_cases(tile, thorough, seed);
    for (trial& one : list) one.parameters = runnable(entry, one.parameters, one.input);
    if (thorough) {
      add_changed(list, valid_cases(tile, false, seed).size(), seed);
    } else {
      add_whole_tiles(list, entry);
    }
    return list;
  }

  [[nodiscard]] std::vector<trial> exact_trials(const stage_entry& entry, const parameter_values& values,
                                                std::uint64_t seed) const override {
    std::vector<trial> list;
    if (facts().has_exact_cases) {
      for (const exact_case& one : problem_->exact_cases(values, tile_of(entry), seed)) {
        trial added{.parameters = values, .input = one.input};
        if (one.index) added.seed = static_cast<std::uint64_t>(*one.index);
        list.push_back(std::move(added));
      }
    }
    const array_layout layout = layout_of(values);
    const bool are_real = is_real(layout.output.type) &&
                          std::all_of(layout.inputs.begin(), layout.inputs.end(),
                                      [](const array_member& input) { return is_real(input.type); });
    if (are_real && !layout.inputs.empty()) list.push_back({.parameters = values, .input = pattern::gaps});
    return list;
  }

  [[nodiscard]] std::vector<trial> larger_trials(const stage_entry& entry,
                                                 std::uint64_t seed) const override {
    if (facts().is_spread) return {};
    std::vector<trial> list = larger().in_between(trials(entry, true, seed), seed);
    for (trial& one : list) one.parameters = runnable(entry, one.parameters, one.input);
    return list;
  }

  [[nodiscard]] std::vector<trial> other_inputs(const stage_entry& entry, const parameter_values& values,
                                                std::uint64_t seed) const override {
    if (facts().is_spread) return {};
    std::vector<trial> list = larger().at(values, trials(entry, true, seed), seed);
    const array_layout layout = layout_of(values);
    if (layout.inputs.size() != 1 || layout.inputs[0].size() == 0) return list;
    const auto n = static_cast<std::uint64_t>(layout.inputs[0].size());
    // One value that needs many digits, at an index that nobody knows.
    if (facts().has_exact_cases) {
      list.push_back(
          {.parameters = values, .input = pattern::lone_value, .seed = random_bits(seed ^ 0x10e, n) % n});
    }
    if (n < 2) return list;
    const std::uint64_t bits = random_bits(seed ^ 0x91a27, 0);
    for (const std::uint64_t planted : {n - 1 - bits % std::min<std::uint64_t>(n, 32), bits % n})
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
    return facts().is_spread ? measured : larger().nearly(measured);
  }

  [[nodiscard]] parameter_values beyond(const parameter_values& measured, double most) const override {
    return facts().is_spread ? measured : larger().beyond(measured, most);
  }

  [[nodiscard]] double declared_bound(const stage_entry& entry,
                                      const parameter_values& values) const override {
    const auto bound = problem_->bind(&entry, values);
    const problem_facts of = bound->facts();
    const double error = relative_bound(*bound, of);
    return error > of.relative_error && !drifts(of) ? error : 0.0;
  }

  [[nodiscard]] bool has_running_sums(const parameter_values& values) const override {
    return problem_->bind(nullptr, values)->facts().drift_error > 0;
  }

  [[nodiscard]] ceiling_need ceiling(const parameter_values& values, std::uint64_t /*seed*/) const override {
    const problem_facts of = problem_->bind(nullptr, values)->facts();
    const array_layout& layout = of.layout;
    return {.kind = array_ceiling_names[static_cast<int>(facts().ceiling)],
            .bytes = layout.fewest_bytes,
            .written_bytes = layout.written_bytes,
            .gpus = static_cast<int>(of.gpus),
            .outputs = layout.output.size(),
            .operations = layout.operations,
            .unit = layout.unit};
  }

  [[nodiscard]] std::string why_not_runnable(const stage_entry& entry) const override {
    if (!facts().is_spread) return "";
    // One GPU alone shows nothing of what the stages differ in.
    const std::int64_t gpus = std::max(2, processes::count());
    if (std::string why = why_no_group(gpus); !why.empty()) return why;
    parameter_values values = default_parameters(describe()).front();
    values["gpus"] = gpus;
    return unsupported_by(*problem_->bind(&entry, complete(values)));
  }

  [[nodiscard]] std::string unsupported(const stage_entry& entry,
                                        const parameter_values& values) const override {
    const auto bound = problem_->bind(&entry, values);
    if (std::string why = unsupported_by(*bound); !why.empty()) return why;
    if (std::string why = absurd_workspace(bound->requested_workspace()); !why.empty()) return why;
    return too_much_scratch(array_bytes(*bound), needed_bytes(*bound), scratch_bytes(*bound));
  }

  [[nodiscard]] std::unique_ptr<workload> make(const stage_entry& entry, const parameter_values& values,
                                               cudaStream_t stream) const override {
    return make_workload(problem_->bind(&entry, values), stream);
  }

  [[nodiscard]] check_result apply(const stage_entry& entry, const application& to,
                                   cudaStream_t stream) const override;

 private:
  // ---- what a trial costs

  [[nodiscard]] double of(const parameter_values& p) const override {
    if (!problem_->why_invalid(p).empty()) return -1;
    const array_layout layout = layout_of(p);
    constexpr double of_input = 16;  // to make it, move it and look at it
    const auto outputs = static_cast<double>(layout.output.size());
    const double given = values_of(layout);
    // A sum of several inputs, or a row, may be the work of a block, however few its values are.
    constexpr double of_block = emulated ? 4096 : 0;
    double blocks = std::max(2 * outputs <= given ? outputs : 0, rows_of(layout.output));
    for (const array_member& input : layout.inputs) blocks = std::max(blocks, rows_of(input));
    return terms_of(p, layout) * outputs + of_input * given + of_block * blocks;
  }
  // Where each output is worked out from the one before, its terms are not added up anew; only where they
  // decay may a stage do that.
  [[nodiscard]] double terms_of(const parameter_values& p, const array_layout& layout) const {
    constexpr std::int64_t of_run = 16;
    const bool in_order = !facts().goes_back && problem_->bind(nullptr, p)->facts().has_reference_run;
    return static_cast<double>(in_order ? std::min(of_run, layout.terms) : layout.terms);
  }
  [[nodiscard]] double values(const parameter_values& p) const override { return values_of(layout_of(p)); }
  [[nodiscard]] double reach(const parameter_values& p) const override {
    const array_layout layout = layout_of(p);
    return values_of(layout) * static_cast<double>(layout.output.size());
  }
  [[nodiscard]] parameter_values fitted(const parameter_values& p,
                                        const parameter_values& before) const override {
    return problem_->fitted(p, before);
  }
  [[nodiscard]] bool goes_back() const override { return facts().goes_back; }
  static double rows_of(const array_member& array) {
    if (array.shape.size() < 2) return 0;
    const std::int64_t rows = array.size() / std::max<std::int64_t>(1, array.shape.back());
    return static_cast<double>(rows);
  }
  // All that is read, or written where nothing is.
  static double values_of(const array_layout& layout) {
    double all = layout.inputs.empty() ? static_cast<double>(layout.output.size()) : 0;
    for (const array_member& input : layout.inputs) all += static_cast<double>(input.size());
    return all;
  }

  // Asked for when they are needed: tracks are registered before main.
  [[nodiscard]] const array_track_facts& facts() const {
    if (!facts_) facts_ = problem_->facts();
    return *facts_;
  }
  [[nodiscard]] lab::larger_trials larger() const { return {facts().description.parameters, *this}; }
  [[nodiscard]] array_layout layout_of(const parameter_values& values) const {
    return problem_->bind(nullptr, values)->layout();
  }

  // A size that a track makes of the tile may be below the least where the tile is a few outputs.
  [[nodiscard]] std::vector<trial> valid_cases(std::int64_t tile, bool thorough, std::uint64_t seed) const {
    std::vector<trial> list = problem_->cases(tile, thorough, seed);
    std::erase_if(list, [&](const trial& one) {
      try {
        (void)complete(one.parameters);
        return false;
      } catch (const usage_error&) {
        return true;
      }
    });
    if (list.empty())
      throw std::logic_error("no trial of the track is valid for a tile of " + std::to_string(tile));
    return list;
  }

  // Inputs that differ in one value, one after the other, at some sizes of the `quick` trials with which the
  // list begins.
  void add_changed(std::vector<trial>& list, std::size_t quick, std::uint64_t seed) const {
    constexpr std::uint64_t launches = 4;
    if (facts().description.inputs == 0 || quick == 0) return;
    for (const std::size_t which : std::set<std::size_t>{0, quick / 2, quick - 1}) {
      const std::int64_t n = layout_of(list[which].parameters).inputs[0].size();
      if (n < 2) continue;
      const std::uint64_t base = random_bits(seed ^ 0x0c4a, which) >> 32;
      const auto changed = [&](std::uint64_t k) {
        const std::uint64_t bits = random_bits(seed ^ 0x0c4b, launches * which + k);
        return seed_of_change(base, static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n)));
      };
      trial added{.parameters = list[which].parameters, .input = pattern::one_changed, .seed = changed(0)};
      for (std::uint64_t k = 1; k < launches; ++k) added.then.push_back(changed(k));
      list.push_back(std::move(added));
    }
  }

  // The first of the quick trials once more, of whole tiles alone: a kernel that takes its last tile for a
  // ragged one is wrong there.
  void add_whole_tiles(std::vector<trial>& list, const stage_entry& entry) const {
    if (facts().is_spread || list.empty() || !list.front().parameters.contains("n")) return;
    const std::int64_t tile = tile_of(entry);
    trial added{.parameters = list.front().parameters, .input = list.front().input};
    const std::int64_t n = added.parameters["n"].whole();
    if (n < tile) return;
    added.parameters["n"] = n - n % tile;
    added.parameters = runnable(entry, added.parameters, added.input);
    list.push_back(std::move(added));
  }

  // Why the stage itself says that it cannot run its parameters; empty when it can.
  [[nodiscard]] std::string unsupported_by(const bound_problem& bound) const {
    if (facts().is_spread) {
      if (std::string why = why_no_group(bound.facts().gpus); !why.empty()) return why;
    }
    return bound.unsupported();
  }

  // What a stage that cannot run an operation is tried on in its place.
  [[nodiscard]] parameter_values runnable(const stage_entry& entry, const parameter_values& values,
                                          pattern input) const {
    const auto runs = [&](const parameter_values& p) {
      return problem_->bind(&entry, p)->unsupported().empty();
    };
    if (runs(values)) return values;
    for (const parameter_values& other : problem_->alternatives(values, input)) {
      if (runs(other)) return other;
    }
    return values;
  }

  [[nodiscard]] std::int64_t tile_of(const stage_entry& entry) const {
    return checked_tile(problem_->tile_of(entry), "outputs");
  }

  [[nodiscard]] std::unique_ptr<array_workload> make_workload(std::unique_ptr<bound_problem> bound,
                                                              cudaStream_t stream) const {
    require_memory(needed_bytes(*bound));
    if (facts().is_spread) return std::make_unique<group_workload>(std::move(bound), stream);
    return std::make_unique<array_workload>(std::move(bound), stream);
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

  [[nodiscard]] parameter_values parameters_of(const application& to,
                                               const std::vector<npy_header>& headers) const;
  [[nodiscard]] check_result apply_own(const stage_entry& entry, const parameter_values& values,
                                       const application& to, const host_arrays& arrays, host_values& results,
                                       cudaStream_t stream) const;
  [[nodiscard]] check_result apply_nothing(const stage_entry& entry, const application& to,
                                           cudaStream_t stream) const;
  void write_output(const std::string& path, const parameter_values& values, const host_values& results,
                    bool is_difference) const;

  const std::unique_ptr<any_array_problem> problem_;
  mutable std::optional<array_track_facts> facts_;
};

// ---- `apply`

// Those that were given, what the files say, and defaults that do not depend on the device: others would give
// other results on another one.
parameter_values array_track::parameters_of(const application& to,
                                            const std::vector<npy_header>& headers) const {
  parameter_values values = to.parameters;
  for (const auto& [name, value] : facts().parameters_of_files(headers, to.inputs)) {
    if (to.parameters.contains(name))
      throw usage_error(name + " is what the input file says, not an option here");
    try {
      values[name] = complete_parameters(facts().description.parameters, {{name, value}}).at(name);
    } catch (const usage_error& unfit) {
      throw usage_error(to.inputs[0] + ": " + unfit.what());
    }
  }
  if (!facts().description.texts.empty()) facts().stand_in_for(to.texts, values);
  const parameter_values& defaults = facts().apply_defaults;
  for (const parameter_description& one : facts().description.parameters) {
    const auto known = defaults.find(one.name);
    if (known != defaults.end()) values.try_emplace(one.name, known->second);
    if (!values.contains(one.name)) throw usage_error("--" + one.name + " is needed");
  }
  return complete(values);
}

check_result array_track::apply(const stage_entry& entry, const application& to, cudaStream_t stream) const {
  if (facts().description.texts.empty()) refuse_texts(to.texts);
  if (facts().description.inputs == 0) return apply_nothing(entry, to, stream);
  require_files(to, facts().description.inputs);
  std::vector<npy_header> headers;
  for (const std::string& path : to.inputs) headers.push_back(read_npy_header(path));
  const parameter_values values = parameters_of(to, headers);
  auto bound = problem_->bind(&entry, values, to.texts);
  const array_layout layout = bound->layout();
  require_shapes(layout, headers, to.inputs);
  require_supported(entry, unsupported(entry, values));
  require_supported(entry, unsupported_by(*bound));
  const host_arrays arrays = read_files(layout, to.inputs);
  if (has_running_sums(values)) refuse_leaks(entry, arrays);
  if (check_result result = right_at(entry, values, stream); result.failure) return result;
  host_values results;
  if (!to.texts.empty()) {
    check_result result = apply_own(entry, values, to, arrays, results, stream);
    if (!result.failure) write_file(to.outputs[0], results, layout.output.shape);
    return result;
  }
  const auto work = make_workload(std::move(bound), stream);
  work->prepare_from(arrays);
  work->launch();
  check_result result = work->check_against_reference(results);
  if (!result.failure && result.useless && !to.allow_inexact) {
    const failure_record& first = *result.useless;
    throw unsupported_error(entry.path + ": output " + std::to_string(*first.index) + " is " + first.found +
                            " where " + first.expected + " is right: " + result.remark +
                            "; take a stage without that trait (lab list), or --allow-inexact");
  }
  if (!result.failure || is_expected(entry, *result.failure))
    write_file(to.outputs[0], results, layout.output.shape);
  return result;
}

// What the stage makes of a person's own function is compared, all of it, with what a plain launch of the
// same function makes that was prepared another way: no reference knows the function.
check_result array_track::apply_own(const stage_entry& entry, const parameter_values& values,
                                    const application& to, const host_arrays& arrays, host_values& results,
                                    cudaStream_t stream) const {
  {
    const auto work = make_workload(problem_->bind(&entry, values, to.texts), stream);
    work->prepare_from(arrays);
    work->launch();
    if (check_result result = work->take(results); result.failure) return result;
  }
  array_workload other(problem_->bind_right(values, to.texts), stream);
  other.prepare_from(arrays);
  other.launch();
  host_values right;
  // What fails in the plain launch fails by the function itself.
  if (check_result result = other.take(right); result.failure) return result;
  check_result result = compare_with(results, right);
  if (result.failure) problem_->bind(&entry, values, to.texts)->add_owner(*result.failure);
  return result;
}

// `apply` of a problem without input: writes the output, and to a second file its difference from the right
// one. A name that ends in .npy gets the numbers, one in .png an image where the problem draws.
check_result array_track::apply_nothing(const stage_entry& entry, const application& to,
                                        cudaStream_t stream) const {
  if (!to.inputs.empty()) throw usage_error("this track takes no input file");
  if (to.outputs.empty() || to.outputs.size() > 2) {
    throw usage_error(
        "this track writes its output and, to a second file, the difference from the right one, not " +
        std::to_string(to.outputs.size()) + " files");
  }
  const bool draws = facts().description.draws;
  for (const std::string& path : to.outputs) {
    if (!path.ends_with(".npy") && !(draws && path.ends_with(".png")))
      throw usage_error(path + ": the name must end in .npy" + (draws ? " or .png" : ""));
    require_writable(path);
  }
  const parameter_values values = complete(to.parameters);
  require_supported(entry, unsupported(entry, values));
  const auto bound = problem_->bind(&entry, values);
  const auto work = make_workload(problem_->bind(&entry, values), stream);
  const host_arrays no_input;
  work->prepare_from(no_input);
  work->launch();
  host_values results;
  check_result result = work->check_against_reference(results);
  if (result.failure && !is_expected(entry, *result.failure)) return result;
  write_output(to.outputs[0], values, results, false);
  if (to.outputs.size() == 1) return result;
  with_element(results.type, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < results.size(); ++i) {
      expectation right;
      bound->references({}, &i, 1, &right);
      T& value = results.as<T>()[i];
      value = static_cast<T>(static_cast<long double>(value) - right.value);
    }
  });
  write_output(to.outputs[1], values, results, true);
  return result;
}

// As numbers, or as the track draws it, by the name's ending.
void array_track::write_output(const std::string& path, const parameter_values& values,
                               const host_values& results, bool is_difference) const {
  if (path.ends_with(".npy")) return write_file(path, results, layout_of(values).output.shape);
  with_element(results.type, [&](auto zero) {
    const auto* const array = results.as<decltype(zero)>();
    problem_->draw(path, values, std::vector<float>(array, array + results.size()), is_difference);
  });
}

}  // namespace

parameter_values n_of_file(const std::vector<npy_header>& headers, const std::vector<std::string>& paths) {
  return {{"n", extents<1>(headers.at(0), paths.at(0))[0]}};
}

parameter_values n_and_type_of_file(const std::vector<npy_header>& headers,
                                    const std::vector<std::string>& paths) {
  parameter_values values = n_of_file(headers, paths);
  values["type"] = headers[0].holds<double>()         ? "float64"
                   : headers[0].holds<std::int64_t>() ? "int64"
                                                      : "float32";
  return values;
}

parameter_values rows_and_columns_of_file(const std::vector<npy_header>& headers,
                                          const std::vector<std::string>& paths) {
  const auto [rows, columns] = extents<2>(headers.at(0), paths.at(0));
  return {{"rows", rows}, {"columns", columns}};
}

void register_array_track(std::string name, std::unique_ptr<any_array_problem> problem) {
  register_track(std::move(name), std::make_unique<array_track>(std::move(problem)));
}

}  // namespace lab
