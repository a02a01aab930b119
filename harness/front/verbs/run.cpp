#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "harness/front/claims/claims.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/verbs/counting.hpp"
#include "harness/front/verbs/soak.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/build_state.hpp"

namespace lab::front {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // a log is read while it grows
}

void print_ladder(const session& run, const result_group& group) {
  print("\n" + ladder_text(run.results, group, {standard_output_has_colour()}));
}

int finish(session& run) {
  run.results.complete = true;
  run.save();
  print("\n" + summary_text(run.results));
  return exit_code(run.results);
}

// Of the stages that were run.
int test_claims(session& run) {
  run.results.claims = check_time_claims(run.selections(), read_claims(run.selections()), run.results);
  print("\n");
  for (const claim_verdict& verdict : *run.results.claims) print(verdict_text(verdict) + "\n");
  print(verdicts_summary(*run.results.claims) +
        " (of time; 'lab profile --check' tests those of counters)\n");
  return exit_code(*run.results.claims);
}

// Performs `measure`, which fills the group, and shows the ladder, even when measuring ends early.
template <class Function>
void measure_and_show(session& run, result_group& group, Function measure) {
  try {
    measure();
  } catch (...) {
    run.end_group(group);
    print_ladder(run, group);
    throw;
  }
  run.end_group(group);
  print_ladder(run, group);
}

// Asked for before anything is measured: images of something, and a place for them.
void check_images(const session& run, const run_options& options) {
  const std::string& directory = options.images_path;
  const auto& selections = run.selections();
  if (std::none_of(selections.begin(), selections.end(), [](const auto& one) { return one.track->draws; }))
    throw usage_error("--images: none of these tracks draws an image");
  std::vector<named_file> files{{"--json", options.json_path}, {"--images", directory}};
  refuse_shared_files({}, files);
  static_cast<void>(path_for_worker(directory));
  files.pop_back();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!std::filesystem::is_directory(directory, error))
    throw environment_error(directory + " is no directory, and cannot be made one");
  for (const auto& job : run.jobs()) {
    if (!job.selection.track->draws || job.l2 == cache_state::warm) continue;
    for (const auto* stage : job.selection.stages) {
      for (const auto& path : images_of(job, *stage, directory)) files.push_back({"--images", path});
    }
  }
  check_files({}, files);
}

// Of those that the launcher builds while the program runs: one, or all.
std::vector<std::string> tracks_to_wait_for(const run_options& options, bool check, bool one_by_one) {
  std::vector<std::string> names;
  if (!is_being_built()) return names;
  const worker_set workers(needed_backends(options.device).front());
  if (!workers.exists() || workers.is_single()) return names;
  for (const auto& selection : select_by(options.patterns, check)(workers.names())) {
    names.push_back(selection.track->name);
    if (one_by_one) break;
  }
  return names;
}

// All ladders of what the session has selected.
void measure_ladders(session& run, const run_options& options) {
  // Nobody looks at a report of each: `check` keeps none.
  const profile_options counted{
      .check = true, .seed = options.seed, .timeout_seconds = options.timeout_seconds};
  const session::gpu_counter ask_nsight = [&](const auto& stage, const auto& parameters) {
    return measure_counters(counted, run.worker_command(stage), figure_metrics(), stage, parameters);
  };
  for (const auto& job : run.jobs()) {
    result_group& group = run.begin_group(job);
    measure_and_show(run, group, [&] {
      if (run.counts()) {
        for (const auto* stage : job.selection.stages) run.count(job, *stage, group, ask_nsight);
        return;
      }
      run.measure_ceiling(job, group);
      // All stages in turn, again and again: what drifts meets all of them.
      for (std::int64_t process = 0; process < options.repeat; ++process) {
        for (const auto* stage : job.selection.stages) run.measure(job, *stage, group);
      }
      run.measure_ceiling(job, group);
    });
    if (!options.images_path.empty()) run.draw(job, options.images_path);
  }
}

int run_ladders(const run_options& options, bool check) {
  // Claims, pictures and parameters are about all tracks: they are known before anything runs.
  const bool one_by_one =
      !check && options.images_path.empty() && options.parameters.empty() && options.processes == 1;
  for (const std::string& track : tracks_to_wait_for(options, check, one_by_one)) wait_until_built(track);
  // What a page claims over the stage before it, or the first, needs to know those.
  session run("run", options, check, one_by_one);
  if (!options.images_path.empty()) check_images(run, options);
  if (!run.note().empty()) print(run.note() + "\n");
  if (run.on_emulator() && options.l2 != l2_choice::unset) {
    print("--l2 is left out of account: the emulator has no caches\n");
  }
  run.save();
  run.measure_floor();
  print(header_text(run.results));
  if (one_by_one) {
    for (const std::string& track : run.tracks()) {
      run.open(track);
      measure_ladders(run, options);
    }
  } else {
    measure_ladders(run, options);
  }
  const int claims = check ? test_claims(run) : exit_ok;
  const int rows = finish(run);
  return rows == exit_ok ? claims : rows;
}

int verify_stages(const run_options& options) {
  session run("verify", options);
  if (!run.note().empty()) print(run.note() + "\n");
  run.save();
  print(header_text(run.results));
  for (const auto& selection : run.selections()) {
    result_group& group = run.begin_group({selection, {}, cache_state::none});
    measure_and_show(run, group, [&] {
      for (const auto* stage : selection.stages) run.verify(*stage, group);
    });
  }
  return finish(run);
}

// A ladder of counters needs no kernels but observed ones, unless something is to be proved or drawn.
build_request needs_of_ladder(const run_options& options, bool check) {
  build_request needs = needs_of_run(options, check);
  const bool times = options.host_times || options.processes > 1;
  needs.plain = times || !options.images_path.empty();
  needs.counts = !times;
  return needs;
}

}  // namespace

verb run_verb(CLI::App& program) {
  struct run_call {
    run_options run;
    bool check = false;
  };
  const auto options = std::make_shared<run_call>();
  CLI::App* app = add_verb(program, "run");
  add_measuring(*app, options->run);
  app->add_option("--images", options->run.images_path,
                  "write what the stages draw, and its difference from what is right, into this directory")
      ->type_name("DIR");
  app->add_flag("--check", options->check, "then test what the stages' pages claim of their times");
  app->add_flag("--prove", options->run.prove, "prove every stage anew, also where there is a proof");
  app->add_flag("--counters", options->run.counters,
                "on a GPU: show counters, as the emulator does, instead of times");
  app->add_flag("--host-times", options->run.host_times,
                "on the emulator: show this host's times instead of counters");
  add_repeat(*app, options->run.repeat);
  add_processes(*app, options->run.processes, options->run.launcher);
  app->callback([options] {
    if (options->run.counters && options->run.host_times)
      throw usage_error("--counters and --host-times exclude each other");
  });
  return {.app = app,
          .perform = [options] { return run_ladders(options->run, options->check); },
          .needs = [options] { return needs_of_ladder(options->run, options->check); },
          .parameters = &options->run.parameters,
          .option_names = &options->run.option_names};
}

verb verify_verb(CLI::App& program) {
  struct verify_call {
    run_options run;
    bool quick = false;
    bool thorough = false;
    std::optional<seed_range> seeds;
  };
  const auto options = std::make_shared<verify_call>();
  CLI::App* app = add_verb(program, "verify");
  add_patterns(*app, options->run.patterns);
  app->add_flag("--thorough", options->thorough, "all sizes and inputs (default)");
  app->add_flag("--quick", options->quick, "a few sizes and inputs");
  add_device(*app, options->run.device);
  add_seed(*app, options->run.seed);
  add_trial_seed(*app, options->run.trial_seed);
  add_seeds(*app, options->seeds);
  add_timeout(*app, options->run.timeout_seconds);
  add_json(*app, options->run.json_path);
  add_processes(*app, options->run.processes, options->run.launcher);
  app->callback([options] {
    if (options->quick && options->thorough) throw usage_error("--quick and --thorough exclude each other");
    options->run.thorough = !options->quick;
    if (options->seeds && (options->quick || options->run.processes > 1))
      throw usage_error("--seeds proves in full, and in one process: it excludes --quick and --processes");
  });
  return {.app = app,
          .perform =
              [options] {
                return options->seeds ? soak_stages(options->run, *options->seeds)
                                      : verify_stages(options->run);
              },
          .needs =
              [options] {
                build_request needs = needs_of_run(options->run, false);
                needs.proves = needs.anew = options->run.thorough;
                return needs;
              },
          .option_names = &options->run.option_names};
}

}  // namespace lab::front
