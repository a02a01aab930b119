#include <cstring>
#include <limits>

#include "tests/emulator/support.hpp"

namespace {

__global__ void copy_vectors(const float4* in, float4* out, double2* doubled, uchar4* bytes) {
  const float4 value = __ldg(&in[threadIdx.x]);
  out[threadIdx.x] = make_float4(value.w, value.z, value.y, value.x);
  __stcs(&doubled[threadIdx.x], make_double2(value.x, value.y));
  bytes[threadIdx.x] = make_uchar4(1, 2, 3, static_cast<unsigned char>(threadIdx.x));
}

__device__ __noinline__ int twice(int value) {
  assert(value >= 0);
  return 2 * value;
}

__global__ void count_in_block(int* counts, unsigned* odd, float2* sums) {
  atomicAdd_block(&counts[threadIdx.x % 2], twice(1));
  atomicMax_system(odd, threadIdx.x | 1u);
  atomicAdd(sums, make_float2(1, 2));
}

}  // namespace

TEST_CASE("min and max have CUDA's overloads") {
  CHECK(min(2, -3) == -3);
  CHECK(max(2u, 3) == 3u);
  CHECK(max(-1, 3u) == std::numeric_limits<unsigned>::max());  // the int is converted, as in CUDA
  CHECK(min(5ll, 4ll) == 4);
  CHECK(min(5ull, 4ull) == 4);
  CHECK(min(1.5f, 2.5f) == 1.5f);
  CHECK(max(1.5, 2.5f) == 2.5);
  CHECK(max(std::numeric_limits<double>::quiet_NaN(), 1.0) == 1.0);
}

TEST_CASE("bit functions") {
  CHECK(__popc(0xf0f0u) == 8);
  CHECK(__popcll(~0ull) == 64);
  CHECK(__clz(1) == 31);
  CHECK(__clz(0) == 32);
  CHECK(__clzll(1) == 63);
  CHECK(__ffs(0) == 0);
  CHECK(__ffs(8) == 4);
  CHECK(__ffsll(1ll << 40) == 41);
  CHECK(__brev(1u) == 0x80000000u);
  CHECK(__brev(0x12345678u) == 0x1e6a2c48u);
  CHECK(__brevll(1ull) == 1ull << 63);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7520u) == 0x77552200u);
  CHECK(__byte_perm(0x000000ffu, 0u, 0x1118u) == 0x000000ffu);  // the sign of byte 0
  CHECK(__funnelshift_l(0x80000000u, 1u, 1) == 3u);
  CHECK(__funnelshift_r(0x80000000u, 1u, 1) == 0xc0000000u);
  CHECK(__funnelshift_l(0x12345678u, 1u, 32) == 1u);  // 32 counts as 0
  CHECK(__funnelshift_lc(0x12345678u, 1u, 32) == 0x12345678u);
  CHECK(__funnelshift_lc(0x12345678u, 1u, 99) == 0x12345678u);
  CHECK(__funnelshift_lc(0x80000000u, 1u, 1) == 3u);
  CHECK(__funnelshift_rc(1u, 0x12345678u, 40) == 0x12345678u);
  CHECK(__funnelshift_rc(0x80000000u, 1u, 1) == 0xc0000000u);
  CHECK(__dp4a(0x04030201u, 0x01010180u, 5u) == 5u + 128u + 2u + 3u + 4u);
  CHECK(__dp4a(-1, 0x02020202, 10) == 2);
  CHECK(__umulhi(0x80000000u, 6u) == 3u);
  CHECK(__mulhi(-(1 << 30), 8) == -2);
  CHECK(__umul64hi(1ull << 63, 6) == 3);
}

TEST_CASE("the same bits as another type") {
  CHECK(__float_as_int(1.0f) == 0x3f800000);
  CHECK(__float_as_uint(-0.0f) == 0x80000000u);
  CHECK(__int_as_float(0x40000000) == 2.0f);
  CHECK(__uint_as_float(0x40000000u) == 2.0f);
  CHECK(__longlong_as_double(__double_as_longlong(-1.25)) == -1.25);
  CHECK(__double2hiint(1.0) == 0x3ff00000);
  CHECK(__double2loint(1.0) == 0);
}

TEST_CASE("arithmetic functions") {
  CHECK(rsqrtf(4.0f) == 0.5f);
  CHECK(rsqrt(16.0) == 0.25);
  CHECK(__fmaf_rn(2.0f, 3.0f, 1.0f) == 7.0f);
  CHECK(__saturatef(2.0f) == 1.0f);
  CHECK(__saturatef(std::numeric_limits<float>::quiet_NaN()) == 0.0f);
  CHECK(__expf(0.0f) == 1.0f);
  CHECK(__fdividef(1.0f, 4.0f) == 0.25f);
  // A fused operation would keep the low bits of the square, and leave a difference.
  const volatile double third = 1.0 / 3.0;
  const double square = third * third;
  CHECK(__dadd_rn(__dmul_rn(third, third), -square) == 0.0);
  CHECK(third * third - square == 0.0);
}

TEST_CASE("vector types have CUDA's sizes and alignments") {
  CHECK((sizeof(float4) == 16 && alignof(float4) == 16));
  CHECK((sizeof(float3) == 12 && alignof(float3) == 4));
  CHECK((sizeof(float2) == 8 && alignof(float2) == 8));
  CHECK((sizeof(double2) == 16 && alignof(double2) == 16));
  CHECK((sizeof(double3) == 24 && alignof(double3) == 8));
  CHECK((sizeof(uchar4) == 4 && alignof(uchar4) == 4));
  CHECK((sizeof(short2) == 4 && alignof(short2) == 4));
  CHECK((sizeof(ushort4) == 8 && alignof(ushort4) == 8));
  CHECK((sizeof(longlong2) == 16 && alignof(longlong2) == 16));
  CHECK((sizeof(uint3) == 12 && alignof(uint3) == 4));
  CHECK((sizeof(char3) == 3 && alignof(char3) == 1));
}

TEST_CASE("vectors are loaded and stored") {
  for_each_schedule();
  const device_array<float4> in(std::vector<float4>{{1, 2, 3, 4}, {5, 6, 7, 8}});
  const device_array<float4> out(2);
  const device_array<double2> doubled(2);
  const device_array<uchar4> bytes(2);
  run(copy_vectors, 1, 2, in.get(), out.get(), doubled.get(), bytes.get());
  CHECK(out.values()[1].x == 8);
  CHECK(out.values()[1].w == 5);
  CHECK(doubled.values()[1].y == 6);
  CHECK(bytes.values()[1].z == 3);
  CHECK(bytes.values()[1].w == 1);
}

TEST_CASE("functions that the lab's own kernels do not call") {
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rd(-2.5f) == -3);
  CHECK(__double2ll_rz(-7.9) == -7);
  CHECK(__float2uint_rz(1e20f) == ~0u);
  CHECK(__int2float_rn(7) == 7.0f);
  CHECK(__fadd_ru(1.0f, 1e-20f) > 1.0f);
  CHECK(__usad(3u, 5u, 1u) == 3u);
  CHECK(__mul24(-3, 5) == -15);
  CHECK(__vadd4(0x01020304u, 0xff010101u) == 0x00030405u);
  CHECK(__hiloint2double(0x40000000, 0) == 2.0);
  CHECK(ullmin(3, 1ull << 40) == 3);
  CHECK(ullmax(3, 1ull << 40) == 1ull << 40);
  CHECK(sinpif(0.5f) == 1.0f);
  CHECK(norm3d(2.0, 3.0, 6.0) == 7.0);
  CHECK(rnorm4df(1.0f, 1.0f, 1.0f, 1.0f) == 0.5f);
  CHECK(normcdf(0.0) == 0.5);
  const device_array<int> counts(2);
  const device_array<unsigned> odd(1);
  const device_array<float2> sums(1);
  run(count_in_block, 1, 33, counts.get(), odd.get(), sums.get());
  CHECK(counts.values() == std::vector<int>{34, 32});
  CHECK(odd.values() == std::vector<unsigned>{33});
  CHECK(sums.values()[0].x == 33);
  CHECK(sums.values()[0].y == 66);
}
