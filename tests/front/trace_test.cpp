// lab trace: the figures of a timeline, and the files that it becomes.
#include <filesystem>
#include <string>

#include "harness/front/timeline/timeline.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/front/program.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using namespace lab::test;

// `lab` in this directory, with a CUDA worker that is the fake one, and an nsys that writes a report or
// fails.
outcome lab_in(const temporary_directory& directory, const strings& arguments, bool nsys_works = true) {
  const temporary_directory programs;
  put(programs / "nsys", nsys_works ? R"script(#!/bin/sh
while [ $# -gt 0 ]; do
  if [ "$1" = --output ]; then echo report > "$2"; fi
  shift
done
)script"
                                    : "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(programs / "nsys", std::filesystem::perms::owner_all);
  strings all = command(arguments);
  all.insert(all.begin() + 1, {"--chdir=" + directory.path().string(), "PATH=" + programs.path().string()});
  return run(all);
}

}  // namespace

TEST_CASE("the device is idle between its works, however they overlap") {
  lab::trace_record trace{.host_end = 100};
  trace.events = {{"device", "kernel", "a", 10, 30, 0},
                  {"device", "kernel", "b", 20, 25, 0},
                  {"device", "kernel", "c", 40, 50, 0},
                  {"host", "wait", "cudaStreamSynchronize", 60, 80, 0},
                  {"device", "fill", "fill", 75, 80, 0}};
  const auto figures = lab::front::figures_of(trace);
  CHECK(figures.device_time == 70);
  CHECK(figures.device_idle == 35);
  CHECK(figures.longest_gap == 25);
  CHECK(figures.waiting_time == 20);
  CHECK(figures.waits == 1);
  CHECK(figures.launches == 0);
}

TEST_CASE("calls of the runtime have kinds, and others are not shown") {
  CHECK(lab::kind_of_call("cudaLaunchKernelExC") == "launch");
  CHECK(lab::kind_of_call("cudaStreamSynchronize") == "wait");
  CHECK(lab::kind_of_call("cudaMallocFromPoolAsync") == "allocation");
  CHECK(lab::kind_of_call("cudaFreeAsync") == "release");
  CHECK(lab::kind_of_call("cudaMemcpyAsync") == "copy");
  CHECK(lab::kind_of_call("cudaMemsetAsync") == "fill");
  CHECK(lab::kind_of_call("cudaGetLastError").empty());
}

TEST_CASE("a timeline is a table, a trace for Perfetto, and a picture") {
  const temporary_directory directory;
  expect(lab_in(directory, {"trace", "ladder/02", "--baseline", "ladder/01", "--json", "trace.json"}), 0,
         {"launches                                   2          2", "device: of it idle", "4.000 us",
          "a_kernel", "report: ladder_02_second.nsys-rep", "open:   nsys-ui ladder_01_first.nsys-rep",
          "picture: ladder_02_second.baseline_ladder_01_first.svg"});
  CHECK(get(directory / "ladder_01_first.nsys-rep") == "report\n");
  const auto found = document(directory / "trace.json");
  CHECK(found.at("stages")[0].at("stage") == "ladder/01_first");
  CHECK(found.at("stages")[0].at("waits") == 2);
  CHECK(found.at("stages")[1].at("waits") == 1);
  std::filesystem::path perfetto, picture;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    const std::string name = entry.path().filename().string();
    if (contains(name, "ladder_02") && contains(name, ".trace.json")) perfetto = entry.path();
    if (contains(name, ".svg")) picture = entry.path();
  }
  const auto events = document(perfetto).at("traceEvents");
  CHECK(events.size() == 4 + 6);
  CHECK(events[5].at("ph") == "X");
  CHECK(events[5].at("ts") == 1);
  CHECK(events[5].at("dur") == 1);
  const std::string svg = get(picture);
  CHECK(contains(svg, "class=\"wait\""));
  CHECK(contains(svg, "ladder/01_first: 2 launches, 2 waits"));
  CHECK(contains(svg, "&lt;script&gt;"));
  CHECK(!contains(svg, "<script>"));
  expect(lab_in(directory, {"trace", "ladder/02", "--output", "x"}, false), 0,
         {"no report of Nsight Systems: it ended with exit code 3", "picture: x.svg"});
  expect(lab_in(directory, {"trace", "ladder/02", "--output", "x.svg"}, false), 0,
         {"trace:   x.trace.json", "picture: x.svg"});
  expect(
      lab_in(directory, {"trace", "ladder/02", "--n", "1000", "--seed", "7"}), 0,
      {"trace:   ladder_02_second.n_1000.seed_7.trace.json", "picture: ladder_02_second.n_1000.seed_7.svg"});
}

TEST_CASE("what cannot be traced is refused before anything is written") {
  const temporary_directory directory;
  expect(lab_in(directory, {"trace", "faults/01_wrong"}), 1, {"FAIL: wrong at index 17"});
  expect(lab_in(directory, {"trace", "ladder"}), 2, {"means more than one stage"});
  expect(lab_in(directory, {"trace", "nothing"}), 2, {"no stage matches 'nothing'"});
  expect(lab_in(directory, {"trace", "ladder/01", "--baseline", "ladder/01"}), 2, {"compared with itself"});
  expect(lab_in(directory, {"trace", "ladder/01", "--output", "a", "--json", "a.trace.json"}), 2,
         {"are one file"});
  expect(lab_in(directory, {"trace", "ladder/01", "--output", "missing/a"}), 2, {"missing"});
  expect(lab_in(directory, {"trace", "ladder/01", "--n", "1,2"}), 2, {"a single value"});
  CHECK(std::filesystem::is_empty(directory.path()));
}
