#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <list>
#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

// Google Benchmark ends the process itself, with 0 or 1, when it asks for help or finds a bad value of a
// flag. While it has the control, an exit means one of the two.
bool library_has_control = false;
bool help_was_asked_for = false;

void end_for_the_library() {
  if (!library_has_control) return;
  std::cout.flush();
  if (!help_was_asked_for) _exit(exit_usage);
  const std::string lost = lost_output();
  if (!lost.empty()) std::fprintf(stderr, "lab: what should have been printed is lost: %s\n", lost.c_str());
  _exit(lost.empty() ? exit_ok : exit_output_lost);
}

bool has_flag(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == flag || (argument.rfind(flag + "=", 0) == 0 && argument != flag + "=false");
  });
}

// The file that Google Benchmark writes; empty where there is none. The last flag counts, and the environment
// where there is no flag.
std::string benchmark_file(const std::vector<std::string>& arguments) {
  const std::string flag = "--benchmark_out=";
  const char* variable = std::getenv("BENCHMARK_OUT");
  std::string path = variable == nullptr ? "" : variable;
  for (const auto& argument : arguments) {
    if (argument.rfind(flag, 0) == 0) path = argument.substr(flag.size());
  }
  return path;
}

struct bench_group {
  ladder_job job;
  result_group* group = nullptr;
  bool has_ceiling = false;
};

std::string benchmark_name(const bench_group& one, const stage_description& stage) {
  std::string name = stage.path;
  for (const auto& [parameter, value] : one.group->parameters)
    name += fmt::format("/{}:{}", parameter, value.text());
  if (one.job.l2 == cache_state::warm) name += "/l2:warm";
  return name;
}

class bench_run {
 public:
  bench_run(const run_options& options) : run_("bench", options) {
    if (!run_.note().empty()) std::fprintf(stderr, "%s\n", run_.note().c_str());
    std::fprintf(stderr, "%s", seed_text(run_.results).c_str());
    const auto jobs = run_.jobs();
    run_.results.groups.reserve(jobs.size());  // groups are pointed at
    for (const auto& job : jobs) {
      groups_.push_back({job, &run_.begin_group(job)});
      bench_group& one = groups_.back();
      for (const auto* stage : job.selection.stages) {
        // One iteration is one whole measurement, of which the lab decides how many samples it takes.
        benchmark::RegisterBenchmark(
            benchmark_name(one, *stage).c_str(),
            [this, &one, stage](benchmark::State& state) { perform(one, *stage, state); })
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }

  int finish() {
    if (was_interrupted()) throw interrupted();
    if (!refusal_.empty()) throw environment_error(refusal_);
    run_.results.complete = true;
    run_.save();
    return exit_code(run_.results);
  }

 private:
  void perform(bench_group& one, const stage_description& stage, benchmark::State& state) {
    // An exception must not pass through Google Benchmark, which would leave its output file cut short.
    try {
      if (!refusal_.empty()) throw environment_error(refusal_);
      report(one, measured(one, stage), state);
    } catch (const interrupted& error) {
      state.SkipWithError(error.what());
    } catch (const std::exception& error) {
      refusal_ = error.what();
      state.SkipWithError(error.what());
    }
    for (auto _ : state) {
      state.SetIterationTime(seconds_);
    }
  }

  const result_row& measured(bench_group& one, const stage_description& stage) {
    if (!run_.results.floor) run_.measure_floor();
    if (!one.has_ceiling) run_.measure_ceiling(one.job, *one.group);
    one.has_ceiling = true;
    const result_row* row = &run_.measure(one.job, stage, *one.group);
    // Before a row is called faster than light, light is measured again.
    if (row->speed_of_light.value_or(0) > 1) run_.measure_ceiling(one.job, *one.group);
    run_.end_group(*one.group);
    return *row;
  }

  void report(const bench_group& one, const result_row& row, benchmark::State& state) {
    seconds_ = 0;
    if (row.status != row_status::ok) {
      const std::string message = row.status == row_status::skipped ? "skipped: " + row.message
                                  : row.status == row_status::expected_failure
                                      ? "expected failure, never timed: " + row.message
                                      : row.message;
      state.SkipWithError(message.c_str());
      return;
    }
    const timing_record& timing = *row.timing;
    seconds_ = timing.median / 1e9;
    const auto count = [&](const char* name, std::optional<double> value) {
      // Google Benchmark writes a number that is not finite into its JSON as it is.
      if (value && std::isfinite(*value)) state.counters[name] = *value;
    };
    count("min_ns", timing.minimum);
    count("iqr_ns", timing.interquartile_range);
    count("spread", timing.spread);
    count("samples", static_cast<double>(timing.samples.size()));
    count("speed_of_light", row.speed_of_light);
    count("over_library", row.over_library);
    if (const auto* bytes = roof(*one.group, false)) state.SetBytesProcessed(bytes->bytes);
    if (timing.unstable) state.SetLabel("unstable");
  }

  session run_;
  std::list<bench_group> groups_;  // pointed at by the registered benchmarks
  std::string refusal_;            // why going on makes no sense
  double seconds_ = 0;
};

int bench_stages(const run_options& options, const std::vector<std::string>& benchmark_arguments) {
  help_was_asked_for = has_flag(benchmark_arguments, "--help");
  std::atexit(end_for_the_library);
  std::vector<std::string> arguments{"lab bench --"};
  arguments.insert(arguments.end(), benchmark_arguments.begin(), benchmark_arguments.end());
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(arguments.size());
  library_has_control = true;
  benchmark::Initialize(&count, pointers.data());
  library_has_control = false;
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return exit_usage;

  refuse_shared_files(
      {}, {{"--json", options.json_path}, {"--benchmark_out", benchmark_file(benchmark_arguments)}});
  bench_run run(options);
  library_has_control = true;
  const std::size_t performed = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  library_has_control = false;
  if (performed == 0) throw usage_error("no benchmark matches Google Benchmark's filter");
  if (has_flag(benchmark_arguments, "--benchmark_list_tests")) return exit_ok;
  return run.finish();
}

}  // namespace

verb bench_verb(CLI::App& program) {
  struct bench_call {
    run_options run;
    std::vector<std::string> benchmark_arguments;
  };
  const auto options = std::make_shared<bench_call>();
  CLI::App* app = add_verb(program, "bench");
  add_measuring(*app, options->run);
  app->footer(std::string(parameter_help) +
              "\nGoogle Benchmark's own flags follow after --: lab bench TRACK -- --benchmark_out=out.json");
  return {.app = app,
          .perform = [options] { return bench_stages(options->run, options->benchmark_arguments); },
          .needs = [options] { return needs_of_run(options->run, false); },
          .parameters = &options->run.parameters,
          .option_names = &options->run.option_names,
          .after_dashes = &options->benchmark_arguments};
}

}  // namespace lab::front
