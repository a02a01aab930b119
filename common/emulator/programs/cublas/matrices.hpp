// cuBLAS's second and third level: matrices, in column-major order. A vector is a matrix of one column.
#pragma once

#include "common/emulator/programs/cublas/base.hpp"
#include "common/emulator/programs/cublas/vectors.hpp"

namespace lab::emulator::blas {

// Where the elements of a matrix lie: those of neighbouring rows, of neighbouring columns, and of the next
// matrix of a batch.
template <class T>
struct matrix {
  T* first;
  long long row_step, column_step;
  long long batch_step = 0;
  bool is_conjugated = false;
  __forceinline__ T& at(long long row, long long column, long long batch = 0) const {
    return first[row * row_step + column * column_step + batch * batch_step];
  }
  __forceinline__ std::remove_const_t<T> value(long long row, long long column, long long batch = 0) const {
    const auto found = at(row, column, batch);
    return is_conjugated ? conjugate(found) : found;
  }
  // The bytes of an array of pointers to the matrices of a batch, in device memory.
  T* const* list = nullptr;
  [[nodiscard]] __forceinline__ matrix of_batch(long long batch) const {
    matrix one = *this;
    one.first = list != nullptr ? list[batch] : first + batch * batch_step;
    return one;
  }
};
template <class T>
matrix<T> plain(T* first, long long distance, long long batch_step = 0, T* const* list = nullptr) {
  return {first, 1, distance, batch_step, false, list};
}
template <class T>
matrix<const T> operand(const T* first, long long distance, cublasOperation_t form, long long batch_step = 0,
                        const T* const* list = nullptr) {
  if (form == CUBLAS_OP_N) return plain(first, distance, batch_step, list);
  return {first, distance, 1, batch_step, form == CUBLAS_OP_C, list};
}
template <class T>
matrix<T> column(T* first, int count, int step) {
  return {first_of(first, count, step), step, 0};
}

// What happens to an element of a product before it is stored.
struct product_end {
  const void* bias = nullptr;  // one for each row
  bool relu = false, gelu = false;
};
// Which elements of a product are stored.
enum class triangle { all, lower, upper };

template <class T, class Sum, class Result>
struct matrix_product {
  long long m, n, k;
  Sum alpha, beta;
  matrix<const T> a, b;
  matrix<Result> c;
  triangle stored = triangle::all;
  product_end end = {};
};

template <class T, class Sum, class Result>
__forceinline__ void store(const matrix_product<T, Sum, Result>& p, const matrix<Result>& c, long long row,
                           long long column, Sum sum) {
  if (p.stored == triangle::lower ? row < column : p.stored == triangle::upper && row > column) return;
  Result& result = c.at(row, column);
  Sum value = p.alpha * sum;
  if (p.beta != Sum{}) value += p.beta * static_cast<Sum>(result);
  if (p.end.bias != nullptr) value += static_cast<Sum>(static_cast<const T*>(p.end.bias)[row]);
  if constexpr (std::is_arithmetic_v<Sum>) {
    if (p.end.relu && value < Sum{}) value = Sum{};
  }
  if constexpr (std::is_floating_point_v<Sum>) {
    if (p.end.gelu)  // as cuBLASLt's: the approximation by tanh
      value =
          value / 2 * (1 + std::tanh(Sum(0.7978845608) * (value + Sum(0.044715) * value * value * value)));
  }
  result = static_cast<Result>(value);
}

// Each thread makes a tile of the result, whose sums go along k as one thread's for each element would.
inline constexpr int tile_rows = 16, tile_columns = 4;

template <class T, class Sum, class Result>
void multiply_matrices(matrix_product<T, Sum, Result> p) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long tiles_down = (p.m + tile_rows - 1) / tile_rows;
  const long long row = at % tiles_down * tile_rows, column = at / tiles_down * tile_columns;
  if (column >= p.n) return;
  const matrix<const T> a = p.a.of_batch(blockIdx.y), b = p.b.of_batch(blockIdx.y);
  const matrix<Result> c = p.c.of_batch(blockIdx.y);
  Sum sums[tile_columns][tile_rows] = {};
  const auto rows = static_cast<int>(std::min<long long>(tile_rows, p.m - row)),
             columns = static_cast<int>(std::min<long long>(tile_columns, p.n - column));
  if (rows == tile_rows && columns == tile_columns && a.row_step == 1 && !a.is_conjugated) {
    for (long long i = 0; i < p.k; ++i) {
      const T* const values = &a.at(row, i);
      for (int x = 0; x < tile_columns; ++x) {
        const auto factor = static_cast<Sum>(b.value(i, column + x));
        for (int y = 0; y < tile_rows; ++y) sums[x][y] += static_cast<Sum>(values[y]) * factor;
      }
    }
  } else {
    for (long long i = 0; i < p.k; ++i) {
      for (int x = 0; x < columns; ++x) {
        const auto factor = static_cast<Sum>(b.value(i, column + x));
        for (int y = 0; y < rows; ++y) sums[x][y] += static_cast<Sum>(a.value(row + y, i)) * factor;
      }
    }
  }
  for (int x = 0; x < columns; ++x) {
    for (int y = 0; y < rows; ++y) store(p, c, row + y, column + x, sums[x][y]);
  }
}

template <class T, class Sum, class Result>
cublasStatus_t multiply(const matrix_product<T, Sum, Result>& p, long long batches = 1) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  constexpr unsigned threads = 32;
  const long long tiles = ((p.m + tile_rows - 1) / tile_rows) * ((p.n + tile_columns - 1) / tile_columns);
  const cudaLaunchConfig_t config{
      {static_cast<unsigned>((tiles + threads - 1) / threads), static_cast<unsigned>(batches)}, {threads}};
  return status_of(cudaLaunchKernelEx(&config, multiply_matrices<T, Sum, Result>, p));
}

// ---- matrices of which a triangle is stored

enum class structure { symmetric, hermitian, triangular };
template <class T>
struct structured {
  matrix<const T> stored;
  structure kind;
  bool is_upper, has_unit_diagonal = false, is_turned = false, is_conjugated = false;
  __forceinline__ T operator()(long long row, long long column) const {
    if (is_turned) std::swap(row, column);
    if (row == column && has_unit_diagonal) return T{1};
    T found{};
    if (is_upper ? row <= column : row >= column) {
      found = stored.at(row, column);
    } else if (kind != structure::triangular) {
      found = stored.at(column, row);
      if (kind == structure::hermitian) found = conjugate(found);
    }
    return is_conjugated ? conjugate(found) : found;
  }
};
template <class T>
structured<T> triangular(const T* first, long long distance, cublasFillMode_t part, cublasOperation_t form,
                         cublasDiagType_t diagonal) {
  return {operand(first, distance, CUBLAS_OP_N), structure::triangular, part == CUBLAS_FILL_MODE_UPPER,
          diagonal == CUBLAS_DIAG_UNIT,          form != CUBLAS_OP_N,   form == CUBLAS_OP_C};
}

// c = alpha a b + beta c, or alpha b a + beta c; one thread for each element.
template <class T>
void multiply_structured(long long m, long long n, bool is_left, T alpha, structured<T> a, matrix<const T> b,
                         T beta, matrix<T> c) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  const long long row = at % m, column = at / m;
  T sum{};
  for (long long i = 0; i < (is_left ? m : n); ++i)
    sum += is_left ? a(row, i) * b.at(i, column) : b.at(row, i) * a(i, column);
  T value = alpha * sum;
  if (beta != T{}) value += beta * c.at(row, column);
  c.at(row, column) = value;
}
// Solves a x = alpha b, or x a = alpha b, in the place of b; one thread for each column, or row.
template <class T>
void solve_triangular(long long m, long long n, bool is_left, T alpha, structured<T> a, matrix<T> b) {
  const long long which = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (which >= (is_left ? n : m)) return;
  const long long count = is_left ? m : n;
  const bool is_upper = a.is_upper != a.is_turned, goes_down = is_left != is_upper;
  const auto x = [&](long long i) -> T& { return is_left ? b.at(i, which) : b.at(which, i); };
  for (long long step = 0; step < count; ++step) {
    const long long i = goes_down ? step : count - 1 - step;
    T value = alpha * x(i);
    for (long long before = 0; before < step; ++before) {
      const long long j = goes_down ? before : count - 1 - before;
      value -= (is_left ? a(i, j) : a(j, i)) * x(j);
    }
    x(i) = value / a(i, i);
  }
}
// c = alpha a + beta b, each of them turned or not.
template <class T>
void add_matrices(long long m, long long n, T alpha, matrix<const T> a, T beta, matrix<const T> b,
                  matrix<T> c) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  T sum{};
  if (alpha != T{}) sum += alpha * a.value(at % m, at / m);
  if (beta != T{}) sum += beta * b.value(at % m, at / m);
  c.at(at % m, at / m) = sum;
}
template <class T>
void scale_by_diagonal(long long m, long long n, bool is_left, matrix<const T> a, matrix<const T> diagonal,
                       matrix<T> c) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  c.at(at % m, at / m) = a.at(at % m, at / m) * diagonal.at(is_left ? at % m : at / m, 0);
}

inline cudaLaunchConfig_t thread_for_each(long long count) {
  constexpr unsigned threads = 128;
  return {{static_cast<unsigned>((count + threads - 1) / threads)}, {threads}};
}

template <class T>
cublasStatus_t gemm(const char* name, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
                    T alpha, const T* a, long long a_distance, long long a_step, const T* b,
                    long long b_distance, long long b_step, T beta, T* c, long long c_distance,
                    long long c_step, long long batches, const T* const* a_list = nullptr,
                    const T* const* b_list = nullptr, T* const* c_list = nullptr) {
  if (m < 0) return wrong_parameter(name, 3);
  if (n < 0) return wrong_parameter(name, 4);
  if (k < 0) return wrong_parameter(name, 5);
  if (is_too_narrow(a_distance, a_form == CUBLAS_OP_N ? m : k)) return wrong_parameter(name, 8);
  if (is_too_narrow(b_distance, b_form == CUBLAS_OP_N ? k : n)) return wrong_parameter(name, 10);
  if (is_too_narrow(c_distance, m)) return wrong_parameter(name, 13);
  return multiply(
      matrix_product<T, T, T>{m, n, k, alpha, beta, operand(a, a_distance, a_form, a_step, a_list),
                              operand(b, b_distance, b_form, b_step, b_list),
                              plain(c, c_distance, c_step, c_list)},
      batches);
}

}  // namespace lab::emulator::blas

#define LAB_EMULATOR_BLAS_3(letter, T)                                                                      \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##gemm(                                                 \
      cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,              \
      const T* alpha, const T* a, int a_rows, const T* b, int b_rows, const T* beta, T* c, int c_rows) {    \
    using namespace lab::emulator::blas;                                                                    \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    return gemm<number<T>>(#letter "GEMM", a_form, b_form, m, n, k, *numbers(&by), numbers(a), a_rows, 0,   \
                           numbers(b), b_rows, 0, *numbers(&of_old), numbers(c), c_rows, 0, 1);             \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##gemmStridedBatched(                                   \
      cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,              \
      const T* alpha, const T* a, int a_rows, long long a_stride, const T* b, int b_rows,                   \
      long long b_stride, const T* beta, T* c, int c_rows, long long c_stride, int batches) {               \
    using namespace lab::emulator::blas;                                                                    \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    return gemm<number<T>>(#letter "GEMM", a_form, b_form, m, n, k, *numbers(&by), numbers(a), a_rows,      \
                           a_stride, numbers(b), b_rows, b_stride, *numbers(&of_old), numbers(c), c_rows,   \
                           c_stride, batches);                                                              \
  }                                                                                                         \
  /* The lists of matrices lie in device memory. */                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##gemmBatched(                                          \
      cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,              \
      const T* alpha, const T* const a[], int a_rows, const T* const b[], int b_rows, const T* beta,        \
      T* const c[], int c_rows, int batches) {                                                              \
    using namespace lab::emulator::blas;                                                                    \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    return gemm<number<T>>(                                                                                 \
        #letter "GEMM", a_form, b_form, m, n, k, *numbers(&by), nullptr, a_rows, 0, nullptr, b_rows, 0,     \
        *numbers(&of_old), nullptr, c_rows, 0, batches, reinterpret_cast<const number<T>* const*>(a),       \
        reinterpret_cast<const number<T>* const*>(b), reinterpret_cast<number<T>* const*>(c));              \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##gemv(                                                 \
      cublasHandle_t, cublasOperation_t form, int m, int n, const T* alpha, const T* a, int a_rows,         \
      const T* x, int x_step, const T* beta, T* y, int y_step) {                                            \
    using namespace lab::emulator::blas;                                                                    \
    if (m < 0) return wrong_parameter(#letter "GEMV", 2);                                                   \
    if (n < 0) return wrong_parameter(#letter "GEMV", 3);                                                   \
    if (is_too_narrow(a_rows, m)) return wrong_parameter(#letter "GEMV", 6);                                \
    if (x_step == 0) return wrong_parameter(#letter "GEMV", 8);                                             \
    if (y_step == 0) return wrong_parameter(#letter "GEMV", 11);                                            \
    const int rows = form == CUBLAS_OP_N ? m : n, sums = form == CUBLAS_OP_N ? n : m;                       \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    return multiply(matrix_product<number<T>, number<T>, number<T>>{                                        \
        rows, 1, sums, *numbers(&by), *numbers(&of_old), operand(numbers(a), a_rows, form),                 \
        column(numbers(x), sums, x_step), column(numbers(y), rows, y_step)});                               \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##geam(                                                 \
      cublasHandle_t, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, const T* alpha,     \
      const T* a, int a_rows, const T* beta, const T* b, int b_rows, T* c, int c_rows) {                    \
    using namespace lab::emulator::blas;                                                                    \
    if (m < 0) return wrong_parameter(#letter "GEAM", 3);                                                   \
    if (n < 0) return wrong_parameter(#letter "GEAM", 4);                                                   \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                     \
    const T by = scalar(alpha), of_b = scalar(beta);                                                        \
    const cudaLaunchConfig_t config = thread_for_each(static_cast<long long>(m) * n);                       \
    return status_of(cudaLaunchKernelEx(&config, add_matrices<number<T>>, m, n, *numbers(&by),              \
                                        operand(numbers(a), a_rows, a_form), *numbers(&of_b),               \
                                        operand(numbers(b), b_rows, b_form), plain(numbers(c), c_rows)));   \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##dgmm(cublasHandle_t, cublasSideMode_t side, int m,    \
                                                           int n, const T* a, int a_rows, const T* x,       \
                                                           int step, T* c, int c_rows) {                    \
    using namespace lab::emulator::blas;                                                                    \
    if (m < 0 || n < 0) return CUBLAS_STATUS_INVALID_VALUE;                                                 \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                     \
    const bool is_left = side == CUBLAS_SIDE_LEFT;                                                          \
    const cudaLaunchConfig_t config = thread_for_each(static_cast<long long>(m) * n);                       \
    return status_of(cudaLaunchKernelEx(                                                                    \
        &config, scale_by_diagonal<number<T>>, m, n, is_left, operand(numbers(a), a_rows, CUBLAS_OP_N),     \
        column(numbers(x), is_left ? m : n, step), plain(numbers(c), c_rows)));                             \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##syrk(                                                 \
      cublasHandle_t, cublasFillMode_t part, cublasOperation_t form, int n, int k, const T* alpha,          \
      const T* a, int a_rows, const T* beta, T* c, int c_rows) {                                            \
    using namespace lab::emulator::blas;                                                                    \
    if (n < 0) return wrong_parameter(#letter "SYRK", 3);                                                   \
    if (k < 0) return wrong_parameter(#letter "SYRK", 4);                                                   \
    if (is_too_narrow(a_rows, form == CUBLAS_OP_N ? n : k)) return wrong_parameter(#letter "SYRK", 7);      \
    if (is_too_narrow(c_rows, n)) return wrong_parameter(#letter "SYRK", 10);                               \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    return multiply(matrix_product<number<T>, number<T>, number<T>>{                                        \
        n, n, k, *numbers(&by), *numbers(&of_old), operand(numbers(a), a_rows, form),                       \
        operand(numbers(a), a_rows, form == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N),                       \
        plain(numbers(c), c_rows), part == CUBLAS_FILL_MODE_LOWER ? triangle::lower : triangle::upper});    \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##symm(                                                 \
      cublasHandle_t, cublasSideMode_t side, cublasFillMode_t part, int m, int n, const T* alpha,           \
      const T* a, int a_rows, const T* b, int b_rows, const T* beta, T* c, int c_rows) {                    \
    using namespace lab::emulator::blas;                                                                    \
    if (m < 0) return wrong_parameter(#letter "SYMM", 3);                                                   \
    if (n < 0) return wrong_parameter(#letter "SYMM", 4);                                                   \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                     \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    const structured<number<T>> factor{operand(numbers(a), a_rows, CUBLAS_OP_N), structure::symmetric,      \
                                       part == CUBLAS_FILL_MODE_UPPER};                                     \
    const cudaLaunchConfig_t config = thread_for_each(static_cast<long long>(m) * n);                       \
    return status_of(cudaLaunchKernelEx(                                                                    \
        &config, multiply_structured<number<T>>, m, n, side == CUBLAS_SIDE_LEFT, *numbers(&by), factor,     \
        operand(numbers(b), b_rows, CUBLAS_OP_N), *numbers(&of_old), plain(numbers(c), c_rows)));           \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##trmm(                                                 \
      cublasHandle_t, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t form,                 \
      cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int a_rows, const T* b,          \
      int b_rows, T* c, int c_rows) {                                                                       \
    using namespace lab::emulator::blas;                                                                    \
    if (m < 0) return wrong_parameter(#letter "TRMM", 5);                                                   \
    if (n < 0) return wrong_parameter(#letter "TRMM", 6);                                                   \
    if (b == c) return CUBLAS_STATUS_NOT_SUPPORTED; /* a thread would read what another one has written */  \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                     \
    const T by = scalar(alpha);                                                                             \
    const auto factor = triangular(numbers(a), a_rows, part, form, diagonal);                               \
    const cudaLaunchConfig_t config = thread_for_each(static_cast<long long>(m) * n);                       \
    return status_of(cudaLaunchKernelEx(                                                                    \
        &config, multiply_structured<number<T>>, m, n, side == CUBLAS_SIDE_LEFT, *numbers(&by), factor,     \
        operand(numbers(b), b_rows, CUBLAS_OP_N), number<T>{}, plain(numbers(c), c_rows)));                 \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##trsm(                                                 \
      cublasHandle_t, cublasSideMode_t side, cublasFillMode_t part, cublasOperation_t form,                 \
      cublasDiagType_t diagonal, int m, int n, const T* alpha, const T* a, int a_rows, T* b, int b_rows) {  \
    using namespace lab::emulator::blas;                                                                    \
    const bool is_left = side == CUBLAS_SIDE_LEFT;                                                          \
    if (m < 0) return wrong_parameter(#letter "TRSM", 5);                                                   \
    if (n < 0) return wrong_parameter(#letter "TRSM", 6);                                                   \
    if (is_too_narrow(a_rows, is_left ? m : n)) return wrong_parameter(#letter "TRSM", 9);                  \
    if (is_too_narrow(b_rows, m)) return wrong_parameter(#letter "TRSM", 11);                               \
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                                                     \
    const T by = scalar(alpha);                                                                             \
    const auto factor = triangular(numbers(a), a_rows, part, form, diagonal);                               \
    const cudaLaunchConfig_t config = thread_for_each(is_left ? n : m);                                     \
    return status_of(cudaLaunchKernelEx(&config, solve_triangular<number<T>>, m, n, is_left, *numbers(&by), \
                                        factor, plain(numbers(b), b_rows)));                                \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##trsv(                                                 \
      cublasHandle_t, cublasFillMode_t part, cublasOperation_t form, cublasDiagType_t diagonal, int n,      \
      const T* a, int a_rows, T* x, int step) {                                                             \
    using namespace lab::emulator::blas;                                                                    \
    if (n < 0) return wrong_parameter(#letter "TRSV", 4);                                                   \
    if (is_too_narrow(a_rows, n)) return wrong_parameter(#letter "TRSV", 6);                                \
    if (n == 0) return CUBLAS_STATUS_SUCCESS;                                                               \
    const auto factor = triangular(numbers(a), a_rows, part, form, diagonal);                               \
    const cudaLaunchConfig_t config = thread_for_each(1);                                                   \
    return status_of(cudaLaunchKernelEx(&config, solve_triangular<number<T>>, n, 1, true, number<T>{1},     \
                                        factor, column(numbers(x), n, step)));                              \
  }                                                                                                         \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##symv(                                                 \
      cublasHandle_t, cublasFillMode_t part, int n, const T* alpha, const T* a, int a_rows, const T* x,     \
      int x_step, const T* beta, T* y, int y_step) {                                                        \
    using namespace lab::emulator::blas;                                                                    \
    if (n < 0) return wrong_parameter(#letter "SYMV", 2);                                                   \
    if (is_too_narrow(a_rows, n)) return wrong_parameter(#letter "SYMV", 5);                                \
    if (n == 0) return CUBLAS_STATUS_SUCCESS;                                                               \
    const T by = scalar(alpha), of_old = scalar(beta);                                                      \
    const structured<number<T>> factor{operand(numbers(a), a_rows, CUBLAS_OP_N), structure::symmetric,      \
                                       part == CUBLAS_FILL_MODE_UPPER};                                     \
    const cudaLaunchConfig_t config = thread_for_each(n);                                                   \
    return status_of(cudaLaunchKernelEx(&config, multiply_structured<number<T>>, n, 1, true, *numbers(&by), \
                                        factor, column(numbers(x), n, x_step), *numbers(&of_old),           \
                                        column(numbers(y), n, y_step)));                                    \
  }
LAB_EMULATOR_BLAS_3(S, float)
LAB_EMULATOR_BLAS_3(D, double)
LAB_EMULATOR_BLAS_3(C, cuComplex)
LAB_EMULATOR_BLAS_3(Z, cuDoubleComplex)
#undef LAB_EMULATOR_BLAS_3

// a += alpha x y', which is a product with one term in each sum.
#define LAB_EMULATOR_GER(name, text, T, form)                                                             \
  LAB_EMULATOR_LIBRARY cublasStatus_t name(cublasHandle_t, int m, int n, const T* alpha, const T* x,      \
                                           int x_step, const T* y, int y_step, T* a, int a_rows) {        \
    using namespace lab::emulator::blas;                                                                  \
    if (m < 0) return wrong_parameter(text, 1);                                                           \
    if (n < 0) return wrong_parameter(text, 2);                                                           \
    if (is_too_narrow(a_rows, m)) return wrong_parameter(text, 9);                                        \
    const T by = scalar(alpha);                                                                           \
    matrix<const number<T>> row = column(numbers(y), n, y_step);                                          \
    row = {row.first, 0, row.row_step, 0, form == CUBLAS_OP_C};                                           \
    return multiply(matrix_product<number<T>, number<T>, number<T>>{m, n, 1, *numbers(&by), number<T>{1}, \
                                                                    column(numbers(x), m, x_step), row,   \
                                                                    plain(numbers(a), a_rows)});          \
  }
LAB_EMULATOR_GER(cublasSger, "SGER", float, CUBLAS_OP_T)
LAB_EMULATOR_GER(cublasDger, "DGER", double, CUBLAS_OP_T)
LAB_EMULATOR_GER(cublasCgeru, "CGERU", cuComplex, CUBLAS_OP_T)
LAB_EMULATOR_GER(cublasCgerc, "CGERC", cuComplex, CUBLAS_OP_C)
LAB_EMULATOR_GER(cublasZgeru, "ZGERU", cuDoubleComplex, CUBLAS_OP_T)
LAB_EMULATOR_GER(cublasZgerc, "ZGERC", cuDoubleComplex, CUBLAS_OP_C)
#undef LAB_EMULATOR_GER
