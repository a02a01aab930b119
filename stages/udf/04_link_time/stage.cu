// Function and kernel are compiled apart, to LTO-IR, and nvJitLink inlines the one into the other: the
// kernel's part can be compiled (and kept) before anybody has written the function, and compiling the
// function alone is short.
#include "stages/udf/run_time_plan.hpp"

namespace lab::udf::link_time {
namespace {

#if !LAB_EMULATED
constexpr const char* functions =
#include "functions.inc"
    ;
constexpr const char* kernels =
#include "kernels.inc"
    ;

std::string linked(const problem::parameters& p) {
  const signature types = signature::of(p);
  const int architecture = device_architecture();
  const auto part = [&](const char* name, std::string source) {
    const run_time::compiled made = compile({.source = std::move(source),
                                             .file_name = name,
                                             .architecture = architecture,
                                             .wanted = run_time::target::lto_ir});
    return run_time::link_input{run_time::target::lto_ir, made.image, name, made.compiler};
  };
  const run_time::link_input parts[] = {
      part("function.cu", types_text(types) + functions +
                              calling(types, function_names[p.function], "extern \"C\" __device__")),
      part("kernel.cu", types_text(types) + "extern \"C\" __device__ " + declaration(types) + ";\n" +
                            kernel_text(types, walk::elements, kernels))};
  return run_time::cached(run_time::key_of(parts, architecture),
                          [&] { return run_time::link(parts, architecture).cubin; })
      .image;
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  return plan_of(linked(p), walk::elements);
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "LTO-IR, inlined by the linker",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::link_time
