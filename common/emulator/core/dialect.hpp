// CUDA's keywords and built-in variables, for a host compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>  // of libstdc++ the one header that uses __noinline__ as a word of its own

#define __global__
#define __device__
#define __host__
// In sections of their own, one for each line, since a section holds either what is const or what is not:
// that is how an observer tells constant memory from __device__ variables.
#define LAB_EMULATOR_TEXT_OF(word) #word
#define LAB_EMULATOR_CONSTANT(line) __attribute__((section("lab_constant_" LAB_EMULATOR_TEXT_OF(line))))
#define __constant__ LAB_EMULATOR_CONSTANT(__LINE__)
#define __grid_constant__
#define __launch_bounds__(...)
// As many bytes in front of the function as the code of the dimensions says, which the program's table of
// such functions tells (launch.cpp).
#define __cluster_dims__(...)                                                         \
  __attribute__((patchable_function_entry(::lab::emulator::cluster_code(__VA_ARGS__), \
                                          ::lab::emulator::cluster_code(__VA_ARGS__))))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
// Not alignas(), which may not stand behind __shared__.
#define __align__(bytes) __attribute__((aligned(bytes)))
// One copy for each running block: an OS thread runs one at a time. constinit keeps GCC from guarding arrays
// of vector types as if they were initialised.
#if defined(__clang__)
#define __shared__ thread_local
#else
#define __shared__ constinit thread_local
#define __builtin_assume(condition) static_cast<void>(0)
#endif

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3() = default;
  constexpr dim3(unsigned x_size, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
  constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// const, as CUDA's are: the scheduler sets them before it runs a thread, by other names
// (built_in_variables.hpp). constinit spares the kernel an initialisation check per use.
extern constinit const thread_local uint3 threadIdx;
extern constinit const thread_local uint3 blockIdx;
extern constinit const thread_local dim3 blockDim;
extern constinit const thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace lab::emulator {

// What the emulated device has. Modelled on a data-centre GPU of compute capability 9.0, except for the
// number of multiprocessors, which is kept small so that grids sized by it stay small, unless
// options::multiprocessors asks for a real device's.
inline constexpr std::size_t shared_bytes_default = 48 * 1024;
inline constexpr std::size_t shared_bytes_limit = 227 * 1024;
inline constexpr unsigned block_size_limit = 1024;
inline constexpr int default_multiprocessors = 4;

// Bytes after a buffer that nobody may write; found damaged, they betray a write out of bounds.
inline constexpr std::size_t red_zone_bytes = 256;

// The dimensions of a cluster in one number; 0 for those that no device has.
inline constexpr unsigned most_cluster_blocks = 16;
inline constexpr unsigned cluster_code(unsigned x, unsigned y = 1, unsigned z = 1) {
  const bool is_possible = x >= 1 && y >= 1 && z >= 1 && x <= most_cluster_blocks &&
                           y <= most_cluster_blocks && z <= most_cluster_blocks;
  return is_possible ? x + (y - 1) * 32 + (z - 1) * 32 * 32 : 0;
}

// A line of the kernel's source. As a default argument, here() is the caller's line.
struct place {
  const char* file;
  int line;
  static constexpr place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

inline bool same_place(place a, place b) {
  return a.line == b.line && (a.file == b.file || __builtin_strcmp(a.file, b.file) == 0);
}

}  // namespace lab::emulator

// The running block's dynamic shared memory, which lab::dynamic_shared<T>() hands out.
extern constinit thread_local unsigned char
    lab_dynamic_shared[lab::emulator::shared_bytes_limit + lab::emulator::red_zone_bytes];
