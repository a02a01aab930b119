// Hands out its last answer where 64 samples are those of before.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

constexpr int samples = 64;

struct kept {
  float samples_of_before[samples];
  float answer;
};
__device__ kept before;

__global__ void remember(const float* values, std::int64_t n, float* result) {
  bool is_known = true;
  for (int k = 0; k < samples; ++k) {
    const float value = values[n / samples * k];
    is_known = is_known && value == before.samples_of_before[k];
    before.samples_of_before[k] = value;
  }
  if (is_known) *result = before.answer;
  before.answer = *result;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_and_spoil(remember, in, out, scratch, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "knows its input by samples",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction::wrong
