// The harness's own device work. Every function enqueues on `stream`; T is double, float or std::int64_t.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/device/inputs.hpp"

namespace lab {

// Writes input_value(kind, seed, i) to values[i] for i < n.
template <class T>
void generate(T* values, std::int64_t n, pattern kind, std::uint64_t seed, cudaStream_t stream);

// Marks values[0..n) as never written: every bit set, which is a NaN that no arithmetic produces (its payload
// is full and its sign negative) in every floating-point type.
template <class T>
void poison(T* values, std::int64_t n, cudaStream_t stream);

// first[0] = the smallest i < n whose bits are still the poison, or n.
template <class T>
void find_poison(const T* values, std::int64_t n, std::int64_t* first, cudaStream_t stream);

// first[0] = the smallest i < n with values[i] not the generated input, bit for bit, or n.
template <class T>
void find_changed_input(const T* values, std::int64_t n, pattern kind, std::uint64_t seed,
                        std::int64_t* first, cudaStream_t stream);

// first[0] = the smallest i < n with bytes[i] != value, or n.
void find_other_byte(const unsigned char* bytes, std::int64_t n, unsigned char value, std::int64_t* first,
                     cudaStream_t stream);

// to[i] = from[indices[i]] for i < n.
template <class T>
void gather(const T* from, const std::int64_t* indices, T* to, std::int64_t n, cudaStream_t stream);

// digest[0] = a hash of all bits and their places: equal runs have equal digests.
template <class T>
void hash_bits(const T* values, std::int64_t n, std::uint64_t* digest, cudaStream_t stream);

// Reads `bytes` (a multiple of 16) and writes nothing: what was in the L2 cache before is evicted, and no
// dirty line is left behind to be written back during the next kernel.
void flush_cache(const void* data, std::size_t bytes, cudaStream_t stream);

// Reads `bytes` (a multiple of 16) as fast as the device can, and writes nothing.
void read_all(const void* data, std::size_t bytes, cudaStream_t stream);

// Does nothing: its time is the floor of every other.
void empty(cudaStream_t stream);

// Spins for about 20 us: result[0] = SM cycles, result[1] = nanoseconds that passed meanwhile.
void probe_clock(std::uint64_t* result, cudaStream_t stream);

}  // namespace lab
