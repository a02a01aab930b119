// Function and kernel are compiled separately, to LTO-IR, and nvJitLink inlines the function into the kernel.
// The kernel's part can be compiled and stored before the function exists, and compiling the function alone
// takes little time.
#include "stages/udf/own_plan.hpp"
#include "stages/udf/texts.hpp"

namespace lab::udf::link_time {
namespace {

#if !LAB_EMULATED
plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  const std::string kernel = kernel_text(types, walk::elements, kernels);
  if (p.own) return plan_of(linked_own(p, kernel), walk::elements);
  return plan_of(linked(lto_parts({{"function.cu", types_text(types) + functions +
                                                       calling(types, function_names[p.function],
                                                               "extern \"C\" __device__")},
                                   {"kernel.cu", types_text(types) + "extern \"C\" __device__ " +
                                                     declaration(types) + ";\n" + kernel}})),
                 walk::elements);
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "LTO-IR, inlined by the linker",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::link_time
