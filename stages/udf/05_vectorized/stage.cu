// The function knows one element; the kernel around it is free to fetch two with each load: 16-byte accesses,
// four of them under way in each thread.
#include "stages/udf/run_time_plan.hpp"

namespace lab::udf::vectorized {
namespace {

#if !LAB_EMULATED
constexpr const char* functions =
#include "functions.inc"
    ;
constexpr const char* kernels =
#include "kernels.inc"
    ;

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  const std::string cubin =
      compile({.source = types_text(types) + functions +
                         calling(types, function_names[p.function], "__device__ inline") +
                         kernel_text(types, walk::pairs, kernels),
               .architecture = device_architecture()})
          .image;
  return plan_of(cubin, walk::pairs);
}
#endif

const registration<problem> registered{
    LAB_PATH,
    {.idea = "16-byte accesses around the function",
     .prepare = LAB_GPU_ONLY(prepare),
     .unsupported = [](const problem::parameters& p) -> std::string {
       return p.window > 0 ? "windows overlap: a thread has no two of its own" : "";
     },
     .tile = std::int64_t{2} * vectors_of_thread * block_threads,
     .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::vectorized
