#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/utf8.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/counters/counters_table.hpp"
#include "harness/front/emulate/compile.hpp"
#include "harness/front/emulate/machine_code.hpp"
#include "harness/front/emulate/run_program.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/temporary_folder.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

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

namespace files = std::filesystem;

// What the program's kernels have said, by themselves.
struct kernel_report {
  bool is_there = false;
  bool failed = false;  // a kernel has failed, or a launch was refused
  std::vector<std::string> faults;
  std::vector<std::string> notes;
  std::uint64_t recalled_launches = 0;
  profile_record profile;
  // "as compiled" or "as written": of each kernel, and of the lines that have accesses.
  std::vector<std::string> accesses;
  std::vector<std::vector<std::string>> line_accesses;
};

kernel_report read_report(const std::string& path) {
  kernel_report report;
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // JSON is UTF-8, which the names of files need not be.
  if (first_invalid_utf8(text))
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return report;
  report.is_there = true;
  report.failed = json.value("failed", false);
  for (const std::string& said : json.value("diagnostics", std::vector<std::string>())) {
    if (said.rfind("warning: ", 0) == 0) {
      report.notes.push_back(said);
      continue;
    }
    const bool refused = said.find("launch refused") != std::string::npos;
    report.failed = report.failed || refused;
    report.faults.push_back(said);
  }
  if (!report.failed) {  // calls that answered with an error
    report.notes.insert(report.notes.end(), report.faults.begin(), report.faults.end());
    report.faults.clear();
  }
  for (const std::string& warning : json.value("warnings", std::vector<std::string>()))
    report.notes.push_back("warning: " + warning);
  report.recalled_launches = json.value("recalled_launches", std::uint64_t{0});
  if (const auto kernels = json.find("kernels"); kernels != json.end())
    report.profile.kernels = kernels->get<std::vector<kernel_record>>();
  for (const auto& kernel : json.value("kernels", nlohmann::json::array())) {
    report.accesses.push_back(kernel.value("accesses", ""));
    auto& lines = report.line_accesses.emplace_back();
    for (const auto& line : kernel.at("lines")) lines.push_back(line.value("accesses", ""));
  }
  return report;
}

void read_sources(profile_record& profile) {
  constexpr std::uintmax_t most = 1 << 20;
  for (const kernel_record& kernel : profile.kernels) {
    for (const line_record& line : kernel.lines) {
      std::error_code error;
      if (profile.sources.count(line.file) != 0 || files::file_size(line.file, error) > most || error)
        continue;
      std::ifstream file(line.file);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (!first_invalid_utf8(text)) profile.sources[line.file] = text;
    }
  }
}

// How a kernel's accesses were counted, in words; notes of each line in `shown`.
std::string accesses_of(const kernel_report& report, std::size_t number, stage_profile& shown) {
  const kernel_record& kernel = report.profile.kernels[number];
  bool any_compiled = false;
  for (std::size_t line = 0; line < kernel.lines.size(); ++line) {
    const std::string& how = report.line_accesses[number][line];
    if (how.empty()) continue;
    any_compiled = any_compiled || how == "as compiled";
    // Of a line of several kernels: the less certain one.
    std::string& known = shown.accesses[{kernel.lines[line].file, kernel.lines[line].line}];
    if (known != "as written") known = how;
  }
  if (report.accesses[number] == "as compiled" || !any_compiled) return report.accesses[number];
  return "partly as compiled";
}

// Each kernel is a column.
void print_counters(const kernel_report& report, bool compares) {
  const profile_record& profile = report.profile;
  std::vector<stage_profile> columns;
  stage_profile whole;
  whole.profile = profile;
  for (std::size_t number = 0; number < profile.kernels.size(); ++number) {
    const kernel_record& kernel = profile.kernels[number];
    const std::string launches = kernel.launches == 1 ? "" : fmt::format("{} launches", kernel.launches);
    std::string how;
    if (compares) how = accesses_of(report, number, whole);
    const std::string both = launches + (launches.empty() || how.empty() ? "" : ", ") + how;
    stage_profile column;
    column.stage =
        fmt::format("{}{}", cleaned(kernel.name, 60), both.empty() ? "" : fmt::format(" ({})", both));
    column.profile.kernels = {kernel};
    columns.push_back(std::move(column));
  }
  std::printf("\ncounters, modelled%s:\n%s", compares ? "" : ", accesses as written",
              counters_table(columns, {}).c_str());
  std::printf("\n%s", annotated_sources({whole}).c_str());
}

std::chrono::milliseconds checked_time(double seconds) {
  constexpr double most = 86400;
  if (!(seconds > 0) || !(seconds <= most))
    throw usage_error(fmt::format("--timeout must be from above 0 to {} seconds", most));
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

// "512M", "8G", "1e9" bytes.
std::uint64_t checked_memory(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty()  ? 1.0
                        : unit == "K" ? 1024.0
                        : unit == "M" ? 0x1p20
                        : unit == "G" ? 0x1p30
                                      : 0.0;
  if (end == text.c_str() || !(number * factor >= 0x1p20) || !(number * factor <= 0x1p50))
    throw usage_error(
        fmt::format("--memory must be bytes, from 1M, with K, M or G behind them; not '{}'", text));
  return static_cast<std::uint64_t>(number * factor);
}

nlohmann::json kernels_of(const kernel_report& report) {
  nlohmann::json kernels = report.profile.kernels;
  for (std::size_t number = 0; number < kernels.size(); ++number) {
    kernels[number]["accesses"] = report.accesses[number];
    for (std::size_t line = 0; line < report.line_accesses[number].size(); ++line) {
      const std::string& how = report.line_accesses[number][line];
      if (!how.empty()) kernels[number]["lines"][line]["accesses"] = how;
    }
  }
  return kernels;
}

nlohmann::json document_of(const emulate_options& options, const program_ending& ended,
                           const kernel_report& report) {
  nlohmann::json document{{"schema", "kernel-lab-emulate"},
                          {"version", 1},
                          {"files", options.files},
                          {"observed", options.observe || options.ptx},
                          {"exit_code", nullptr},
                          {"signal", nullptr},
                          {"ended_because", ended.ended_because},
                          {"left_behind", ended.left_behind},
                          {"failed", report.failed},
                          {"faults", report.faults},
                          {"notes", report.notes},
                          {"recalled_launches", report.recalled_launches},
                          {"kernels", kernels_of(report)},
                          {"modelled", true}};
  if (ended.ending) document[ended.ending->by_signal ? "signal" : "exit_code"] = ended.ending->code;
  return document;
}

int code_of(const program_ending& ended, const kernel_report& report) {
  if (!ended.ended_because.empty()) return exit_stage_failed;
  if (ended.ending->by_signal) return 128 + ended.ending->code;  // as a shell says it
  if (ended.ending->code != 0) return ended.ending->code;
  return report.failed || !ended.left_behind.empty() ? exit_stage_failed : exit_ok;
}

struct program_run {
  program_ending ended;
  kernel_report report;
};

program_run run_once(const emulate_options& options, const std::string& program,
                     const temporary_folder& scratch, const program_limits& limits) {
  const std::string report_path = (scratch.path() / "report.json").string();
  std::error_code error;
  files::remove(report_path, error);
  setenv("LAB_EMULATE_REPORT", report_path.c_str(), 1);
  std::vector<std::string> command{program};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  program_run result{run_program_within(command, limits), {}};
  result.report = read_report(report_path);
  return result;
}

// Whether each fault that can says "FILE:LINE: ..." of a file of the program.
bool names_lines(const kernel_report& report) {
  return std::all_of(report.faults.begin(), report.faults.end(), [](const std::string& fault) {
    if (fault.find("launch refused") != std::string::npos) return true;  // that of its call, if any
    const std::size_t colon = fault.find(':');
    return colon != std::string::npos && colon + 1 < fault.size() && fault[colon + 1] >= '0' &&
           fault[colon + 1] <= '9';
  });
}

// The faults of the same program once more, observed and without output: those name the line of every access.
std::optional<std::vector<std::string>> look_again(const emulate_options& options, compile_request request,
                                                   const temporary_folder& scratch, program_limits limits) {
  std::fprintf(stderr, "lab: running the program again, observed, to find the line of the fault\n");
  try {
    request.observe = true;
    request.program += ".observed";
    compile_program(request);
    limits.is_silent = true;
    program_run second = run_once(options, request.program, scratch, limits);
    if (second.report.faults.empty() || !names_lines(second.report)) return std::nullopt;
    return std::move(second.report.faults);
  } catch (const environment_error&) {
    return std::nullopt;
  } catch (const usage_error&) {
    return std::nullopt;
  }
}

void print_messages(const program_ending& ended, const kernel_report& report) {
  for (const std::string& note : report.notes) std::fprintf(stderr, "lab: %s\n", escaped(note).c_str());
  if (report.recalled_launches != 0)
    std::fprintf(
        stderr,
        "lab: %llu %s not computed again: kernel, arguments and all memory were as at an earlier one\n",
        static_cast<unsigned long long>(report.recalled_launches),
        report.recalled_launches == 1 ? "launch was" : "launches were");
  for (const std::string& fault : report.faults)
    std::fprintf(stderr, "lab: fault: %s\n", escaped(fault).c_str());
  if (!ended.ended_because.empty()) {
    std::fprintf(stderr, "lab: the program was ended: %s\n", ended.ended_because.c_str());
  } else if (ended.ending->by_signal) {
    std::fprintf(stderr, "lab: the program was %s\n", ended.ending->description().c_str());
  }
  for (const std::string& process : ended.left_behind)
    std::fprintf(stderr, "lab: the program left a process behind, which was ended: %s\n",
                 escaped(process).c_str());
}

// The listing of what nvcc made of the program, for it to read; what nvcc has not compiled is told. False if
// there is such a source.
bool write_listing(const compile_request& request, const std::string& nvcc, const std::string& path) {
  const machine_code code = read_machine_code(request, nvcc);
  for (const std::string& problem : code.problems)
    std::fprintf(stderr, "lab: accesses are counted as they are written: %s\n", problem.c_str());
  std::ofstream(path, std::ios::binary) << code.listing;
  setenv("LAB_EMULATE_COMPILED", path.c_str(), 1);
  return !code.was_refused;
}

constexpr auto longest_second_look = std::chrono::seconds(30);

int emulate_program(const emulate_options& options) {
  program_limits limits;
  if (options.timeout_seconds) limits.time = checked_time(*options.timeout_seconds);
  if (!options.memory.empty()) limits.memory_bytes = checked_memory(options.memory);
  std::vector<named_file> inputs;
  for (const std::string& file : options.files) inputs.push_back({"FILE", file});
  const bool only_compiles = options.words.only_objects || !options.words.output.empty();
  const bool observe = options.observe || options.ptx;
  if (options.ptx && only_compiles)
    throw usage_error("--ptx counts what a program does that is run: it does not go with -o, -c or -dc");
  check_files(inputs, {{"--json", options.json_path}, {"-o", options.words.output}});
  const temporary_folder scratch("emulate");
  compile_request request{.sources = options.files,
                          .words = options.words,
                          .observe = observe,
                          .folder = scratch.path().string()};
  request.program = (scratch.path() / files::path(options.files.front()).stem()).string();
  if (only_compiles) {
    request.program = !options.words.output.empty()
                          ? options.words.output
                          : files::path(options.files.front()).stem().string() + ".o";
    compile_program(request);
    return exit_ok;
  }
  const std::string nvcc = options.ptx ? find_nvcc() : "";
  compile_program(request);
  unsetenv("LAB_EMULATE_COMPILED");
  const bool is_compiled =
      !options.ptx || write_listing(request, nvcc, (scratch.path() / "compiled.txt").string());

  std::fflush(stdout);
  const auto began = std::chrono::steady_clock::now();
  const auto [ended, report] = run_once(options, request.program, scratch, limits);
  kernel_report shown = report;
  if (report.failed && !observe && !names_lines(report) &&
      std::chrono::steady_clock::now() - began < longest_second_look) {
    if (auto found = look_again(options, std::move(request), scratch, limits))
      shown.faults = std::move(*found);
  }
  print_messages(ended, shown);
  if (observe && report.is_there && !report.profile.kernels.empty()) {
    read_sources(shown.profile);
    print_counters(shown, options.ptx);
  }
  if (observe && !report.is_there)
    std::fprintf(stderr, "lab: no counters: the program ended without saying anything of its kernels\n");
  if (!options.json_path.empty())
    write_file(options.json_path, json_text(document_of(options, ended, shown)));
  const int code = code_of(ended, report);
  return code == exit_ok && !is_compiled ? exit_stage_failed : code;
}

}  // namespace

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
          .take_words =
              [options](std::vector<std::string>& arguments) {
                options->words = take_compiler_words(arguments);
              }};
}

}  // namespace lab::front
