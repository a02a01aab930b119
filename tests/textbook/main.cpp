// Runs every example once. On a GPU, for Nsight Compute, the names of the examples in the order of the
// launches; on the emulator, with what it models. One JSON object a line.
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "tests/textbook/textbook.hpp"
#if LAB_EMULATED
#include "common/emulator/observe/observation.hpp"
#endif

int main() {
  try {
    for (const lab::textbook::example& example : lab::textbook::examples()) {
      nlohmann::json line{{"name", example.name}};
#if LAB_EMULATED
      const lab::emulator::observation observation;
      example.run();
      line["metrics"] = observation.kernels().at(0).metrics;
#else
      example.run();
#endif
      std::printf("%s\n", line.dump().c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "textbook: %s\n", error.what());
    return 2;
  }
}
