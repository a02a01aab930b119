// The function is source text until the program runs. NVRTC compiles it together with the kernel's source,
// and inlines it as if both were in one file.
#include "stages/udf/own_plan.hpp"
#include "stages/udf/texts.hpp"

namespace lab::udf::source {
namespace {

#if !LAB_EMULATED
plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  constexpr const char* inlined = "__device__ inline";
  const int architecture = device_architecture();
  const std::string function = p.own ? own_definition(*p.own, types, architecture, inlined)
                                     : functions + calling(types, function_names[p.function], inlined);
  const std::string cubin =
      compile({.source = types_text(types) + function + kernel_text(types, walk::elements, kernels),
               .architecture = architecture})
          .image;
  return plan_of(cubin, walk::elements);
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "source text, compiled with the kernel by NVRTC",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .unsupported = LAB_GPU_ONLY(needs_source),
                                        .tile = block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::source
