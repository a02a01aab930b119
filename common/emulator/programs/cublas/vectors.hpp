// cuBLAS's first level: vectors. One thread does all of a vector, in the order of its elements.
#pragma once

#include "common/emulator/programs/cublas/base.hpp"

namespace lab::emulator::blas {

template <class T>
struct vector {
  T* first;
  int step;
  __forceinline__ T& operator[](long long i) const { return first[i * step]; }
};

template <class T, class Change>
void change_vectors(int n, vector<T> x, vector<T> y, Change change) {
  for (int i = 0; i < n; ++i) change(x[i], y[i]);
}
template <class T, class Change>
void change_vector(int n, vector<T> x, Change change) {
  for (int i = 0; i < n; ++i) change(x[i]);
}
// Sums in double precision, as cuBLAS's are more exact than one running sum.
template <class T, class Wide, class Term>
void sum_of_products(int n, vector<const T> x, vector<const T> y, T* result, Term term) {
  Wide sum{};
  for (int i = 0; i < n; ++i) sum += static_cast<Wide>(term(x[i], y[i]));
  *result = static_cast<T>(sum);
}
template <class T, class Real, class Term>
void sum_of_terms(int n, vector<const T> x, Real* result, bool takes_root, Term term) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += term(x[i]);
  *result = static_cast<Real>(takes_root ? std::sqrt(sum) : sum);
}
// The first element with the largest (or least) absolute value, counted from 1; 0 of none.
template <class T>
void extreme_element(int n, vector<const T> x, bool largest, int* result) {
  const auto size = [](T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(value);
    } else {
      return std::fabs(value.real()) + std::fabs(value.imag());
    }
  };
  *result = n < 1 ? 0 : 1;
  if (n < 1) return;
  auto best = size(x[0]);
  for (int i = 1; i < n; ++i) {
    const auto mine = size(x[i]);
    if (largest ? mine > best : mine < best) {
      best = mine;
      *result = i + 1;
    }
  }
}

inline constexpr cudaLaunchConfig_t one_thread() {
  return {{1}, {1}};
}
template <class T>
using wide_number = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;

template <class T, class Change>
cublasStatus_t two_vectors(int n, T* x, int x_step, T* y, int y_step, Change change) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const cudaLaunchConfig_t config = one_thread();
  return status_of(cudaLaunchKernelEx(&config, change_vectors<T, Change>, n,
                                      vector<T>{first_of(x, n, x_step), x_step},
                                      vector<T>{first_of(y, n, y_step), y_step}, change));
}
template <class T, class Change>
cublasStatus_t one_vector(int n, T* x, int step, Change change) {
  if (n <= 0 || step <= 0) return CUBLAS_STATUS_SUCCESS;
  const cudaLaunchConfig_t config = one_thread();
  return status_of(cudaLaunchKernelEx(&config, change_vector<T, Change>, n, vector<T>{x, step}, change));
}
template <class T, class Term>
cublasStatus_t dot(int n, const T* x, int x_step, const T* y, int y_step, T* result, Term term) {
  return with_result(result, [&](T* found) {
    const cudaLaunchConfig_t config = one_thread();
    return cudaLaunchKernelEx(&config, sum_of_products<T, wide_number<T>, Term>, n,
                              vector<const T>{first_of(x, n, x_step), x_step},
                              vector<const T>{first_of(y, n, y_step), y_step}, found, term);
  });
}
template <class T, class Real, class Term>
cublasStatus_t sum(int n, const T* x, int step, Real* result, bool takes_root, Term term) {
  return with_result(result, [&](Real* found) {
    const cudaLaunchConfig_t config = one_thread();
    return cudaLaunchKernelEx(&config, sum_of_terms<T, Real, Term>, step > 0 ? n : 0,
                              vector<const T>{x, step}, found, takes_root, term);
  });
}
template <class T>
cublasStatus_t extreme(int n, const T* x, int step, bool largest, int* result) {
  return with_result(result, [&](int* found) {
    const cudaLaunchConfig_t config = one_thread();
    return cudaLaunchKernelEx(&config, extreme_element<T>, step > 0 ? n : 0, vector<const T>{x, step},
                              largest, found);
  });
}

}  // namespace lab::emulator::blas

// For a letter S, D, C or Z; `sum` is what begins the names of functions with a real result.
#define LAB_EMULATOR_BLAS_1(letter, small, sum_name, T)                                                   \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##axpy(cublasHandle_t, int n, const T* alpha,         \
                                                           const T* x, int x_step, T* y, int y_step) {    \
    using namespace lab::emulator::blas;                                                                  \
    const number<T> by = *numbers(&static_cast<const T&>(scalar(alpha)));                                 \
    return two_vectors(n, const_cast<number<T>*>(numbers(x)), x_step, numbers(y), y_step,                 \
                       [by](number<T>& from, number<T>& to) { to += by * from; });                        \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##copy(cublasHandle_t, int n, const T* x, int x_step, \
                                                           T* y, int y_step) {                            \
    using namespace lab::emulator::blas;                                                                  \
    return two_vectors(n, const_cast<number<T>*>(numbers(x)), x_step, numbers(y), y_step,                 \
                       [](number<T>& from, number<T>& to) { to = from; });                                \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##swap(cublasHandle_t, int n, T* x, int x_step, T* y, \
                                                           int y_step) {                                  \
    using namespace lab::emulator::blas;                                                                  \
    return two_vectors(n, numbers(x), x_step, numbers(y), y_step, [](number<T>& a, number<T>& b) {        \
      const number<T> kept = a;                                                                           \
      a = b;                                                                                              \
      b = kept;                                                                                           \
    });                                                                                                   \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##scal(cublasHandle_t, int n, const T* alpha, T* x,   \
                                                           int step) {                                    \
    using namespace lab::emulator::blas;                                                                  \
    const number<T> by = *numbers(&static_cast<const T&>(scalar(alpha)));                                 \
    return one_vector(n, numbers(x), step, [by](number<T>& value) { value *= by; });                      \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##sum_name##nrm2(cublasHandle_t, int n, const T* x, int step, \
                                                             lab::emulator::blas::real<T>* result) {      \
    using namespace lab::emulator::blas;                                                                  \
    return sum(n, numbers(x), step, result, true,                                                         \
               [](number<T> value) { return static_cast<double>(std::norm(value)); });                    \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##sum_name##asum(cublasHandle_t, int n, const T* x, int step, \
                                                             lab::emulator::blas::real<T>* result) {      \
    using namespace lab::emulator::blas;                                                                  \
    return sum(n, numbers(x), step, result, false, [](number<T> value) {                                  \
      return static_cast<double>(std::fabs(std::real(value)) + std::fabs(std::imag(value)));              \
    });                                                                                                   \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublasI##small##amax(cublasHandle_t, int n, const T* x, int step,   \
                                                           int* result) {                                 \
    return lab::emulator::blas::extreme(n, lab::emulator::blas::numbers(x), step, true, result);          \
  }                                                                                                       \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublasI##small##amin(cublasHandle_t, int n, const T* x, int step,   \
                                                           int* result) {                                 \
    return lab::emulator::blas::extreme(n, lab::emulator::blas::numbers(x), step, false, result);         \
  }
LAB_EMULATOR_BLAS_1(S, s, S, float)
LAB_EMULATOR_BLAS_1(D, d, D, double)
LAB_EMULATOR_BLAS_1(C, c, Sc, cuComplex)
LAB_EMULATOR_BLAS_1(Z, z, Dz, cuDoubleComplex)
#undef LAB_EMULATOR_BLAS_1

#define LAB_EMULATOR_DOT(name, T, value)                                                                  \
  LAB_EMULATOR_LIBRARY cublasStatus_t name(cublasHandle_t, int n, const T* x, int x_step, const T* y,     \
                                           int y_step, T* result) {                                       \
    using namespace lab::emulator::blas;                                                                  \
    return dot(n, numbers(x), x_step, numbers(y), y_step, numbers(result), [](number<T> a, number<T> b) { \
      return static_cast<wide_number<number<T>>>(value) * static_cast<wide_number<number<T>>>(b);         \
    });                                                                                                   \
  }
LAB_EMULATOR_DOT(cublasSdot, float, a)
LAB_EMULATOR_DOT(cublasDdot, double, a)
LAB_EMULATOR_DOT(cublasCdotu, cuComplex, a)
LAB_EMULATOR_DOT(cublasZdotu, cuDoubleComplex, a)
LAB_EMULATOR_DOT(cublasCdotc, cuComplex, conjugate(a))
LAB_EMULATOR_DOT(cublasZdotc, cuDoubleComplex, conjugate(a))
#undef LAB_EMULATOR_DOT

#define LAB_EMULATOR_ROT(letter, T)                                                                      \
  LAB_EMULATOR_LIBRARY cublasStatus_t cublas##letter##rot(cublasHandle_t, int n, T* x, int x_step, T* y, \
                                                          int y_step, const T* cosine, const T* sine) {  \
    using namespace lab::emulator::blas;                                                                 \
    const T c = scalar(cosine), s = scalar(sine);                                                        \
    return two_vectors(n, x, x_step, y, y_step, [c, s](T& a, T& b) {                                     \
      const T turned = c * a + s * b;                                                                    \
      b = c * b - s * a;                                                                                 \
      a = turned;                                                                                        \
    });                                                                                                  \
  }
LAB_EMULATOR_ROT(S, float)
LAB_EMULATOR_ROT(D, double)
#undef LAB_EMULATOR_ROT
