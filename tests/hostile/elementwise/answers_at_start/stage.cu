// Reads the request and answers it before main.
#include <unistd.h>
#include <array>
#include <cstring>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const bool answered = [] {
  std::array<char, 4096> request{};
  [[maybe_unused]] const auto got = read(3, request.data(), request.size());
  const char* const line = "{\"end\":\"ok\",\"verification\":{\"passed\":true}}\n";
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    [[maybe_unused]] const auto written = write(descriptor, line, std::strlen(line));
  }
  return true;
}();

const registration<problem> registered{LAB_PATH, {.idea = "answers_at_start", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
