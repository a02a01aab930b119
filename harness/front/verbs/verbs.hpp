// The verbs of the program. Each returns its exit code and throws what errors.hpp declares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/emulate/compile.hpp"
#include "harness/front/exercises/examination.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/selection/parameters.hpp"

namespace lab::front {

struct describe_options {
  std::vector<std::string> patterns;
  std::string device;
  std::string json_path;
};
int describe_stages(const describe_options& options);

// With `check`, the claims about time are tested with the run's timings.
int run_ladders(const run_options& options, bool check);
int verify_stages(const run_options& options);
// `verify` once for each of these seeds of further inputs, as many calls at once as there are processors.
int soak_stages(const run_options& options, const seed_range& seeds);

// `benchmark_arguments` are Google Benchmark's own.
int bench_stages(const run_options& options, const std::vector<std::string>& benchmark_arguments);

struct apply_options {
  std::string stage;
  std::string device;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::optional<double> timeout_seconds;
  std::string json_path;
  bool allow_inexact = false;
};
int apply_stage(const apply_options& options);

struct profile_options {
  std::vector<std::string> patterns;
  std::string device;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::vector<std::string> metrics;  // empty: those that the stage's page speaks of
  std::string output;                // of Nsight Compute; empty: the stage's name, in the current directory
  bool source = false;               // show the source with the counters of each line
  bool check = false;                // test the stages' claims about counters instead of showing the counters
  bool full = false;                 // all that Nsight Compute has, and the sources, in the report
  bool bench_size = false;           // the sizes of `lab run` instead of the emulator's
  std::string baseline;              // a second stage, to compare with; empty: none
  bool predict = false;              // ask for the counters of one stage first
  std::string answers;               // the file that answers; empty: the terminal does
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};
int profile_stages(const profile_options& options);

struct trace_options {
  std::string stage;
  std::string baseline;  // a second stage of the track; empty: none
  std::string device;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::string
      output;  // the files' names without their endings; empty: the stage's name, in the current directory
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};
int trace_stage(const trace_options& options);

// What a call needs built, without anything being started: the build's own names of the workers.
struct build_request {
  std::string device;
  stage_selector select;
  bool plain = true;                   // the device's own workers; on the emulator a call may do without
  bool counts = false;                 // with observed kernels, on the emulator
  bool proves = false;                 // stages without a proof, which takes both on the emulator
  bool anew = false;                   // and all others
  std::vector<std::string> also = {};  // targets that no stage has
};
[[nodiscard]] std::vector<std::string> build_targets(const build_request& request);

// Which access of a stage is drawn; what is not chosen is the one that costs the most beyond what it must.
struct draw_options {
  std::string stage;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::string line;                          // of the stage's source, or FILE:LINE
  std::string kernel;                        // a part of its name
  std::string memory;                        // "global", "shared"
  bool block = false;                        // the phases of a whole block instead of one access
  std::optional<std::int64_t> block_number;  // 0 by default
  std::optional<std::int64_t> warp;
  std::optional<std::int64_t> request;  // from 1
  std::string output;                   // empty: the stage's name, in the current directory
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};
int draw_stage(const draw_options& options);

struct translate_options {
  std::string file;
  std::string name;                     // of the PTX function; empty: the only one
  std::string called;                   // of the C++ function; empty: the same
  std::string result;                   // its type; empty: as the stores say
  std::vector<std::string> parameters;  // their types; empty: as the loads say
  std::string convention;               // "numba", "c"; empty: whichever it is
  std::string compile;                  // "sm_90": compile what came of it; empty: do not
  std::string json_path;
};
int translate_file(const translate_options& options);

// Exercises (docs/exercises.md).
struct new_options {
  std::string stage;     // "TRACK/NN_name": a stage of one's own
  std::string from;      // of the same track: what it begins with; empty: the track's first
  std::string exercise;  // in the place of `stage`
  std::string student;   // whose sizes the exercise gets
  bool list = false;     // show what exercises there are, and make nothing
};
int make_new(const new_options& options);

int check_exercise(const check_request& options);

struct grade_options {
  std::string exercise;
  std::string submission;
  std::string key;
  std::string make_key;  // a folder to make, and nothing to grade
  bool unconfined = false;
  std::string device;  // that submissions are timed on; empty: cuda:0 where there is one, else none
  std::optional<double> timeout_seconds;
  std::string gradescope_path;  // a file; a folder where there are several submissions
  std::string feedback_path;    // the same
  std::string csv_path;
  std::string junit_path;
  std::string json_path;
};
int grade_submissions(const grade_options& options);

struct compare_options {
  std::string older;  // a result file, or a folder of them
  std::string newer;
  double threshold = 0.01;  // the least difference that is worth a verdict, as a fraction
  bool markdown = false;    // print Markdown instead of a table for a terminal
  std::string json_path;
};
// Exit code 1 where a row became slower, or fails that was right.
int compare_results(const compare_options& options);

struct emulate_options {
  std::vector<std::string> files;
  std::vector<std::string> arguments;  // the program's own
  compiler_words words;
  bool observe = false;
  bool ptx = false;  // observed, and counted as nvcc has compiled it
  std::optional<double> timeout_seconds;
  std::string memory;
  std::string json_path;
};
// Compiles a CUDA program for the emulator and runs it. Returns the program's exit code, 1 if that is 0 and a
// kernel has failed or the program was ended, 128 and the signal's number if it died of one.
int emulate_program(const emulate_options& options);

}  // namespace lab::front
