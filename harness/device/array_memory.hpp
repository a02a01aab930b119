// The arrays of a workload in one GPU's memory, inputs, output and scratch memory, each between guards:
// filled, poisoned, and looked at for what a launch has done to them beside its results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/bound_problem.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/host_values.hpp"
#include "harness/device/memory_fill.hpp"
#include "harness/device/stage.hpp"
#include "harness/records.hpp"

namespace lab {

class array_memory {
 public:
  array_memory(const array_layout& layout, array_parts held, std::size_t scratch_bytes, cudaStream_t stream);

  // Of inputs and output; and of scratch memory.
  static std::size_t array_bytes(const array_layout& layout, const array_parts& held);
  static std::size_t scratch_bytes(std::size_t bytes) {
    return guarded_buffer::needed_bytes(static_cast<std::int64_t>(bytes));
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const part& output_part() const { return output_.held; }
  [[nodiscard]] std::vector<void*> inputs() const;
  [[nodiscard]] void* output() const { return output_.memory.data(); }
  [[nodiscard]] workspace scratch() const {
    return {scratch_.data(), static_cast<std::size_t>(scratch_.size())};
  }

  // Everything here enqueues.
  void poison_inputs() const;
  void poison_output() const;
  // Outputs and scratch memory; `seed` is that of random bytes.
  void fill(memory_fill with, std::uint64_t seed) const;
  void generate(pattern kind, std::uint64_t seed) const;
  // Outputs first .. first + count - 1 of the whole array, which are here.
  void download(std::int64_t first, std::int64_t count, void* to) const;

  // And everything below waits.

  // This GPU's part of a person's own values.
  void send(const host_arrays& values) const;

  // Looks at everything at once, after launches on inputs that were made of `source`. Outputs that have the
  // poison's bits are only found where they were filled with ones.
  void look(const input_source& source, memory_fill filled);
  // What look() has found: a changed input; and outputs that were not written, or writes beside an array,
  // told with `where`. is_right(i) says whether output i must have the poison's bits: then it is left to the
  // comparison.
  [[nodiscard]] std::optional<failure_record> changed_input() const;
  [[nodiscard]] std::optional<failure_record> damage(const std::function<bool(std::int64_t)>& is_right,
                                                     const std::string& where) const;

  // Outputs of these indices.
  void gather(const std::int64_t* indices, std::int64_t count, void* to) const;
  // A hash of the bits of all outputs; those of all parts add up to the whole's.
  [[nodiscard]] std::uint64_t digest() const;
  // Hashes of their exact keys (kernels.hpp), of segments.
  [[nodiscard]] std::vector<std::uint64_t> exact_digests(double unit, std::int64_t segment) const;

 private:
  // Waits for what is enqueued and then copied to the host.
  void read(void* to, const void* from, std::size_t bytes) const;

  struct array : array_member {
    part held;
    guarded_buffer memory;

    template <class T>
    [[nodiscard]] T* as() const {
      return reinterpret_cast<T*>(memory.data());
    }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(memory.size()); }
  };
  static array make_array(const array_member& member, const part& held, cudaStream_t stream, array_use use);

  cudaStream_t stream_;
  std::vector<array> inputs_;
  array output_;
  guarded_buffer scratch_;
  // What look() finds: the first output that was never written and both guards of it, those of the scratch
  // memory, and of each input the first changed element and both guards.
  enum memory_word { unwritten_output, output_guards, scratch_guards = 3, first_input = 5 };
  static constexpr std::size_t words_of_input = 3;
  std::vector<std::int64_t> found_;
  device_buffer<std::int64_t> device_found_;
};

}  // namespace lab
