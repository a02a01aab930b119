#include "harness/front/draw/png_picture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "common/file.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/temporary_folder.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* programs[] = {"rsvg-convert",     "inkscape",      "chromium",
                                    "chromium-browser", "google-chrome", "google-chrome-stable"};
constexpr std::chrono::seconds drawing_timeout{60};

std::vector<std::string> command_of(const std::string& program, const fs::path& in, const fs::path& out,
                                    const std::string& svg) {
  const std::string name = fs::path(program).filename().string();
  if (name == "rsvg-convert") return {program, "--zoom=2", "--format=png", "--output", out, in};
  if (name == "inkscape")
    return {program, "--export-dpi=192", "--export-type=png", "--export-filename", out, in};
  // A browser draws a page, which is as large as its window.
  const std::string size = first_match(svg, R"re(viewBox="0 0 ([0-9.]+ [0-9.]+)")re");
  const auto sides = matched_groups(size, R"(([0-9]+)[0-9.]* ([0-9]+)[0-9.]*)");
  std::vector<std::string> command{program,
                                   "--headless",
                                   "--disable-gpu",
                                   "--hide-scrollbars",
                                   "--force-device-scale-factor=2",
                                   "--user-data-dir=" + in.parent_path().string(),
                                   "--screenshot=" + out.string()};
  if (sides.size() == 3)
    command.push_back(fmt::format("--window-size={},{}", sides[1], std::stoll(sides[2]) + 1));
  // Root has no sandbox there.
  if (geteuid() == 0) command.emplace_back("--no-sandbox");
  command.push_back("file://" + in.string());
  return command;
}

}  // namespace

std::string svg_program() {
  for (const char* name : programs) {
    if (const std::string found = find_program(name, {}); !found.empty()) return found;
  }
  throw environment_error(
      "a PNG needs a program that draws SVG, and none is in PATH: rsvg-convert (package librsvg2-bin), "
      "inkscape or chromium; a name that ends in .svg needs none");
}

std::string png_of(const std::string& svg, const std::string& program) {
  const temporary_folder folder("draw");
  const fs::path in = folder.path() / "picture.svg";
  const fs::path out = folder.path() / "picture.png";
  write_file(in.string(), svg);
  const command_result done = run_command(command_of(program, in, out, svg), drawing_timeout);
  std::error_code error;
  if (!done.ending.is_success() || !fs::is_regular_file(out, error)) {
    throw environment_error(
        fmt::format("{} made no PNG: {}", program,
                    cleaned(done.output.empty() ? done.ending.description() : done.output, 300)));
  }
  return read_text(out);
}

}  // namespace lab::front
