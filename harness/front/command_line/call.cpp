#include "harness/front/command_line/call.hpp"

#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

verb list_verb(CLI::App& program) {
  const auto options = std::make_shared<list_options>();
  CLI::App* app = program.add_subcommand("list", "tracks, stages, the idea of each, what each needs");
  add_patterns(*app, options->patterns);
  add_device(*app, options->device);
  add_json(*app, options->json_path);
  return {.app = app,
          .perform = [options] { return list_stages(*options); },
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
  return {.device = options.device, .select = select_by(options.patterns, check), .verifies = true};
}

verb run_verb(CLI::App& program) {
  struct run_call {
    run_options run;
    bool check = false;
  };
  const auto options = std::make_shared<run_call>();
  CLI::App* app = program.add_subcommand("run", "verify, time, and print the ladder");
  add_measuring(*app, options->run);
  app->add_option("--images", options->run.images_path,
                  "write what the stages draw, and its difference from what is right, into this directory")
      ->type_name("DIR");
  app->add_flag("--check", options->check, "then test what the stages' pages claim of their times");
  return {.app = app,
          .perform = [options] { return run_ladders(options->run, options->check); },
          .needs = [options] { return needs_of_run(options->run, options->check); },
          .parameters = &options->run.parameters,
          .option_names = &options->run.option_names};
}

verb verify_verb(CLI::App& program) {
  struct verify_call {
    run_options run;
    bool quick = false;
    bool thorough = false;
  };
  const auto options = std::make_shared<verify_call>();
  CLI::App* app = program.add_subcommand("verify", "correctness alone, hostile inputs and sizes included");
  add_patterns(*app, options->run.patterns);
  app->add_flag("--thorough", options->thorough, "all sizes and inputs (default)");
  app->add_flag("--quick", options->quick, "a few sizes and inputs");
  add_device(*app, options->run.device);
  add_seed(*app, options->run.seed);
  add_trial_seed(*app, options->run.trial_seed);
  add_timeout(*app, options->run.timeout_seconds);
  add_json(*app, options->run.json_path);
  app->callback([options] {
    if (options->quick && options->thorough) throw usage_error("--quick and --thorough exclude each other");
    options->run.thorough = !options->quick;
  });
  return {.app = app,
          .perform = [options] { return verify_stages(options->run); },
          .needs = [options] { return needs_of_run(options->run, false); },
          .option_names = &options->run.option_names};
}

verb bench_verb(CLI::App& program) {
  struct bench_call {
    run_options run;
    std::vector<std::string> benchmark_arguments;
  };
  const auto options = std::make_shared<bench_call>();
  CLI::App* app = program.add_subcommand("bench", "the same measurements through Google Benchmark");
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
  CLI::App* app = program.add_subcommand("apply", "run one stage on your own data");
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
  CLI::App* app = program.add_subcommand(
      "profile", "performance counters: from Nsight Compute on a GPU, modelled by the emulator elsewhere");
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
                    .select = with_whole_tracks(select_some(options->patterns), options->check),
                    .counts = true};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

verb translate_verb(CLI::App& program) {
  const auto options = std::make_shared<translate_options>();
  CLI::App* app = program.add_subcommand(
      "translate", "show a PTX device function as CUDA C++ with inline assembly; needs no GPU");
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

verb emulate_verb(CLI::App& program) {
  const auto options = std::make_shared<emulate_options>();
  CLI::App* app = program.add_subcommand(
      "emulate", "compile and run your own CUDA program on the emulator; needs no GPU and no CUDA toolkit");
  app->add_option("files", options->files, "its sources: .cu, .cpp, .cc, .cxx, .c, .o, .a")
      ->type_name("FILE")
      ->required();
  app->add_flag("--observe", options->observe,
                "count what each kernel and line does, and find races and wrong accesses (slower)");
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

verb doctor_verb(CLI::App& program) {
  const auto options = std::make_shared<doctor_options>();
  CLI::App* app =
      program.add_subcommand("doctor", "what this machine has, and what to do about what it lacks");
  add_json(*app, options->json_path);
  // Any track's worker knows the device.
  const auto any_track = [](const auto& tracks) {
    return std::vector<track_selection>{{&tracks.front(), {}}};
  };
  return {.app = app,
          .perform = [options] { return examine_machine(*options); },
          .needs = [any_track] { return build_request{.device = "", .select = any_track}; }};
}

}  // namespace

std::map<std::string, verb> add_verbs(CLI::App& program) {
  // In the order in which the help shows them.
  constexpr verb (*all[])(CLI::App&) = {list_verb,    run_verb,       verify_verb,  bench_verb, apply_verb,
                                        profile_verb, translate_verb, emulate_verb, doctor_verb};
  std::map<std::string, verb> verbs;
  for (const auto add : all) {
    verb added = add(program);
    verbs.emplace(added.app->get_name(), std::move(added));
  }
  return verbs;
}

}  // namespace lab::front
