// A track of string columns, made from its problem's description (column_problem.hpp).
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/column_problem.hpp"
#include "harness/device/column_table.hpp"
#include "harness/device/column_workload.hpp"
#include "harness/device/larger_trials.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/track.hpp"

namespace lab {

// All rows are compared byte for byte, whatever the size: there are no exact trials. What the columns hold is
// a parameter: there are no other inputs.
template <column_problem Problem>
class column_track final : public track, trial_cost {
 public:
  using parameters = typename Problem::parameters;

  [[nodiscard]] track_description describe() const override {
    return {.title = Problem::title, .unit = Problem::unit, .parameters = descriptions()};
  }

  [[nodiscard]] parameter_values complete(const parameter_values& given) const override {
    return complete_parameters(descriptions(), given);
  }

  [[nodiscard]] std::vector<trial> trials(const stage_entry& entry, bool thorough,
                                          std::uint64_t seed) const override {
    const std::int64_t tile = checked_tile(typed(entry).tile, "rows");
    std::vector<trial> list;
    for (const column_case<parameters>& one : Problem::cases(tile, thorough, seed))
      list.push_back({.parameters = values_of(Problem::describe(), one.parameters), .brief = one.brief});
    return list;
  }

  [[nodiscard]] std::vector<trial> larger_trials(const stage_entry& entry,
                                                 std::uint64_t seed) const override {
    std::vector<trial> list =
        lab::larger_trials(descriptions(), *this).in_between(trials(entry, true, seed), seed);
    // Columns of as many rows and bytes, one after the other: what is kept of those before is no answer.
    if (!list.empty()) {
      trial successive{.parameters = list.back().parameters};
      for (std::uint64_t k = 1; k <= 3; ++k) successive.then.push_back(random_bits(seed ^ 0x5cce55, k));
      list.push_back(std::move(successive));
    }
    return list;
  }

  // The inputs are read and the output is written, offsets and characters.
  [[nodiscard]] ceiling_need ceiling(const parameter_values& values, std::uint64_t seed) const override {
    const parameters p = typed(values);
    const auto data = generated_table<Problem>(p, seed);
    std::int64_t bytes = offset_bytes(p) + data->expected.bytes();
    for (std::size_t k = 0; k < column_count<Problem>; ++k) {
      if (is_read(p, k)) bytes += offset_bytes(p) + data->inputs[k].bytes();
    }
    return {.kind = "copy", .bytes = bytes, .outputs = data->expected.rows()};
  }

  [[nodiscard]] std::string unsupported(const stage_entry& entry,
                                        const parameter_values& values) const override {
    const parameters p = typed(values);
    const input_bytes<Problem> bytes = estimated_bytes<Problem>(p);
    if (const std::int64_t most = longest_column<Problem>(p, bytes); p.offsets < offset_bits_for(most)) {
      return "a column of up to " + std::to_string(most) +
             " bytes of characters is more than offsets of 32 bits reach (2147483647): take --offsets 64";
    }
    if (std::string why = unsupported_by(typed(entry), p); !why.empty()) return why;
    if (std::string why = absurd_workspace(requested_workspace(typed(entry), p)); !why.empty()) return why;
    const std::size_t columns = needed_bytes<Problem>(p, bytes);
    const std::size_t scratch = asked_workspace(typed(entry), p);
    return too_much_scratch(columns, columns + scratch, scratch);
  }

  [[nodiscard]] std::unique_ptr<workload> make(const stage_entry& entry, const parameter_values& values,
                                               cudaStream_t stream) const override {
    const parameters p = typed(values);
    return make_typed(typed(entry), p, estimated_bytes<Problem>(p), stream);
  }

  [[nodiscard]] check_result apply(const stage_entry& entry, const application& to,
                                   cudaStream_t stream) const override {
    const auto& [given, inputs, outputs, texts, inexact] = to;
    refuse_texts(texts);
    require_files(to, 1);
    for (const char* of_file : {"rows", "content"}) {
      if (given.contains(of_file))
        throw usage_error(std::string(of_file) + " is what the input file says, not an option here");
    }
    input_columns<Problem> columns;
    std::vector<column> read = read_columns(inputs[0], Problem::input_columns);
    std::move(read.begin(), read.end(), columns.begin());
    const input_bytes<Problem> bytes = bytes_of<Problem>(columns);

    parameter_values values = given;
    values["rows"] = columns[0].rows();
    if constexpr (allocates_its_output<Problem>) values.try_emplace("allocator", "pool");
    const std::int64_t longest = longest_column<Problem>(typed(complete(values)), bytes);
    values.try_emplace("offsets", offset_bits_for(longest));
    const parameters p = typed(complete(values));
    if (p.offsets < offset_bits_for(longest)) {
      throw unsupported_error(entry.path + ": " + inputs[0] +
                              " has more characters than offsets of 32 bits reach: take --offsets 64");
    }
    require_supported(entry, unsupported_by(typed(entry), p));
    const auto work = make_typed(typed(entry), p, bytes, stream);
    work->prepare_from(make_table<Problem>(p, std::move(columns)));
    work->launch();
    check_result result = work->check();
    if (!result.failure) write_column(outputs[0], Problem::output_column, work->download());
    return result;
  }

 private:
  // What a trial costs: its bytes, and its rows.
  [[nodiscard]] double of(const parameter_values& p) const override {
    constexpr double of_row = 100;
    constexpr double of_byte = 10;  // which the host makes, and reads what must become of it
    double all = of_row * values(p);
    for (const std::int64_t bytes : estimated_bytes<Problem>(typed(p)))
      all += of_byte * static_cast<double>(bytes);
    return all;
  }
  [[nodiscard]] double values(const parameter_values& p) const override { return p.at("rows").real(); }

  static std::vector<parameter_description> descriptions() {
    return describe_parameters(Problem::describe());
  }
  static const stage<Problem>& typed(const stage_entry& entry) { return typed_stage<Problem>(entry); }

  static parameters typed(const parameter_values& values) {
    return typed_parameters(Problem::describe(), values);
  }

  static bool is_read([[maybe_unused]] const parameters& p, [[maybe_unused]] std::size_t k) {
    if constexpr (has_column_hook<Problem, column_hook::is_read>) return Problem::is_read(p, k);
    return true;
  }

  // Throws memory_error before anything is allocated.
  static std::unique_ptr<column_workload<Problem>> make_typed(const stage<Problem>& its_stage,
                                                              const parameters& p,
                                                              const input_bytes<Problem>& bytes,
                                                              cudaStream_t stream) {
    require_memory(needed_bytes<Problem>(p, bytes) + asked_workspace(its_stage, p));
    return std::make_unique<column_workload<Problem>>(its_stage, p, stream);
  }
};

// Registers the track of `Problem` under its directory's name, which the build passes as LAB_PATH.
template <class Problem>
struct column_track_registration {
  static_assert(names_its_columns<Problem>,
                "the problem names its title, unit, input_columns and output_column");
  static_assert(describes_its_parameters<Problem>,
                "the problem's parameters derive from column_parameters, and describe() lists them");
  static_assert(binds_its_input<Problem>,
                "the problem's bind_input() makes its `input` of columns on the device");
  static_assert(generates_its_input<Problem>, "the problem's generate() makes its input columns from a seed");
  static_assert(defines_its_output<Problem>,
                "the problem says what becomes of a row (append_output) and how long all may get "
                "(max_output_bytes)");
  static_assert(lists_its_cases<Problem>, "the problem's cases() lists what its stages are tried on");

  static_assert(
      names_its_column_hooks<Problem>(),
      "column_hooks names is_read, estimate and hidden_text where the problem has them, and no other");

  explicit column_track_registration(const char* path) {
    if constexpr (column_problem<Problem>) register_track(path, std::make_unique<column_track<Problem>>());
  }
};

}  // namespace lab
