// The program with real workers, on the device of this build.
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/csv.hpp"
#include "common/npy.hpp"
#include "common/random.hpp"
#include "harness/protocol.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::contains;
using lab::test::expect;
using lab::test::outcome;
using lab::test::strings;
using lab::test::temporary_directory;
using nlohmann::json;

outcome lab_program(const strings& arguments, const strings& environment = {}) {
  return lab::test::call_program(environment, LAB_PROGRAM, arguments, {"--device", LAB_DEVICE},
                                 std::chrono::seconds(1200));
}

void skip_without_device_or_csv() {
  lab::skip_without_device();
  if (lab::csv_is_supported()) return;
  std::puts("this test is skipped: built without libcsv");
  std::exit(4);
}

// Where a redaction is applied to a CSV file.
struct redaction_files {
  const temporary_directory directory;
  const std::string input = (directory / "people.csv").string();
  const std::string output = (directory / "out.csv").string();
};

// A bounded random walk, as prices are.
std::vector<double> prices(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  double price = 100;
  for (std::int64_t i = 0; i < n; ++i) {
    price *= 1 + 0.02 * (lab::uniform(lab::random_bits(11, static_cast<std::uint64_t>(i))) - 0.5);
    values[static_cast<std::size_t>(i)] = std::round(price * 100) / 100;
  }
  return values;
}

}  // namespace

TEST_CASE("a run rejects each wrong kernel in the right words, and the stages beside it go on") {
  lab::skip_without_device();
  struct rejection {
    const char* stage;
    const char* kind;
    const char* words;
  };
  const std::vector<rejection> rejections {
    {"crashes", "crash", ""},
#if LAB_EMULATED
        {"hangs", "crash", "waits in a loop for ever"},
#else
        {"hangs", "hang", "no answer within 20 s"},
#endif
        {"writes_beyond", "out_of_bounds", "a write to the output"},
        {"writes_before", "out_of_bounds", "a write to the output"},
        {"leaves_tail", "unwritten", "was never written"},
        {"changes_input", "input_changed", "changed its input"},
#if LAB_EMULATED
        {"returns_previous", "launch", "cudaMalloc in a launch"},
#else
        {"returns_previous", "wrong", "expected"},
#endif
        {"wrong_at_one_index", "wrong", "wrong at index 12345"}, {"off_by_one", "wrong", "wrong at index 37"},
        {"all_nan", "wrong", "found nan"}, {"float_sum", "wrong", "expected"},
        {"launch_refused", "launch", "the launch was refused"},
        {"right_when_watched", "wrong", "while timed"},
        {"unsteady", "wrong", "the same bits as the run before"}, {
      "undeclared_drift", "wrong", "spikes of 1e16"
    }
  };
  const strings rights{"01_naive", "02_shared_memory", "03_thread_tiled"};
  const temporary_directory directory;
  const auto file = directory / "results.json";
  strings arguments{"run"};
  for (const std::string& right : rights) arguments.push_back("moving_average/" + right);
  for (const rejection& one : rejections) arguments.push_back(std::string("moving_average/") + one.stage);
  if (!LAB_EMULATED) arguments.push_back("moving_average/default_stream");
  arguments.insert(arguments.end(), {"--n", "30000", "--window", "30", "--timeout", "20", "--time-limit",
                                     "0.05", "--json", file.string()});
  const outcome found = lab_program(arguments, {LAB_WORKER_VARIABLE "=" LAB_WRONG_WORKER});
  INFO(found.text);
  CHECK(found.code == 1);
  const json results = json::parse(lab::test::get(file));
  CHECK(results.at("complete") == true);
  const auto row = [&](const std::string& name) -> const json& {
    for (const json& one : results.at("groups").at(0).at("rows")) {
      if (one.at("stage") == "moving_average/" + name) return one;
    }
    FAIL("no row " + name);
    return results;
  };
  for (const rejection& expected : rejections) {
    INFO(expected.stage);
    const json& one = row(expected.stage);
    CHECK(one.at("status") == "failed");
    CHECK(one.at("timing").is_null());
    CHECK(one.at("failure").at("kind") == expected.kind);
    CHECK(contains(one.at("message").get<std::string>(), expected.words));
  }
#if !LAB_EMULATED
  CHECK(row("default_stream").at("status") == "failed");
#endif
  for (const std::string& right : rights) {
    INFO(right);
    CHECK(row(right).at("status") == "ok");
    CHECK(row(right).at("timing").at("median") > 0);
  }
}

#if LAB_EMULATED
TEST_CASE("a barrier that part of a block misses is named with its file, line, block and threads") {
  const outcome found =
      lab_program({"verify", "moving_average/partial_barrier"}, {LAB_WORKER_VARIABLE "=" LAB_WRONG_WORKER});
  INFO(found.text);
  CHECK(found.code == 1);
  for (const char* words : {"tests/wrong/moving_average.cu:", "block (3,0,0)", "17 of 128 threads",
                            "thread (17,0,0) has left the kernel"}) {
    CHECK(contains(found.text, words));
  }
}
#endif

TEST_CASE("a stage runs on the user's own data") {
  lab::skip_without_device();
  const temporary_directory directory;
  const std::vector<double> values = prices(10'000);
  const auto input = (directory / "prices.npy").string();
  const auto output = (directory / "averages.npy").string();
  lab::write_npy<double>(input, values, std::vector<std::int64_t>{10'000});
  const outcome found = lab_program(
      {"apply", "moving_average/01_naive", "--input", input, "--window", "30", "--output", output});
  INFO(found.text);
  REQUIRE(found.code == 0);
  const auto averages = lab::read_npy<double>(output);
  REQUIRE(averages.shape == std::vector<std::int64_t>{10'000});
  for (std::size_t i = 0; i < 29; ++i) CHECK(averages.values[i] == HUGE_VAL);
  double largest_error = 0;
  for (std::size_t i = 29; i < values.size(); ++i) {
    double sum = 0;
    for (std::size_t j = i - 29; j <= i; ++j) sum += values[j];
    largest_error = std::max(largest_error, std::abs(averages.values[i] / (sum / 30) - 1));
  }
  CHECK(largest_error < 1e-13);
}

TEST_CASE("expected failures fail as expected, are never timed, and do not fail the run") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto file = directory / "results.json";
  const auto images = directory / "images";
  const outcome found = lab_program({"run", "shared_tile", "--width", "100", "--height", "70", "--time-limit",
                                     "0.05", "--json", file.string(), "--images", images.string()});
  INFO(found.text);
  expect(found, 0, {"fails as expected: "});
  const json results = json::parse(lab::test::get(file));
  const json& rows = results.at("groups").at(0).at("rows");
  CHECK(rows.at(0).at("status") == "ok");
  CHECK(rows.at(1).at("status") == "expected_failure");
  CHECK(rows.at(2).at("status") == (LAB_EMULATED ? "expected_failure" : "skipped"));
  for (const std::size_t i : {1, 2}) {
    CHECK(rows.at(i).at("timing").is_null());
    CHECK(rows.at(i).at("over_first").is_null());
  }
  // Its observed kernel shows the race itself, where there is one.
  const auto kind = rows.at(1).at("failure").at("kind").get<std::string>();
  CHECK((kind == "race" || kind == "wrong" || kind == "unwritten"));
  for (const char* name : {"01_synchronized", "02_missing_barrier"}) {
    const auto base = (images / ("shared_tile_" + std::string(name) + "_100x70")).string();
    CHECK(lab::test::get(base + ".png").substr(1, 3) == "PNG");
    CHECK(lab::test::get(base + "_difference.png").substr(1, 3) == "PNG");
  }
  CHECK(lab_program({"run", "elementwise", "--images", images.string()}).code == 2);
}

TEST_CASE("a track without input is applied without one, and writes images or numbers") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto numbers = (directory / "image.npy").string();
  const auto image = (directory / "image.png").string();
  const strings size{"--width", "17", "--height", "5"};
  const auto apply = [&](const std::string& stage, const std::string& output, strings more) {
    strings arguments{"apply", "shared_tile/" + stage, "--output", output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lab_program(arguments);
  };
  const outcome right = apply("01_synchronized", numbers + "," + image, size);
  INFO(right.text);
  REQUIRE(right.code == 0);
  const auto values = lab::read_npy<float>(numbers);
  CHECK(values.shape == std::vector<std::int64_t>{5, 17});
  const auto wave = [](int k) { return 1 + std::sin(2 * 3.14159265358979 * (k - 64) / 256); };
  CHECK(std::abs(values.values[0] - wave(15) * wave(15)) < 1e-5);
  CHECK(std::abs(values.values[4 * 17 + 16] - wave(31) * wave(11)) < 1e-5);
  CHECK(lab::test::get(image).substr(1, 3) == "PNG");

  // Large enough that a device, too, cannot be right by chance.
  const outcome wrong = apply("02_missing_barrier", image, {"--width", "1024", "--height", "1024"});
  INFO(wrong.text);
  expect(wrong, 0, {"is an expected failure, and its result is wrong"});

  CHECK(contains(apply("01_synchronized", image, {"--input", numbers}).text, "takes no input"));
  CHECK(contains(apply("01_synchronized", (directory / "image.jpg").string(), {}).text, ".npy or .png"));
  CHECK(
      contains(apply("01_synchronized", (directory / "none.png").string(), {"--width", "0"}).text, "pixels"));
  CHECK(apply("01_synchronized", (directory / "none.npy").string(), {"--width", "0"}).code == 0);
  const outcome no_input = lab_program({"apply", "elementwise/01_naive", "--output", numbers});
  CHECK(no_input.code == 2);
  CHECK(contains(no_input.text, "--input is required"));
}

TEST_CASE("files and parameters that make no sense are refused, and nothing is written") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto good = (directory / "good.npy").string();
  const auto empty = (directory / "empty.npy").string();
  const auto single = (directory / "single.npy").string();
  const auto square = (directory / "square.npy").string();
  const auto truncated = (directory / "truncated.npy").string();
  const auto output = (directory / "out.npy").string();
  lab::write_npy<double>(good, std::vector<double>{1, 2, 3}, std::vector<std::int64_t>{3});
  lab::write_npy<double>(empty, std::vector<double>{}, std::vector<std::int64_t>{0});
  lab::write_npy<float>(single, std::vector<float>{1, 2, 3}, std::vector<std::int64_t>{3});
  lab::write_npy<double>(square, std::vector<double>{1, 2, 3, 4}, std::vector<std::int64_t>{2, 2});
  const std::string bytes = lab::test::get(good);
  lab::test::put(truncated, std::string_view(bytes).substr(0, bytes.size() - 4));

  const auto apply = [&](const strings& more) {
    strings arguments{"apply", "moving_average/01_naive"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return lab_program(arguments);
  };
  const auto missing_window =
      lab_program({"apply", "moving_average/02_shared_memory", "--input", good, "--output", output});
  INFO(missing_window.text);
  expect(missing_window, 2, {"--window is needed"});
  const auto with_nan = (directory / "nan.npy").string();
  lab::write_npy<double>(with_nan, std::vector<double>{1, NAN, 3, 4}, std::vector<std::int64_t>{4});
  const auto leaking = lab_program(
      {"apply", "moving_average/03_thread_tiled", "--input", with_nan, "--output", output, "--window", "2"});
  INFO(leaking.text);
  expect(leaking, 2, {"leaks_nonfinite"});
  CHECK_FALSE(std::filesystem::exists(output));
  struct refusal {
    strings arguments;
    const char* words;
  };
  for (const refusal& one :
       {refusal{{"--input", good, "--output", output, "--window", "0"}, "window"},
        refusal{{"--input", good, "--output", output, "--window", "-3"}, "window"},
        refusal{{"--input", good, "--output", output, "--window", "99999999999999999999"}, "window"},
        refusal{{"--input", good, "--output", output, "--window", "2", "--n", "3"}, "n"},
        refusal{{"--input", single, "--output", output, "--window", "2"}, "<f8"},
        refusal{{"--input", square, "--output", output, "--window", "2"},
                "an array of 1 dimension is needed"},
        refusal{{"--input", truncated, "--output", output, "--window", "2"}, "truncated.npy"},
        refusal{{"--input", (directory / "missing.npy").string(), "--output", output, "--window", "2"},
                "missing.npy"},
        refusal{{"--input", good, "--output", directory.path().string(), "--window", "2"}, "directory"},
        refusal{{"--input", good, "--output", "/nonexistent/out.npy", "--window", "2"}, "/nonexistent"}}) {
    const outcome found = apply(one.arguments);
    INFO(found.text);
    expect(found, 2, {one.words});
    CHECK_FALSE(std::filesystem::exists(output));
  }
  // What overflows float64 overflows, and a NaN with any payload is a NaN: neither is the stage's fault.
  const auto extreme = (directory / "extreme.npy").string();
  double all_bits;
  std::memset(&all_bits, 0xff, sizeof all_bits);
  lab::write_npy<double>(extreme, std::vector<double>{1.7e308, 1.7e308, all_bits, 1},
                         std::vector<std::int64_t>{4});
  CHECK(apply({"--input", extreme, "--output", output, "--window", "2"}).code == 0);
  CHECK(lab_program({"apply", "elementwise/01_naive", "--input", extreme, "--output", output}).code == 0);
  // Empty in, empty out; a window longer than the input leaves every average incomplete.
  CHECK(apply({"--input", empty, "--output", output, "--window", "3"}).code == 0);
  CHECK(lab::read_npy<double>(output).shape == std::vector<std::int64_t>{0});
  CHECK(apply({"--input", good, "--output", output, "--window", "4"}).code == 0);
  CHECK(lab::read_npy<double>(output).values == std::vector<double>(3, HUGE_VAL));
}

TEST_CASE("a limit on the size of files leaves the old output, and nothing beside it") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto input = (directory / "prices.npy").string();
  const auto output = (directory / "averages.npy").string();
  lab::write_npy<double>(input, prices(10'000), std::vector<std::int64_t>{10'000});
  lab::test::put(output, "old");
  const auto result = lab::front::run_command(
      {"/bin/sh", "-c",
       "ulimit -f 8; exec \"$0\" apply moving_average/01_naive --input \"$1\" --window 30 --output \"$2\" "
       "--device " LAB_DEVICE,
       LAB_PROGRAM, input, output},
      std::chrono::seconds(1200));
  INFO(result.output);
  CHECK_FALSE(result.ending.by_signal);
  CHECK(result.ending.code == 2);
  CHECK(contains(result.output, output + ": cannot "));
  CHECK(contains(result.output, "File too large"));
  CHECK(lab::test::get(output) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);
}

TEST_CASE("a header that is not UTF-8 is answered in words, and the worker goes on") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto input = (directory / "odd.npy").string();
  lab::test::put(input, std::string("\x93NUMPY\x01\x00\x10\x00", 10) + "{'d\xff\xfe': '<f8'}\n ");
  const outcome found = lab_program(
      {"apply", "elementwise/01_naive", "--input", input, "--output", (directory / "o.npy").string()});
  expect(found, 2, {"odd.npy: its .npy header is damaged: an unexpected key 'd\\xff\\xfe'"});
}

TEST_CASE("results are not written over an image, nor images over results") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto images = (directory / "images").string();
  const auto run = [&](const std::string& json) {
    return lab_program(
        {"run", "shared_tile/01*", "--width", "100", "--height", "70", "--images", images, "--json", json});
  };
  CHECK(contains(run(images).text, "--json and --images are one file"));
  CHECK_FALSE(std::filesystem::exists(images));
  std::filesystem::create_directory(images);
  for (const char* name :
       {"/shared_tile_01_synchronized_100x70.png", "/./shared_tile_01_synchronized_100x70_difference.png"}) {
    const outcome found = run(images + name);
    INFO(found.text);
    expect(found, 2, {"--json and --images are one file"});
    CHECK(std::filesystem::is_empty(images));
  }
}

TEST_CASE("a redaction is applied to a CSV file, with any allocator and offsets") {
  skip_without_device_or_csv();
  const redaction_files files;
  lab::test::put(files.input,
                 "\xef\xbb\xbfid,visibility,name\r\n"
                 "1,public,Ada Lovelace\r\n"
                 "2,private,Bob Secret\r\n"
                 "3,public,Madonna\r\n"
                 "\r\n"
                 "4,public,\"李 \"\"Ann\"\", Junior\"\r\n"
                 "5,Public,\"two\nlines\"\r\n"
                 "6,\"public\",");
  const std::string expected = "redacted\nL Ada\nX X\n\" Madonna\"\n\"\"\" 李\"\nX X\n\" \"\n";
  for (const char* allocator : {"plain", "pool", "none"}) {
    for (const char* offsets : {"32", "64"}) {
      const outcome found = lab_program({"apply", "redact/04_two_pass", "--input", files.input, "--output",
                                         files.output, "--allocator", allocator, "--offsets", offsets});
      INFO(found.text);
      CHECK(found.code == 0);
      CHECK(lab::test::get(files.output) == expected);
    }
  }
  // A header alone is a table of no rows.
  lab::test::put(files.input, "name,visibility\n");
  CHECK(lab_program({"apply", "redact/04_two_pass", "--input", files.input, "--output", files.output}).code ==
        0);
  CHECK(lab::test::get(files.output) == "redacted\n");
}

TEST_CASE("a row without a name or a visibility, or with other white space, keeps its place") {
  skip_without_device_or_csv();
  const redaction_files files;
  lab::test::put(files.input,
                 "name,visibility\n"
                 ",\n"
                 "Ada Lovelace,\n"
                 ",public\n"
                 "\"\",\"\"\n"
                 "null,public\n"
                 "NaN,NaN\n"
                 "Ann\tLee,public\n"
                 "Ann  Lee,public\n"
                 "Ann\xc2\xa0Lee,public\n"
                 "Eve Secret,not public\n"
                 "Eve Secret,publicly\n"
                 "Eve Secret,\tpublic\n"
                 "Bob Marley,public\n");
  for (const char* stage : {"redact/01_api_chain", "redact/06_single_pass"}) {
    const outcome found = lab_program({"apply", stage, "--input", files.input, "--output", files.output});
    INFO(found.text);
    CHECK(found.code == 0);
    CHECK(lab::test::get(files.output) ==
          "redacted\nX X\nX X\n\" \"\nX X\n\" null\"\nX X\n\" Ann\tLee\"\n\"  Ann\"\n\" "
          "Ann\xc2\xa0Lee\"\nX X\nX X\nX X\nM Bob\n");
  }
}

TEST_CASE("CSV files that make no sense are refused, and nothing is written") {
  skip_without_device_or_csv();
  const redaction_files files;
  struct refusal {
    const char* content;
    const char* words;
    strings more = {};
  };
  for (const refusal& one :
       {refusal{"", "it is empty"}, refusal{"name\nAda\n", "no column is called visibility; there is name"},
        refusal{"name,visibility\nAda,public\nB\xc3(,public\n",
                "row 2 (line 3): name is not UTF-8 from its byte 2 on"},
        refusal{"name,visibility\nAda,public\n", "rows is what the input file says", {"--rows", "1"}},
        refusal{"name,visibility\nAda,public\n",
                "content is what the input file says",
                {"--content", "people"}}}) {
    lab::test::put(files.input, one.content);
    strings arguments{"apply", "redact/04_two_pass", "--input", files.input, "--output", files.output};
    arguments.insert(arguments.end(), one.more.begin(), one.more.end());
    const outcome found = lab_program(arguments);
    INFO(found.text);
    expect(found, 2, {one.words});
    CHECK_FALSE(std::filesystem::exists(files.output));
  }
  // What was there stays there.
  lab::test::put(files.input, "");
  lab::test::put(files.output, "precious");
  CHECK(lab_program({"apply", "redact/04_two_pass", "--input", files.input, "--output", files.output}).code ==
        2);
  CHECK(lab::test::get(files.output) == "precious");
}

TEST_CASE("a timeline counts the launches and the waits of a chain of operations, and of two passes") {
  if (std::string(LAB_DEVICE) != "emulator") return;  // CUPTI need not be there
  const temporary_directory directory;
  const std::string path = (directory / "trace.json").string();
  const outcome found =
      lab_program({"trace", "redact/04_two_pass", "--baseline", "redact/01_api_chain", "--rows", "1000",
                   "--output", (directory / "two_pass").string(), "--json", path},
                  {"--chdir=" + directory.path().string()});
  INFO(found.text);
  REQUIRE(found.code == 0);
  const json stages = json::parse(lab::test::get(path)).at("stages");
  // On a GPU, where CUB scans in two kernels, 22 and 4.
  CHECK(stages[0].at("launches") == 17);
  CHECK(stages[0].at("waits") == 5);
  CHECK(stages[0].at("allocations") == 12);
  CHECK(stages[1].at("launches") == 3);
  CHECK(stages[1].at("waits") == 1);
}

TEST_CASE("sizes beyond memory are skipped with both figures, and the rest goes on") {
  lab::skip_without_device();
  const temporary_directory directory;
  const auto file = directory / "results.json";
  const outcome found = lab_program(
      {"run", "elementwise", "--n", "1000,100000000000000", "--time-limit", "0.05", "--json", file.string()});
  INFO(found.text);
  expect(found, 0, {"needs", "free"});
  const json results = json::parse(lab::test::get(file));
  int ok = 0;
  int skipped = 0;
  for (const json& group : results.at("groups")) {
    for (const json& row : group.at("rows")) {
      ok += row.at("status") == "ok";
      skipped += row.at("status") == "skipped";
    }
  }
  CHECK(ok > 0);
  CHECK(ok == skipped);
}
