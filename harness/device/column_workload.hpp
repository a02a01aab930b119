// A stage of a track of string columns with its inputs on the device, the memory that its output comes from,
// and the check of all that it leaves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/all_cores.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/checked_resource.hpp"
#include "harness/device/column_check.hpp"
#include "harness/device/column_table.hpp"
#include "harness/device/device_columns.hpp"
#include "harness/device/letters.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/watched_launch.hpp"

namespace lab {

// Launches between prepare() or renew() and check() are checked: their memory comes through a
// checked_resource. All others, the timed ones (after vary()) among them, take theirs from the allocator
// itself, and nothing but the column is looked at afterwards. What a launch leaves behind is given back by
// poison(), prepare() and the destructor, so that it is in nobody's time.
template <class Problem>
class column_workload final : public workload {
 public:
  using parameters = typename Problem::parameters;
  using table = column_table<Problem>;

  column_workload(const stage<Problem>& stage, const parameters& p, cudaStream_t stream)
      : stage_(stage),
        parameters_(p),
        stream_(stream),
        prepared_(stage, p, stream),
        reader_(stream),
        checked_(stream) {}
  ~column_workload() override { give_back(); }

  // The column of the last launch is compared with what the data says it must become.
  void prepare_from(std::shared_ptr<const table> data) {
    give_back();
    data_ = std::move(data);
    base_ = data_;
    variation_ = data_variation_ = 0;
    std::int64_t longest = data_->expected.bytes();
    for (const column& of_input : data_->inputs) longest = std::max(longest, of_input.bytes());
    if (offset_bits_for(longest) > offset_bits()) {
      throw unsupported_error(
          "the characters of a column are too many for offsets of 32 bits: take --offsets 64");
    }
    inputs_.reset();
    inputs_.emplace(data_->inputs, offset_bits(), reader_);
    // A launch that failed may have left it its memory.
    arena_.fill(poison_byte, stream_);
    next_is_checked_ = true;
  }

  void prepare(pattern /*kind*/, std::uint64_t seed) override {
    prepare_from(generated_table<Problem>(parameters_, seed));
  }

  // The watching resource launches kernels of its own.
  void prepare_to_count(pattern kind, std::uint64_t seed) override {
    prepare(kind, seed);
    next_is_checked_ = false;
  }

  // The letters of the first column change, and the row with which all begin, so that no offset is where it
  // was. What must become of them is worked out when somebody checks it.
  void vary(std::uint64_t seed) override {
    inputs_->vary(base_->inputs, variation_, seed);
    variation_ = seed;
    next_is_checked_ = false;
  }

  using workload::poison;
  void poison(memory_fill fill) override {
    checked_.fill_with(fill);
    if (held_) {
      // Right answers of before must not pass for new ones, whoever is given this memory next.
      CUDA_CHECK(cudaMemsetAsync(held_->offsets, poison_byte, offsets_bytes(), stream_));
      if (held_->chars_capacity > 0) {
        CUDA_CHECK(cudaMemsetAsync(held_->chars, poison_byte, static_cast<std::size_t>(held_->chars_capacity),
                                   stream_));
      }
    }
    // A graph writes to the same addresses again, where check() will look for its output.
    if (!(held_ && stays())) give_back();
    arena_.fill(poison_byte, stream_);
  }

  void renew(std::uint64_t seed) override {
    vary(seed);
    poison(memory_fill::ones);
    next_is_checked_ = true;
  }

  // Both as it is timed, where that shows what it has done, and watched.
  std::optional<failure_record> check_repetitions() override {
    for (const bool watched : {false, true}) {
      if (!watched && !capturable()) continue;
      poison(memory_fill::ones);
      next_is_checked_ = watched;
      launch();
      if (auto failure = check().failure) return failure;
    }
    return std::nullopt;
  }

  void launch() override {
    if (held_ && !stays()) throw std::logic_error("poison() or prepare() must come before another launch()");
    held_.reset();
    arena_.reset();
    held_is_checked_ = next_is_checked_;
    // What the arena takes for its first launch holds anything.
    was_poisoned_ = has_arena_;
    has_arena_ = has_arena_ || !held_is_checked_;
    held_ = launch_with(held_is_checked_ ? static_cast<memory_resource&>(checked_) : upstream());
  }

  [[nodiscard]] double preparation_nanoseconds() const override { return prepared_.nanoseconds(); }

  [[nodiscard]] bool capturable() const override {
    return static_cast<allocator>(parameters_.allocator) == allocator::none;
  }

  check_result check() override {
    if (!held_) throw std::logic_error("check() needs a launch() before it");
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    next_is_checked_ = false;
    make_varied_data();
    check_result result{.failure = first_failure()};
    if (!result.failure) {
      result.compared = data_->rows();
    } else if (result.failure->index < data_->rows()) {
      add_owner(*result.failure, stage_, parameters_);
    }
    return result;
  }

  std::uint64_t digest() override {
    if (!held_) throw std::logic_error("digest() needs a launch() before it");
    const std::int64_t rows = data_->rows();
    const auto type = offset_bits() == 32 ? element_type::int32 : element_type::int64;
    std::uint64_t value = reader_.hash({type, held_->offsets, rows + 1});
    const std::int64_t total = reader_.read_offset(held_->offsets, offset_bits(), rows);
    if (total <= 0 || total > held_->chars_capacity) return value;
    constexpr std::int64_t word = sizeof(std::int64_t);
    value = random_bits(value, reader_.hash({element_type::int64, held_->chars, total / word}));
    std::uint64_t rest = 0;
    if (total % word > 0) reader_.copy_back(&rest, held_->chars + total / word * word, total % word);
    return random_bits(value, rest);
  }

  // The column of the last launch, in the host's memory. check() has found its offsets right.
  column download() {
    column result{.offsets = reader_.read_offsets(held_->offsets, offset_bits(), data_->rows() + 1)};
    result.chars = reader_.read_array(static_cast<const char*>(held_->chars), result.bytes());
    return result;
  }

 private:
  static constexpr unsigned char poison_byte = column_check::poison;
  static_assert(poison_byte == guarded_buffer::guard_byte);

  [[nodiscard]] int offset_bits() const { return static_cast<int>(parameters_.offsets); }
  [[nodiscard]] std::size_t offsets_bytes() const {
    return static_cast<std::size_t>(data_->expected.offsets.size() * offset_bits() / 8);
  }

  [[nodiscard]] typename Problem::input bound_input() const {
    std::array<strings, column_count<Problem>> on_device;
    for (std::size_t k = 0; k < on_device.size(); ++k) on_device[k] = inputs_->view(k);
    return Problem::bind_input(parameters_, on_device);
  }

  column_output launch_with(memory_resource& resource) {
    if constexpr (allocates_its_output<Problem>) {
      return watched_launch(stage_.traits, stream_, [&](const launch_watch& watch) {
        unwatched_resource unwatched(resource, watch);
        return prepared_.launch(bound_input(), unwatched, stream_);
      });
    } else {
      const std::int64_t most = Problem::max_output_bytes(parameters_, bytes_of<Problem>(data_->inputs));
      resource_buffer<unsigned char> offsets(resource, offsets_bytes(), stream_);
      resource_buffer<char> chars(resource, static_cast<std::size_t>(most), stream_);
      const resource_buffer<unsigned char> scratch(resource, prepared_.workspace_bytes(), stream_);
      watched_launch(stage_.traits, stream_, [&](const launch_watch&) {
        prepared_.launch(bound_input(), column_output{offsets.data(), chars.data(), most},
                         workspace{scratch.data(), scratch.bytes()}, stream_);
      });
      return {offsets.release(), chars.release(), most};
    }
  }

  memory_resource& upstream() {
    switch (static_cast<allocator>(parameters_.allocator)) {
      case allocator::plain:
        return plain_;
      case allocator::pool:
        return pool_;
      case allocator::none:
        break;
    }
    return arena_;
  }

  // Whether the output of the last launch is where that of the next will be.
  [[nodiscard]] bool stays() const { return capturable() && !held_is_checked_; }

  void give_back() noexcept {
    if (held_ && !held_is_checked_) {
      upstream().deallocate(held_->offsets, offsets_bytes(), stream_);
      upstream().deallocate(held_->chars, static_cast<std::size_t>(held_->chars_capacity), stream_);
    }
    held_.reset();
    checked_.release_all();
  }

  // The data that the last vary() stands for.
  void make_varied_data() {
    if (data_variation_ == variation_) return;
    data_variation_ = variation_;
    input_columns<Problem> varied;
    for (std::size_t k = 0; k < varied.size(); ++k)
      varied[k] = varied_copy(base_->inputs[k], variation_, k == 0);
    data_ = make_table<Problem>(parameters_, std::move(varied));
  }

  // ---- checks, in the order in which they make sense

  std::optional<failure_record> first_failure() {
    // A hash first: only when it is another is the input read back.
    if (!inputs_->unchanged()) return inputs_->check(data_->inputs);
    const column_check output(*held_, offset_bits(), data_->expected, reader_);
    if (auto failure = output.exists()) return failure;
    if (held_is_checked_) {
      if (auto failure = check_ownership()) return failure;
      if (auto failure = checked_.check({held_->offsets, held_->chars})) return failure;
    }
    if (auto failure = output.offsets()) return failure;
    if (auto failure = output.chars()) return failure;
    if (held_is_checked_) return checked_.fill() == memory_fill::random ? std::nullopt : check_unused(output);
    if (!stays() || !was_poisoned_) return std::nullopt;
    return output.unused_chars(held_->chars_capacity, poison_byte, hidden_row());
  }

  // The output is memory that this launch was given, and as much as it says.
  std::optional<failure_record> check_ownership() const {
    const auto wrong = [](const std::string& expected, const std::string& found) {
      return failure_record{.kind = failure_kind::wrong, .expected = expected, .found = found};
    };
    const auto own = [&](const char* what, const void* pointer,
                         std::size_t bytes) -> std::optional<failure_record> {
      const auto allocated = checked_.bytes_of(pointer);
      if (!allocated) {
        return wrong(std::string(what) + " in memory from the resource, not given back",
                     std::string(what) + " elsewhere");
      }
      if (*allocated >= bytes) return std::nullopt;
      return wrong(std::string(what) + " of " + std::to_string(bytes) + " bytes",
                   "an allocation of " + std::to_string(*allocated));
    };
    if (auto failure = own("offsets", held_->offsets, offsets_bytes())) return failure;
    if (held_->chars == nullptr) return std::nullopt;
    return own("characters", held_->chars, static_cast<std::size_t>(held_->chars_capacity));
  }

  // Whoever is given the column is given its memory: behind the last row nothing may be written, least of all
  // what the column was made to hide.
  std::optional<failure_record> check_unused(const column_check& output) const {
    const unsigned char untouched = checked_.fill() == memory_fill::zeros ? 0 : poison_byte;
    if (const auto byte = reader_.first_other_byte(
            static_cast<const char*>(held_->offsets) + offsets_bytes(),
            static_cast<std::int64_t>(*checked_.bytes_of(held_->offsets) - offsets_bytes()), untouched)) {
      return failure_record{.kind = failure_kind::out_of_bounds,
                            .found = "a write " + std::to_string(*byte) + " bytes behind the final offset"};
    }
    if (held_->chars == nullptr) return std::nullopt;
    return output.unused_chars(static_cast<std::int64_t>(*checked_.bytes_of(held_->chars)), untouched,
                               hidden_row());
  }

  // Finds the first row whose hidden text shares a part with the text that was found, if any.
  [[nodiscard]] column_check::row_finder hidden_row() const {
    return [this]([[maybe_unused]] std::string_view text) -> std::optional<std::int64_t> {
      if constexpr (has_column_hook<Problem, column_hook::hidden_text>) {
        constexpr std::size_t min_bytes = 3;  // fewer are found by chance
        if (text.size() < min_bytes) return std::nullopt;
        const std::int64_t rows = data_->rows();
        constexpr std::int64_t part_rows = 1 << 12;
        smallest found(rows);
        for_pieces_on_all_cores(rows, part_rows, [&](std::int64_t begin, std::int64_t end, unsigned) {
          for (std::int64_t row = begin; row < end; ++row) {
            if (found.get() < row) return;
            const std::string_view hidden = Problem::hidden_text(texts_of_row<Problem>(data_->inputs, row));
            if (hidden.size() < min_bytes) continue;
            if (text.find(hidden) != std::string_view::npos || hidden.find(text) != std::string_view::npos)
              found.offer(row);
          }
        });
        if (found.get() < rows) return found.get();
      }
      return std::nullopt;
    };
  }

  const stage<Problem>& stage_;
  parameters parameters_;
  cudaStream_t stream_;
  prepared_stage<Problem> prepared_;
  plain_resource plain_;
  pool_resource pool_;
  arena_resource arena_;
  device_reader reader_;
  checked_resource checked_;
  std::shared_ptr<const table> base_;  // what was sent to the device
  std::shared_ptr<const table> data_;  // what vary() has made of it
  std::uint64_t variation_ = 0;        // of what is on the device
  std::uint64_t data_variation_ = 0;   // of data_
  std::optional<device_columns> inputs_;
  bool next_is_checked_ = false;
  bool held_is_checked_ = false;
  bool has_arena_ = false;
  bool was_poisoned_ = false;          // what the last launch was given
  std::optional<column_output> held_;  // what the last launch left
};

}  // namespace lab
