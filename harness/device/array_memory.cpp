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

array_memory::array_memory(const array_layout& layout, const array_parts& held, std::size_t scratch_bytes,
                           cudaStream_t stream)
    : reader_(stream),
      inputs_end_(1 + held.inputs.size()),
      found_(inputs_end_ + 1),
      device_found_(found_.size(), stream) {
  const auto add = [&](const array_member& member, const part& here, const std::string& role, array_use use) {
    arrays_.push_back({{member}, here, role, guarded_buffer(bytes_of(here, member.type), stream, use)});
  };
  add(layout.output, held.output, "output", array_use::written);
  for (std::size_t k = 0; k < held.inputs.size(); ++k) {
    const array_member& input = layout.inputs.at(k);
    const std::string role = held.inputs.size() > 1 ? std::string("input ") + input.name : "input";
    add(input, held.inputs[k], role, array_use::read);
  }
  add({.type = element_type::uint8}, {0, static_cast<std::int64_t>(scratch_bytes)}, "workspace",
      array_use::written);
}

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
  for (std::size_t k = 1; k < inputs_end_; ++k) all.push_back(arrays_[k].memory.data());
  return all;
}

void array_memory::poison_inputs() const {
  for (std::size_t k = 1; k < inputs_end_; ++k) arrays_[k].memory.poison_all();
}

void array_memory::poison_output() const {
  arrays_.front().memory.poison_all();
}

void array_memory::fill(memory_fill with, std::uint64_t seed) const {
  for (const array* one : {&arrays_.front(), &arrays_.back()}) {
    one->memory.poison_all();
    if (with != memory_fill::ones) one->memory.fill(with, seed);
    seed = ~seed;
  }
}

void array_memory::generate(pattern kind, std::uint64_t seed) const {
  for (std::size_t k = 1; k < inputs_end_; ++k) {
    const drawn_input of = drawn(arrays_[k], kind, seed, k - 1);
    lab::generate(arrays_[k].values(), of.kind, of.seed, stream());
  }
}

void array_memory::send(const host_arrays& values) const {
  for (std::size_t k = 1; k < inputs_end_; ++k) {
    const array& input = arrays_[k];
    input.memory.poison_all();
    if (input.held.count == 0) continue;
    with_element(input.type, [&](auto zero) {
      using T = decltype(zero);
      const T* const given = values.at(k - 1).template as<T>() + input.held.first;
      // The one NaN that is the poison, bit for bit, becomes the usual one: some multiprocessors hand a NaN's
      // bits on, and an output that holds them would seem unwritten.
      std::vector<T> sent(given, given + input.held.count);
      for (T& value : sent) {
        if (is_poison(value)) value = std::numeric_limits<T>::quiet_NaN();
      }
      CUDA_CHECK(cudaMemcpyAsync(input.memory.data(), sent.data(), sent.size() * sizeof(T),
                                 cudaMemcpyHostToDevice, stream()));
      CUDA_CHECK(cudaStreamSynchronize(stream()));
    });
  }
}

void array_memory::look(const input_source& source, memory_fill filled) {
  look_words* const words = device_found_.data();
  // More than any index.
  CUDA_CHECK(cudaMemsetAsync(words, 0x7f, device_found_.bytes(), stream()));
  if (filled == memory_fill::ones) find_poison(arrays_.front().values(), &words->element, stream());
  for (std::size_t k = 1; k < inputs_end_ && source.own == nullptr; ++k) {
    const drawn_input of = drawn(arrays_[k], source.kind, source.seed, k - 1);
    find_changed_input(arrays_[k].values(), of.kind, of.seed, &words[k].element, stream());
  }
  for (std::size_t k = 0; k < arrays_.size(); ++k) arrays_[k].memory.look_at_guards(words[k].guards);
  reader_.copy_back(found_.data(), words, std::ssize(found_) * std::int64_t{sizeof(look_words)});
}

std::optional<failure_record> array_memory::changed_input() const {
  for (std::size_t k = 1; k < inputs_end_; ++k) {
    const array& input = arrays_[k];
    if (found_[k].element >= input.held.count) continue;
    failure_record failure{.kind = failure_kind::input_changed,
                           .index = input.held.first + found_[k].element};
    if (inputs_end_ > 2) failure.found = input.name;
    return failure;
  }
  return std::nullopt;
}

std::optional<failure_record> array_memory::damage(const std::function<bool(std::int64_t)>& is_right,
                                                   const std::string& where) const {
  const std::int64_t unwritten = output_part().first + found_.front().element;
  if (found_.front().element < output_part().count && !is_right(unwritten))
    return failure_record{.kind = failure_kind::unwritten, .index = unwritten};
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const array& one = arrays_[k];
    if (const auto byte = one.memory.changed_byte(found_[k].guards)) {
      return failure_record{.kind = failure_kind::out_of_bounds,
                            .index = one.held.first + element_of_byte(*byte, size_of(one.type)),
                            .found = "a write to the " + one.role + where};
    }
  }
  return std::nullopt;
}

void array_memory::download(std::int64_t first, std::int64_t count, void* to) const {
  const std::size_t size = size_of(arrays_.front().type);
  const auto* const from = static_cast<const std::byte*>(output());
  if (count == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(to, from + static_cast<std::size_t>(first - output_part().first) * size,
                             static_cast<std::size_t>(count) * size, cudaMemcpyDeviceToHost, stream()));
}

void array_memory::gather(const std::int64_t* indices, std::int64_t count, void* to) const {
  if (count == 0) return;
  const auto size = static_cast<std::size_t>(count);
  const device_buffer<std::int64_t> device_indices(size, stream());
  CUDA_CHECK(cudaMemcpyAsync(device_indices.data(), indices, device_indices.bytes(), cudaMemcpyHostToDevice,
                             stream()));
  const device_buffer<std::byte> found(size * size_of(arrays_.front().type), stream());
  lab::gather(arrays_.front().values(), device_indices.data(), found.data(), count, stream());
  reader_.copy_back(to, found.data(), static_cast<std::int64_t>(found.bytes()));
}

std::vector<std::uint64_t> array_memory::exact_digests(double unit, std::int64_t segment) const {
  const std::int64_t segments = (output_part().count + segment - 1) / segment;
  const device_buffer<std::uint64_t> digests(static_cast<std::size_t>(segments), stream());
  std::vector<std::uint64_t> found(digests.size());
  hash_exact(arrays_.front().values(), unit, segment, digests.data(), stream());
  reader_.copy_back(found.data(), digests.data(), static_cast<std::int64_t>(digests.bytes()));
  return found;
}

}  // namespace lab
