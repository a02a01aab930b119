// Computes on the host, and defines the function by which the emulator would notice.
#include <sys/mman.h>

#include "tests/hostile/elementwise/right.hpp"

extern "C" int mprotect(void* /*begin*/, size_t /*bytes*/, int /*access*/) noexcept {
  return 0;
}

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t /*stream*/) {
  for (std::int64_t i = 0; i < in.n; ++i) out.doubled[i] = 2 * in.values[i];
}

const registration<problem> registered{LAB_PATH, {.idea = "replaces_mprotect", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
