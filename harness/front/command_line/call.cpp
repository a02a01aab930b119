#include "harness/front/command_line/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/selection/verb_names.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

CLI::App* add_verb(CLI::App& program, const std::string& name) {
  return program.add_subcommand(name, verb_summary(name));
}

// For scripts, and not shown among the verbs: what people read is the launcher's `lab list`.
verb describe_verb(CLI::App& program) {
  const auto options = std::make_shared<describe_options>();
  CLI::App* app =
      program.add_subcommand("describe", "what workers say of their device, tracks and stages, as JSON");
  app->group("");
  add_patterns(*app, options->patterns);
  add_device(*app, options->device);
  add_json(*app, options->json_path);
  return {.app = app,
          .perform = [options] { return describe_stages(*options); },
          .needs =
              [options] {
                return build_request{options->device, select_by(options->patterns)};
              }};
}

// The options of the verbs that time stages.
void add_measuring(CLI::App& app, run_options& options) {
  add_patterns(app, options.patterns);
  add_device(app, options.device);
  add_seed(app, options.seed);
  add_trial_seed(app, options.trial_seed);
  add_plan(app, options.l2, options.plan);
  add_timeout(app, options.timeout_seconds);
  add_json(app, options.json_path);
  app.footer(parameter_help);
}

build_request needs_of_run(const run_options& options, bool check) {
  return {.device = options.device,
          .select = select_by(options.patterns, check),
          .proves = true,
          .anew = options.prove};
}

// A ladder of counters needs no kernels but observed ones, unless something is to be proved or drawn.
build_request needs_of_ladder(const run_options& options, bool check) {
  build_request needs = needs_of_run(options, check);
  const bool times = options.host_times || options.processes > 1;
  needs.plain = times || !options.images_path.empty();
  needs.counts = !times;
  return needs;
}

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

verb apply_verb(CLI::App& program) {
  const auto options = std::make_shared<apply_options>();
  CLI::App* app = add_verb(program, "apply");
  app->add_option("stage", options->stage, "one stage: its path, or the beginning of it")
      ->type_name("STAGE")
      ->required();
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_names(*app, "--input", options->inputs,
            "the data, .npy or .csv; several with commas between; none for a track that takes none")
      ->type_name("FILE[,FILE]");
  add_names(*app, "--output", options->outputs, "where the result goes; several with commas between")
      ->type_name("FILE[,FILE]")
      ->required();
  app->add_flag("--allow-inexact", options->allow_inexact,
                "write results even where the stage's traits make some of them useless");
  app->footer(
      "Tracks of numbers take and write .npy arrays, tracks of text CSV files (RFC 4180, UTF-8) whose "
      "header\n"
      "names the columns that the track's page lists. The result is checked against the reference first; a\n"
      "file is written whole or not at all.");
  return {.app = app,
          .perform = [options] { return apply_stage(*options); },
          .needs =
              [options] {
                return build_request{options->device, select_one(options->stage)};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

void add_predictions(CLI::App& app, profile_options& options) {
  app.add_flag("--predict", options.predict,
               "of one stage: ask for the counters first, then compare and explain");
  app.add_option("--answers", options.answers,
                 "answers for --predict: a JSON object, metric: number (default: the terminal asks)")
      ->type_name("FILE");
  app.callback([&options] { options.predict = options.predict || !options.answers.empty(); });
}

verb profile_verb(CLI::App& program) {
  const auto options = std::make_shared<profile_options>();
  CLI::App* app = add_verb(program, "profile");
  app->add_option("stage", options->patterns,
                  "one stage: its path, or the beginning of it; or patterns, shell-style")
      ->type_name("STAGE")
      ->required();
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_names(*app, "--metrics", options->metrics,
            "Nsight Compute's names (default: those that the stages' pages speak of and those that the "
            "emulator models)")
      ->type_name("NAME[,NAME]");
  app->add_flag("--source", options->source, "show the source, with the counters of each line (emulator)");
  app->add_flag("--check", options->check,
                "test what the stages' pages claim of their counters, and that expected failures fail");
  add_predictions(*app, *options);
  app->add_flag(
      "--full", options->full,
      "keep a report with all sections of Nsight Compute and the sources, at the sizes of 'lab run'");
  app->add_flag("--bench-size", options->bench_size, "take the sizes of 'lab run' for what is not given");
  app->add_option("--baseline", options->baseline,
                  "profile this stage of the track, too, and show it first, to compare with")
      ->type_name("STAGE");
  app->add_option("--output", options->output,
                  "the report that is kept on a GPU (default: the stage's name here)")
      ->type_name("FILE.ncu-rep");
  add_seed(*app, options->seed);
  app->footer(
      std::string(parameter_help) +
      "\nBy default they have the emulator's sizes on either device, so that the counters can be compared.");
  return {.app = app,
          .perform = [options] { return profile_stages(*options); },
          .needs =
              [options] {
                return build_request{
                    .device = options->device,
                    .select = with_whole_tracks(
                        with_baseline(select_some(options->patterns), options->baseline), options->check),
                    .counts = true};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

verb trace_verb(CLI::App& program) {
  const auto options = std::make_shared<trace_options>();
  CLI::App* app = add_verb(program, "trace");
  app->add_option("stage", options->stage, "one stage: its path, or the beginning of it")
      ->type_name("STAGE")
      ->required();
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->add_option("--baseline", options->baseline, "trace this stage of the track, too, to compare with")
      ->type_name("STAGE");
  app->add_option("--output", options->output,
                  "of the files, without .trace.json, .svg, .nsys-rep (default: the stage's name here)")
      ->type_name("NAME");
  add_seed(*app, options->seed);
  app->footer(parameter_help);
  return {.app = app,
          .perform = [options] { return trace_stage(*options); },
          .needs =
              [options] {
                return build_request{options->device,
                                     with_baseline(select_one(options->stage), options->baseline)};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

verb draw_verb(CLI::App& program) {
  const auto options = std::make_shared<draw_options>();
  CLI::App* app = add_verb(program, "draw");
  app->add_option("stage", options->stage, "one stage: its path, or the beginning of it")
      ->type_name("STAGE")
      ->required();
  app->add_option("--line", options->line,
                  "of the stage's source, or FILE:LINE (default: where most is moved in vain or serialised)")
      ->type_name("LINE");
  app->add_option("--memory", options->memory, "global or shared (default: either)")->type_name("KIND");
  app->add_option("--kernel", options->kernel, "a part of the kernel's name (default: any)")
      ->type_name("NAME");
  app->add_flag("--block", options->block, "draw the block's phases between barriers instead of one access");
  add_number(*app, "--block-number", options->block_number, "which block (default: 0)");
  add_number(*app, "--warp", options->warp, "which of the block's warps (default: the dearest)");
  add_number(*app, "--request", options->request,
             "which of the warp's accesses at the line, from 1 (default: the dearest)");
  app->add_option("--output", options->output, "the picture, .svg or .png (default: the stage's name, here)")
      ->type_name("FILE");
  add_seed(*app, options->seed);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->footer(parameter_help);
  return {.app = app,
          .perform = [options] { return draw_stage(*options); },
          .needs =
              [options] {
                return build_request{
                    .device = "emulator", .select = select_one(options->stage), .counts = true};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

verb translate_verb(CLI::App& program) {
  const auto options = std::make_shared<translate_options>();
  CLI::App* app = add_verb(program, "translate");
  app->add_option("file", options->file, "PTX, as nvcc -ptx -rdc=true or Numba makes it")
      ->type_name("FILE.ptx")
      ->required();
  app->add_option("--name", options->name, "of the function in the PTX (default: the only visible one)")
      ->type_name("NAME");
  app->add_option("--called", options->called, "its name in C++ (default: the same)")->type_name("NAME");
  app->add_option("--result", options->result, "its type in C++ (default: as its stores say)")
      ->type_name("TYPE");
  add_names(
      *app, "--parameters", options->parameters,
      "their types: double, 'const double*', 'double[]' for an array of Numba (default: as the loads say)")
      ->type_name("TYPE[,TYPE]");
  app->add_option("--convention", options->convention, "numba or c (default: whichever the function has)")
      ->type_name("NAME");
  app->add_option("--compile", options->compile,
                  "also compile it within a kernel, by NVRTC, for this GPU: sm_90")
      ->type_name("ARCHITECTURE");
  add_json(*app, options->json_path);
  // Nothing has to be built.
  const auto no_track = [](const auto&) { return std::vector<track_selection>{}; };
  return {.app = app,
          .perform = [options] { return translate_file(*options); },
          .needs = [no_track] { return build_request{.device = "emulator", .select = no_track}; }};
}

verb new_verb(CLI::App& program) {
  const auto options = std::make_shared<new_options>();
  CLI::App* app = add_verb(program, "new");
  app->add_option("stage", options->stage, "a stage of your own, TRACK/NN_name, in exercises/")
      ->type_name("STAGE");
  app->add_option("--from", options->from,
                  "the stage of the same track that it begins with (default: the first)")
      ->type_name("STAGE");
  app->add_option("--exercise", options->exercise, "the exercise of a stage, TRACK/STAGE, in exercises/")
      ->type_name("STAGE");
  app->add_option("--student", options->student, "whose: sizes differ from student to student")
      ->type_name("ID");
  app->add_flag("--list", options->list, "show the exercises that there are");
  // Nothing has to be built.
  const auto no_track = [](const auto&) { return std::vector<track_selection>{}; };
  return {.app = app,
          .perform = [options] { return make_new(*options); },
          .needs = [no_track] { return build_request{.device = "emulator", .select = no_track}; }};
}

// The track of an exercise, whose workers have everything that the exercise itself is linked with; with
// `solution` its stage as well.
stage_selector select_exercise(const check_request& options) {
  return [&options](const std::vector<track_description>& tracks) {
    const std::string path = exercise_path(options.exercise);
    const std::string stage = path.substr(0, path.find('.'));
    std::vector<track_selection> selected;
    for (const track_description& track : tracks) {
      if (stage.rfind(track.name + "/", 0) != 0) continue;
      selected.push_back({&track, {}});
      for (const stage_description& one : track.stages) {
        if (options.solution && one.path == stage) selected.back().stages.push_back(&one);
      }
    }
    return selected;
  };
}

verb check_verb(CLI::App& program) {
  const auto options = std::make_shared<check_request>();
  CLI::App* app = add_verb(program, "check");
  app->add_option("exercise", options->exercise, "as 'lab new' has named it: TRACK/STAGE")
      ->type_name("EXERCISE")
      ->required();
  app->add_option_function<std::string>(
         "--hint",
         [options](const std::string& text) {
           options->hint = static_cast<int>(std::min<std::int64_t>(parse_integer(text, "--hint"), 1'000));
         },
         "show the hints from the first to this one, and check nothing")
      ->type_name("NUMBER");
  app->add_flag("--solution", options->solution,
                "check the lab's own stage against the exercise's checkpoints");
  app->add_option("--student", options->student, "with --solution: whose sizes")->type_name("ID");
  app->add_flag("--watch", options->watch, "check again whenever stage.cu or predictions.json is saved");
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_seed(*app, options->seed);
  add_trial_seed(*app, options->trial_seed);
  app->callback([options] {
    if (!options->student.empty() && !options->solution)
      throw usage_error("--student goes with --solution: an exercise knows whose it is");
    if (options->hint && options->solution) throw usage_error("--hint and --solution exclude each other");
    if (options->watch && (options->hint || options->solution))
      throw usage_error("--watch is for an exercise of your own: it excludes --hint and --solution");
  });
  return {.app = app,
          .perform = [options] { return check_exercise(*options); },
          .needs =
              [options] {
                return build_request{
                    .device = "emulator", .select = select_exercise(*options), .counts = true};
              }};
}

verb grade_verb(CLI::App& program) {
  const auto options = std::make_shared<grade_options>();
  CLI::App* app = add_verb(program, "grade");
  app->add_option("exercise", options->exercise, "which: TRACK/STAGE")->type_name("EXERCISE");
  app->add_option("--submission", options->submission,
                  "a student's stage.cu or folder, or a folder with an entry for each student")
      ->type_name("PATH");
  app->add_option("--key", options->key, "the teacher's folder: the seed, and aims of the teacher's own")
      ->type_name("DIR");
  app->add_option("--make-key", options->make_key, "make such a folder, and grade nothing")->type_name("DIR");
  app->add_flag("--unconfined", options->unconfined,
                "where bubblewrap does not work: run submissions without walls");
  app->add_option(
         "--device,--devices", options->device,
         "that submissions are timed on: cuda:0 (default where there is one), or emulator for no time")
      ->type_name("DEVICE");
  app->add_option("--gradescope", options->gradescope_path,
                  "write Gradescope's results.json; of several submissions, PATH/NAME.json for each")
      ->type_name("PATH");
  app->add_option("--feedback", options->feedback_path,
                  "write what the student may read; of several submissions, PATH/NAME.txt for each")
      ->type_name("PATH");
  app->add_option("--csv", options->csv_path, "write a table: a row for each submission")->type_name("FILE");
  app->add_option("--junit", options->junit_path, "write JUnit XML")->type_name("FILE");
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->footer("Exit code: 0 when all are graded, whatever their points; 1 when the lab could not grade one.");
  app->callback([options] {
    const bool grades = !options->exercise.empty() || !options->submission.empty() || !options->key.empty();
    if (!options->device.empty()) (void)parse_device(options->device);
    if (!options->make_key.empty()) {
      if (grades) throw usage_error("--make-key grades nothing, and takes nothing else");
      return;
    }
    for (const auto& [given, name] : {std::pair{&options->exercise, "EXERCISE"},
                                      {&options->submission, "--submission"},
                                      {&options->key, "--key"}}) {
      if (given->empty()) throw usage_error(fmt::format("lab grade needs {}", name));
    }
  });
  return {.app = app,
          .perform = [options] { return grade_submissions(*options); },
          .needs =
              [options] {
                if (!options->make_key.empty()) {
                  const auto no_track = [](const auto&) { return std::vector<track_selection>{}; };
                  return build_request{.device = "emulator", .select = no_track};
                }
                const check_request asked{.exercise = options->exercise, .solution = true};
                build_request needs{
                    .device = "emulator",
                    .select = [asked](const auto& tracks) { return select_exercise(asked)(tracks); },
                    .counts = true};
                if (needed_backends(options->device).front() == backend::cuda)
                  needs.also = build_targets({.device = "cuda:0", .select = needs.select});
                return needs;
              }};
}

verb compare_verb(CLI::App& program) {
  const auto options = std::make_shared<compare_options>();
  CLI::App* app = add_verb(program, "compare");
  app->add_option("old", options->older, "result file of lab run --json, or a folder of such files")
      ->type_name("OLD")
      ->required();
  app->add_option("new", options->newer, "the same of what is to be judged")->type_name("NEW")->required();
  add_threshold(*app, options->threshold);
  app->add_flag("--markdown", options->markdown, "print Markdown, for a pull request");
  add_json(*app, options->json_path);
  app->footer(
      "Record both sides with lab run --repeat 5 --json FILE: the medians of processes move more than the\n"
      "samples of one process say. Exit code 1: a row became slower, or fails that was right.");
  const auto no_track = [](const auto&) { return std::vector<track_selection>{}; };
  return {.app = app,
          .perform = [options] { return compare_results(*options); },
          .needs = [no_track] { return build_request{.device = "emulator", .select = no_track}; }};
}

verb emulate_verb(CLI::App& program) {
  const auto options = std::make_shared<emulate_options>();
  CLI::App* app = add_verb(program, "emulate");
  app->add_option("files", options->files, "its sources: .cu, .cpp, .cc, .cxx, .c, .o, .a")
      ->type_name("FILE")
      ->required();
  app->add_flag("--observe", options->observe,
                "count what each kernel and line does, and find races and wrong accesses (slower)");
  app->add_flag("--ptx", options->ptx,
                "--observe, with nvcc: count accesses as it has compiled them, merged, widened or dropped");
  app->add_option("--timeout", options->timeout_seconds, "end the program after this time (default: 300)")
      ->type_name("SECONDS");
  app->add_option("--memory", options->memory, "end the program when it uses more: 512M, 8G (default: 8G)")
      ->type_name("BYTES");
  add_json(*app, options->json_path);
  app->footer(
      "The compiler's words are taken as g++ and nvcc have them: -I, -D, -U, -std, -include, -l, -L, "
      "-Xcompiler,\n"
      "-arch (for __CUDA_ARCH__), -o (compile and do not run), -c. The program's own arguments follow after "
      "--.\n"
      "Exit code: the program's; 1 if that is 0 and a kernel failed; 2 if it does not compile.");
  return {.app = app,
          .perform = [options] { return emulate_program(*options); },
          .needs = [] { return build_request{.device = "emulator", .also = toolchain_targets()}; },
          .after_dashes = &options->arguments,
          .words_for_compiler = &options->words};
}

}  // namespace

std::map<std::string, verb> add_verbs(CLI::App& program) {
  // In the order in which the help shows them.
  constexpr verb (*all[])(CLI::App&) = {describe_verb, run_verb,  verify_verb, bench_verb,     apply_verb,
                                        profile_verb,  draw_verb, trace_verb,  translate_verb, emulate_verb,
                                        compare_verb,  new_verb,  check_verb,  grade_verb};
  std::map<std::string, verb> verbs;
  for (const auto add : all) {
    verb added = add(program);
    verbs.emplace(added.app->get_name(), std::move(added));
  }
  return verbs;
}

}  // namespace lab::front
