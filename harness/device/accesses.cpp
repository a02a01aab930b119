#include "harness/device/counters.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

#include "common/emulator/core/source_lines.hpp"
#include "harness/device/observed_launch.hpp"

namespace lab {
namespace {

using emulator::logged_request;
using emulator::observed_block;

constexpr const char* space_names[] = {"global", "shared"};
constexpr const char* operation_names[] = {"load", "store", "atomic"};

// Lines of the source files, each file read once.
class source_texts {
 public:
  std::string line(const std::string& file, int number) {
    auto [entry, is_new] = files_.try_emplace(file);
    if (is_new) {
      std::ifstream source(std::string(LAB_SOURCE_ROOT "/") + file);
      for (std::string text; std::getline(source, text);) entry->second.push_back(text);
    }
    if (number < 1 || static_cast<std::size_t>(number) > entry->second.size()) return "";
    const std::string& text = entry->second[static_cast<std::size_t>(number) - 1];
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin);
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

access_line_record line_record(source_texts& texts, std::uint32_t place, emulator::memory_space space,
                               emulator::memory_operation operation) {
  const emulator::source_line& line = emulator::line_of(place);
  return {.file = line.file,
          .line = line.line,
          .text = texts.line(line.file, line.line),
          .space = space_names[static_cast<std::size_t>(space)],
          .operation = operation_names[static_cast<std::size_t>(operation)]};
}

// What lines are told apart by.
auto site_of(const access_line_record& one) {
  return std::tie(one.file, one.line, one.space, one.operation);
}

void add_cost(access_line_record& to, const emulator::logged_activity& activity) {
  to.requests += static_cast<std::int64_t>(activity.requests);
  to.units += activity.cost.units;
  to.least += activity.cost.least;
}

std::int64_t excess(const logged_request& request) {
  return std::int64_t{request.cost.units} - std::int64_t{request.cost.least};
}

std::int64_t offset_in(const emulator::touched_array& array, std::uintptr_t address) {
  return static_cast<std::int64_t>(address) - static_cast<std::int64_t>(array.begin);
}

array_record describe(const emulator::touched_array& array) {
  return {array.name, static_cast<std::int64_t>(array.bytes), static_cast<std::int64_t>(array.begin % 128)};
}

// Runs of threads, first and last, of which the lanes of each warp took part.
std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const std::vector<std::uint32_t>& lanes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (std::size_t warp = 0; warp < lanes.size(); ++warp) {
    for (std::uint32_t left = lanes[warp]; left != 0; left &= left - 1) {
      const auto thread = static_cast<std::int64_t>(warp * emulator::warp_lanes) + std::countr_zero(left);
      if (!runs.empty() && runs.back().second + 1 == thread) {
        runs.back().second = thread;
      } else {
        runs.emplace_back(thread, thread);
      }
    }
  }
  return runs;
}

bool is_of_kernel(std::uint32_t place) {
  return !emulator::line_of(place).outside_of_kernel;
}

bool ends_with_path(const std::string& path, const std::string& end) {
  return path == end || (path.size() > end.size() && path.ends_with("/" + end));
}

class block_reader {
 public:
  block_reader(const observed_block& block, const access_choice& choice) : block_(block), choice_(choice) {}

  // What each line of the kernel asked of memory, by file, line, space and operation.
  std::vector<access_line_record> lines() {
    std::map<std::tuple<std::string, int, int, int>, access_line_record> found;
    for (const auto& phase : block_.log.phases()) {
      for (const auto& [key, activity] : phase) {
        const auto& [place, kind] = key;
        if (!is_of_kernel(place)) continue;
        const emulator::source_line& line = emulator::line_of(place);
        auto [entry, is_new] = found.try_emplace(
            {line.file, line.line, static_cast<int>(kind.first), static_cast<int>(kind.second)});
        if (is_new) entry->second = line_record(texts_, place, kind.first, kind.second);
        add_cost(entry->second, activity);
      }
    }
    std::vector<access_line_record> all;
    for (auto& [key, line] : found) all.push_back(std::move(line));
    return all;
  }

  // The wanted request: the one that costs the most more than its minimum, the first among equals. Where none
  // costs more than its minimum, the first of those that cost most.
  std::optional<request_record> request() {
    const logged_request* best = nullptr;
    std::map<std::uint32_t, std::int64_t> numbers;  // of the warp's requests at the wanted line, by warp
    std::int64_t best_number = 0;
    for (const logged_request& one : block_.log.requests()) {
      if (!is_wanted(one)) continue;
      const std::int64_t number = ++numbers[one.warp];
      if (choice_.request > 0 && number != choice_.request) continue;
      const auto rank = [](const logged_request& of) {
        return std::tuple(excess(of), of.cost.units, std::popcount(of.lanes));
      };
      if (best != nullptr && rank(one) <= rank(*best)) continue;
      best = &one;
      best_number = number;
    }
    if (best == nullptr) return std::nullopt;
    if (choice_.line > 0) return record_of(*best, best_number);
    // Its number was counted over all lines.
    access_choice at_line = choice_;
    at_line.file = emulator::line_of(best->place).file;
    at_line.line = emulator::line_of(best->place).line;
    return block_reader(block_, at_line).request();
  }

  std::vector<std::vector<activity_record>> phases() {
    std::vector<std::vector<activity_record>> all;
    for (const auto& phase : block_.log.phases()) {
      std::vector<activity_record>& activities = all.emplace_back();
      for (const auto& [key, activity] : phase) {
        if (is_of_kernel(key.first)) add(activities, key.first, key.second, activity);
      }
      // Places are in the order of the code, lines as they are read.
      std::stable_sort(activities.begin(), activities.end(), [](const auto& a, const auto& b) {
        return std::tie(a.at.file, a.at.line) < std::tie(b.at.file, b.at.line);
      });
    }
    return all;
  }

 private:
  bool is_wanted(const logged_request& one) const {
    if (choice_.warp >= 0 && one.warp != choice_.warp) return false;
    if (!choice_.space.empty() && space_names[static_cast<std::size_t>(one.space)] != choice_.space)
      return false;
    const emulator::source_line& line = emulator::line_of(one.place);
    if (line.outside_of_kernel) return false;
    if (choice_.line > 0 && line.line != choice_.line) return false;
    return choice_.file.empty() || ends_with_path(line.file, choice_.file);
  }

  request_record record_of(const logged_request& one, std::int64_t number) {
    request_record record{.at = line_record(texts_, one.place, one.space, one.operation),
                          .array = describe(one.array),
                          .warp = one.warp,
                          .phase = one.phase,
                          .request = number,
                          .bytes = one.bytes,
                          .units = one.cost.units,
                          .least = one.cost.least};
    for (const access_line_record& line : lines()) {
      if (site_of(line) == site_of(record.at)) record.at = line;
    }
    std::vector<std::uint32_t> its_lines;
    for (const logged_request& other : block_.log.requests()) {
      if (other.warp == one.warp && is_wanted(other) &&
          std::find(its_lines.begin(), its_lines.end(), other.place) == its_lines.end())
        its_lines.push_back(other.place);
    }
    for (const std::uint32_t place : its_lines)
      record.requests += static_cast<std::int64_t>(block_.log.count_of(place, one.warp));
    if (one.space == emulator::memory_space::shared)
      record.parts = emulator::shared_parts(one.lanes, one.address.data(), one.bytes);
    for (std::uint32_t left = one.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      record.lanes.push_back(lane);
      record.offsets.push_back(offset_in(one.array, one.address[static_cast<std::size_t>(lane)]));
    }
    return record;
  }

  // Several places of one line, of its loads say, are one activity.
  void add(std::vector<activity_record>& activities, std::uint32_t place,
           const emulator::access_log::activity_key& kind, const emulator::logged_activity& activity) {
    activity_record fresh{.at = line_record(texts_, place, kind.first, kind.second),
                          .array = describe(activity.array),
                          .lowest = offset_in(activity.array, activity.lowest),
                          .end = offset_in(activity.array, activity.end),
                          .threads = runs_of(activity.lanes)};
    add_cost(fresh.at, activity);
    for (activity_record& known : activities) {
      const bool same = site_of(known.at) == site_of(fresh.at) && known.threads == fresh.threads &&
                        known.array.name == fresh.array.name && known.array.bytes == fresh.array.bytes;
      if (!same) continue;
      add_cost(known.at, activity);
      known.lowest = std::min(known.lowest, fresh.lowest);
      known.end = std::max(known.end, fresh.end);
      return;
    }
    activities.push_back(std::move(fresh));
  }

  const observed_block& block_;
  access_choice choice_;
  source_texts texts_;
};

// Of the kernels that are meant, the one with the most requests in the block, or with the wanted line.
const observed_block* chosen_kernel(const std::vector<observed_block>& kept, const access_choice& choice) {
  const observed_block* best = nullptr;
  std::pair<std::int64_t, std::int64_t> best_rank{-1, -1};
  for (const observed_block& one : kept) {
    if (one.kernel.find(choice.kernel) == std::string::npos) continue;
    block_reader reader(one, choice);
    std::pair<std::int64_t, std::int64_t> rank{0, 0};
    if (!choice.phases) {
      if (const auto request = reader.request()) rank.first = 1 + request->units - request->least;
    }
    for (const access_line_record& line : reader.lines()) rank.second += line.requests;
    if (rank <= best_rank) continue;
    best = &one;
    best_rank = rank;
  }
  return best;
}

seen_accesses see_observed_accesses(workload& work, const launch_setup& setup, const access_choice& choice,
                                    cudaStream_t stream) {
  std::vector<observed_block> kept;
  seen_accesses seen;
  seen.check = run_observed(
      work, setup, stream,
      [&](const emulator::observation& observation) { kept = observation.kept_blocks(); },
      static_cast<std::uint64_t>(choice.block));
  for (const observed_block& one : kept) seen.accesses.kernels.push_back(one.kernel);
  const observed_block* const kernel = chosen_kernel(kept, choice);
  if (kernel == nullptr) return seen;
  accesses_record& record = seen.accesses;
  record.kernel = kernel->kernel;
  record.blocks = static_cast<std::int64_t>(kernel->blocks);
  record.block = choice.block;
  record.threads = kernel->threads;
  record.phase_count = static_cast<std::int64_t>(kernel->log.phase_count());
  block_reader reader(*kernel, choice);
  record.lines = reader.lines();
  if (choice.phases) {
    record.phases = reader.phases();
  } else if (auto request = reader.request()) {
    record.request.push_back(std::move(*request));
  }
  return seen;
}

[[maybe_unused]] const bool accesses_registered = [] {
  see_accesses = see_observed_accesses;
  return true;
}();

}  // namespace
}  // namespace lab
