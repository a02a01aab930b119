// CUDA C++ as C++ that the emulator's headers understand. It works on what the compiler's own preprocessor
// has made of a program, so macros, conditions and included files are as the program says, and every line
// keeps its number.
//
//   kernel<T><<<grid, block, bytes, stream>>>(a, b)   a launch by lab::emulator::chevrons
//   __shared__ T name[n];                             thread_local: a block runs on one OS thread
//   extern __shared__ T name[];                       the block's dynamic shared memory
//   v[i] += v[j]; with `volatile T* v`               the same, and the warp's lanes wait for one another
//                                                     before and behind the store
//   shared[p[i]] = shared[i];                         the same, and the lanes wait before the store
//   __global__, __device__, ...                       nothing
//   (int)x, int i = x, i = x, i += x, a << b          in device code: a GPU's conversion and shift
//                                                     (programs/gpu_arithmetic.hpp)
//   int f() { .. }                                    int f() { .. return {}; }, unless it ends with a return
//   __constant__ T a[n];                             T a[n]; and its size, for the limit of 64 KiB
//   cudaLaunchKernel(address, ..)                     behind each kernel that is no template it is made known
//                                                     with its address, here and in the program's other files
//
// What nvcc refuses since it exists on one side alone is refused here too, as far as names tell it: functions
// and variables of the host in functions that are the device's alone.
//
// common/emulator/programs/include/cuda_runtime.h turns the keywords into markers (`__lab_shared__`), so that
// a keyword in a string or in a comment is none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab::front {

// A location where the program uses what is not emulated.
struct refused_use {
  std::string file;
  int line;
  std::string message;  // what it is, and what to do instead
};

// A variable in constant memory. Its size is in the object, as four numbers of 64 bits: the mark's two, the
// variable's index in rewritten_source::constants, and the size.
struct constant_variable {
  std::string file;
  int line;
  std::string name;
};
inline constexpr std::array<std::uint64_t, 2> constant_mark{0x9d3ac0157e4b6f21, 0x51c6e8f2a7d4093b};

// What the preprocessor writes instead of the headers of programs/include/lab_prelude.h where they are
// precompiled. Without them fewer names are known: more may be refused than with them, and the rest is the
// same.
inline constexpr std::string_view prelude_mark = "#pragma GCC pch_preprocess";

struct rewritten_source {
  std::string text;
  std::vector<constant_variable> constants;
  std::vector<refused_use> refused;  // each message once for each line
  int launches = 0;                  // how many were rewritten
};

// Never fails: what it does not understand it leaves for the compiler.
// `launches_by_address`: another file of the program launches kernels by their addresses.
// With `lets_pass` also what nvcc compiles in device code and C++ refuses: for a program that the compiler
// has refused, since a few words may be read wrongly, and no function is inlined by force.
[[nodiscard]] rewritten_source rewrite_cuda(std::string_view preprocessed, bool launches_by_address = false,
                                            bool lets_pass = false);

// Whether this file does.
[[nodiscard]] bool launches_by_address(std::string_view preprocessed);

}  // namespace lab::front
