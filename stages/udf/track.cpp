// What the stages of user-defined functions are tried on.
#include <algorithm>
#include <array>
#include <span>

#include "common/file.hpp"
#include "common/utf8.hpp"
#include "harness/device/array_track.hpp"
#include "stages/udf/own_plan.hpp"
#include "stages/udf/problem.hpp"

namespace lab::udf {

std::vector<parameter<problem::parameters>> problem::describe() {
  std::vector<choice> functions;
  for (std::int64_t k = 0; k < std::ssize(function_names); ++k) functions.push_back({k, function_names[k]});
  return {parameter_n<parameters>(300'000),
          {.name = "type",
           .member = &parameters::type,
           .meaning = "of a value",
           .bench = {"int64"},
           .choices = {{0, "int64"}, {1, "float64"}}},
          {.name = "result",
           .member = &parameters::result,
           .meaning = "the type of a result, to which the function's value is converted",
           .bench = {"int64"},
           .choices = {{0, "bool"}, {1, "int64"}, {2, "float64"}},
           .apply_default = "int64"},
          {.name = "window",
           .member = &parameters::window,
           .meaning = "values that a function of windows has; 0: a function of elements",
           .bench = {0},
           .apply_default = 0},
          {.name = "min-periods",
           .member = &parameters::min_periods,
           .meaning = "the fewest values of a complete window; 0: the window",
           .bench = {0},
           .apply_default = 0},
          {.name = "function",
           .member = &parameters::function,
           .meaning = "of a value, or of a window",
           .bench = {"square"},
           .choices = functions,
           .apply_default = "square"}};
}

namespace {

std::string why_invalid(const problem::parameters& p) {
  const std::string name = function_names[p.function];
  if (problem::is_window(p) && p.window == 0) return name + " is a function of windows: give --window";
  if (!problem::is_window(p) && p.window > 0) return name + " is a function of elements, and has no window";
  if (p.window > 0 && p.min_periods > p.window) {
    return "min-periods " + std::to_string(p.min_periods) + " is more than the window, " +
           std::to_string(p.window);
  }
  if (p.window == 0 && p.min_periods > 0) return "min-periods is of windows, and there is no --window";
  return "";
}

}  // namespace

own_function own_function_from(const std::map<std::string, std::string>& texts) {
  const auto text_of = [&](const char* name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  };
  const std::string file = text_of("function-file");
  own_function own{.text = text_of("function"), .origin = "function", .name = text_of("name")};
  if (file.empty()) {
    if (own.text.empty())
      throw usage_error("--name names a function of a --function-file, and there is none");
    if (!own.name.empty())
      throw usage_error("--name names a function of a --function-file, not of --function");
  } else {
    if (!own.text.empty()) throw usage_error("--function and --function-file are two functions: give one");
    const std::size_t slash = file.rfind('/');
    own.origin = slash == std::string::npos ? file : file.substr(slash + 1);
    const bool is_ptx = file.ends_with(".ptx");
    if (!is_ptx && !file.ends_with(".cu") && !file.ends_with(".cuh"))
      throw usage_error(file + ": the name must end in .cu or .ptx");
    own.written_in = is_ptx ? language::ptx : language::cuda;
    const file_descriptor opened = open_to_read(file);
    own.text.resize(most_function_bytes + 1);
    own.text.resize(read_bytes(file, opened, std::as_writable_bytes(std::span(own.text))));
    if (own.text.size() > most_function_bytes)
      throw usage_error(file + ": is larger than 1 MiB, which is the most that is read");
    if (own.text.find('\0') != std::string::npos) throw usage_error(file + ": holds a NUL, and is no text");
    if (first_invalid_utf8(own.text)) throw usage_error(file + ": is not UTF-8");
  }
  if (own.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw usage_error((file.empty() ? "--" : "") + own.origin + " is empty: a function is needed");
  return own;
}

namespace {

std::vector<text_description> texts() {
  return {{"function",
           "an expression of x (of windows: of x[0] .. x[count - 1]), such as 'in(x, 9, 44) ? 1 : 2'"},
          {"function-file", "CUDA C++ (.cu) or PTX (.ptx) that holds the function", true},
          {"name", "of the function in the file (default: the only one)"}};
}

// The stage is proved with a function of the track's own.
void stand_in_for(const std::map<std::string, std::string>& texts, parameter_values& values) {
  if (texts.empty()) return;
  if (values.contains("function"))
    throw usage_error("--function is given as a word of the track and as a function of one's own");
  const auto window = values.find("window");
  const bool of_windows = window != values.end() && window->second != parameter_value(0);
  values["function"] = of_windows ? "window_sum" : "square";
}

void take(const std::map<std::string, std::string>& texts, problem::parameters& p) {
  if (texts.empty()) return;
  p.own = std::make_shared<const own_function>(own_function_from(texts));
  check_own(p);
}

// Every function with every type and result, in turn.
class case_list {
 public:
  void add(std::int64_t n, pattern kind, bool brief = false) {
    if (n < 0) return;
    const std::int64_t which = turn_++;
    problem::parameters p{.n = n, .type = which / 6 % 2, .result = which / 12 % 3, .function = which % 6};
    // Beyond 2^63 a conversion is not defined.
    const bool is_huge = p.type == 1 && (kind == pattern::spikes || kind == pattern::nonfinite);
    if (is_huge && p.result == 1) p.result = 2;
    if (problem::is_window(p)) {
      constexpr std::int64_t windows[] = {1, 3, 32, 57};
      p.window = windows[which / 6 % 4];
      p.min_periods = which / 6 % 3 == 0 ? 1 : 0;
    }
    cases.push_back({p, kind, brief});
  }

  // One launch of exactly this, where a right answer is defined.
  void add_with(const problem::parameters& p, pattern kind) {
    const bool is_huge = kind == pattern::spikes || kind == pattern::nonfinite || kind == pattern::wide;
    const bool is_extreme = kind == pattern::extremes;
    if (p.type == 1 && p.result == 1 && (is_huge || is_extreme || kind == pattern::gaps)) return;
    // Beyond 2^63 a product or a sum of whole numbers is not defined.
    const bool is_square = static_cast<function>(p.function) == function::square;
    if (p.type == 0 && is_square && (kind == pattern::wide || is_extreme)) return;
    if (p.type == 0 && problem::is_window(p) && is_extreme) return;
    cases.push_back({p, kind, true});
  }

  cases_of<problem::parameters> cases;

 private:
  std::int64_t turn_ = 0;
};

}  // namespace

cases_of<problem::parameters> problem::cases(std::int64_t tile, bool thorough, std::uint64_t seed) {
  case_list list;
  // Every function with every type and every result.
  for (int k = 0; k < 36; ++k)
    list.add(2 * tile + 17 + k, k % 2 == 0 ? pattern::integers : pattern::ramp, k >= 8);
  // Sums with a sign, -1 among them, whose bits are all ones.
  list.cases.push_back({{.n = 3 * tile + 5, .result = 1, .window = 3, .min_periods = 1, .function = 5},
                        pattern::small_integers});
  // Whole numbers of more digits than a double has.
  list.cases.push_back({{.n = 20'011, .result = 1}, pattern::spikes});
  if (!thorough) return std::move(list.cases);
  for (const std::int64_t n :
       std::array<std::int64_t, 10>{0, 1, 2, 3, 31, 32, 33, tile - 1, tile, tile + 1}) {
    for (int k = 0; k < 6; ++k) list.add(n, pattern::ramp, true);
  }
  for (const pattern kind :
       {pattern::random, pattern::signed_random, pattern::negative, pattern::spikes, pattern::nonfinite,
        pattern::zeros, pattern::mixed_zeros, pattern::constant, pattern::ties, pattern::small_integers}) {
    for (int k = 0; k < 6; ++k) list.add(2 * tile + 311, kind, true);
  }
  // Every conversion of every kind of value, which one function alone shows, and every function of every
  // kind.
  for (const pattern kind : {pattern::random, pattern::signed_random, pattern::spikes, pattern::nonfinite,
                             pattern::mixed_zeros, pattern::ramp, pattern::small_integers, pattern::wide,
                             pattern::gaps, pattern::denormal, pattern::extremes}) {
    for (std::int64_t which = 0; which < 36; ++which) {
      problem::parameters p{
          .n = tile + 37, .type = which / 6 % 2, .result = which / 12, .function = which % 6};
      if (problem::is_window(p)) {
        constexpr std::int64_t windows[] = {2, 61, 300};
        p.window = windows[which / 12];
        p.min_periods = std::int64_t{1} + (which / 6 % 2) * p.window / 2;
      }
      list.add_with(p, kind);
    }
  }
  // The numbers that functions compare with, all about them, and the fractions between.
  for (std::int64_t which = 0; which < 36; ++which) {
    const problem::parameters p{
        .n = 4'411, .type = which / 6 % 2, .result = which / 12, .function = which % 6};
    if (!problem::is_window(p)) list.add_with(p, pattern::quarters);
  }
  // Windows of any length, of which any part is enough.
  for (std::uint64_t k = 0; k < 12; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x1096, k);
    const auto window = static_cast<std::int64_t>(2 + bits % 5'000);
    const auto min_periods = static_cast<std::int64_t>(1 + (bits >> 32) % static_cast<std::uint64_t>(window));
    list.add_with({.n = window + 1'037,
                   .type = static_cast<std::int64_t>(k % 2),
                   .result = static_cast<std::int64_t>(k / 2 % 3),
                   .window = window,
                   .min_periods = min_periods,
                   .function = 5},
                  pattern::small_integers);
  }
  list.add_with({.n = (1 << 17) + 1'034, .window = (1 << 17) + 1, .function = 5}, pattern::small_integers);
  for (const std::int64_t window : {4, 33, 57, 64, 127, 1000}) {
    for (const std::int64_t min_periods : {std::int64_t{0}, std::int64_t{1}, window / 2, window - 1})
      list.add_with({.n = tile + window + 37, .window = window, .min_periods = min_periods, .function = 5},
                    pattern::small_integers);
  }
  for (const std::int64_t n : residue_sizes(tile, seed)) list.add(n, pattern::integers, true);
  list.cases.push_back({{.n = 1'000'003, .result = 1}, pattern::integers});
  if constexpr (!emulated)
    list.cases.push_back({{.n = (std::int64_t{1} << 31) + 12'345, .result = 0}, pattern::ramp, true});
  return std::move(list.cases);
}

namespace {

// What rounds when it is updated does not come one after another.
bool streams(const problem::parameters& p) {
  return !problem::is_window(p) || p.type == 0;
}

const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid,
     .parameters_of_files = n_and_type_of_file,
     .exact_cases = exact_with<pattern::integers, pattern::small_integers>,
     .streams = streams,
     .texts = texts,
     .stand_in_for = stand_in_for,
     .take = take,
     .prepare_right = right_plan}};

}  // namespace

}  // namespace lab::udf
