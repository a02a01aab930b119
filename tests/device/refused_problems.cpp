// A problem with each kind of hook, which the compiler refuses with each of these macros
// (refused_problems.cmake): MISSPELT_*, UNNAMED, UNNAMED_COLUMN, and EMPTY, a problem without anything.
#include "harness/device/array_track.hpp"
#include "harness/device/column_track.hpp"
#include "tests/tracks/upper_case/problem.hpp"

namespace {

struct arrays {
  const double* values;
};

struct problem {
  using elements = lab::element_types<double, double>;
  using input = arrays;
  using output = double*;
  struct parameters {
    std::int64_t n = 0;
  };
  static constexpr const char* title = "";
  static constexpr const char* unit = "";
  static constexpr auto ceiling = lab::array_ceiling::copy;
  static std::vector<lab::parameter<parameters>> describe() { return {}; }
  static lab::array_layout layout(const parameters& /*p*/) { return {}; }
  static input bind_input(const parameters& /*p*/, const double* values) { return {values}; }
  static output bind_output(const parameters& /*p*/, double* values) { return values; }
  static lab::expectation reference(const auto& value, const parameters& /*p*/, std::int64_t i) {
    return {.value = value(i)};
  }
  static double relative_error(const parameters& /*p*/) { return 0; }
  static std::vector<lab::verification_case<parameters>> cases(std::int64_t, bool, std::uint64_t) {
    return {};
  }

#ifndef UNNAMED
  static constexpr auto reference_hooks = lab::reference_hook::exact_outputs;
#endif
#ifdef MISSPELT_TEMPLATE
  static void exact_output(
#else
  static void exact_outputs(
#endif
      const auto& value, const parameters& /*p*/, std::int64_t first, std::int64_t /*count*/,
      const auto& visit) {
    visit(first, value(first));
  }
};

std::string why_invalid(const problem::parameters& /*p*/) {
  return "";
}
#ifdef MISSPELT_FIELD
const lab::array_track_registration<problem> registered{"", {.why_invalud = why_invalid}};
#else
const lab::array_track_registration<problem> registered{"", {.why_invalid = why_invalid}};
#endif

struct columns : lab::upper_case::problem {
  using row_texts = std::array<std::string_view, 1>;
#ifndef UNNAMED_COLUMN
  static constexpr auto column_hooks = lab::column_hook::hidden_text;
#endif
#ifdef MISSPELT_COLUMN
  static std::string_view hiden_text(const row_texts& row) {
    return row[0];
  }
#else
  static std::string_view hidden_text(const row_texts& row) {
    return row[0];
  }
#endif
};
const lab::column_track_registration<columns> registered_columns{""};

}  // namespace

#ifdef EMPTY
struct empty {};
template class lab::typed_array_problem<empty>;
#endif
