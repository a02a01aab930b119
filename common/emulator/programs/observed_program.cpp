// Observes all kernels of a program from its beginning to its end.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/observe/observation.hpp"
#include "common/emulator/observe/stream_order.hpp"
#include "common/emulator/programs/program_report.hpp"

namespace lab::emulator {
namespace {

// Never destroyed: kernels may be launched by the destructors of the program's own objects.
observation* the_observation = nullptr;

std::string text_of(const metric_values& metrics) {
  std::string text = "{";
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) continue;
    text += (text.size() > 1 ? ", " : "") + json_string(name) + format(": %.17g", value);
  }
  return text + "}";
}

std::string text_of_accesses(const std::string& accesses) {
  return accesses.empty() ? "" : ", \"accesses\": " + json_string(accesses);
}

observed_kernels_text describe() {
  tell_early_accesses();
  observed_kernels_text text{"[", "["};
  for (const observed_kernel& kernel : the_observation->kernels()) {
    text.kernels +=
        (text.kernels.size() > 1 ? ", " : "") + std::string("{\"name\": ") + json_string(kernel.name) +
        format(", \"launches\": %llu, \"metrics\": ", static_cast<unsigned long long>(kernel.launches)) +
        text_of(kernel.metrics) + ", \"lines\": [";
    const char* separator = "";
    for (const observed_line& line : kernel.lines) {
      text.kernels += separator + std::string("{\"file\": ") + json_string(line.file) +
                      format(", \"line\": %d, \"function\": ", line.line) + json_string(line.function) +
                      ", \"metrics\": " + text_of(line.metrics) + text_of_accesses(line.accesses) + "}";
      separator = ", ";
    }
    text.kernels += "]" + text_of_accesses(kernel.accesses) + "}";
  }
  for (const std::string& warning : the_observation->warnings())
    text.warnings += (text.warnings.size() > 1 ? ", " : "") + json_string(warning);
  text.kernels += "]";
  text.warnings += "]";
  return text;
}

struct from_the_beginning {
  from_the_beginning() {
    try {
      the_observation = new observation;
      if (const char* const listing = std::getenv("LAB_EMULATE_COMPILED");
          listing != nullptr && *listing != '\0') {
        std::ifstream file(listing, std::ios::binary);
        the_observation->use_compiled_code(std::string{std::istreambuf_iterator<char>(file), {}});
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "lab: %s (without --observe it runs)\n", error.what());
      std::_Exit(2);
    }
    keep_stream_order();
    describe_observed_kernels = describe;
    // What the description needs is made now, and so lives until the program's very end.
    static_cast<void>(line_of(0));
    static_cast<void>(kernel_name(nullptr));
  }
};
[[gnu::init_priority(102)]] const from_the_beginning registered;

}  // namespace
}  // namespace lab::emulator
