// The function comes as PTX, from a compiler of another language (Numba's, of the Python in functions.py). It
// is translated to CUDA C++ whose body is one asm statement (common/ptx), and then is source text like any
// other: NVRTC inlines it, where a linker would leave a call.
#include <map>

#include "stages/udf/run_time_plan.hpp"
#if !LAB_EMULATED
#include "common/ptx/translate.hpp"
#endif

namespace lab::udf::ptx_inline {
namespace {

#if !LAB_EMULATED
constexpr const char* kernels =
#include "kernels.inc"
    ;

// By function, type and result: "square.int64.bool".
const std::string& ptx_of(const problem::parameters& p) {
  static const std::map<std::string, std::string> all = {
#include "ptx.inc"
  };
  static constexpr const char* results[] = {"bool", "int64", "float64"};
  return all.at(std::string(function_names[p.function]) + (p.type == 0 ? ".int64." : ".float64.") +
                results[p.result]);
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  const std::string value = cpp_name(types.value);
  const ptx::translation translated =
      ptx::translate(ptx_of(p), {.called = function_name,
                                 .result_type = cpp_name(types.result),
                                 .parameters = {types.of_windows ? value + "[]" : value},
                                 .how = ptx::convention::numba});
  const std::string cubin =
      compile({.source = types_text(types) + translated.text + kernel_text(types, walk::elements, kernels),
               .architecture = device_architecture()})
          .image;
  return plan_of(cubin, walk::elements);
}
#endif

const registration<problem> registered{LAB_PATH,
                                       {.idea = "PTX, translated to CUDA C++ and inlined",
                                        .prepare = LAB_GPU_ONLY(prepare),
                                        .tile = block_threads,
                                        .traits = {.gpu_only = true}}};

}  // namespace
}  // namespace lab::udf::ptx_inline
