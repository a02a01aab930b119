// The function comes as PTX from another language's compiler (Numba's, for the Python in functions.py).
// common/ptx translates it to a CUDA C++ function whose body is one asm statement. From there it is ordinary
// source text: NVRTC inlines it, whereas a linker would leave a call.
#include <map>

#include "common/ptx/translate.hpp"
#include "stages/udf/own_plan.hpp"
#include "stages/udf/texts.hpp"

namespace lab::udf::ptx_inline {
namespace {

#if !LAB_EMULATED
// By function, type and result: "square.int64.bool".
const std::string& ptx_of(const problem::parameters& p) {
  static const std::map<std::string, std::string> all = {
#include "ptx.inc"
  };
  static constexpr const char* results[] = {"bool", "int64", "float64"};
  return all.at(std::string(function_names[p.function]) + (p.type == 0 ? ".int64." : ".float64.") +
                results[p.result]);
}

std::string translated(const problem::parameters& p, const signature& types) {
  if (p.own) {
    const own_function as_ptx{language::ptx, own_ptx(*p.own, types, device_architecture()), p.own->origin,
                              p.own->written_in == language::ptx ? p.own->name : function_name};
    return own_definition(as_ptx, types, device_architecture(), "__device__ inline");
  }
  const std::string value = cpp_name(types.value);
  return ptx::translate(ptx_of(p), {.called = function_name,
                                    .result_type = cpp_name(types.result),
                                    .parameters = {types.of_windows ? value + "[]" : value},
                                    .how = ptx::convention::numba})
      .text;
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  const std::string cubin = compile({.source = types_text(types) + translated(p, types) +
                                               kernel_text(types, walk::elements, kernels),
                                     .architecture = device_architecture()})
                                .image;
  return plan_of(cubin, walk::elements);
}

// PTX of a person's own that cannot be translated.
std::string unsupported(const problem::parameters& p) {
  if (!p.own) return "";
  try {
    static_cast<void>(translated(p, signature::of(p)));
    return "";
  } catch (const usage_error& refused) {
    return refused.what();
  }
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "PTX, translated to CUDA C++ and inlined",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .unsupported = LAB_GPU_ONLY(unsupported),
                                        .tile = block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::ptx_inline
