// The track: its parameters, what its stages are tried on, and CSV files in and out.
#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "common/csv.hpp"
#include "common/memory.hpp"
#include "harness/device/parameter.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "stages/redact/people.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/validation.hpp"
#include "stages/redact/workload.hpp"

namespace lab::redact {
namespace {

using parameters = problem::parameters;

const std::vector<parameter<parameters>>& specifications() {
  static const std::vector<parameter<parameters>> all = {
      {.name = "rows",
       .member = &parameters::rows,
       .meaning = "rows",
       .minimum = 0,
       .bench = {600'000},
       .emulator_bench = {20'000}},
      {.name = "content",
       .member = &parameters::content,
       .meaning = "what the names and visibilities are like",
       .minimum = 0,
       .bench = {0},
       .emulator_bench = {0},
       .choices = {{0, "people"},
                   {1, "all_private"},
                   {2, "all_public"},
                   {3, "empty"},
                   {4, "multibyte"},
                   {5, "hostile"},
                   {6, "skewed"},
                   {7, "huge_row"},
                   {8, "near_public"},
                   {9, "long_names"}}},
      {.name = "allocator",
       .member = &parameters::allocator,
       .meaning = "where memory comes from: cudaMalloc, the pool of cudaMallocAsync, or memory that is there",
       .minimum = 0,
       .bench = {1, 2, 0},
       .emulator_bench = {1, 2, 0},
       .choices = {{0, "plain"}, {1, "pool"}, {2, "none"}}},
      {.name = "offsets",
       .member = &parameters::offsets,
       .meaning = "type of the offsets",
       .minimum = 0,
       .bench = {32},
       .emulator_bench = {32},
       .choices = {{32, "int32"}, {64, "int64"}}}};
  return all;
}

parameters typed(const parameter_values& values) {
  return typed_parameters(specifications(), values);
}

// The inputs that were made last, with what must become of them: one run takes several stages and allocators
// through the same ones. The last two are kept, and more as long as all of them are not much.
std::shared_ptr<const people> generated(const parameters& p, std::uint64_t seed) {
  struct made_input {
    std::tuple<std::int64_t, std::int64_t, std::uint64_t> from;
    std::shared_ptr<const people> data;
  };
  constexpr std::size_t always_kept = 2;
  constexpr std::int64_t most_bytes = std::int64_t{1} << 33;
  static std::list<made_input> kept;
  const std::tuple wanted{p.rows, p.content, seed};
  const auto found =
      std::find_if(kept.begin(), kept.end(), [&](const made_input& one) { return one.from == wanted; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
    return kept.front().data;
  }
  while (kept.size() >= always_kept) {
    std::int64_t bytes = 0;
    for (const made_input& one : kept) {
      for (const column* of_input : {&one.data->names, &one.data->visibilities, &one.data->expected})
        bytes += of_input->bytes() + of_input->offsets.size() * 8;
    }
    if (bytes <= most_bytes) break;
    kept.pop_back();
  }
  kept.push_front(
      {wanted, std::make_shared<people>(make_people(static_cast<content>(p.content), p.rows, seed))});
  return kept.front().data;
}

// Bytes of characters, from the first rows.
struct estimate {
  std::int64_t names = 0;
  std::int64_t visibilities = 0;
};

estimate estimate_bytes(const parameters& p) {
  constexpr std::int64_t most_rows = 4096;
  const auto kind = static_cast<content>(p.content);
  const bool has_long_rows = kind == content::skewed || kind == content::huge_row;
  const people sample = make_people(has_long_rows ? content::people : kind, std::min(p.rows, most_rows), 1);
  const auto scaled = [&](const column& one) {
    const double mean =
        static_cast<double>(one.bytes()) / static_cast<double>(std::max<std::int64_t>(1, one.rows()));
    return static_cast<std::int64_t>(mean * static_cast<double>(p.rows));
  };
  return {scaled(sample.names) + (has_long_rows ? std::int64_t{1} << 26 : 0), scaled(sample.visibilities)};
}

// Device memory for the inputs, and twice for an output as long as it may get: a stage's temporaries are its
// own affair.
std::size_t needed_bytes(const parameters& p, const estimate& bytes) {
  const std::int64_t offsets = (p.rows + 1) * p.offsets / 8;
  return static_cast<std::size_t>(2 * offsets + bytes.names + bytes.visibilities +
                                  2 * (offsets + bytes.names + most_growth * p.rows));
}

class redact_track final : public track {
 public:
  [[nodiscard]] track_description describe() const override {
    return {.title = "Redaction of names, as strings in columns",
            .unit = "row",
            .parameters = describe_parameters(specifications())};
  }

  [[nodiscard]] parameter_values complete(const parameter_values& given) const override {
    return complete_parameters(specifications(), given);
  }

  [[nodiscard]] std::vector<trial> trials(const stage_entry& entry, bool thorough,
                                          std::uint64_t seed) const override;

  // All rows are compared byte for byte, whatever the size.
  [[nodiscard]] std::vector<trial> exact_trials(const stage_entry& /*stage*/,
                                                const parameter_values& /*parameters*/,
                                                std::uint64_t /*seed*/) const override {
    return {};
  }

  // Both inputs are read and the output is written, offsets and characters. Where nobody is public, no name
  // need be read.
  [[nodiscard]] ceiling_need ceiling(const parameter_values& values, std::uint64_t seed) const override {
    const parameters p = typed(values);
    const auto data = generated(p, seed);
    const std::int64_t offsets = (p.rows + 1) * p.offsets / 8;
    const bool names_matter = static_cast<content>(p.content) != content::all_private;
    return {.kind = "copy",
            .bytes = 2 * offsets + data->visibilities.bytes() + data->expected.bytes() +
                     (names_matter ? offsets + data->names.bytes() : 0)};
  }

  [[nodiscard]] std::string unsupported(const stage_entry& entry,
                                        const parameter_values& values) const override {
    const parameters p = typed(values);
    const auto& its_stage = typed_stage(entry);
    if (p.offsets == 32) {
      const auto estimate = estimate_bytes(p);
      const std::int64_t most = std::max(estimate.names + most_growth * p.rows, estimate.visibilities);
      if (offset_bits_for(most) != 32) {
        return "a column of up to " + std::to_string(most) +
               " bytes of characters is more than offsets of 32 bits reach (2147483647): take --offsets 64";
      }
    }
    if (its_stage.unsupported == nullptr) return "";
    return call_stage("unsupported", [&] { return its_stage.unsupported(p); });
  }

  [[nodiscard]] std::unique_ptr<workload> make(const stage_entry& entry, const parameter_values& values,
                                               cudaStream_t stream) const override {
    const parameters p = typed(values);
    require_memory(needed_bytes(p, estimate_bytes(p)));
    return std::make_unique<redact_workload>(typed_stage(entry), p, generated, stream);
  }

  [[nodiscard]] check_result apply(const stage_entry& entry, const parameter_values& given,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs,
                                   cudaStream_t stream) const override;

 private:
  static const stage<problem>& typed_stage(const stage_entry& entry) {
    if (entry.problem != typeid(problem))
      throw std::logic_error(entry.path + " is registered for another problem");
    return *static_cast<const stage<problem>*>(entry.typed);
  }

  static void require_memory(std::size_t needed) {
    if (needed <= memory::always_there && !memory::is_limited()) return;
    if (const std::size_t available = memory::available(); needed > available)
      throw memory_error(needed, available);
  }
};

std::vector<trial> redact_track::trials(const stage_entry& entry, bool thorough, std::uint64_t seed) const {
  std::vector<trial> list;
  const auto add = [&](std::int64_t rows, content kind, allocator from, std::int64_t offsets = 32) {
    if (rows < 0) return;
    list.push_back({{{"rows", rows},
                     {"content", static_cast<std::int64_t>(kind)},
                     {"allocator", static_cast<std::int64_t>(from)},
                     {"offsets", offsets}},
                    pattern::random});
  };
  constexpr std::int64_t largest_tile = std::int64_t{1} << 24;
  const std::int64_t tile = typed_stage(entry).tile;
  if (tile < 1 || tile > largest_tile)
    throw stage_error("its tile is " + std::to_string(tile) + " rows, and must be from 1 to 2^24");
  // A few quick ones that every run repeats: several tiles and a ragged end, no rows, names that are none,
  // characters of several bytes, rows of very different lengths.
  add(3 * tile + 17, content::people, allocator::none);
  add(0, content::people, allocator::plain);
  add(3001, content::hostile, allocator::pool);
  add(1500, content::multibyte, allocator::none, 64);
  add(700, content::skewed, allocator::plain);
  if (!thorough) return list;

  constexpr content contents[] = {content::people, content::all_private, content::all_public,
                                  content::empty,  content::multibyte,   content::hostile,
                                  content::skewed};
  constexpr allocator allocators[] = {allocator::plain, allocator::pool, allocator::none};
  std::size_t turn = 0;
  const auto add_in_turn = [&](std::int64_t rows, content kind, std::int64_t offsets) {
    add(rows, kind, allocators[turn++ % 3], offsets);
  };
  for (const content kind : contents) {
    for (const std::int64_t offsets : {32, 64}) {
      add_in_turn(0, kind, offsets);
      add_in_turn(1, kind, offsets);
      add_in_turn(2 * tile + 5, kind, offsets);
      add_in_turn(kind == content::skewed ? 2003 : 10'007, kind, offsets);
    }
  }
  for (const std::int64_t rows : {2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1025}) {
    add_in_turn(rows, content::hostile, rows % 2 == 0 ? 32 : 64);
    add_in_turn(rows, content::all_private, rows % 2 == 0 ? 64 : 32);
  }
  for (const std::int64_t rows : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 7 * tile + 3}) {
    add_in_turn(rows, content::people, 32);
    add_in_turn(rows, content::hostile, 64);
  }
  // The space lies early, late or nowhere by the number of rows. At 1001 the row has 64 MiB on a GPU, where a
  // stage with a thread for each row takes seconds.
  for (const std::int64_t rows : {1, 500, 501, 502, 1001})
    add_in_turn(rows, content::huge_row, rows % 2 == 0 ? 32 : 64);
  for (const std::int64_t offsets : {32, 64}) add_in_turn(5003, content::near_public, offsets);
  // Every number of rows up to 300, and some of every residue of the tile.
  const auto add_brief = [&](std::int64_t rows, std::uint64_t bits) {
    constexpr content kinds[] = {content::people, content::hostile, content::multibyte, content::near_public};
    add(rows, kinds[bits % 4], allocators[bits / 4 % 3], bits / 16 % 2 == 0 ? 32 : 64);
    list.back().brief = true;
  };
  for (std::int64_t rows = 0; rows < (emulated ? 130 : 300); ++rows)
    add_brief(rows, random_bits(seed, static_cast<std::uint64_t>(rows)));
  for (std::uint64_t k = 0; k < (emulated ? 16 : 64); ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    add_brief(tile * static_cast<std::int64_t>(1 + k % 2) +
                  static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(tile)),
              bits);
  }
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 8; ++k) {
    add_in_turn(static_cast<std::int64_t>(1 + random_bits(7, k) % 30'000), contents[k % 6],
                k % 3 == 0 ? 64 : 32);
  }
  if constexpr (!emulated) {
    for (const content kind : {content::people, content::hostile, content::multibyte, content::empty}) {
      add_in_turn(3'000'017, kind, 32);
      list.back().brief = true;
    }
    add_in_turn(3'000'017, content::skewed, 64);
    list.back().brief = true;
    // Characters beyond 2 GiB: 18 M names of 125 bytes on average.
    add(18'000'000, content::long_names, allocator::pool, 64);
    list.back().brief = true;
  }
  return list;
}

// A column as it is read, row by row.
struct growing_column {
  std::vector<std::int64_t> offsets{0};
  std::string chars;

  void append(std::string_view row) {
    chars += row;
    offsets.push_back(static_cast<std::int64_t>(chars.size()));
  }
  [[nodiscard]] raw_column raw(std::string_view name) const { return {name, offsets, chars}; }
  // Leaves nothing behind: a column may be large.
  column take() {
    column taken{.offsets = host_array<std::int64_t>(std::ssize(offsets)),
                 .chars = host_array<char>(std::ssize(chars))};
    std::copy(offsets.begin(), offsets.end(), taken.offsets.data());
    std::copy(chars.begin(), chars.end(), taken.chars.data());
    *this = {};
    return taken;
  }
};

std::shared_ptr<const people> read_people(const std::string& path) {
  constexpr const char* names = "name";
  constexpr const char* visibilities = "visibility";
  std::array<growing_column, 2> read;
  read_csv(path, {names, visibilities},
           [&](std::size_t which, std::string_view field) { read[which].append(field); });
  if (const std::string why = why_invalid(read[0].raw(names), read[1].raw(visibilities)); !why.empty())
    throw usage_error(path + ": " + why);
  auto data = std::make_shared<people>();
  data->names = read[0].take();
  data->visibilities = read[1].take();
  data->expected = redacted(data->names, data->visibilities);
  return data;
}

check_result redact_track::apply(const stage_entry& entry, const parameter_values& given,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs, cudaStream_t stream) const {
  if (inputs.size() != 1)
    throw usage_error("this track takes one input file, not " + std::to_string(inputs.size()));
  if (outputs.size() != 1)
    throw usage_error("this track writes one output file, not " + std::to_string(outputs.size()));
  for (const char* of_file : {"rows", "content"}) {
    if (given.contains(of_file))
      throw usage_error(std::string(of_file) + " is what the input file says, not an option here");
  }
  require_writable(outputs[0]);
  const auto data = read_people(inputs[0]);

  parameter_values values = given;
  values["rows"] = data->names.rows();
  values.try_emplace("allocator", static_cast<std::int64_t>(allocator::pool));
  const std::int64_t most_output = data->names.bytes() + most_growth * data->names.rows();
  const int needed_bits = offset_bits_for(std::max(most_output, data->visibilities.bytes()));
  values.try_emplace("offsets", needed_bits);
  values = complete(values);
  if (typed(values).offsets < needed_bits) {
    throw unsupported_error(entry.path + ": " + inputs[0] +
                            " has more characters than offsets of 32 bits reach: take --offsets 64");
  }
  const parameters p = typed(values);
  const auto& its_stage = typed_stage(entry);
  if (its_stage.unsupported != nullptr) {
    if (const std::string why = call_stage("unsupported", [&] { return its_stage.unsupported(p); });
        !why.empty())
      throw unsupported_error(entry.path + ": " + why);
  }
  require_memory(needed_bytes(p, {data->names.bytes(), data->visibilities.bytes()}));
  redact_workload work(its_stage, p, generated, stream);
  work.prepare_from(data);
  work.launch();
  check_result result = work.check();
  if (result.failure) return result;
  const column found = work.download();
  csv_column_writer writer(outputs[0], "redacted");
  for (std::int64_t row = 0; row < found.rows(); ++row) writer.write(found[row]);
  writer.commit();
  return result;
}

[[maybe_unused]] const bool registered = [] {
  register_track(LAB_PATH, std::make_unique<redact_track>());
  return true;
}();

}  // namespace
}  // namespace lab::redact
