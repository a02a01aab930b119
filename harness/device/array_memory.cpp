#include "harness/device/array_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "harness/device/kernels.hpp"

namespace lab {
namespace {

// Every bit set, and a NaN: an integer with all bits set is a value like any other, and is left alone.
template <class T>
bool is_poison(const T& value) {
  if constexpr (!is_real_v<T>) return false;
  unsigned char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char byte) { return byte == 0xff; });
}

// Rounded toward minus infinity: byte -1 lies in element -1.
std::int64_t element_of_byte(std::int64_t byte, std::size_t element_bytes) {
  const auto size = static_cast<std::int64_t>(element_bytes);
  return byte >= 0 ? byte / size : -((-byte + size - 1) / size);
}

std::int64_t bytes_of(const part& held, element_type type) {
  return held.count * static_cast<std::int64_t>(size_of(type));
}

}  // namespace

array_memory::array array_memory::make_array(const array_member& member, const part& held,
                                             cudaStream_t stream, array_use use) {
  return {{member}, held, guarded_buffer(bytes_of(held, member.type), stream, use)};
}

array_memory::array_memory(const array_layout& layout, array_parts held, std::size_t scratch_bytes,
                           cudaStream_t stream)
    : stream_(stream),
      inputs_([&] {
        std::vector<array> made;
        for (std::size_t k = 0; k < held.inputs.size(); ++k)
          made.push_back(make_array(layout.inputs.at(k), held.inputs[k], stream, array_use::read));
        return made;
      }()),
      output_(make_array(layout.output, held.output, stream, array_use::written)),
      scratch_(static_cast<std::int64_t>(scratch_bytes), stream),
      found_(first_input + words_of_input * inputs_.size()),
      device_found_(found_.size(), stream) {}

std::size_t array_memory::array_bytes(const array_layout& layout, const array_parts& held) {
  const auto needed = [](const part& of, element_type type) {
    return guarded_buffer::needed_bytes(bytes_of(of, type));
  };
  std::size_t bytes = needed(held.output, layout.output.type);
  for (std::size_t k = 0; k < held.inputs.size(); ++k)
    bytes += needed(held.inputs[k], layout.inputs.at(k).type);
  return bytes;
}

std::vector<void*> array_memory::inputs() const {
  std::vector<void*> all;
  for (const array& input : inputs_) all.push_back(input.memory.data());
  return all;
}

void array_memory::poison_inputs() const {
  for (const array& input : inputs_) input.memory.poison_all();
}

void array_memory::poison_output() const {
  output_.memory.poison_all();
}

void array_memory::fill(memory_fill with, std::uint64_t seed) const {
  output_.memory.poison_all();
  scratch_.poison_all();
  if (with == memory_fill::ones) return;
  output_.memory.fill(with, seed);
  scratch_.fill(with, ~seed);
}

void array_memory::generate(pattern kind, std::uint64_t seed) const {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const array& input = inputs_[k];
    const drawn_input of = drawn(input, kind, seed, k);
    with_element(input.type, [&](auto zero) {
      lab::generate(input.as<decltype(zero)>(), input.held.count, of.kind, of.seed, stream_,
                    input.held.first);
    });
  }
}

void array_memory::send(const host_arrays& values) const {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const array& input = inputs_[k];
    input.memory.poison_all();
    if (input.held.count == 0) continue;
    with_element(input.type, [&](auto zero) {
      using T = decltype(zero);
      const T* const given = values.at(k).template as<T>() + input.held.first;
      // The one NaN that is the poison, bit for bit, becomes the usual one: some multiprocessors hand a NaN's
      // bits on, and an output that holds them would seem unwritten.
      std::vector<T> sent(given, given + input.held.count);
      for (T& value : sent) {
        if (is_poison(value)) value = std::numeric_limits<T>::quiet_NaN();
      }
      CUDA_CHECK(
          cudaMemcpyAsync(input.memory.data(), sent.data(), input.bytes(), cudaMemcpyHostToDevice, stream_));
      CUDA_CHECK(cudaStreamSynchronize(stream_));
    });
  }
}

void array_memory::read(void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
  CUDA_CHECK(cudaStreamSynchronize(stream_));
}

void array_memory::look(const input_source& source, memory_fill filled) {
  std::int64_t* const words = device_found_.data();
  const std::size_t bytes = found_.size() * sizeof found_[0];
  CUDA_CHECK(cudaMemsetAsync(words, 0x7f, bytes, stream_));  // more than any index
  if (filled == memory_fill::ones) {
    with_element(output_.type, [&](auto zero) {
      find_poison(output_.as<decltype(zero)>(), output_.held.count, words + unwritten_output, stream_);
    });
  }
  output_.memory.look_at_guards(words + output_guards);
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const array& input = inputs_[k];
    std::int64_t* const its_words = words + first_input + words_of_input * k;
    if (source.own == nullptr) {
      const drawn_input of = drawn(input, source.kind, source.seed, k);
      with_element(input.type, [&](auto zero) {
        find_changed_input(input.as<decltype(zero)>(), input.held.count, of.kind, of.seed, its_words, stream_,
                           input.held.first);
      });
    }
    input.memory.look_at_guards(its_words + 1);
  }
  scratch_.look_at_guards(words + scratch_guards);
  read(found_.data(), words, bytes);
}

std::optional<failure_record> array_memory::changed_input() const {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const array& input = inputs_[k];
    const std::int64_t changed = found_[first_input + words_of_input * k];
    if (changed >= input.held.count) continue;
    failure_record failure{.kind = failure_kind::input_changed, .index = input.held.first + changed};
    if (inputs_.size() > 1) failure.found = input.name;
    return failure;
  }
  return std::nullopt;
}

std::optional<failure_record> array_memory::damage(const std::function<bool(std::int64_t)>& is_right,
                                                   const std::string& where) const {
  if (const std::int64_t unwritten = found_[unwritten_output];
      unwritten < output_.held.count && !is_right(output_.held.first + unwritten))
    return failure_record{.kind = failure_kind::unwritten, .index = output_.held.first + unwritten};
  const auto stray = [&](const guarded_buffer& memory, std::size_t word, std::int64_t first,
                         std::size_t element_bytes,
                         const std::string& what) -> std::optional<failure_record> {
    const auto byte = memory.changed_byte(&found_[word]);
    if (!byte) return std::nullopt;
    return failure_record{.kind = failure_kind::out_of_bounds,
                          .index = first + element_of_byte(*byte, element_bytes),
                          .found = "a write to the " + what + where};
  };
  if (auto failure =
          stray(output_.memory, output_guards, output_.held.first, size_of(output_.type), "output"))
    return failure;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const array& input = inputs_[k];
    const std::string name = inputs_.size() > 1 ? std::string("input ") + input.name : "input";
    if (auto failure = stray(input.memory, first_input + words_of_input * k + 1, input.held.first,
                             size_of(input.type), name))
      return failure;
  }
  return stray(scratch_, scratch_guards, 0, 1, "workspace");
}

void array_memory::download(std::int64_t first, std::int64_t count, void* to) const {
  const std::size_t size = size_of(output_.type);
  const auto* const from = static_cast<const std::byte*>(output());
  if (count == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(to, from + static_cast<std::size_t>(first - output_.held.first) * size,
                             static_cast<std::size_t>(count) * size, cudaMemcpyDeviceToHost, stream_));
}

void array_memory::gather(const std::int64_t* indices, std::int64_t count, void* to) const {
  if (count == 0) return;
  std::vector<std::int64_t> here(indices, indices + count);
  for (std::int64_t& index : here) index -= output_.held.first;
  const device_buffer<std::int64_t> device_indices(here.size(), stream_);
  CUDA_CHECK(cudaMemcpyAsync(device_indices.data(), here.data(), device_indices.bytes(),
                             cudaMemcpyHostToDevice, stream_));
  with_element(output_.type, [&](auto zero) {
    using T = decltype(zero);
    const device_buffer<T> found(here.size(), stream_);
    lab::gather(static_cast<const T*>(output()), device_indices.data(), found.data(), count, stream_);
    read(to, found.data(), found.bytes());
  });
}

std::uint64_t array_memory::digest() const {
  const device_buffer<std::uint64_t> sum(1, stream_);
  with_element(output_.type, [&](auto zero) {
    hash_bits(static_cast<const decltype(zero)*>(output()), output_.held.count, sum.data(), stream_,
              output_.held.first);
  });
  std::uint64_t value = 0;
  read(&value, sum.data(), sizeof value);
  return value;
}

std::vector<std::uint64_t> array_memory::exact_digests(double unit, std::int64_t segment) const {
  const std::int64_t n = output_.held.count;
  const device_buffer<std::uint64_t> digests(static_cast<std::size_t>((n + segment - 1) / segment), stream_);
  std::vector<std::uint64_t> found(digests.size());
  with_element(output_.type, [&](auto zero) {
    hash_exact(static_cast<const decltype(zero)*>(output()), n, unit, segment, digests.data(), stream_,
               output_.held.first);
  });
  read(found.data(), digests.data(), digests.bytes());
  return found;
}

}  // namespace lab
