#include "common/ptx/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <set>
#include <span>

#include "common/file.hpp"
#include "common/ptx/module.hpp"
#include "common/run_time/compiler.hpp"
#include "common/utf8.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

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

std::string read_ptx(const std::string& path) {
  const file_descriptor file = open_to_read(path);
  std::string text(ptx::most_bytes + 1, '\0');
  text.resize(read_bytes(path, file, std::as_writable_bytes(std::span(text))));
  if (text.size() > ptx::most_bytes)
    throw file_error(path, fmt::format("is larger than {}, which is the most PTX that is read",
                                       humanised_bytes(static_cast<double>(ptx::most_bytes))));
  return text;
}

// "FILE:LINE:COLUMN: message", the line, and a caret below the column.
std::string located(const std::string& path, const std::string& ptx, const ptx::error& error) {
  std::string text =
      fmt::format("{}:{}:{}: {}", escaped(path), error.line(), error.column(), error.message());
  const std::vector<std::string> lines = lines_of(ptx);
  if (error.line() > lines.size()) return text;
  constexpr std::size_t before = 60, width = 100;
  const std::string& line = lines[error.line() - 1];
  const std::size_t column = std::min(error.column() - 1, line.size());
  const std::size_t begin = column > before ? column - before : 0;
  const auto shown = [&](std::size_t from, std::size_t to) {
    std::string part = line.substr(from, to - from);
    std::replace(part.begin(), part.end(), '\t', ' ');
    return escaped(part);
  };
  const std::string left = shown(begin, column);
  text += "\n  " + left + shown(column, std::min(line.size(), begin + width));
  return text + "\n  " + std::string(display_width(left), ' ') + "^";
}

ptx::request request_from(const translate_options& options) {
  ptx::request asked{.name = options.name,
                     .called = options.called,
                     .result_type = options.result,
                     .parameters = options.parameters};
  if (options.convention == "numba") {
    asked.how = ptx::convention::numba;
  } else if (options.convention == "c") {
    asked.how = ptx::convention::c;
  } else if (!options.convention.empty()) {
    throw usage_error(fmt::format("--convention must be numba or c, not '{}'", options.convention));
  }
  return asked;
}

// A line of PTX as a cell: its spaces single, at most so wide.
std::string cell(const std::string& line) {
  std::string text;
  for (const char c : line) {
    const bool is_space = c == ' ' || c == '\t' || c == '\r';
    if (!is_space) text += c;
    if (is_space && !text.empty() && text.back() != ' ') text += ' ';
  }
  constexpr std::size_t most = 60;
  return shortened(escaped(text), most);
}

// PTX on the left, what becomes of it on the right. Lines of PTX that become nothing stand alone.
std::string side_by_side(const std::string& ptx, const ptx::translation& translated) {
  const std::vector<std::string> source = lines_of(ptx);
  const std::vector<std::string> target = lines_of(translated.text);
  const auto signature = std::find_if(target.begin(), target.end(), [](const std::string& line) {
    return line.rfind("__device__ inline", 0) == 0;
  });
  const std::size_t first = translated.lines[static_cast<std::size_t>(signature - target.begin())];
  const std::size_t last = translated.lines.back();
  const std::set<std::size_t> used(translated.lines.begin(), translated.lines.end());
  std::set<std::size_t> shown;
  table_rows rows{{"PTX", "|", "CUDA C++"}};
  std::size_t next = first;  // the line of the function that has not been passed
  const auto left = [&](std::size_t line) {
    return line != 0 && line <= source.size() && shown.insert(line).second ? cell(source[line - 1]) : "";
  };
  for (std::size_t k = 0; k < target.size(); ++k) {
    const std::size_t origin = translated.lines[k];
    for (; next < origin && origin <= last; ++next) {
      if (used.count(next) != 0) continue;
      if (const std::string text = left(next); !text.empty()) rows.push_back({text, "|"});
    }
    rows.push_back({left(origin), "|", target[k]});
  }
  return aligned_text(rows, {alignment::left, alignment::left, alignment::left});
}

// A kernel that calls the function twice, so that labels and registers of both copies meet.
std::string kernel_around(const ptx::translation& translated) {
  std::string parameters, arguments;
  for (const ptx::parameter& one : translated.parameters) {
    parameters += fmt::format(", {} {}", one.type, one.name);
    arguments += (arguments.empty() ? "" : ", ") + one.name;
  }
  const bool gives = translated.result_type != "void";
  const std::string call = fmt::format("{}({});", translated.name, arguments);
  return fmt::format(
      "{}extern \"C\" __global__ void translated({}* results{}) "
      "{{\n  {}{}\n  {}{}\n}}\n",
      translated.text, translated.result_type, parameters, gives ? "results[0] = " : "", call,
      gives ? "results[1] = " : "", call);
}

// "sm_90" is 90.
int architecture_of(const std::string& text) {
  constexpr std::string_view prefix = "sm_";
  int number = 0;
  const char* const end = text.data() + text.size();
  const bool begins = text.rfind(prefix, 0) == 0;
  const auto [last, problem] = std::from_chars(begins ? text.data() + prefix.size() : end, end, number);
  if (problem != std::errc() || last != end || number < 10 || number > 999)
    throw usage_error(fmt::format("--compile needs an architecture such as sm_90, not '{}'", text));
  return number;
}

// Compiles to machine code. Throws usage_error with NVRTC's words against it.
void compile_translation(const ptx::translation& translated, int architecture) {
  try {
    const run_time::version written{translated.version_major, translated.version_minor};
    if (const run_time::version newest = run_time::newest_ptx_version(); written > newest) {
      throw usage_error(fmt::format("this is PTX {}, and NVRTC here knows no more than {}",
                                    run_time::to_string(written), run_time::to_string(newest)));
    }
    static_cast<void>(run_time::compile(
        {.source = kernel_around(translated), .file_name = "translation.cu", .architecture = architecture}));
  } catch (const run_time::library_error& missing) {
    throw environment_error(
        fmt::format("--compile needs NVRTC: {}; without --compile none is needed", missing.what()));
  } catch (const run_time::compile_error& against) {
    throw usage_error(
        fmt::format("NVRTC does not compile the translation for sm_{}:\n{}", architecture, against.what()));
  }
}

nlohmann::json document_of(const translate_options& options, const ptx::translation& translated) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ptx::parameter& one : translated.parameters)
    parameters.push_back({{"type", one.type}, {"name", one.name}});
  return {{"schema", "kernel-lab-translate"},
          {"version", 1},
          {"file", options.file},
          {"ptx",
           {{"version", fmt::format("{}.{}", translated.version_major, translated.version_minor)},
            {"target", translated.target},
            {"name", translated.source_name}}},
          {"convention", translated.how == ptx::convention::numba ? "numba" : "c"},
          {"name", translated.name},
          {"result", translated.result_type},
          {"parameters", parameters},
          {"text", translated.text},
          {"lines", translated.lines}};
}

int translate_file(const translate_options& options) {
  const int architecture = options.compile.empty() ? 0 : architecture_of(options.compile);
  const ptx::request asked = request_from(options);
  check_files({{"FILE", options.file}}, {{"--json", options.json_path}});
  const std::string text = read_ptx(options.file);
  ptx::translation translated;
  try {
    translated = ptx::translate(text, asked);
  } catch (const ptx::error& error) {
    throw usage_error(located(options.file, text, error));
  }
  std::printf("%s: PTX %d.%d for %s, %s convention\n\n%s", escaped(translated.source_name).c_str(),
              translated.version_major, translated.version_minor,
              translated.target.empty() ? "any target" : translated.target.c_str(),
              translated.how == ptx::convention::numba ? "Numba's" : "C's",
              side_by_side(text, translated).c_str());
  if (!options.json_path.empty()) write_file(options.json_path, json_text(document_of(options, translated)));
  if (options.compile.empty()) return exit_ok;
  compile_translation(translated, architecture);
  std::printf("\nNVRTC compiles it for %s, twice in one kernel.\n", options.compile.c_str());
  return exit_ok;
}

}  // namespace

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
  return {.app = app, .perform = [options] { return translate_file(*options); }, .needs = nothing_to_build};
}

}  // namespace lab::front
