// One thread for each byte and each offset, which stays where it is.
#include "tests/tracks/upper_case/problem.hpp"

namespace lab::upper_case {
namespace {

constexpr int block_threads = 128;

template <class Offset>
__global__ void upper_case_kernel(const Offset* offsets, const char* chars, std::int64_t rows,
                                  Offset* out_offsets, char* out_chars, std::int64_t bytes) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i <= rows) out_offsets[i] = offsets[i];
  if (i >= bytes) return;
  const char byte = chars[i];
  out_chars[i] = byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

void launch(const input& in, const column_output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t threads = in.rows + 1 > in.texts.bytes ? in.rows + 1 : in.texts.bytes;
  with_offsets(in, [&]<class Offset>() {
    lab::launch(upper_case_kernel<Offset>,
                dim3(static_cast<unsigned>((threads + block_threads - 1) / block_threads)),
                dim3(block_threads), 0, stream, static_cast<const Offset*>(in.texts.offsets), in.texts.chars,
                in.rows, static_cast<Offset*>(out.offsets), out.chars, in.texts.bytes);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one thread per byte", .launch = launch, .tile = 128}};

}  // namespace
}  // namespace lab::upper_case
