#include "common/ptx/translate.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <span>

#include "common/file.hpp"
#include "common/ptx/module.hpp"
#include "common/utf8.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

std::string read_ptx(const std::string& path) {
  const file_descriptor file = open_to_read(path);
  std::string text(ptx::most_bytes + 1, '\0');
  text.resize(read_bytes(path, file, std::as_writable_bytes(std::span(text))));
  if (text.size() > ptx::most_bytes)
    throw file_error(path, fmt::format("is larger than {}, which is the most PTX that is read",
                                       humanised_bytes(static_cast<double>(ptx::most_bytes))));
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// "FILE:LINE:COLUMN: message", the line, and a caret below the place.
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
std::string side_by_side(const std::string& ptx, const ptx::translation& made) {
  const std::vector<std::string> source = lines_of(ptx);
  const std::vector<std::string> target = lines_of(made.text);
  const auto signature = std::find_if(target.begin(), target.end(), [](const std::string& line) {
    return line.rfind("__device__ inline", 0) == 0;
  });
  const std::size_t first = made.lines[static_cast<std::size_t>(signature - target.begin())];
  const std::size_t last = made.lines.back();
  const std::set<std::size_t> used(made.lines.begin(), made.lines.end());
  std::set<std::size_t> shown;
  table_rows rows{{"PTX", "|", "CUDA C++"}};
  std::size_t next = first;  // the line of the function that has not been passed
  const auto left = [&](std::size_t line) {
    return line != 0 && line <= source.size() && shown.insert(line).second ? cell(source[line - 1]) : "";
  };
  for (std::size_t k = 0; k < target.size(); ++k) {
    const std::size_t origin = made.lines[k];
    for (; next < origin && origin <= last; ++next) {
      if (used.count(next) != 0) continue;
      if (const std::string text = left(next); !text.empty()) rows.push_back({text, "|"});
    }
    rows.push_back({left(origin), "|", target[k]});
  }
  return aligned_text(rows, {alignment::left, alignment::left, alignment::left});
}

struct close_library {
  void operator()(void* library) const { dlclose(library); }
};
using shared_library = std::unique_ptr<void, close_library>;

shared_library open_nvrtc() {
  for (const char* path :
       {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib/libnvrtc.so.13"}) {
    if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return shared_library(library);
  }
  throw environment_error(
      "--compile needs NVRTC (libnvrtc.so.13 of the CUDA Toolkit 13), and it was not found; without "
      "--compile none is needed");
}

template <class Function>
Function symbol(const shared_library& library, const char* name) {
  const auto found = reinterpret_cast<Function>(dlsym(library.get(), name));
  if (found == nullptr) throw environment_error(fmt::format("NVRTC has no function {}", name));
  return found;
}

// A kernel that calls the function twice, so that labels and registers of both copies meet.
std::string kernel_around(const ptx::translation& made) {
  std::string parameters, arguments;
  for (const ptx::parameter& one : made.parameters) {
    parameters += fmt::format(", {} {}", one.type, one.name);
    arguments += (arguments.empty() ? "" : ", ") + one.name;
  }
  const bool gives = made.result_type != "void";
  const std::string call = fmt::format("{}({});", made.name, arguments);
  return fmt::format(
      "{}extern \"C\" __global__ void translated({}* results{}) "
      "{{\n  {}{}\n  {}{}\n}}\n",
      made.text, made.result_type, parameters, gives ? "results[0] = " : "", call,
      gives ? "results[1] = " : "", call);
}

// Compiles to machine code. Returns what NVRTC says against it; no value where it compiles.
std::optional<std::string> compile_translation(const ptx::translation& made,
                                               const std::string& architecture) {
  using program = void*;
  const shared_library nvrtc = open_nvrtc();
  const auto create =
      symbol<int (*)(program*, const char*, const char*, int, const char* const*, const char* const*)>(
          nvrtc, "nvrtcCreateProgram");
  const auto compile = symbol<int (*)(program, int, const char* const*)>(nvrtc, "nvrtcCompileProgram");
  const auto log_size = symbol<int (*)(program, std::size_t*)>(nvrtc, "nvrtcGetProgramLogSize");
  const auto log = symbol<int (*)(program, char*)>(nvrtc, "nvrtcGetProgramLog");
  const auto destroy = symbol<int (*)(program*)>(nvrtc, "nvrtcDestroyProgram");
  program made_program = nullptr;
  if (create(&made_program, kernel_around(made).c_str(), "translation.cu", 0, nullptr, nullptr) != 0)
    throw environment_error("NVRTC makes no program");
  const std::string option = "--gpu-architecture=" + architecture;
  const char* const options[] = {option.c_str(), "--std=c++20"};
  const int code = compile(made_program, 2, options);
  std::size_t size = 0;
  std::string said;
  if (log_size(made_program, &size) == 0 && size > 1) {
    said.resize(size);
    log(made_program, said.data());
    said.pop_back();
  }
  destroy(&made_program);
  if (code == 0) return std::nullopt;
  return said.empty() ? fmt::format("error {} of NVRTC", code) : said;
}

void check_architecture(const std::string& architecture) {
  const bool fits = architecture.rfind("sm_", 0) == 0 && architecture.size() > 3 &&
                    architecture.size() <= 8 &&
                    std::all_of(architecture.begin() + 3, architecture.end(),
                                [](char c) { return (c >= '0' && c <= '9') || c == 'a' || c == 'f'; });
  if (!fits && !architecture.empty())
    throw usage_error(fmt::format("--compile needs an architecture such as sm_90, not '{}'", architecture));
}

nlohmann::json document_of(const translate_options& options, const ptx::translation& made) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ptx::parameter& one : made.parameters)
    parameters.push_back({{"type", one.type}, {"name", one.name}});
  return {{"schema", "kernel-lab-translate"},
          {"version", 1},
          {"file", options.file},
          {"ptx",
           {{"version", fmt::format("{}.{}", made.version_major, made.version_minor)},
            {"target", made.target},
            {"name", made.source_name}}},
          {"convention", made.how == ptx::convention::numba ? "numba" : "c"},
          {"name", made.name},
          {"result", made.result_type},
          {"parameters", parameters},
          {"text", made.text},
          {"lines", made.lines}};
}

}  // namespace

int translate_file(const translate_options& options) {
  check_architecture(options.compile);
  const ptx::request asked = request_from(options);
  check_files({{"FILE", options.file}}, {{"--json", options.json_path}});
  const std::string text = read_ptx(options.file);
  ptx::translation made;
  try {
    made = ptx::translate(text, asked);
  } catch (const ptx::error& error) {
    throw usage_error(located(options.file, text, error));
  }
  std::printf("%s: PTX %d.%d for %s, %s convention\n\n%s", escaped(made.source_name).c_str(),
              made.version_major, made.version_minor,
              made.target.empty() ? "any target" : made.target.c_str(),
              made.how == ptx::convention::numba ? "Numba's" : "C's", side_by_side(text, made).c_str());
  if (!options.json_path.empty()) write_file(options.json_path, json_text(document_of(options, made)));
  if (options.compile.empty()) return exit_ok;
  if (const auto against = compile_translation(made, options.compile)) {
    throw usage_error(
        fmt::format("NVRTC does not compile the translation for {}:\n{}", options.compile, *against));
  }
  std::printf("\nNVRTC compiles it for %s, twice in one kernel.\n", options.compile.c_str());
  return exit_ok;
}

}  // namespace lab::front
