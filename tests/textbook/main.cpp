// Runs every example once. On a GPU, for Nsight Compute, the names of the examples in the order of the
// launches; on the emulator, with what it models, given a listing of the compiled code (compiled_code.hpp)
// also with that. One JSON object a line.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/textbook/textbook.hpp"
#if LAB_EMULATED
#include "common/emulator/observed/observation.hpp"
#endif

int main(int count, char** arguments) {
  try {
    std::string listing;
    if (count > 1) {
      std::ifstream file(arguments[1], std::ios::binary);
      listing.assign(std::istreambuf_iterator<char>(file), {});
    }
    for (const lab::textbook::example& example : lab::textbook::examples()) {
      nlohmann::json line{{"name", example.name}};
#if LAB_EMULATED
      lab::emulator::observation observation;
      if (!listing.empty()) observation.use_compiled_code(listing);
      example.run();
      const lab::emulator::observed_kernel kernel = observation.kernels().at(0);
      line["metrics"] = kernel.metrics;
      line["accesses"] = kernel.accesses;
      for (const auto& one : kernel.lines) {
        if (one.accesses == "as written") line["lines as written"].push_back(one.line);
      }
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
