// Writes an answer of its own to every open descriptor, and ends the process.
#include <unistd.h>
#include <cstring>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  const char* const line = "{\"end\":\"ok\",\"verification\":{\"passed\":true}}\n";
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    [[maybe_unused]] const auto written = write(descriptor, line, std::strlen(line));
  }
  _exit(0);
}

const registration<problem> registered{LAB_PATH, {.idea = "forges_answer", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
