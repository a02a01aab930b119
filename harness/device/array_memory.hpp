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
#include "harness/device/device_reader.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/host_values.hpp"
#include "harness/device/stage.hpp"
#include "harness/records.hpp"

namespace lab {

class array_memory {
 public:
  array_memory(const array_layout& layout, const array_parts& held, std::size_t scratch_bytes,
               cudaStream_t stream);

  // Of inputs and output; and of scratch memory.
  static std::size_t array_bytes(const array_layout& layout, const array_parts& held);
  static std::size_t scratch_bytes(std::size_t bytes) {
    return guarded_buffer::needed_bytes(static_cast<std::int64_t>(bytes));
  }

  [[nodiscard]] cudaStream_t stream() const { return reader_.stream(); }
  [[nodiscard]] const part& output_part() const { return arrays_.front().held; }
  [[nodiscard]] std::vector<void*> inputs() const;
  [[nodiscard]] void* output() const { return arrays_.front().memory.data(); }
  [[nodiscard]] workspace scratch() const {
    return {arrays_.back().memory.data(), static_cast<std::size_t>(arrays_.back().held.count)};
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
  [[nodiscard]] std::uint64_t digest() const { return reader_.hash(arrays_.front().values()); }
  // Hashes of their exact keys (kernels.hpp), of segments.
  [[nodiscard]] std::vector<std::uint64_t> exact_digests(double unit, std::int64_t segment) const;

 private:
  struct array : array_member {
    part held;
    std::string role;  // for messages
    guarded_buffer memory;

    [[nodiscard]] device_values values() const { return {type, memory.data(), held.count, held.first}; }
  };
  // What look() finds of each: the first element that is not as it must be, and both guards.
  struct look_words {
    std::int64_t element;
    std::int64_t guards[2];
  };

  device_reader reader_;
  std::vector<array> arrays_;  // the output, the inputs, the scratch memory
  std::size_t inputs_end_;
  std::vector<look_words> found_;
  device_buffer<look_words> device_found_;
};

}  // namespace lab
