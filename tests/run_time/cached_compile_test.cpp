// Compiling by way of the cache: what is another image has another key, and a hit does not touch NVRTC.
#include <array>
#include <cstdio>
#include <functional>
#include <set>
#include <string>

#include "common/run_time/cached_compile.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/toolkit.hpp"
#include "tests/temporary_directory.hpp"

namespace lab {
namespace {

using run_time::compile_request;
using run_time::link_input;
using run_time::origin;
using run_time::target;
using test::temporary_directory;

// A folder that holds files under the libraries' names, which are never loaded for a key.
run_time::library_search stand_ins(const temporary_directory& folder) {
  for (const char* name : {"libnvrtc.so", "libnvJitLink.so"}) test::put(folder / name, "stand-in");
  return {{folder.path()}};
}

struct once_report {
  char origin[16] = "";
  double seconds = 0;
  double load_seconds = 0;
  double compile_seconds = 0;
  char nvrtc[16] = "";
};

once_report run_once(const std::filesystem::path& folder, const std::string& source) {
  const std::string command = std::string(LAB_RUN_TIME_ONCE) + " '" + folder.string() + "' '" + source + "'";
  FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  once_report report;
  const int fields = std::fscanf(output, "%15s %lf %lf %lf %15s", report.origin, &report.seconds,
                                 &report.load_seconds, &report.compile_seconds, report.nvrtc);
  CHECK(::pclose(output) == 0);
  REQUIRE(fields == 5);
  return report;
}

}  // namespace

TEST_CASE("requests that differ in anything never share a key") {
  const temporary_directory folder;
  const auto search = stand_ins(folder);
  compile_request plain;
  plain.source = "using value = float; value f(value x) { return x; }";
  plain.options = {"-lineinfo", "-G"};
  const std::vector<std::function<void(compile_request&)>> changes = {
      [](compile_request&) {},
      [](compile_request& request) {
        request.source = "using value = double; value f(value x) { return x; }";
      },
      [](compile_request& request) { request.source += " "; },
      [](compile_request& request) { request.architecture = 100; },
      [](compile_request& request) { request.wanted = target::ptx; },
      [](compile_request& request) { request.wanted = target::lto_ir; },
      [](compile_request& request) { request.options = {"-lineinfo"}; },
      [](compile_request& request) {
        request.options = {"-G", "-lineinfo"};
      },
      [](compile_request& request) { request.options = {"-lineinfo -G"}; },
      [](compile_request& request) { request.file_name = "other.cu"; },
      [](compile_request& request) { request.name_expressions = {"f"}; }};
  std::set<std::string> digests;
  for (const auto& change : changes) {
    compile_request request = plain;
    change(request);
    digests.insert(key_of(request, search).digest());
  }
  CHECK(digests.size() == changes.size());
  CHECK(digests.count(key_of(plain, search).digest()) == 1);
  test::put(folder / "libnvrtc.so", "another release");
  CHECK(digests.count(key_of(plain, search).digest()) == 0);
}

TEST_CASE("links that differ in anything never share a key") {
  const temporary_directory folder;
  const auto search = stand_ins(folder);
  const link_input a{target::ptx, "a", "one", {}};
  const link_input b{target::ptx, "b", "one", {}};
  const auto digest = [&](const std::vector<link_input>& inputs, int architecture,
                          const std::vector<std::string>& options) {
    return key_of(inputs, architecture, options, search).digest();
  };
  const std::set<std::string> digests = {digest({a, b}, 90, {}),
                                         digest({b, a}, 90, {}),
                                         digest({a}, 90, {}),
                                         digest({a, b}, 100, {}),
                                         digest({a, b}, 90, {"-g"}),
                                         digest({{target::lto_ir, "a", "one", {}}, b}, 90, {}),
                                         digest({{target::ptx, "a", "two", {}}, b}, 90, {})};
  CHECK(digests.size() == 7);
}

TEST_CASE("what comes from the disk is what was compiled") {
  LAB_NEEDS_TOOLKIT();
  const temporary_directory folder;
  run_time::image_cache cache({folder.path()});
  compile_request request;
  request.source = "template <class T> __global__ void k(T* x) { int unused; *x = 1; }";
  request.name_expressions = {"k<int>"};
  const auto first = compile_cached(request, cache);
  const auto second = compile_cached(request, cache);
  CHECK(first.from == origin::compiled);
  CHECK(second.from == origin::disk);
  CHECK(first.result.image == compile(request).image);
  CHECK(second.result.image == first.result.image);
  CHECK(second.result.lowered_names == first.result.lowered_names);
  CHECK(second.result.lowered_names.size() == 1);
  CHECK(second.result.log == first.result.log);
  CHECK(second.result.log.find("unused") != std::string::npos);
  CHECK(second.result.compiler == run_time::nvrtc_version());
  CHECK(first.result.compile_seconds > 0);
  CHECK(second.result.compile_seconds == 0);
}

TEST_CASE("a source that is refused is refused again") {
  LAB_NEEDS_TOOLKIT();
  const temporary_directory folder;
  run_time::image_cache cache({folder / "cache"});
  compile_request request;
  request.source = "no C++";
  for (int k = 0; k < 2; ++k) CHECK_THROWS_AS(compile_cached(request, cache), run_time::compile_error);
}

TEST_CASE("a hit does not load NVRTC") {
  LAB_NEEDS_TOOLKIT();
  const temporary_directory folder;
  const std::string source = "extern \"C\" __global__ void k(float* x) { *x = 1; }";
  const once_report miss = run_once(folder.path(), source);
  CHECK(std::string(miss.origin) == "compiled");
  CHECK(std::string(miss.nvrtc) == "mapped");
  CHECK(miss.load_seconds > 0);
  CHECK(miss.compile_seconds > 0);
  CHECK(miss.load_seconds + miss.compile_seconds <= miss.seconds);
  double fastest = 1;  // a machine may be busy, but not each time
  for (int k = 0; k < 20; ++k) {
    const once_report hit = run_once(folder.path(), source);
    REQUIRE(std::string(hit.origin) == "disk");
    REQUIRE(std::string(hit.nvrtc) == "absent");
    CHECK(hit.load_seconds == 0);
    fastest = std::min(fastest, hit.seconds);
  }
  INFO(fastest << " s");
  CHECK(fastest <= 1e-3);
}

}  // namespace lab
