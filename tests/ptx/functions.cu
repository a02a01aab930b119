// Device functions whose PTX, as nvcc makes it, is translated by the tests (make_inputs.py compiles each by
// itself). A function is kept by -rdc=true; what stands between two lines "// FILE" is one file.

// FILE add_scaled double double*,double,double
extern "C" __device__ int add_scaled(double* result, double x, double y) {
  *result = x * x * x + y;
  return 0;
}
// FILE square "long long" "long long"
extern "C" __device__ long long square(long long x) {
  return x * x;
}
// FILE saxpy float float,float,float
extern "C" __device__ float saxpy(float a, float x, float y) {
  return a * x + y;
}
// FILE small_integers "signed char" "signed char,unsigned short,bool"
extern "C" __device__ signed char small_integers(signed char a, unsigned short b, bool c) {
  return c ? a / 3 : b >> 1;
}
// FILE widen "long long" "int,signed char,unsigned"
extern "C" __device__ long long widen(int a, signed char b, unsigned c) {
  return static_cast<long long>(a) * b + c;
}
// FILE is_even bool int
extern "C" __device__ bool is_even(int x) {
  return x % 2 == 0;
}
// FILE switch_table int int,int
extern "C" __device__ int switch_table(int x, int y) {
  switch (x) {
    case 0:
      return y * 3;
    case 1:
      return y / 7;
    case 2:
      return y ^ 12345;
    case 3:
      return __popc(y);
    case 4:
      return y % 11;
    case 5:
      return y << 5;
    case 6:
      return __clz(y);
    case 7:
      return y * y * y;
    default:
      return -1;
  }
}
// FILE lookup int int
__device__ const int fibonacci[12] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
extern "C" __device__ int lookup(int i) {
  return i < 0 || i > 11 ? 0 : fibonacci[i];
}
// FILE constant_lookup float int
static __constant__ float weights[5] = {1.0f, 0.5f, 0.25f, 0.125f, 0.0625f};
extern "C" __device__ float constant_lookup(int i) {
  return i < 0 || i > 4 ? 0.0f : weights[i];
}
// FILE local_array int int,int
extern "C" __device__ int local_array(int x, int i) {
  int values[8];
  for (int k = 0; k < 8; ++k) values[k] = x * k + (x >> k);
  return values[i & 7] - values[x & 7];
}
// FILE two_calls double double,double helper
__device__ __noinline__ double helper(double x) {
  if (x < 0) return 0;
  return x * 2 + 1;
}
extern "C" __device__ double two_calls(double x, double y) {
  return helper(x) - helper(helper(y));
}
// FILE thread_of unsigned unsigned
extern "C" __device__ unsigned thread_of(unsigned x) {
  return threadIdx.x + blockIdx.y * x;
}
// FILE pointer_sum double "const double*,int"
extern "C" __device__ double pointer_sum(const double* values, int count) {
  double sum = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) sum += values[k];
  return sum;
}
// FILE collatz int "long long"
extern "C" __device__ int collatz(long long x) {
  int steps = 0;
#pragma unroll 1
  while (x > 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++steps;
  }
  return steps;
}
// FILE settings_of float int
__constant__ float settings[2] = {1.0f, 0.5f};
extern "C" __device__ float settings_of(int i) {
  return settings[i & 1];
}
// FILE pair_sum float "const float2*"
extern "C" __device__ float pair_sum(const float2* p) {
  const float2 a = *p;
  return a.x + a.y;
}
// FILE structures double double,int helper
struct mixture {
  double x;
  char sign;
  float parts[3];
};
__device__ __noinline__ mixture mixed(mixture from, int i) {
  if (i < 0) return {from.x, -1, {1, 2, 3}};
  from.parts[i % 3] *= 2;
  from.sign = static_cast<char>(i);
  return from;
}
extern "C" __device__ double structures(double x, int i) {
  const mixture one = mixed(mixed({x, 1, {0.5f, 0.25f, 0.125f}}, i), i + 1);
  return one.x * one.sign + one.parts[0] + one.parts[1] * 3 + one.parts[2];
}
// FILE orders double double,double,int,int
extern "C" __device__ double orders(double x, double y, int i, int j) {
  if (!(x <= y) || i >= j) return ~i;
  const bool are_numbers = !isnan(x) && !isnan(y);
  return are_numbers ? x : i < 0 ? 1.5 : y;
}
// FILE carries unsigned unsigned,unsigned,unsigned
extern "C" __device__ unsigned carries(unsigned a, unsigned b, unsigned c) {
  unsigned low, middle, high;
  asm("add.cc.u32 %0, %3, %4;\n\taddc.cc.u32 %1, %4, %5;\n\taddc.u32 %2, %5, %3;"
      : "=&r"(low), "=&r"(middle), "=&r"(high)
      : "r"(a), "r"(b), "r"(c));
  asm("sub.cc.u32 %0, %0, %3;\n\tsubc.cc.u32 %1, %1, %4;\n\tsubc.u32 %2, %2, %3;"
      : "+r"(low), "+r"(middle), "+r"(high)
      : "r"(b), "r"(c));
  asm("mad.lo.cc.u32 %0, %3, %4, %0;\n\tmadc.lo.cc.u32 %1, %3, %4, %1;\n\tmadc.hi.cc.u32 %1, %3, %4, %1;\n\t"
      "madc.hi.u32 %2, %3, %4, %2;"
      : "+r"(low), "+r"(middle), "+r"(high)
      : "r"(a), "r"(b));
  const unsigned long long wide = static_cast<unsigned long long>(low) * middle + c;
  unsigned long long inserted;
  asm("bfi.b64 %0, %1, %2, 8, 16;" : "=l"(inserted) : "l"(wide), "l"(wide >> 7));
  return __funnelshift_l(high, a, b) + __clzll(inserted) + (middle < 77 ? low : high);
}
// FILE roundings double "double,float,int,const double2*"
extern "C" __device__ double roundings(double x, float y, int i, const double2* table) {
  const double2 pair = __ldg(table + (i & 3));
  double whole = rint(x) + trunc(pair.x / x) + __double2int_rn(x);
  if (isnan(whole) != (whole == pair.y)) whole = -whole;
  if (!(whole >= pair.x)) whole += __hiloint2double(__double2loint(x), i);
  double reciprocal;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(x));
  if (x != pair.x && !(x < pair.y)) whole = __dadd_rn(whole, __dmul_rn(reciprocal, pair.y));
  float part = __fmul_rn(fabsf(y), __int2float_rn(__float2int_rn(y)));
  if (!(y < 4) || y == 2) part = -part;
  if (!(part >= y)) part *= y;
  if (part != 3 && part < 9) part += static_cast<float>(whole);
  return whole + (y < 0 ? part : y) +
         static_cast<double>(__ldg(reinterpret_cast<const unsigned long long*>(table)));
}
