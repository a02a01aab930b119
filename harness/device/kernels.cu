#include "harness/device/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "common/cuda.hpp"
#include "harness/device/letters.hpp"

namespace lab {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t max_blocks = 132 * 16;

dim3 grid_for(std::int64_t n) {
  const std::int64_t blocks = (n + block_threads - 1) / block_threads;
  return dim3(static_cast<unsigned>(std::min(blocks, max_blocks)));
}

__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

// A value's bits, and zeros above them.
template <class T>
__device__ std::uint64_t bits_of(const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Calls body(i) for every i < n: with a thread for each of many, or on the emulator, whose threads cost as
// much as some ten elements, in a plain loop of the host. (What is the harness's own shows nothing of a
// kernel.)
#if LAB_EMULATED
template <class Body>
void for_each_index(std::int64_t n, const Body& body, cudaStream_t /*stream*/) {
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

void keep_smallest(std::int64_t* first, std::int64_t index) {
  *first = std::min(*first, index);
}
#else
template <class Body>
__global__ void for_each_kernel(std::int64_t n, Body body) {
  for (std::int64_t i = first_index(); i < n; i += stride()) body(i);
}

template <class Body>
void for_each_index(std::int64_t n, const Body& body, cudaStream_t stream) {
  launch(for_each_kernel<Body>, grid_for(n), dim3(block_threads), 0, stream, n, body);
}

__device__ void keep_smallest(std::int64_t* first, std::int64_t index) {
  atomicMin(reinterpret_cast<long long*>(first), static_cast<long long>(index));
}

__device__ void add(std::uint64_t* sum, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}
#endif

struct set_word {
  std::int64_t* to;
  std::int64_t value;
  __device__ void operator()(std::int64_t /*i*/) const { *to = value; }
};

// What is done with element i of some values.
template <class T>
struct generate_value {
  device_values to;
  pattern kind;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t i) const {
    to.as<T>()[i] = input_value<T>(kind, seed, to.first + i);
  }
};

template <class T>
struct find_poison_value {
  device_values of;
  std::int64_t* at;
  __device__ void operator()(std::int64_t i) const {
    if (bits_of(of.as<T>()[i]) == ~0ull >> (64 - 8 * sizeof(T))) keep_smallest(at, i);
  }
};

template <class T>
struct find_changed_value {
  device_values of;
  pattern kind;
  std::uint64_t seed;
  std::int64_t* at;
  __device__ void operator()(std::int64_t i) const {
    const T wanted = input_value<T>(kind, seed, of.first + i);
    if (bits_of(of.as<T>()[i]) != bits_of(wanted)) keep_smallest(at, i);
  }
};

template <class T>
struct gather_value {
  device_values from;
  const std::int64_t* indices;
  void* to;
  __device__ void operator()(std::int64_t k) const {
    static_cast<T*>(to)[k] = from.as<T>()[indices[k] - from.first];
  }
};

// What element i adds to a digest of all.
template <class T>
struct hash_value {
  device_values of;
  __device__ std::uint64_t operator()(std::int64_t i) const {
    return random_bits(bits_of(of.as<T>()[i]), static_cast<std::uint64_t>(of.first + i));
  }
};

template <class T>
struct hash_exact_value {
  device_values of;
  double unit;
  __device__ std::uint64_t operator()(std::int64_t i) const {
    return random_bits(exact_key_of(of.as<T>()[i], unit), static_cast<std::uint64_t>(of.first + i));
  }
};

// Words of 8 bytes, of every magnitude as often as of any other: counts and indices are small.
struct fill_random_byte {
  unsigned char* bytes;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t i) const {
    const auto word = static_cast<std::uint64_t>(i) / 8;
    const std::uint64_t value = random_bits(seed, word) >> (random_bits(seed ^ 0x3a61, word) % 64);
    bytes[i] = static_cast<unsigned char>(value >> (8 * (i % 8)));
  }
};

struct find_other_value {
  const unsigned char* bytes;
  unsigned char value;
  std::int64_t* at;
  __device__ void operator()(std::int64_t i) const {
    if (bytes[i] != value) keep_smallest(at, i);
  }
};

// Body<T>, made of the values and `more`, with T the type of the elements, for the indices below n.
template <template <class> class Body, class... More>
void for_each_element(const device_values& values, std::int64_t n, cudaStream_t stream, const More&... more) {
  with_element(values.type, [&](auto zero) {
    for_each_index(n, Body<decltype(zero)>{values, more...}, stream);
  });
}

// sums[k] += term(i) of segment k: indices k * segment up to (k + 1) * segment.
#if LAB_EMULATED
template <class Term>
void sum_segments(std::int64_t n, std::int64_t segment, const Term& term, std::uint64_t* sums,
                  cudaStream_t /*stream*/) {
  for (std::int64_t i = 0; i < n; ++i) sums[i / segment] += term(i);
}
#else
template <class Term>
__global__ void sum_segment_kernel(std::int64_t n, std::int64_t segment, Term term, std::uint64_t* sums) {
  const std::int64_t begin = blockIdx.y * segment;
  const std::int64_t end = begin + segment < n ? begin + segment : n;
  std::uint64_t sum = 0;
  for (std::int64_t i = begin + first_index(); i < end; i += stride()) sum += term(i);
  // Addition of integers: the order in which the threads arrive cannot show.
  add(&sums[blockIdx.y], sum);
}

template <class Term>
void sum_segments(std::int64_t n, std::int64_t segment, const Term& term, std::uint64_t* sums,
                  cudaStream_t stream) {
  if (n == 0) return;
  const std::int64_t segments = (n + segment - 1) / segment;
  const dim3 across = grid_for(segment);
  const dim3 grid(static_cast<unsigned>(std::max<std::int64_t>(1, across.x / segments)),
                  static_cast<unsigned>(segments));
  launch(sum_segment_kernel<Term>, grid, dim3(block_threads), 0, stream, n, segment, term, sums);
}
#endif

__device__ void mix(uint4& all, const uint4& value) {
  all.x ^= value.x;
  all.y ^= value.y;
  all.z ^= value.z;
  all.w ^= value.w;
}

__global__ void flush_kernel(const uint4* data, std::size_t n, uint4* never) {
  uint4 all = make_uint4(0, 0, 0, 0);
  for (std::size_t i = static_cast<std::size_t>(first_index()); i < n;
       i += static_cast<std::size_t>(stride())) {
    mix(all, data[i]);
  }
  // The host passes nullptr; the compiler cannot know, so the loads stay.
  if (never != nullptr) *never = all;
}

constexpr int plain_threads = 512;

// All of the block's tile of n words, mixed. Blocks come in the order of memory, each with one tile of
// `words` 16-byte words of every thread, all of which are under way at once. Of the shapes that were tried on
// an H200 (persistent grids, stripes, bulk copies) none was faster.
template <int words>
__device__ uint4 mixed_tile(const uint4* from, std::int64_t n) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * words * plain_threads + threadIdx.x;
  uint4 all = make_uint4(0, 0, 0, 0);
  uint4 values[words];
  if (first + (words - 1) * plain_threads < n) {
#pragma unroll
    for (int k = 0; k < words; ++k) values[k] = from[first + k * plain_threads];
#pragma unroll
    for (int k = 0; k < words; ++k) mix(all, values[k]);
  } else {
    for (std::int64_t i = first; i < n; i += plain_threads) mix(all, from[i]);
  }
  return all;
}

template <int words>
__global__ void __launch_bounds__(plain_threads)
    read_kernel(const uint4* data, std::int64_t n, uint4* never) {
  const uint4 all = mixed_tile<words>(data, n);
  // As above: the compiler must keep the loads.
  if (never != nullptr) *never = all;
}

template <int words>
__global__ void __launch_bounds__(plain_threads) write_kernel(uint4* to, std::int64_t n) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * words * plain_threads + threadIdx.x;
  const std::int64_t end = first + words * plain_threads < n ? first + words * plain_threads : n;
  for (std::int64_t i = first; i < end; i += plain_threads) to[i] = make_uint4(90, 90, 90, 90);
}

template <int words>
__global__ void __launch_bounds__(plain_threads) copy_kernel(const uint4* from, uint4* to, std::int64_t n) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * words * plain_threads + threadIdx.x;
  uint4 values[words];
  if (first + (words - 1) * plain_threads < n) {
#pragma unroll
    for (int k = 0; k < words; ++k) values[k] = from[first + k * plain_threads];
#pragma unroll
    for (int k = 0; k < words; ++k) to[first + k * plain_threads] = values[k];
  } else {
    for (std::int64_t i = first; i < n; i += plain_threads) to[i] = from[i];
  }
}

// Block b writes its part of the n_to words, the b-th of as many as there are blocks.
template <int words>
__global__ void __launch_bounds__(plain_threads)
    uneven_kernel(const uint4* from, std::int64_t n, uint4* to, std::int64_t n_to) {
  const uint4 all = mixed_tile<words>(from, n);
  const std::int64_t end = n_to * (blockIdx.x + std::int64_t{1}) / gridDim.x;
  for (std::int64_t i = n_to * blockIdx.x / gridDim.x + threadIdx.x; i < end; i += plain_threads) to[i] = all;
}

// Calls body.operator()<words>(grid, n), for one of plain_kernel_words.
template <class Body>
void with_words(std::size_t bytes, int words, const Body& body) {
  const auto n = static_cast<std::int64_t>(bytes / sizeof(uint4));
  const std::int64_t tile = std::int64_t{words} * plain_threads;
  const dim3 grid(static_cast<unsigned>((n + tile - 1) / tile));
  if (words == 1) return body.template operator()<1>(grid, n);
  if (words == 2) return body.template operator()<2>(grid, n);
  if (words == 4) return body.template operator()<4>(grid, n);
  return body.template operator()<8>(grid, n);
}

// So many independent chains a thread that none waits for its last result.
constexpr int multiply_add_chains = 16;
constexpr int multiply_add_threads = 256;

__global__ void __launch_bounds__(multiply_add_threads)
    multiply_add_kernel(std::int64_t turns, float factor, float* never_written) {
  float sums[multiply_add_chains];
#pragma unroll
  for (int k = 0; k < multiply_add_chains; ++k) sums[k] = static_cast<float>(threadIdx.x + k);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int k = 0; k < multiply_add_chains; ++k) sums[k] = sums[k] * factor + 1.5f;
  }
  float total = 0;
#pragma unroll
  for (int k = 0; k < multiply_add_chains; ++k) total += sums[k];
  if (never_written != nullptr) *never_written = total;
}

__global__ void empty_kernel() {}

__global__ void probe_clock_kernel(std::uint64_t* result) {
#if LAB_EMULATED
  result[0] = 0;
  result[1] = 0;
#else
  constexpr std::uint64_t spin_nanoseconds = 20'000;
  std::uint64_t start = 0;
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  // Begin at a tick of the timer, which is coarser than the clock.
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now == start);
  start = now;
  const long long first_cycle = clock64();
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < spin_nanoseconds);
  result[0] = static_cast<std::uint64_t>(clock64() - first_cycle);
  result[1] = now - start;
#endif
}

// What lies in front of the row that comes first goes to the end.
template <class T>
struct rotated_offset {
  const T* offsets;
  T* to;
  std::int64_t rows, first_row, begin, bytes;

  __device__ void operator()(std::int64_t row) const {
    const bool is_wrapped = row + first_row >= rows;
    const auto byte =
        static_cast<std::int64_t>(offsets[is_wrapped ? row + first_row - rows : row + first_row]) - begin;
    to[row] = static_cast<T>(row == rows ? bytes : is_wrapped ? byte + bytes : byte);
  }
};

// One thread for each 16 bytes, which it loads at once where they are whole.
__global__ void vary_kernel(char* chars, std::int64_t bytes, std::uint64_t from, std::uint64_t to) {
  const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t begin = word * varied_bytes;
  if (begin >= bytes) return;
  const int turn = (26 + turn_of(to, word) - turn_of(from, word)) % 26;
  if (begin + varied_bytes > bytes) {
    for (std::int64_t i = begin; i < bytes; ++i) chars[i] = turned(chars[i], turn);
    return;
  }
  auto* const address = reinterpret_cast<uint4*>(chars + begin);
  uint4 loaded = *address;
  char letters[varied_bytes];
  std::memcpy(letters, static_cast<const void*>(&loaded), sizeof letters);
#pragma unroll
  for (int k = 0; k < varied_bytes; ++k) letters[k] = turned(letters[k], turn);
  std::memcpy(static_cast<void*>(&loaded), letters, sizeof letters);
  *address = loaded;
}

}  // namespace

void generate(const device_values& values, pattern kind, std::uint64_t seed, cudaStream_t stream) {
  for_each_element<generate_value>(values, values.count, stream, kind, seed);
}

void fill_random(unsigned char* bytes, std::int64_t n, std::uint64_t seed, cudaStream_t stream) {
  // The seed is that of a verification, and many fills have it: each is another.
  static std::atomic<std::uint64_t> fills{0};
  for_each_index(n, fill_random_byte{bytes, random_bits(seed, ++fills)}, stream);
}

void find_poison(const device_values& values, std::int64_t* at, cudaStream_t stream) {
  for_each_index(1, set_word{at, values.count}, stream);
  for_each_element<find_poison_value>(values, values.count, stream, at);
}

void find_changed_input(const device_values& values, pattern kind, std::uint64_t seed, std::int64_t* at,
                        cudaStream_t stream) {
  for_each_index(1, set_word{at, values.count}, stream);
  for_each_element<find_changed_value>(values, values.count, stream, kind, seed, at);
}

void find_other_byte(const unsigned char* bytes, std::int64_t n, unsigned char value, std::int64_t* at,
                     cudaStream_t stream) {
  for_each_index(1, set_word{at, n}, stream);
  for_each_index(n, find_other_value{bytes, value, at}, stream);
}

void gather(const device_values& from, const std::int64_t* indices, void* to, std::int64_t n,
            cudaStream_t stream) {
  for_each_element<gather_value>(from, n, stream, indices, to);
}

void hash_bits(const device_values& values, std::uint64_t* digest, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(digest, 0, sizeof *digest, stream));
  with_element(values.type, [&](auto zero) {
    sum_segments(values.count, std::max<std::int64_t>(1, values.count), hash_value<decltype(zero)>{values},
                 digest, stream);
  });
}

void hash_exact(const device_values& values, double unit, std::int64_t segment, std::uint64_t* digests,
                cudaStream_t stream) {
  const auto segments = static_cast<std::size_t>((values.count + segment - 1) / segment);
  if (segments > 0) CUDA_CHECK(cudaMemsetAsync(digests, 0, segments * sizeof *digests, stream));
  with_element(values.type, [&](auto zero) {
    sum_segments(values.count, segment, hash_exact_value<decltype(zero)>{values, unit}, digests, stream);
  });
}

void vary_letters(char* chars, std::int64_t bytes, std::uint64_t from, std::uint64_t to,
                  cudaStream_t stream) {
  const std::int64_t per_block = block_threads * varied_bytes;
  launch(vary_kernel, dim3(static_cast<unsigned>((bytes + per_block - 1) / per_block)), dim3(block_threads),
         0, stream, chars, bytes, from, to);
}

template <class T>
void rotate_offsets(const T* offsets, T* to, std::int64_t rows, std::int64_t first_row, std::int64_t begin,
                    std::int64_t bytes, cudaStream_t stream) {
  for_each_index(rows + 1, rotated_offset<T>{offsets, to, rows, first_row, begin, bytes}, stream);
}
template void rotate_offsets(const std::int32_t*, std::int32_t*, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, cudaStream_t);
template void rotate_offsets(const std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, cudaStream_t);

void flush_cache(const void* data, std::size_t bytes, cudaStream_t stream) {
  const std::size_t n = bytes / sizeof(uint4);
  launch(flush_kernel, grid_for(static_cast<std::int64_t>(n)), dim3(block_threads), 0, stream,
         static_cast<const uint4*>(data), n, nullptr);
}

void read_all(const void* data, std::size_t bytes, int words, cudaStream_t stream) {
  with_words(bytes, words, [&]<int width>(dim3 grid, std::int64_t n) {
    launch(read_kernel<width>, grid, dim3(plain_threads), 0, stream, static_cast<const uint4*>(data), n,
           nullptr);
  });
}

double multiply_add_all(double operations, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  constexpr int blocks_per_multiprocessor = 8;
  const auto blocks = static_cast<unsigned>(multiprocessors * blocks_per_multiprocessor);
  const double each_turn = 2.0 * multiply_add_chains * multiply_add_threads * blocks;
  const auto turns = static_cast<std::int64_t>(std::ceil(operations / each_turn));
  launch(multiply_add_kernel, dim3(blocks), dim3(multiply_add_threads), 0, stream, turns, 0.75f, nullptr);
  return static_cast<double>(turns) * each_turn;
}

void write_all(void* to, std::size_t bytes, int words, cudaStream_t stream) {
  with_words(bytes, words, [&]<int width>(dim3 grid, std::int64_t n) {
    launch(write_kernel<width>, grid, dim3(plain_threads), 0, stream, static_cast<uint4*>(to), n);
  });
}

void copy_all(void* to, const void* from, std::size_t bytes, int words, cudaStream_t stream) {
  with_words(bytes, words, [&]<int width>(dim3 grid, std::int64_t n) {
    launch(copy_kernel<width>, grid, dim3(plain_threads), 0, stream, static_cast<const uint4*>(from),
           static_cast<uint4*>(to), n);
  });
}

void copy_uneven(void* to, std::size_t written, const void* from, std::size_t read, int words,
                 cudaStream_t stream) {
  with_words(read, words, [&]<int width>(dim3 grid, std::int64_t n) {
    launch(uneven_kernel<width>, grid, dim3(plain_threads), 0, stream, static_cast<const uint4*>(from), n,
           static_cast<uint4*>(to), static_cast<std::int64_t>(written / sizeof(uint4)));
  });
}

void empty(cudaStream_t stream) {
  launch(empty_kernel, dim3(1), dim3(1), 0, stream);
}

void probe_clock(std::uint64_t* result, cudaStream_t stream) {
  launch(probe_clock_kernel, dim3(1), dim3(1), 0, stream, result);
}

}  // namespace lab
