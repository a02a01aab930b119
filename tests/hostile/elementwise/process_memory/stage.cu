// Computes on the host, and reads and writes device memory as the system's file of its memory.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t /*stream*/) {
  static const int memory = open("/proc/self/mem", O_RDWR);
  std::vector<double> values(static_cast<std::size_t>(in.n));
  const std::size_t bytes = values.size() * sizeof(double);
  if (pread(memory, values.data(), bytes, reinterpret_cast<off_t>(in.values)) < 0) return;
  for (double& value : values) value *= 2;
  if (pwrite(memory, values.data(), bytes, reinterpret_cast<off_t>(out.doubled)) < 0) return;
}

const registration<problem> registered{LAB_PATH, {.idea = "process_memory", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
