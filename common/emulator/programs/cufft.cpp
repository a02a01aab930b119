#include "common/emulator/programs/include/cufft.h"
#include "common/emulator/core/never_destroyed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

namespace {

using complex = std::complex<double>;
constexpr int most_dimensions = 3;
constexpr std::size_t largest_factor = 64;

struct layout {
  std::array<long long, most_dimensions> embed{1, 1, 1};
  long long stride = 1, distance = 0;
};

struct plan {
  bool is_made = false;
  cufftType type = CUFFT_C2C;
  int rank = 1, batch = 1;
  std::array<long long, most_dimensions> n{1, 1, 1};
  bool is_dense = true;  // in place, real rows are padded
  layout input, output;
  cudaStream_t stream = nullptr;
};

std::mutex plans_mutex;
[[gnu::init_priority(101)]] lab::emulator::never_destroyed<std::map<cufftHandle, plan>> plans;
cufftHandle next_plan = 1;

bool is_from_real(cufftType type) {
  return type == CUFFT_R2C || type == CUFFT_D2Z;
}
bool is_to_real(cufftType type) {
  return type == CUFFT_C2R || type == CUFFT_Z2D;
}
bool is_known(cufftType type) {
  return is_from_real(type) || is_to_real(type) || type == CUFFT_C2C || type == CUFFT_Z2Z;
}

// The roots exp(sign * 2 pi i k / n) for k below n.
std::vector<complex> roots_of_unity(std::size_t n, int sign) {
  std::vector<complex> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double angle = sign * 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

// A transform of one length in one direction. Cooley and Tukey's for the length's prime factors, and where
// one of them is large, Bluestein's for the whole length.
class transform {
 public:
  transform(std::size_t n, int sign) : n_(n), sign_(sign), roots_(roots_of_unity(n, sign)) {
    std::size_t rest = n;
    for (std::size_t factor = 2; rest > 1; ++factor) {
      if (factor * factor > rest) factor = rest;
      for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
    }
    if (!factors_.empty() && factors_.back() > largest_factor) prepare_convolution();
  }

  void run(std::vector<complex>& values) const {
    if (n_ < 2) return;
    if (convolution_) return convolve(values);
    std::vector<complex> result(n_);
    split(values.data(), 1, result.data(), n_, 0);
    values = std::move(result);
  }

 private:
  // `from` has n values with a stride; the result goes to `to`, densely.
  void split(const complex* from, std::size_t stride, complex* to, std::size_t n, std::size_t level) const {
    if (n == 1) {
      *to = *from;
      return;
    }
    const std::size_t factor = factors_[level], part = n / factor;
    for (std::size_t k = 0; k < factor; ++k)
      split(from + k * stride, stride * factor, to + k * part, part, level + 1);
    std::array<complex, largest_factor> column;
    for (std::size_t at = 0; at < part; ++at) {
      for (std::size_t k = 0; k < factor; ++k) column[k] = to[k * part + at] * roots_[k * at * stride];
      for (std::size_t row = 0; row < factor; ++row) {
        complex sum = column[0];
        for (std::size_t k = 1; k < factor; ++k)
          sum += column[k] * roots_[(row * k % factor) * (n_ / factor)];
        to[row * part + at] = sum;
      }
    }
  }

  // L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970:
  // with 2 j k = j^2 + k^2 - (k - j)^2 the transform is a convolution, of a length that is a power of two.
  void prepare_convolution() {
    length_ = std::bit_ceil(2 * n_ - 1);
    const std::vector<complex> half_roots = roots_of_unity(2 * n_, sign_);
    chirp_.resize(n_);
    filter_.assign(length_, 0.0);
    for (std::size_t k = 0; k < n_; ++k) {
      chirp_[k] = half_roots[k * k % (2 * n_)];
      filter_[k] = std::conj(chirp_[k]);
      if (k != 0) filter_[length_ - k] = filter_[k];
    }
    forward_ = std::make_unique<transform>(length_, -1);
    backward_ = std::make_unique<transform>(length_, 1);
    forward_->run(filter_);
    convolution_ = true;
  }
  void convolve(std::vector<complex>& values) const {
    std::vector<complex> work(length_, 0.0);
    for (std::size_t k = 0; k < n_; ++k) work[k] = values[k] * chirp_[k];
    forward_->run(work);
    for (std::size_t k = 0; k < length_; ++k) work[k] *= filter_[k];
    backward_->run(work);
    for (std::size_t k = 0; k < n_; ++k) values[k] = work[k] * chirp_[k] / static_cast<double>(length_);
  }

  std::size_t n_;
  int sign_;
  std::vector<complex> roots_;
  std::vector<std::size_t> factors_;
  bool convolution_ = false;
  std::size_t length_ = 0;
  std::vector<complex> chirp_, filter_;
  std::unique_ptr<transform> forward_, backward_;
};

// Transforms a dense box of n[0] x n[1] x n[2] along each of its axes.
void transform_box(std::vector<complex>& box, const plan& of, int sign) {
  for (int axis = 0; axis < of.rank; ++axis) {
    const auto n = static_cast<std::size_t>(of.n[axis]);
    if (n < 2) continue;
    std::size_t stride = 1;
    for (int inner = axis + 1; inner < of.rank; ++inner) stride *= static_cast<std::size_t>(of.n[inner]);
    const transform along(n, sign);
    std::vector<complex> line(n);
    for (std::size_t first = 0; first < box.size(); ++first) {
      if (first / stride % n != 0) continue;
      line.resize(n);
      for (std::size_t k = 0; k < n; ++k) line[k] = box[first + k * stride];
      along.run(line);
      for (std::size_t k = 0; k < n; ++k) box[first + k * stride] = line[k];
    }
  }
}

// The other half of a spectrum of real numbers is the conjugate of the first, mirrored at the origin.
void complete_spectrum(std::vector<complex>& box, const plan& of) {
  const auto row = static_cast<std::size_t>(of.n[of.rank - 1]);
  for (std::size_t y = 0; y < box.size() / row; ++y) {
    std::size_t mirrored = 0, rest = y, scale = 1;
    for (int axis = of.rank - 2; axis >= 0; --axis) {
      const auto n = static_cast<std::size_t>(of.n[axis]);
      mirrored += (n - rest % n) % n * scale;
      rest /= n;
      scale *= n;
    }
    for (std::size_t x = row / 2 + 1; x < row; ++x)
      box[y * row + x] = std::conj(box[mirrored * row + (row - x)]);
  }
}

// Where row `number` of a transform begins.
long long place_of_row(std::size_t number, const plan& of, const layout& where) {
  std::array<long long, most_dimensions> index{};
  auto rest = static_cast<long long>(number);
  for (int axis = of.rank - 2; axis >= 0; --axis) {
    index[axis] = rest % of.n[axis];
    rest /= of.n[axis];
  }
  long long at = 0;
  for (int axis = 0; axis < of.rank; ++axis) at = at * where.embed[axis] + index[axis];
  return at * where.stride;
}

// Strides are in elements.
template <class Number>
bool copy_row(Number* to, long long to_stride, const Number* from, long long from_stride, std::size_t count) {
  if (to_stride == 1 && from_stride == 1)
    return cudaMemcpy(to, from, count * sizeof(Number), cudaMemcpyDefault) == cudaSuccess;
  return cudaMemcpy2D(to, to_stride * sizeof(Number), from, from_stride * sizeof(Number), sizeof(Number),
                      count, cudaMemcpyDefault) == cudaSuccess;
}

layout dense_layout(const plan& of, long long row_length) {
  layout result;
  result.distance = 1;
  for (int axis = 0; axis < of.rank; ++axis) {
    result.embed[axis] = axis == of.rank - 1 ? row_length : of.n[axis];
    result.distance *= result.embed[axis];
  }
  return result;
}

template <class Number>
complex complex_of(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return {value, 0};
  } else {
    return {value.x, value.y};
  }
}
template <class Number>
void put(Number& to, complex value) {
  if constexpr (std::is_floating_point_v<Number>) {
    to = static_cast<Number>(value.real());
  } else {
    using real = decltype(to.x);
    to = {static_cast<real>(value.real()), static_cast<real>(value.imag())};
  }
}

template <class From, class To>
cufftResult execute(cufftHandle handle, cufftType type, const From* input, To* output, int sign) {
  plan of;
  {
    const std::lock_guard lock(plans_mutex);
    const auto found = plans->find(handle);
    if (found == plans->end() || !found->second.is_made) return CUFFT_INVALID_PLAN;
    of = found->second;
  }
  if (of.type != type) return CUFFT_INVALID_TYPE;
  if (input == nullptr || output == nullptr || (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE))
    return CUFFT_INVALID_VALUE;
  if (cudaStreamSynchronize(of.stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
  const long long row = of.n[of.rank - 1], half_row = row / 2 + 1;
  const long long input_row = is_to_real(type) ? half_row : row,
                  output_row = is_from_real(type) ? half_row : row;
  layout from = of.input, to = of.output;
  if (of.is_dense) {
    const bool in_place = static_cast<const void*>(input) == static_cast<const void*>(output);
    from = dense_layout(of, in_place && is_from_real(type) ? 2 * half_row : input_row);
    to = dense_layout(of, in_place && is_to_real(type) ? 2 * half_row : output_row);
  }
  std::size_t rows = 1;
  for (int axis = 0; axis + 1 < of.rank; ++axis) rows *= static_cast<std::size_t>(of.n[axis]);
  std::vector<complex> box(rows * static_cast<std::size_t>(row));
  std::vector<From> read(input_row);
  std::vector<To> written(output_row);
  for (int transform = 0; transform < of.batch; ++transform) {
    // By cudaMemcpy(), which knows what lies within an allocation.
    for (std::size_t y = 0; y < rows; ++y) {
      const From* const source = input + transform * from.distance + place_of_row(y, of, from);
      if (!copy_row(read.data(), 1, source, from.stride, read.size())) return CUFFT_EXEC_FAILED;
      std::transform(read.begin(), read.end(), box.begin() + static_cast<std::ptrdiff_t>(y * row),
                     complex_of<From>);
    }
    if (is_to_real(type)) complete_spectrum(box, of);
    transform_box(box, of, sign);
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < written.size(); ++x) put(written[x], box[y * row + x]);
      To* const target = output + transform * to.distance + place_of_row(y, of, to);
      if (!copy_row(target, to.stride, written.data(), 1, written.size())) return CUFFT_EXEC_FAILED;
    }
  }
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult cufftCreate(cufftHandle* handle) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  const std::lock_guard lock(plans_mutex);
  *handle = next_plan++;
  (*plans)[*handle] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  const std::lock_guard lock(plans_mutex);
  return plans->erase(handle) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int* n, int* input_embed, int input_stride,
                              int input_distance, int* output_embed, int output_stride, int output_distance,
                              cufftType type, int batch, std::size_t* workspace) {
  if (workspace != nullptr) *workspace = 0;
  if (rank < 1 || rank > most_dimensions || n == nullptr) return CUFFT_INVALID_VALUE;
  if (!is_known(type)) return CUFFT_INVALID_TYPE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  plan made;
  made.is_made = true;
  made.type = type;
  made.rank = rank;
  made.batch = batch;
  double elements = 1;
  constexpr double most_elements = 1 << 27;  // cuFFT's own limit for one dimension
  for (int axis = 0; axis < rank; ++axis) {
    if (n[axis] < 1) return CUFFT_INVALID_SIZE;
    made.n[axis] = n[axis];
    elements *= n[axis];
  }
  if (elements > most_elements) return CUFFT_INVALID_SIZE;
  made.is_dense = input_embed == nullptr || output_embed == nullptr;
  if (!made.is_dense) {
    for (int axis = 0; axis < rank; ++axis) {
      made.input.embed[axis] = input_embed[axis];
      made.output.embed[axis] = output_embed[axis];
    }
    made.input.stride = input_stride;
    made.input.distance = input_distance;
    made.output.stride = output_stride;
    made.output.distance = output_distance;
  }
  const std::lock_guard lock(plans_mutex);
  const auto found = plans->find(handle);
  if (found == plans->end()) return CUFFT_INVALID_PLAN;
  made.stream = found->second.stream;
  found->second = made;
  return CUFFT_SUCCESS;
}
cufftResult cufftMakePlan1d(cufftHandle handle, int n, cufftType type, int batch, std::size_t* workspace) {
  return cufftMakePlanMany(handle, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, batch, workspace);
}
cufftResult cufftMakePlan2d(cufftHandle handle, int rows, int columns, cufftType type,
                            std::size_t* workspace) {
  int n[] = {rows, columns};
  return cufftMakePlanMany(handle, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, workspace);
}
cufftResult cufftMakePlan3d(cufftHandle handle, int planes, int rows, int columns, cufftType type,
                            std::size_t* workspace) {
  int n[] = {planes, rows, columns};
  return cufftMakePlanMany(handle, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, workspace);
}
cufftResult cufftPlanMany(cufftHandle* handle, int rank, int* n, int* input_embed, int input_stride,
                          int input_distance, int* output_embed, int output_stride, int output_distance,
                          cufftType type, int batch) {
  if (const cufftResult result = cufftCreate(handle); result != CUFFT_SUCCESS) return result;
  const cufftResult result =
      cufftMakePlanMany(*handle, rank, n, input_embed, input_stride, input_distance, output_embed,
                        output_stride, output_distance, type, batch, nullptr);
  if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
  return result;
}
cufftResult cufftPlan1d(cufftHandle* handle, int n, cufftType type, int batch) {
  return cufftPlanMany(handle, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}
cufftResult cufftPlan2d(cufftHandle* handle, int rows, int columns, cufftType type) {
  int n[] = {rows, columns};
  return cufftPlanMany(handle, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
cufftResult cufftPlan3d(cufftHandle* handle, int planes, int rows, int columns, cufftType type) {
  int n[] = {planes, rows, columns};
  return cufftPlanMany(handle, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}

cufftResult cufftGetSize(cufftHandle handle, std::size_t* workspace) {
  *workspace = 0;
  const std::lock_guard lock(plans_mutex);
  return plans->count(handle) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftEstimate1d(int, cufftType, int, std::size_t* workspace) {
  *workspace = 0;
  return CUFFT_SUCCESS;
}
cufftResult cufftEstimate2d(int, int, cufftType, std::size_t* workspace) {
  *workspace = 0;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle, int) {
  return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle, void*) {
  return CUFFT_SUCCESS;
}
cufftResult cufftSetCompatibilityMode(cufftHandle, cufftCompatibility) {
  return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const std::lock_guard lock(plans_mutex);
  const auto found = plans->find(handle);
  if (found == plans->end()) return CUFFT_INVALID_PLAN;
  found->second.stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetVersion(int* version) {
  *version = 12000;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle handle, cufftComplex* input, cufftComplex* output, int direction) {
  return execute(handle, CUFFT_C2C, input, output, direction);
}
cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* input, cufftDoubleComplex* output,
                         int direction) {
  return execute(handle, CUFFT_Z2Z, input, output, direction);
}
cufftResult cufftExecR2C(cufftHandle handle, cufftReal* input, cufftComplex* output) {
  return execute(handle, CUFFT_R2C, input, output, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle handle, cufftDoubleReal* input, cufftDoubleComplex* output) {
  return execute(handle, CUFFT_D2Z, input, output, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle handle, cufftComplex* input, cufftReal* output) {
  return execute(handle, CUFFT_C2R, input, output, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle handle, cufftDoubleComplex* input, cufftDoubleReal* output) {
  return execute(handle, CUFFT_Z2D, input, output, CUFFT_INVERSE);
}
