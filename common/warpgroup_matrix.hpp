// Matrix products of a warpgroup (wgmma): four warps from a multiple of four on, 128 threads, multiply tiles
// that lie in shared memory, and go on while they do. PTX ISA, section "Asynchronous warpgroup level matrix
// instructions". Compute capability 9.0 alone (sm_90a); in other code the functions trap. The emulator's are
// in common/emulator/core/warpgroup_functions.hpp.
//
// All threads of the warpgroup call the same ones, in the same order:
//
//   wgmma_fence(d);                                              // what was done to registers comes first
//   wgmma_m64k16<__nv_bfloat16>(d, a, b, true);                  // d += a b, any number of times
//   wgmma_commit();
//   wgmma_wait<0>(d);                                            // only now d, and the tiles, may be touched
#pragma once

#include <type_traits>

#include "common/cuda.hpp"
#include "common/emulator/core/tensor_layout.hpp"
#include "common/matrix_units.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/warpgroup_functions.hpp"
#endif

#if defined(__CUDACC__) && !LAB_EMULATED

namespace lab {

// Where a tile of A (64 x 16) or B (16 x n) lies in shared memory, in units of 8 rows of 16 bytes that are
// swizzled, or not. With m for the dimension that is not k:
//
//   major::k   none     8 m of 16 bytes side by side; the next 8 m `stride_bytes` on, the next 8 k
//   `leading_bytes`
//              bytes_s  8 m of s bytes, of which one product has 32; the next 8 m `stride_bytes` on
//   major::mn  none     8 k of 16 bytes side by side; the next 8 m `stride_bytes` on, the next 8 k
//   `leading_bytes`
//              bytes_s  8 k of s bytes; the next s bytes of m `leading_bytes` on, the next 8 k `stride_bytes`
struct matrix_descriptor {
  std::uint64_t bits;

  // The same tile, `bytes` later: the next 16 of k in rows of swizzled tiles, for example.
  __device__ __forceinline__ matrix_descriptor advanced(int bytes) const {
    return {bits + (static_cast<unsigned>(bytes) >> 4)};
  }
};

// A swizzled tile begins at a multiple of swizzle_alignment(); the distances are multiples of 16 bytes.
__device__ __forceinline__ matrix_descriptor make_matrix_descriptor(const void* tile, swizzle pattern,
                                                                    int leading_bytes, int stride_bytes) {
  const auto field = [](unsigned bytes) { return static_cast<std::uint64_t>((bytes & 0x3ffff) >> 4); };
  const std::uint64_t mode = pattern == swizzle::none        ? 0
                             : pattern == swizzle::bytes_128 ? 1
                             : pattern == swizzle::bytes_64  ? 2
                                                             : 3;
  return {field(shared_address(tile)) | field(static_cast<unsigned>(leading_bytes)) << 16 |
          field(static_cast<unsigned>(stride_bytes)) << 32 | mode << 62};
}

// The compiler leaves what is done to these registers on its side of this point.
template <int count>
__device__ __forceinline__ void keep_order(float (&d)[count]) {
#pragma unroll
  for (int k = 0; k < count; ++k) asm volatile("" : "+f"(d[k])::"memory");
}

// Before the first product, and when registers of the next one have been read or written: `d`, one or two
// arrays of sums.
template <class... Sums>
__device__ __forceinline__ void wgmma_fence(Sums&... d) {
  static_assert(sizeof...(d) <= 2, "the emulator knows no more");
  (keep_order(d), ...);
  LAB_SM90A("wgmma.fence.sync.aligned;" ::: "memory");
}

// The products since the last call are a group.
__device__ __forceinline__ void wgmma_commit() {
  LAB_SM90A("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until all but the last `pending` groups are done. `d`: the sums that are, and are touched next.
template <int pending, class... Sums>
__device__ __forceinline__ void wgmma_wait(Sums&... d) {
  static_assert(sizeof...(d) <= 2, "the emulator knows no more");
  LAB_SM90A("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
  (keep_order(d), ...);
}

// The n / 2 sums of a thread, %0 and so on, as PTX and as operands.
#define LAB_SUMS_0                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LAB_SUMS_32                                                                  \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LAB_SUMS_64                                                                              \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LAB_SUMS_N64 LAB_SUMS_0
#define LAB_SUMS_N128 LAB_SUMS_0 ", " LAB_SUMS_32
#define LAB_SUMS_N256 LAB_SUMS_0 ", " LAB_SUMS_32 ", " LAB_SUMS_64
#define LAB_REGISTERS_4(d, k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3])
#define LAB_REGISTERS_16(d, k) \
  LAB_REGISTERS_4(d, k), LAB_REGISTERS_4(d, k + 4), LAB_REGISTERS_4(d, k + 8), LAB_REGISTERS_4(d, k + 12)
#define LAB_REGISTERS_N64(d) LAB_REGISTERS_16(d, 0), LAB_REGISTERS_16(d, 16)
#define LAB_REGISTERS_N128(d) LAB_REGISTERS_N64(d), LAB_REGISTERS_16(d, 32), LAB_REGISTERS_16(d, 48)
#define LAB_REGISTERS_N256(d)                                                                       \
  LAB_REGISTERS_N128(d), LAB_REGISTERS_16(d, 64), LAB_REGISTERS_16(d, 80), LAB_REGISTERS_16(d, 96), \
      LAB_REGISTERS_16(d, 112)

// PTX's numbers of the operands: `a` and `b` the factors, `adds` whether D is added to, `more` the signs of A
// and B and which of them are not k-major (of A, where it lies in shared memory).
#define LAB_WGMMA(n, type, a, b, adds, more, ...)                                                 \
  LAB_SM90A("{\n.reg .pred p;\nsetp.ne.b32 p, " adds ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n \
            "k16.f32." type "." type " {" LAB_SUMS_N##n "}, " a ", " b ", p, " more ";\n}"        \
            : LAB_REGISTERS_N##n(d)                                                               \
            : __VA_ARGS__, "r"(static_cast<int>(accumulate)), "n"(sign_a), "n"(sign_b))
#define LAB_WGMMA_SHARED(type)                                                                     \
  if constexpr (count == 32)                                                                       \
    LAB_WGMMA(64, type, "%32", "%33", "%36", "%37, %38, %34, %35", "l"(a.bits), "l"(b.bits),       \
              "n"(static_cast<int>(a_major)), "n"(static_cast<int>(b_major)));                     \
  if constexpr (count == 64)                                                                       \
    LAB_WGMMA(128, type, "%64", "%65", "%68", "%69, %70, %66, %67", "l"(a.bits), "l"(b.bits),      \
              "n"(static_cast<int>(a_major)), "n"(static_cast<int>(b_major)));                     \
  if constexpr (count == 128)                                                                      \
  LAB_WGMMA(256, type, "%128", "%129", "%132", "%133, %134, %130, %131", "l"(a.bits), "l"(b.bits), \
            "n"(static_cast<int>(a_major)), "n"(static_cast<int>(b_major)))
#define LAB_WGMMA_REGISTERS(type)                                                                            \
  if constexpr (count == 32)                                                                                 \
    LAB_WGMMA(64, type, "{%32, %33, %34, %35}", "%36", "%38", "%39, %40, %37", "r"(a[0]), "r"(a[1]),         \
              "r"(a[2]), "r"(a[3]), "l"(b.bits), "n"(static_cast<int>(b_major)));                            \
  if constexpr (count == 64)                                                                                 \
    LAB_WGMMA(128, type, "{%64, %65, %66, %67}", "%68", "%70", "%71, %72, %69", "r"(a[0]), "r"(a[1]),        \
              "r"(a[2]), "r"(a[3]), "l"(b.bits), "n"(static_cast<int>(b_major)));                            \
  if constexpr (count == 128)                                                                                \
  LAB_WGMMA(256, type, "{%128, %129, %130, %131}", "%132", "%134", "%135, %136, %133", "r"(a[0]), "r"(a[1]), \
            "r"(a[2]), "r"(a[3]), "l"(b.bits), "n"(static_cast<int>(b_major)))

// D (64 x n) = A (64 x 16) B (16 x n), or with `accumulate` D + A B, of bfloat16 or half. d holds n / 2 sums
// of a thread as the PTX ISA says: the m16n8 fragments of mma.sync side by side, warp after warp. n is 64,
// 128 or 256. A sign of -1 negates A or B.
template <class T, major a_major = major::k, major b_major = major::k, int sign_a = 1, int sign_b = 1,
          int count>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[count], matrix_descriptor a, matrix_descriptor b,
                                             bool accumulate) {
  static_assert(count == 32 || count == 64 || count == 128, "n / 2 sums, where n is 64, 128 or 256");
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    LAB_WGMMA_SHARED("bf16");
  } else {
    static_assert(std::is_same_v<T, __half>, "factors of bfloat16 or half");
    LAB_WGMMA_SHARED("f16");
  }
}

// The same with A in registers: the fragment of mma.sync's m16n8k16 of each warp, whose rows are 16 of A's.
template <class T, major b_major = major::k, int sign_a = 1, int sign_b = 1, int count>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[count], const unsigned (&a)[4], matrix_descriptor b,
                                             bool accumulate) {
  static_assert(count == 32 || count == 64 || count == 128, "n / 2 sums, where n is 64, 128 or 256");
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    LAB_WGMMA_REGISTERS("bf16");
  } else {
    static_assert(std::is_same_v<T, __half>, "factors of bfloat16 or half");
    LAB_WGMMA_REGISTERS("f16");
  }
}
#undef LAB_WGMMA_REGISTERS
#undef LAB_WGMMA_SHARED
#undef LAB_WGMMA
#undef LAB_REGISTERS_N256
#undef LAB_REGISTERS_N128
#undef LAB_REGISTERS_N64
#undef LAB_REGISTERS_16
#undef LAB_REGISTERS_4
#undef LAB_SUMS_N256
#undef LAB_SUMS_N128
#undef LAB_SUMS_N64
#undef LAB_SUMS_64
#undef LAB_SUMS_32
#undef LAB_SUMS_0

}  // namespace lab

#endif
