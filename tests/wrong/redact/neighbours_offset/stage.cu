// Writes every row's bytes where the row before it belongs.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct one_before : right {
  static __device__ std::int64_t place(std::int64_t row) { return row == 0 ? 0 : row - 1; }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the neighbour's offset",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<one_before>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
