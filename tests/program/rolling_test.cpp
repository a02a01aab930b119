// `lab apply` of the window functions: the smallest files, options that make no sense, and expressions.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "common/npy.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

struct applied : lab::test::outcome {
  std::vector<double> results;
};

// One directory with input files, and `lab apply` of them to a file that is not there yet.
class rolling_files {
 public:
  std::string file(const char* name, const std::vector<double>& values) const {
    const std::string path = (directory_ / name).string();
    lab::write_npy<double>(path, values, std::vector<std::int64_t>{std::ssize(values)});
    return path;
  }
  [[nodiscard]] std::string path(const char* name) const { return (directory_ / name).string(); }

  [[nodiscard]] applied apply(const std::string& stage, const std::string& input,
                              const std::vector<std::string>& more) const {
    const std::string output = path("results.npy");
    std::filesystem::remove(output);
    std::vector<std::string> arguments{LAB_PROGRAM, "apply", "rolling/" + stage, "--input", input,
                                       "--output",  output,  "--device",         LAB_DEVICE};
    arguments.insert(arguments.end(), more.begin(), more.end());
    applied found{lab::test::call_program(arguments, std::chrono::seconds(1200)), {}};
    if (std::filesystem::exists(output)) found.results = lab::read_npy<double>(output).values;
    return found;
  }

  // Exit code 2, words, and no output.
  void require_refused(const std::string& stage, const std::string& input,
                       const std::vector<std::string>& more, const std::vector<std::string>& words) const {
    lab::test::expect(apply(stage, input, more), 2, words);
    CHECK_FALSE(std::filesystem::exists(path("results.npy")));
  }

 private:
  lab::test::temporary_directory directory_;
};

using doubles = std::vector<double>;
const doubles five_squares{9, 16, 25, 36, 49};

}  // namespace

TEST_CASE("lab apply of the window functions: the smallest files") {
  lab::skip_without_device();
  const rolling_files files;
  const std::string squares = files.file("squares.npy", five_squares);
  for (const char* stage : {"02_monoid", "03_ring"}) {
    INFO(stage);
    CHECK(
        files.apply(stage, squares, {"--operation", "sum", "--window", "3", "--min-periods", "1"}).results ==
        doubles{9, 25, 50, 77, 110});
    CHECK(files.apply(stage, squares, {"--operation", "sum", "--window", "3"}).results ==
          doubles{HUGE_VAL, HUGE_VAL, 50, 77, 110});
  }
  const applied single = files.apply("03_ring", squares, {"--operation", "var", "--window", "1"});
  CHECK(single.code == 0);
  REQUIRE(single.results.size() == 5);
  for (const double result : single.results) CHECK(std::isnan(result));
  // A window longer than the file is never complete, whatever its length.
  for (const char* window : {"6", "1000000000000"}) {
    const applied found = files.apply("03_ring", squares, {"--operation", "mean", "--window", window});
    INFO(found.text);
    CHECK(found.code == 0);
    CHECK(found.results == doubles(5, HUGE_VAL));
  }
  const applied empty =
      files.apply("03_ring", files.file("empty.npy", {}), {"--operation", "mean", "--window", "3"});
  CHECK(empty.code == 0);
  CHECK(std::filesystem::exists(files.path("results.npy")));
}

TEST_CASE("lab apply of the window functions refuses what makes no sense, in words") {
  lab::skip_without_device();
  const rolling_files files;
  const std::string squares = files.file("squares.npy", five_squares);
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& words) {
    files.require_refused("03_ring", squares, more, words);
  };
  refused({"--operation", "sum", "--window", "0"}, {"window"});
  refused({"--operation", "sum", "--window", "-3"}, {"window"});
  refused({"--operation", "sum", "--window", "2.5"}, {"window"});
  refused({"--operation", "sum", "--window", "3", "--min-periods", "-1"}, {"min-periods"});
  refused({"--operation", "sum", "--window", "3", "--min-periods", "5"},
          {"min-periods 5 is more than the window, 3"});
  refused({"--operation", "median", "--window", "3"},
          {"median", "mean", "sum", "min", "max", "var", "std", "first_minus_last", "user"});
  refused({"--operation", "sum", "--window", "3", "--missing", "drop"}, {"drop", "propagate", "skip"});
  refused({"--operation", "sum"}, {"--window is needed"});
  refused({"--window", "3"}, {"--operation is needed"});
}

TEST_CASE("lab apply takes an expression of a window as its operation") {
  lab::skip_without_device();
  const rolling_files files;
  const auto output_of = [&](const std::string& input, const char* window, const char* expression) {
    CAPTURE(expression);
    const applied found =
        files.apply("01_window_functions", input, {"--window", window, "--operation", expression});
    INFO(found.text);
    CHECK(found.code == 0);
    return found.results;
  };
  const std::string squares = files.file("squares.npy", five_squares);
  const double inf = HUGE_VAL;
  CHECK(output_of(squares, "3", "x[0] - x[count - 1]") == doubles{inf, inf, -16, -20, -24});
  CHECK(output_of(squares, "3", "(sum(x) + 2 * -x[-1]) / 4") == doubles{inf, inf, 0, 1.25, 3});
  CHECK(output_of(squares, "2", "max(x) * 2 - min(x) + min(x[0], 10)") == doubles{inf, 32, 44, 57, 72});
  CHECK(output_of(squares, "1", "x[0] >= 25 ? sqrt(x[0]) : abs(x[0] - 12) < 4 ? 1 : floor(x[0] / 5)") ==
        doubles{1, 3, 5, 6, 7});
  // Across the borders of tiles, and compared with what a thread for each output makes.
  doubles many;
  for (int i = 0; i < 10'000; ++i) many.push_back(i % 97 - i % 13 * 0.25);
  const doubles found = output_of(files.file("many.npy", many), "300", "x[-1] - sum(x) / count");
  REQUIRE(found.size() == many.size());
  double sum = many[6'001];
  for (std::size_t k = 6'002; k < 6'301; ++k) sum += many[k];
  CHECK(found[6'300] == many[6'300] - sum / 300);

  const auto refused = [&](const char* expression, const char* why) {
    files.require_refused("01_window_functions", squares, {"--window", "3", "--operation", expression},
                          {why});
  };
  refused("x[0] +", "nor an expression; at character 7: a number or a name is missing");
  refused("x[0", "at character 4: ']' is missing");
  refused("exp(x[0])", "at character 1: 'exp' is unknown");
  refused("x[0] x[1]", "at character 6: an operator is missing");
  refused("((((((((((((((((((((((((((((((((((((((((((((((((((((x[0]", "the expression is too long");
  refused("1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+(1+1))))))))))))", "the expression is too long");
  files.require_refused("02_monoid", squares, {"--window", "3", "--operation", "x[0]"},
                        {"an expression is of a whole window", "rolling/01_window_functions takes one"});
}

TEST_CASE("lab apply says what a stage of the window functions cannot run") {
  lab::skip_without_device();
  const rolling_files files;
  const std::string squares = files.file("squares.npy", five_squares);
  const std::string stage = "01_window_functions";
  files.require_refused(stage, squares, {"--operation", "sum", "--window", "3", "--missing", "skip"},
                        {"rolling/01_window_functions: it does not count the values that are not NaN"});
  files.require_refused(stage, squares, {"--operation", "sum", "--window", "3", "--min-periods", "1"},
                        {"its windows are whole: it knows no min-periods"});
  const std::string gaps = files.file("gaps.npy", {1, NAN, 3, 4});
  files.require_refused(stage, gaps, {"--operation", "sum", "--window", "2"}, {"leaks_nonfinite"});
  // A maximum keeps no running sum, so nothing leaks.
  const applied found = files.apply(stage, gaps, {"--operation", "max", "--window", "2"});
  INFO(found.text);
  CHECK(found.code == 0);
  REQUIRE(found.results.size() == 4);
  CHECK(std::isnan(found.results[2]));
  CHECK(found.results[3] == 4);

  const std::string many = files.file("many.npy", doubles(40'000, 1));
  files.require_refused("03_ring", many, {"--operation", "sum", "--window", "30000"},
                        {"window 30000 does not fit: the ring in shared memory holds at most "});
  files.require_refused("03_ring", many, {"--operation", "std", "--window", "9000"},
                        {"window 9000 does not fit"});
}
