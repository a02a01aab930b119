// The function takes one element, but the kernel around it can load two at a time: accesses of 16 bytes, with
// four of them in flight in each thread.
#include "stages/udf/own_plan.hpp"
#include "stages/udf/texts.hpp"

namespace lab::udf::vectorized {
namespace {

#if !LAB_EMULATED
plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  constexpr const char* inlined = "__device__ inline";
  const int architecture = device_architecture();
  const std::string function = p.own ? own_definition(*p.own, types, architecture, inlined)
                                     : functions + calling(types, function_names[p.function], inlined);
  const std::string cubin =
      compile({.source = types_text(types) + function + kernel_text(types, walk::pairs, kernels),
               .architecture = architecture})
          .image;
  return plan_of(cubin, walk::pairs);
}

std::string unsupported(const problem::parameters& p) {
  if (p.window > 0) return "windows overlap: a thread has no two of its own";
  return needs_source(p);
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte accesses around the function",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .unsupported = LAB_GPU_ONLY(unsupported),
                                        .tile = std::int64_t{2} * vectors_of_thread * block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::vectorized
