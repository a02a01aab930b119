// A stage with its inputs on the device, the memory it allocates from, and the check of all that it leaves.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory_resource.hpp"
#include "harness/device/checked_resource.hpp"
#include "harness/device/guarded_buffer.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/watched_launch.hpp"
#include "stages/redact/people.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/vary.hpp"

namespace lab::redact {

// Bytes for a message: quoted, escaped, and cut where they are many.
inline std::string text_for_message(std::string_view text) {
  constexpr std::size_t most_bytes = 40;
  std::string result = "\"";
  for (const char character : text.substr(0, most_bytes)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7f) {
      if (character == '"' || character == '\\') result += '\\';
      result += character;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      result += escaped;
    }
  }
  result += '"';
  return text.size() > most_bytes ? result + "... (" + std::to_string(text.size()) + " bytes)" : result;
}

// The smallest of all values offered, from any thread.
class smallest {
 public:
  explicit smallest(std::int64_t none) : value_(none) {}
  void offer(std::int64_t value) {
    std::int64_t known = value_;
    while (value < known && !value_.compare_exchange_weak(known, value)) {
    }
  }
  [[nodiscard]] std::int64_t get() const { return value_; }

 private:
  std::atomic<std::int64_t> value_;
};

// Launches between prepare() and check() are checked: their memory comes through a checked_resource. All
// others, the timed ones among them, take theirs from the allocator itself, and nothing but the column is
// looked at afterwards. What a launch leaves behind is given back by poison(), prepare() and the destructor,
// so that it is in nobody's time.
class redact_workload final : public workload {
 public:
  // Finds the input with a seed.
  using source = std::shared_ptr<const people> (*)(const problem::parameters&, std::uint64_t seed);

  redact_workload(const stage<problem>& stage, const problem::parameters& p, source inputs,
                  cudaStream_t stream)
      : stage_(stage),
        parameters_(p),
        inputs_(inputs),
        stream_(stream),
        found_(2, stream),
        digest_(1, stream),
        checked_(upstream(), stream) {}
  ~redact_workload() override { give_back(); }

  // The column of the last launch is compared with what the data says it must become.
  void prepare_from(std::shared_ptr<const people> data) {
    give_back();
    data_ = std::move(data);
    base_ = data_;
    variation_ = made_variation_ = 0;
    if (parameters_.offsets == 32 &&
        std::max({data_->names.bytes(), data_->visibilities.bytes(), data_->expected.bytes()}) >
            std::numeric_limits<std::int32_t>::max()) {
      throw unsupported_error(
          "the characters of a column are too many for offsets of 32 bits: take --offsets 64");
    }
    names_.reset();
    visibilities_.reset();
    names_.emplace(data_->names, offset_bits(), stream_);
    visibilities_.emplace(data_->visibilities, offset_bits(), stream_);
    input_hash_ = hash_inputs();
    next_is_checked_ = true;
  }

  void prepare(pattern /*kind*/, std::uint64_t seed) override { prepare_from(inputs_(parameters_, seed)); }

  // The watching resource launches kernels of its own.
  void prepare_to_count(pattern kind, std::uint64_t seed) override {
    prepare(kind, seed);
    next_is_checked_ = false;
  }

  // The letters of the names alone change. What must become of them is worked out when somebody checks it.
  void vary(std::uint64_t seed) override {
    const guarded_buffer<unsigned char>& chars = names_->chars();
    vary_letters(reinterpret_cast<char*>(chars.data()), chars.size(), variation_, seed, stream_);
    variation_ = seed;
    input_hash_ = hash_inputs();
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

  void launch() override {
    if (held_ && !stays()) throw std::logic_error("poison() or prepare() must come before another launch()");
    held_.reset();
    arena_.reset();
    memory_resource& resource = next_is_checked_ ? static_cast<memory_resource&>(checked_) : upstream();
    held_is_checked_ = next_is_checked_;
    // What the arena takes for its first launch holds anything.
    was_poisoned_ = has_arena_;
    has_arena_ = has_arena_ || !held_is_checked_;
    unwatched_resource unwatched(resource);
    held_ =
        watched_launch(stage_.traits, stream_, [&] { return stage_.launch(bound(), unwatched, stream_); });
  }

  [[nodiscard]] bool capturable() const override {
    return static_cast<allocator>(parameters_.allocator) == allocator::none;
  }

  check_result check() override {
    if (!held_) throw std::logic_error("check() needs a launch() before it");
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    next_is_checked_ = false;
    make_varied_data();
    check_result result{.failure = first_failure()};
    if (!result.failure) result.compared = row_count();
    if (result.failure && result.failure->index && *result.failure->index < row_count() &&
        stage_.owner_of != nullptr) {
      const owner computed_by =
          call_stage("owner_of", [&] { return stage_.owner_of(parameters_, *result.failure->index); });
      result.failure->block = computed_by.block;
      result.failure->thread = computed_by.thread;
    }
    return result;
  }

  std::uint64_t digest() override {
    if (!held_) throw std::logic_error("digest() needs a launch() before it");
    const std::int64_t rows = row_count();
    std::uint64_t value = 0;
    if (offset_bits() == 32) {
      value = hash_words(static_cast<const float*>(held_->offsets), rows + 1);
    } else {
      value = hash_words(static_cast<const std::int64_t*>(held_->offsets), rows + 1);
    }
    const std::int64_t total = read_offset(rows);
    if (total <= 0 || total > held_->chars_capacity) return value;
    constexpr std::int64_t word = sizeof(std::int64_t);
    value = random_bits(value, hash_words(reinterpret_cast<const std::int64_t*>(held_->chars), total / word));
    std::uint64_t rest = 0;
    if (total % word > 0) copy_back(&rest, held_->chars + total / word * word, total % word);
    return random_bits(value, rest);
  }

  // The column of the last launch, in the host's memory.
  column download() {
    const std::int64_t rows = row_count();
    column result{.offsets = host_array<std::int64_t>(rows + 1)};
    for_offsets([&](std::int64_t first, std::int64_t count, const auto* offsets) {
      std::copy_n(offsets, count, &result.offsets[first]);
    });
    result.chars = host_array<char>(result.bytes());
    copy_back(result.chars.data(), held_->chars, result.bytes());
    return result;
  }

 private:
  static constexpr unsigned char poison_byte = checked_resource::poison;
  static constexpr std::int64_t piece_values = std::int64_t{1} << 22;  // at a time between host and device
  static constexpr std::int64_t part_values = std::int64_t{1} << 18;   // of them by one core

  // One column on the device, between guard zones.
  class device_column {
   public:
    device_column(const column& from, int offset_bits, cudaStream_t stream)
        : offsets_((from.rows() + 1) * offset_bits / 8, stream), chars_(from.bytes(), stream) {
      offsets_.poison_all();
      chars_.poison_all();
      if (offset_bits == 64) {
        send(offsets_.data(), from.offsets.data(), (from.rows() + 1) * 8, stream);
      } else {
        std::vector<std::int32_t> piece;
        for (std::int64_t first = 0; first <= from.rows(); first += piece_values) {
          piece.assign(from.offsets.data() + first,
                       from.offsets.data() + std::min(from.rows() + 1, first + piece_values));
          send(offsets_.data() + first * 4, piece.data(), std::ssize(piece) * 4, stream);
        }
      }
      send(chars_.data(), from.chars.data(), from.bytes(), stream);
    }

    [[nodiscard]] strings view() const {
      return {offsets_.data(), reinterpret_cast<const char*>(chars_.data()), chars_.size()};
    }
    [[nodiscard]] const guarded_buffer<unsigned char>& offsets() const { return offsets_; }
    [[nodiscard]] const guarded_buffer<unsigned char>& chars() const { return chars_; }

   private:
    static void send(void* to, const void* from, std::int64_t bytes, cudaStream_t stream) {
      if (bytes == 0) return;
      CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }

    guarded_buffer<unsigned char> offsets_;
    guarded_buffer<unsigned char> chars_;
  };

  [[nodiscard]] int offset_bits() const { return static_cast<int>(parameters_.offsets); }
  [[nodiscard]] std::int64_t row_count() const { return data_->names.rows(); }
  [[nodiscard]] std::size_t offsets_bytes() const {
    return static_cast<std::size_t>((row_count() + 1) * offset_bits() / 8);
  }

  [[nodiscard]] input bound() const {
    return {names_->view(), visibilities_->view(), row_count(), offset_bits()};
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

  // ---- between device and host

  void copy_back(void* to, const void* from, std::int64_t bytes) const {
    if (bytes == 0) return;
    CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  template <class T>
  T read(const T* value) const {
    T found{};
    copy_back(&found, value, sizeof found);
    return found;
  }

  [[nodiscard]] std::int64_t read_offset(std::int64_t row) const {
    if (offset_bits() == 32) return read(static_cast<const std::int32_t*>(held_->offsets) + row);
    return read(static_cast<const std::int64_t*>(held_->offsets) + row);
  }

  // Calls visit(first, count, offsets) with the output's offsets, piece by piece.
  template <class Visit>
  void for_offsets(const Visit& visit) const {
    const auto with = [&]<class Offset>() {
      for_pieces(static_cast<const Offset*>(held_->offsets), row_count() + 1, visit);
    };
    offset_bits() == 32 ? with.template operator()<std::int32_t>() : with.template operator()<std::int64_t>();
  }

  // Calls visit(first, count, values) with `size` values of the device's, piece by piece.
  template <class T, class Visit>
  void for_pieces(const T* values, std::int64_t size, const Visit& visit) const {
    constexpr std::int64_t most = piece_values * 8 / static_cast<std::int64_t>(sizeof(T));
    const host_array<T> piece(std::min(size, most));
    for (std::int64_t first = 0; first < size; first += most) {
      const std::int64_t count = std::min(most, size - first);
      copy_back(piece.data(), values + first, count * static_cast<std::int64_t>(sizeof(T)));
      visit(first, count, static_cast<const T*>(piece.data()));
    }
  }

  template <class T>
  std::uint64_t hash_words(const T* words, std::int64_t count) {
    hash_bits(words, count, digest_.data(), stream_);
    return read(digest_.data());
  }

  // The first of `count` bytes of the device's that is not `untouched`, if any.
  std::optional<std::int64_t> first_written(const char* bytes, std::int64_t count, unsigned char untouched) {
    if (count == 0) return std::nullopt;
    find_other_byte(reinterpret_cast<const unsigned char*>(bytes), count, untouched, found_.data(), stream_);
    const std::int64_t first = read(found_.data());
    return first < count ? std::optional(first) : std::nullopt;
  }

  // The data that the last vary() stands for.
  void make_varied_data() {
    if (made_variation_ == variation_) return;
    made_variation_ = variation_;
    auto varied = std::make_shared<people>();
    varied->names = make_column(base_->names.rows(), [&](std::string& text, std::int64_t row) {
      const std::string_view name = base_->names[row];
      const std::int64_t first = base_->names.offsets[row];
      for (std::int64_t k = 0; k < std::ssize(name); ++k)
        text += turned(name[static_cast<std::size_t>(k)], turn_of(variation_, (first + k) / varied_bytes));
    });
    varied->visibilities = make_column(base_->visibilities.rows(), [&](std::string& text, std::int64_t row) {
      text += base_->visibilities[row];
    });
    varied->expected = redacted(varied->names, varied->visibilities);
    data_ = std::move(varied);
  }

  // ---- checks, in the order in which they make sense

  std::optional<failure_record> first_failure() {
    if (auto failure = check_inputs()) return failure;
    if (auto failure = check_ownership()) return failure;
    if (held_is_checked_) {
      if (auto failure = checked_.check({held_->offsets, held_->chars})) return failure;
    }
    if (auto failure = check_offsets()) return failure;
    if (auto failure = check_chars()) return failure;
    if (held_is_checked_) return checked_.fill() == memory_fill::random ? std::nullopt : check_unused();
    return stays() && was_poisoned_ ? check_unused_chars(held_->chars_capacity, poison_byte) : std::nullopt;
  }

  std::uint64_t hash_inputs() {
    std::uint64_t value = 0;
    for (const auto* buffer : input_buffers()) {
      // Guards and all. What is left of the last word is the end of a guard.
      constexpr std::int64_t guard = guarded_buffer<unsigned char>::guard_bytes;
      const auto bytes =
          static_cast<std::int64_t>(guarded_buffer<unsigned char>::needed_bytes(buffer->size()));
      value = random_bits(
          value, hash_words(reinterpret_cast<const std::int64_t*>(buffer->data() - guard), bytes / 8));
    }
    return value;
  }

  [[nodiscard]] std::vector<const guarded_buffer<unsigned char>*> input_buffers() const {
    return {&names_->offsets(), &names_->chars(), &visibilities_->offsets(), &visibilities_->chars()};
  }

  // A hash first: only when it is another is the input read back.
  std::optional<failure_record> check_inputs() {
    if (hash_inputs() == input_hash_) return std::nullopt;
    for (const auto* buffer : input_buffers()) {
      if (const auto byte = buffer->changed_guard(found_.data())) {
        return failure_record{.kind = failure_kind::out_of_bounds,
                              .found = "a write to byte " + std::to_string(*byte) + " of an input of " +
                                       std::to_string(buffer->size()) + " bytes"};
      }
    }
    for (const bool of_names : {true, false}) {
      const column& sent = of_names ? data_->names : data_->visibilities;
      const strings now = (of_names ? *names_ : *visibilities_).view();
      std::optional<std::int64_t> row;
      const auto compare_offsets = [&](std::int64_t first, std::int64_t count, const auto* offsets) {
        for (std::int64_t k = 0; k < count && !row; ++k) {
          if (offsets[k] != sent.offsets[first + k]) row = first + k;
        }
      };
      if (offset_bits() == 32) {
        for_pieces(static_cast<const std::int32_t*>(now.offsets), sent.rows() + 1, compare_offsets);
      } else {
        for_pieces(static_cast<const std::int64_t*>(now.offsets), sent.rows() + 1, compare_offsets);
      }
      for_pieces(now.chars, sent.bytes(), [&](std::int64_t first, std::int64_t count, const char* chars) {
        for (std::int64_t k = 0; k < count && !row; ++k) {
          if (chars[k] != sent.chars[first + k]) row = row_of(sent, first + k);
        }
      });
      if (row) return failure_record{.kind = failure_kind::input_changed, .index = row};
    }
    return failure_record{.kind = failure_kind::input_changed};
  }

  // The output is memory that this launch was given, and as much as it says.
  std::optional<failure_record> check_ownership() const {
    const auto wrong = [](const std::string& expected, const std::string& found) {
      return failure_record{.kind = failure_kind::wrong, .expected = expected, .found = found};
    };
    if (held_->offsets == nullptr || (held_->chars == nullptr && held_->chars_capacity != 0) ||
        held_->chars_capacity < 0)
      return wrong("an output of offsets and characters", "null, or a size below 0");
    if (!held_is_checked_) return std::nullopt;
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

  std::optional<failure_record> check_offsets() {
    const std::int64_t rows = row_count();
    const std::int64_t none = rows + 1;
    smallest first_wrong(none);
    for_offsets([&](std::int64_t first, std::int64_t count, const auto* offsets) {
      if (first_wrong.get() < none) return;
      on_all_cores((count + part_values - 1) / part_values, [&](std::int64_t part) {
        const std::int64_t end = std::min(count, (part + 1) * part_values);
        for (std::int64_t k = part * part_values; k < end; ++k) {
          if (offsets[k] == data_->expected.offsets[first + k]) continue;
          first_wrong.offer(first + k);
          return;
        }
      });
    });
    const std::int64_t at = first_wrong.get();
    if (at == none) return std::nullopt;
    const std::int64_t found = read_offset(at);
    const std::string found_text =
        std::to_string(found) + (found == -1 ? ", which is the poison: it was never written" : "");
    if (at == 0 || (at == rows && (found < 0 || found > held_->chars_capacity))) {
      return failure_record{.kind = failure_kind::wrong,
                            .index = at,
                            .expected = (at == 0 ? "a first offset of " : "a final offset of ") +
                                        std::to_string(data_->expected.offsets[at]),
                            .found = found_text};
    }
    // Offset `at` ends row at - 1, the first whose length is wrong.
    return wrong_row(at - 1);
  }

  std::optional<failure_record> check_chars() {
    const std::int64_t total = data_->expected.bytes();
    if (total > held_->chars_capacity) {
      return failure_record{.kind = failure_kind::wrong,
                            .expected = "room for " + std::to_string(total) + " bytes of characters",
                            .found = "a capacity of " + std::to_string(held_->chars_capacity)};
    }
    smallest first_wrong(total);
    for_pieces(
        static_cast<const char*>(held_->chars), total,
        [&](std::int64_t first, std::int64_t count, const char* chars) {
          if (first_wrong.get() < total) return;
          on_all_cores((count + part_values - 1) / part_values, [&](std::int64_t part) {
            const std::int64_t begin = part * part_values;
            const std::int64_t bytes = std::min(count - begin, part_values);
            const char* const expected = data_->expected.chars.data() + first + begin;
            if (std::memcmp(chars + begin, expected, static_cast<std::size_t>(bytes)) == 0) return;
            first_wrong.offer(first + begin +
                              (std::mismatch(expected, expected + bytes, chars + begin).first - expected));
          });
        });
    const std::int64_t at = first_wrong.get();
    if (at == total) return std::nullopt;
    return wrong_row(row_of(data_->expected, at));
  }

  // The row that holds a character.
  static std::int64_t row_of(const column& whole, std::int64_t character) {
    const std::int64_t* const begin = whole.offsets.data();
    return std::upper_bound(begin, begin + whole.rows() + 1, character) - begin - 1;
  }

  failure_record wrong_row(std::int64_t row) {
    const std::int64_t begin = read_offset(row);
    const std::int64_t end = read_offset(row + 1);
    failure_record failure{
        .kind = failure_kind::wrong, .index = row, .expected = text_for_message(data_->expected[row])};
    if (begin < 0 || end < begin || end > held_->chars_capacity) {
      failure.found = "offsets " + std::to_string(begin) + " and " + std::to_string(end);
      return failure;
    }
    std::string text(static_cast<std::size_t>(end - begin), '\0');
    copy_back(text.data(), held_->chars + begin, end - begin);
    failure.found = text_for_message(text);
    const bool unwritten = std::all_of(
        text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) == poison_byte; });
    if (unwritten && !text.empty() && end - begin == std::ssize(data_->expected[row]))
      failure.kind = failure_kind::unwritten;
    return failure;
  }

  // Whoever is given the column is given its memory: behind the last row nothing may be written, least of all
  // what the column was made to hide.
  std::optional<failure_record> check_unused() {
    const unsigned char untouched = checked_.fill() == memory_fill::zeros ? 0 : poison_byte;
    if (const auto byte = first_written(
            static_cast<const char*>(held_->offsets) + offsets_bytes(),
            static_cast<std::int64_t>(*checked_.bytes_of(held_->offsets) - offsets_bytes()), untouched)) {
      return failure_record{.kind = failure_kind::out_of_bounds,
                            .found = "a write " + std::to_string(*byte) + " bytes behind the final offset"};
    }
    if (held_->chars == nullptr) return std::nullopt;
    return check_unused_chars(static_cast<std::int64_t>(*checked_.bytes_of(held_->chars)), untouched);
  }

  // Of `capacity` bytes of characters, all of which were `untouched` before.
  std::optional<failure_record> check_unused_chars(std::int64_t capacity, unsigned char untouched) {
    const std::int64_t total = data_->expected.bytes();
    const std::int64_t unused = capacity - total;
    const auto byte = first_written(held_->chars + total, unused, untouched);
    if (!byte) return std::nullopt;
    constexpr std::int64_t most_bytes = 4096;
    std::string text(static_cast<std::size_t>(std::min(unused - *byte, most_bytes)), '\0');
    copy_back(text.data(), held_->chars + total + *byte, std::ssize(text));
    const std::size_t end = text.find(static_cast<char>(untouched));
    if (end != std::string::npos) text.resize(end);
    if (const auto row = private_row_with(text)) {
      return failure_record{.kind = failure_kind::out_of_bounds,
                            .index = row,
                            .found = "private text of row " + std::to_string(*row) + " in unused output, " +
                                     std::to_string(*byte) +
                                     " bytes behind the column's end: " + text_for_message(text)};
    }
    return failure_record{.kind = failure_kind::out_of_bounds,
                          .found = "a write beyond the column, " + std::to_string(*byte) +
                                   " bytes behind its end: " + text_for_message(text)};
  }

  // The first row that is not public and shares a part of its name with the text, if any.
  [[nodiscard]] std::optional<std::int64_t> private_row_with(std::string_view text) const {
    constexpr std::size_t least_bytes = 3;  // fewer are found by chance
    if (text.size() < least_bytes) return std::nullopt;
    const std::int64_t rows = row_count();
    constexpr std::int64_t part_rows = 1 << 12;
    smallest found(rows);
    on_all_cores((rows + part_rows - 1) / part_rows, [&](std::int64_t part) {
      for (std::int64_t row = part * part_rows; row < std::min(rows, (part + 1) * part_rows); ++row) {
        if (found.get() < row) return;
        if (data_->visibilities[row] == "public") continue;
        const std::string_view name = data_->names[row];
        if (name.size() < least_bytes) continue;
        if (text.find(name) != std::string_view::npos || name.find(text) != std::string_view::npos)
          found.offer(row);
      }
    });
    return found.get() < rows ? std::optional(found.get()) : std::nullopt;
  }

  const stage<problem>& stage_;
  problem::parameters parameters_;
  source inputs_;
  cudaStream_t stream_;
  plain_resource plain_;
  pool_resource pool_;
  arena_resource arena_;
  device_buffer<std::int64_t> found_;
  device_buffer<std::uint64_t> digest_;
  checked_resource checked_;
  std::shared_ptr<const people> base_;  // what was sent to the device
  std::shared_ptr<const people> data_;  // what vary() has made of it
  std::uint64_t variation_ = 0;         // of what is on the device
  std::uint64_t made_variation_ = 0;    // of data_
  std::optional<device_column> names_;
  std::optional<device_column> visibilities_;
  std::uint64_t input_hash_ = 0;
  bool next_is_checked_ = false;
  bool held_is_checked_ = false;
  bool has_arena_ = false;
  bool was_poisoned_ = false;   // what the last launch was given
  std::optional<output> held_;  // what the last launch left
};

}  // namespace lab::redact
