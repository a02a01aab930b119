// Plans of a person's own function, for CUDA.
#pragma once

#include <string>

#include "harness/device/track.hpp"
#include "stages/udf/own_source.hpp"
#include "stages/udf/run_time_plan.hpp"

namespace lab::udf {

#if LAB_EMULATED  // for which nothing is compiled while the program runs

inline void check_own(const problem::parameters& /*p*/) {}
inline plan<problem> right_plan(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  throw unsupported_error("functions of one's own are compiled for GPUs");
}

#else

// Throws usage_error, source_error or unsupported_error for a function that no stage can run.
inline void check_own(const problem::parameters& p) {
  const signature types = signature::of(p);
  constexpr const char* qualifiers = "__device__ inline";
  static_cast<void>(p.own->written_in == language::ptx
                        ? own_linkage(*p.own, types, qualifiers)
                        : own_definition(*p.own, types, device_architecture(), qualifiers));
}

// Why a stage that compiles C++ alone does not run the function.
inline std::string needs_source(const problem::parameters& p) {
  if (!p.own || p.own->written_in != language::ptx) return "";
  return "compiles CUDA C++: PTX is for udf/02_ptx_inline and udf/04_link_time";
}

// A link of PTX, or of C++ as LTO-IR, with a kernel.
inline std::string linked_own(const problem::parameters& p, const std::string& kernel) {
  const signature types = signature::of(p);
  const own_function& own = *p.own;
  if (own.written_in == language::ptx) {
    auto parts =
        lto_parts({{"kernel.cu", types_text(types) + own_linkage(own, types, "__device__ inline") + kernel}});
    parts.push_back({run_time::target::ptx, own.text, own.origin, {}});
    return linked(parts);
  }
  const std::string declared = "extern \"C\" __device__ ";
  return linked(
      lto_parts({{"function.cu", types_text(types) + own_definition(own, types, device_architecture(),
                                                                    "extern \"C\" __device__")},
                 {"kernel.cu", types_text(types) + declared + declaration(types) + ";\n" + kernel}}));
}

// What is right: the plainest kernel. C++ is compiled with it, and called rather than inlined; PTX is linked
// with it, and not translated.
inline plan<problem> right_plan(const problem::parameters& p, cudaStream_t /*stream*/) {
  const signature types = signature::of(p);
  if (p.own->written_in == language::ptx)
    return plan_of(linked_own(p, plain_kernel_text(types)), walk::elements);
  const int architecture = device_architecture();
  return plan_of(compile({.source = types_text(types) +
                                    own_definition(*p.own, types, architecture, "__device__ __noinline__") +
                                    plain_kernel_text(types),
                          .architecture = architecture})
                     .image,
                 walk::elements);
}

#endif

}  // namespace lab::udf
