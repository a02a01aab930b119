// Pictures of accesses that are made up here.
#include <stdexcept>
#include <string>

#include "harness/front/draw/block_picture.hpp"
#include "harness/front/draw/svg.hpp"
#include "harness/front/draw/warp_picture.hpp"
#include "tests/catch.hpp"

namespace {

using namespace lab;
using namespace lab::front;

// All 32 lanes, each `stride` bytes behind the one before.
request_record access(const std::string& space, std::int64_t bytes, std::int64_t stride, std::int64_t units,
                      std::int64_t least) {
  request_record request{
      .at = {.file = "stage.cu", .line = 7, .text = "x", .space = space, .operation = "load"},
      .array = {.name = "tile", .bytes = 1 << 20},
      .request = 1,
      .requests = 1,
      .bytes = bytes,
      .parts = space == "shared" ? std::max<std::int64_t>(1, bytes / 4) : 1,
      .units = units,
      .least = least};
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    request.lanes.push_back(lane);
    request.offsets.push_back(lane * stride);
  }
  return request;
}

std::string picture(const request_record& request) {
  return warp_picture({"track/01_stage", "n = 1"}, {.threads = 32}, request);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

activity_record activity(std::int64_t line) {
  return {.at = {.file = "stage.cu",
                 .line = line,
                 .space = "shared",
                 .operation = "load",
                 .requests = 1,
                 .units = 1},
          .threads = {{0, 31}}};
}

}  // namespace

TEST_CASE("neighbouring values fill their sectors, and nothing is marked as moved in vain") {
  const request_record request = access("global", 4, 4, 4, 4);
  CHECK(cost_text(request) == "4 sectors: 128 bytes are moved, and all were asked for");
  const std::string drawn = picture(request);
  CHECK(count(drawn, "class=\"wire\"") == 32);
  CHECK(count(drawn, "class=\"used\"") == 4 + 1);  // and in the legend
  CHECK(count(drawn, "class=\"vain\"") == 0);
}

TEST_CASE("of a sector for each lane, what no lane asked for is marked") {
  const request_record request = access("global", 8, 384, 32, 8);
  CHECK(cost_text(request) ==
        "32 sectors: 1024 bytes are moved, 256 were asked for, 768 (75.0 %) in vain; side by side they would "
        "fill "
        "8 sectors");
  CHECK(count(picture(request), "class=\"vain\"") == 32 + 1);
}

TEST_CASE("an array that begins within a sector shifts the sectors") {
  request_record request = access("global", 4, 4, 5, 4);
  request.array.begin = 16;
  CHECK(count(picture(request), "class=\"frame\"") == 5);
  request.array.begin = 0;
  CHECK_THROWS_AS(picture(request), std::invalid_argument);
}

TEST_CASE("two lanes in one bank are served one after the other, unless both read the same word") {
  const std::string conflict = picture(access("shared", 4, 8, 2, 1));
  CHECK(count(conflict, "class=\"serialised\"") == 16 + 1);
  CHECK(count(conflict, "bank conflict") >= 1);
  const std::string broadcast = picture(access("shared", 4, 0, 1, 1));
  CHECK(count(broadcast, "class=\"serialised\"") == 0);
  CHECK(count(broadcast, ">0+31<") == 1);
}

TEST_CASE("48 doubles apart lanes meet in two banks, 49 apart in none") {
  CHECK(cost_text(access("shared", 8, 48 * 8, 32, 2)) == "32 wavefronts where 2 would do: 30 bank conflicts");
  CHECK(count(picture(access("shared", 8, 48 * 8, 32, 2)), "class=\"serialised\"") == 2 * 30 + 1);
  CHECK(cost_text(access("shared", 8, 49 * 8, 2, 2)) == "2 wavefronts: no bank conflict");
  CHECK(count(picture(access("shared", 8, 49 * 8, 2, 2)), "class=\"serialised\"") == 0);
}

TEST_CASE("an access that contradicts itself is not drawn") {
  CHECK_THROWS_AS(picture(access("global", 4, 4, 5, 4)), std::invalid_argument);
  CHECK_THROWS_AS(picture(access("shared", 8, 48 * 8, 31, 2)), std::invalid_argument);
  request_record request = access("global", 4, 4, 4, 4);
  request.lanes.back() = 32;
  CHECK_THROWS_AS(picture(request), std::invalid_argument);
  request = access("global", 4, 4, 4, 4);
  request.offsets.pop_back();
  CHECK_THROWS_AS(picture(request), std::invalid_argument);
  request = access("global", 32, 32, 32, 32);
  CHECK_THROWS_AS(picture(request), std::invalid_argument);
}

TEST_CASE("what a stage calls itself cannot end the text that it stands in") {
  request_record request = access("global", 4, 4, 4, 4);
  request.at.text = "</text><script>alert(\"&\")</script>\x01";
  const std::string drawn = warp_picture({"<b>\"", "&"}, {.threads = 32}, request);
  CHECK(drawn.find("<script>") == std::string::npos);
  CHECK(drawn.find("<b>") == std::string::npos);
  CHECK(drawn.find("&lt;script&gt;alert(&quot;&amp;&quot;)") != std::string::npos);
  CHECK(drawn.find('\x01') == std::string::npos);
}

TEST_CASE("a program that knows no variables of CSS has a plain colour for each") {
  const std::string drawn = picture(access("global", 4, 4, 4, 4));
  std::size_t variables = 0;
  for (std::size_t at = drawn.find(": var("); at != std::string::npos; at = drawn.find(": var(", at + 1)) {
    ++variables;
    const std::size_t name = drawn.find_last_of(" {;", at - 1) + 1;
    const std::string property = drawn.substr(name, at - name);
    // "fill: #0969da; fill: var(--used)"
    const std::string before = property + ": #";
    CAPTURE(drawn.substr(name, 40));
    REQUIRE(name > before.size() + 8);
    CHECK(drawn.substr(name - before.size() - 8, before.size()) == before);
  }
  CHECK(variables > 20);
  CHECK(count(drawn, "fill: #0969da; fill: var(--used)") >= 1);
}

TEST_CASE("labels stay within the picture") {
  svg to("label");
  const std::string words(60, 'x');
  to.text(950, 10, words, ink::small);
  to.text(5, 20, words, ink::small, anchor::end);
  to.text(955, 30, words, ink::small, anchor::middle);
  to.text(32, 40, std::string(500, 'y'), ink::note);
  to.headline(50, 928, std::string(40, 't'), std::string(300, 'p'));
  const std::string drawn = to.document(60);
  // 60 characters of 5.7 pixels are 342.
  CHECK(drawn.find("<text class=\"small\" x=\"610\"") != std::string::npos);
  CHECK(drawn.find("<text class=\"small end\" x=\"350\"") != std::string::npos);
  CHECK(drawn.find("<text class=\"small middle\" x=\"781\"") != std::string::npos);
  CHECK(drawn.find("yyy...</text>") != std::string::npos);
  CHECK(drawn.find("ppp...</text>") != std::string::npos);
}

TEST_CASE("phases that repeat are drawn once") {
  std::vector<std::vector<activity_record>> phases{{activity(1)}};
  for (int round = 0; round < 5; ++round) {
    phases.push_back({activity(2)});
    phases.push_back({activity(3), activity(4)});
  }
  phases.push_back({activity(1)});
  const auto loops = folded(phases);
  REQUIRE(loops.size() == 3);
  CHECK(loops[1].first == 1);
  CHECK(loops[1].length == 2);
  CHECK(loops[1].times == 5);
  CHECK(loops[2].first == 11);
  // One thread fewer is another phase.
  phases[4][1].threads = {{0, 30}};
  CHECK(folded(phases).size() > 3);
  const std::string drawn =
      block_picture({"track/01_stage", ""}, {.threads = 32, .phases = phases, .phase_count = 20});
  CHECK(count(drawn, "further phase") == 1);
}
