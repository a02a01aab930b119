// `lab draw` with real kernels, and what it refuses.
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/draw/png_picture.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::get;
using lab::test::outcome;
using lab::test::strings;
using lab::test::temporary_directory;
using nlohmann::json;

// In `directory`, so that what nobody names is written there.
outcome lab_in(const temporary_directory& directory, const strings& arguments) {
  return lab::test::call_program({"-C", directory.path().string()}, LAB_PROGRAM, arguments, {},
                                 std::chrono::seconds(600));
}

json drawn(const temporary_directory& directory, strings arguments) {
  arguments.insert(arguments.begin(), "draw");
  arguments.insert(arguments.end(), {"--output", "a.svg", "--json", "a.json"});
  const outcome found = lab_in(directory, arguments);
  INFO(found.text);
  REQUIRE(found.code == 0);
  return json::parse(get(directory / "a.json"));
}

// Steps between the lanes' addresses, where all are the same; 0 otherwise.
std::int64_t stride_of(const json& request) {
  const auto offsets = request.at("offsets").get<std::vector<std::int64_t>>();
  for (std::size_t k = 2; k < offsets.size(); ++k) {
    if (offsets[k] - offsets[k - 1] != offsets[1] - offsets[0]) return 0;
  }
  return offsets.at(1) - offsets.at(0);
}

}  // namespace

TEST_CASE("strides of 48 and 49 doubles are drawn as they are observed") {
  const temporary_directory directory;
  const strings sizes{"--memory", "shared", "--n", "20000", "--window", "300"};
  strings arguments{"moving_average/03_thread_tiled"};
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  const json dense = drawn(directory, arguments).at("request").at(0);
  CHECK(stride_of(dense) == 48 * 8);
  CHECK(dense.at("units") == 32);
  CHECK(dense.at("least") == 2);
  const std::string picture = get(directory / "a.svg");
  CHECK(picture.find("30 bank conflicts") != std::string::npos);
  arguments.front() = "moving_average/04_padded";
  const json padded = drawn(directory, arguments).at("request").at(0);
  CHECK(padded.at("units") == 2);
  CHECK(get(directory / "a.svg").find("no bank conflict") != std::string::npos);
  // Nothing of the process, of its addresses say, gets into a picture.
  arguments.front() = "moving_average/03_thread_tiled";
  drawn(directory, arguments);
  CHECK(get(directory / "a.svg") == picture);
}

TEST_CASE("a picture is a PNG where its name says so, or the program that it needs is named") {
  const temporary_directory directory;
  const strings call{"draw", "elementwise/01_naive", "--n", "5000", "--output", "a.png"};
  const outcome without = lab::test::call_program({"-C", directory.path().string(), "PATH=/nowhere"},
                                                  LAB_PROGRAM, call, {}, std::chrono::seconds(600));
  INFO(without.text);
  CHECK(without.code == 2);
  CHECK(without.text.find("rsvg-convert (package librsvg2-bin)") != std::string::npos);
  CHECK(std::filesystem::is_empty(directory.path()));
  try {
    (void)lab::front::svg_program();
  } catch (const lab::front::environment_error&) {
    LAB_SKIP("no program here draws SVG");
  }
  const outcome found = lab_in(directory, call);
  INFO(found.text);
  REQUIRE(found.code == 0);
  const std::string png = get(directory / "a.png");
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  // Two pixels for each unit of the picture's 960.
  CHECK(png.substr(16, 4) == std::string("\0\0\x07\x80", 4));
}

TEST_CASE("what a launch of one block asked of memory is what the profile counts") {
  const temporary_directory directory;
  const strings stage{"moving_average/03_thread_tiled", "--n", "3000", "--window", "30"};
  const json seen = drawn(directory, stage);
  REQUIRE(seen.at("blocks") == 1);
  strings profile{"profile"};
  profile.insert(profile.end(), stage.begin(), stage.end());
  profile.insert(profile.end(), {"--device", "emulator", "--json", "profile.json"});
  const outcome counted = lab_in(directory, profile);
  INFO(counted.text);
  REQUIRE(counted.code == 0);
  const json kernel =
      json::parse(get(directory / "profile.json")).at("stages").at(0).at("profile").at("kernels").at(0);
  struct sum {
    const char* space;
    const char* operation;
    const char* metric;
  };
  for (const sum& one : {sum{"global", "load", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
                         sum{"global", "store", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
                         sum{"shared", "load", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
                         sum{"shared", "store", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}}) {
    INFO(one.metric);
    double units = 0;
    for (const json& line : seen.at("lines")) {
      if (line.at("space") == one.space && line.at("operation") == one.operation)
        units += line.at("units").get<double>();
    }
    CHECK(units > 0);
    CHECK(units == kernel.at("metrics").at(one.metric).get<double>());
  }
}

TEST_CASE("a tree's threads at work halve from barrier to barrier") {
  const temporary_directory directory;
  const json seen = drawn(directory, {"reduction/02_tree", "--block", "--n", "5000"});
  REQUIRE(seen.at("phases").size() == 12);
  for (int phase = 1; phase <= 10; ++phase) {
    const json threads = seen.at("phases").at(static_cast<std::size_t>(phase)).at(0).at("threads");
    CHECK(threads == json::array({json::array({0, (1024 >> phase) - 1})}));
  }
  CHECK(get(directory / "a.svg").find("12 phases between barriers") != std::string::npos);
}

TEST_CASE("a stage that is wrong on purpose is drawn, since it fails as it should") {
  const temporary_directory directory;
  const json seen =
      drawn(directory, {"shared_tile/02_missing_barrier", "--line", "16", "--width", "64", "--height", "64"});
  CHECK(seen.at("request").at(0).at("at").at("line") == 16);
}

TEST_CASE("calls with other options write other files") {
  const temporary_directory directory;
  const strings stage{"draw", "reduction/02_tree", "--n", "5000"};
  const auto wrote = [&](const strings& more, const std::string& name) {
    strings arguments = stage;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const outcome found = lab_in(directory, arguments);
    INFO(found.text);
    CHECK(found.code == 0);
    CHECK(found.text.find("wrote " + name + "\n") != std::string::npos);
    CHECK(std::filesystem::exists(directory / name));
  };
  wrote({}, "reduction_02_tree.n_5000.svg");
  wrote({"--line", "24"}, "reduction_02_tree.n_5000.line_24.svg");
  wrote({"--line", "stages/reduction/02_tree/stage.cu:24", "--warp", "1"},
        "reduction_02_tree.n_5000.line_stages_reduction_02_tree_stage.cu_24.warp_1.svg");
  wrote({"--block"}, "reduction_02_tree.n_5000.block.svg");
  wrote({"--block", "--block-number", "1"}, "reduction_02_tree.n_5000.block.block-number_1.svg");
}

TEST_CASE("draw refuses what it cannot draw, in words, and writes nothing") {
  const temporary_directory directory;
  struct refusal {
    strings arguments;
    std::string words;
  };
  const std::string stage = "reduction/02_tree";
  const std::vector<refusal> refusals{
      {{"reduction/99_nothing"}, "99_nothing"},
      {{"reduction/90_cub"}, "needs a GPU"},
      {{stage, "--line", "0"}, "lines count from 1"},
      {{stage, "--line", "x"}, "--line"},
      {{stage, "--line", ":30"}, "FILE:LINE"},
      {{stage, "--line", "1"},
       "asks nothing of memory at stages/reduction/02_tree/stage.cu:1; the block does at "
       "stages/reduction/02_tree/stage.cu: 24, 26, 31, 35"},
      {{stage, "--line", "24", "--memory", "shared"}, "asks nothing of shared memory"},
      {{stage, "--memory", "constant"}, "--memory must be global or shared"},
      {{stage, "--line", "30", "--warp", "31"}, "warp 31 of block 0 asks nothing"},
      {{stage, "--line", "24", "--request", "1000"}, "fewer than 1000"},
      {{stage, "--request", "0"}, "count from 1"},
      {{stage, "--block-number", "12345678"}, "has a block 12345678"},
      {{stage, "--block-number", "-1"}, "--block-number"},
      {{stage, "--kernel", "nobody"}, "is called 'nobody'"},
      {{stage, "--block", "--line", "24"}, "--block draws a whole block"},
      {{stage, "--window", "3"}, "window"},
      {{stage, "--output", "no/such/folder/a.svg"}, "no/such/folder"},
      {{stage, "--output", "a.svg", "--json", "./a.svg"}, "are one file"},
      {{stage, "--json", "reduction_02_tree.n_5000.svg"}, "are one file"},
  };
  for (const refusal& one : refusals) {
    strings arguments{"draw", "--n", "5000"};
    arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
    const outcome found = lab_in(directory, arguments);
    INFO(found.text);
    INFO(one.words);
    CHECK(found.code == 2);
    CHECK(found.text.find(one.words) != std::string::npos);
    CHECK(std::filesystem::is_empty(directory.path()));
  }
}
