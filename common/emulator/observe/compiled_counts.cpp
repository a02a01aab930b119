#include "common/emulator/observe/compiled_counts.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include "common/emulator/observe/access_model.hpp"
#include "common/emulator/observe/linear_system.hpp"

namespace lab::emulator {
namespace {

// How accesses are read otherwise than as they are written, where neighbours are merged at least.
struct reading_manner {
  enum class dropping { none, careful, free };  // of what registers hold; see registers

  dropping drops = dropping::none;
  bool rounds_up = false;     // wide accesses that the program uses a part of
  bool across_lines = false;  // accesses of several lines are merged as well
};
constexpr std::array manners{reading_manner{},  // as written
                             reading_manner{},
                             reading_manner{reading_manner::dropping::careful},
                             reading_manner{reading_manner::dropping::free},
                             reading_manner{reading_manner::dropping::none, true},
                             reading_manner{reading_manner::dropping::none, false, true},
                             reading_manner{reading_manner::dropping::careful, false, true},
                             reading_manner{reading_manner::dropping::free, false, true}};
constexpr std::size_t readings = manners.size();
constexpr std::size_t readings_of_lines = 5;  // the first ones
constexpr std::size_t widths = 5;             // 1, 2, 4, 8, 16 bytes

std::size_t width_number(unsigned bytes) {
  return static_cast<std::size_t>(std::countr_zero(bytes));
}

compiled_access::space compiled_space(memory_space space) {
  return space == memory_space::global ? compiled_access::space::global : compiled_access::space::shared;
}
compiled_access::kind compiled_kind(memory_operation operation) {
  return operation == memory_operation::load ? compiled_access::kind::load : compiled_access::kind::store;
}

using lanes_by_width = std::array<std::uint64_t, widths>;

struct slot_total {
  std::array<memory_counters, readings> counters;
};
struct row_total {
  std::array<lanes_by_width, readings> lanes{};
  bool is_uneven = false;  // lanes would make one access of what they did in several groups
};

}  // namespace

struct compiled_counts::totals {
  std::uint64_t threads = 0;
  std::uint64_t barrier_threads = 0;
  bool barriers_are_known = true;
  std::vector<slot_total> slots;
  std::vector<row_total> rows;
  std::set<std::pair<std::size_t, std::size_t>> joined;  // rows whose accesses make a wider one together
};

// A line's accesses of one kind: what the code has of them.
struct compiled_counts::row {
  std::string file;
  int line = 0;
  memory_space space{};
  memory_operation operation{};
  unsigned allowed = 0;     // widths that the code has, a bit for each
  bool is_unknown = false;  // the code has accesses here whose space it does not tell
};

// What the lanes of each warp have in registers.
class compiled_counts::registers {
 public:
  // `forgets_all`: a store may have changed whatever lies in the same kind of memory; else what it writes
  // alone.
  explicit registers(bool forgets_all) : forgets_all_(forgets_all) {}

  // Whether the access is a load of what is there. If not, it is there from now on.
  bool have(const observed_request& request) {
    if (request.operation == memory_operation::atomic) {
      forget(request.warp, request.space);
      return false;
    }
    const bool is_load = request.operation == memory_operation::load;
    if (!is_load && forgets_all_) forget(request.warp, request.space);
    known_values& known = of(request.warp);
    if (known.size() > most_known) known.clear();
    const unsigned first = lowest(request.lanes);
    value& one = known[request.address[first] << 5 | first];
    if (is_load && holds(one, request)) return true;
    one.lanes = request.lanes;
    one.bytes = request.bytes;
    one.space = request.space;
    for (unsigned left = request.lanes; left != 0; left &= left - 1)
      one.address[lowest(left)] = request.address[lowest(left)];
    return false;
  }

  void forget_all() {
    for (known_values& known : warps_) known.clear();
  }

 private:
  static constexpr std::size_t most_known = 1024;

  struct value {
    unsigned lanes = 0, bytes = 0;
    memory_space space{};
    std::array<std::uintptr_t, warp_lanes> address;
  };
  using known_values =
      std::unordered_map<std::uint64_t, value>;  // by the first lane's address, and that lane

  known_values& of(unsigned warp) {
    if (warp >= warps_.size()) warps_.resize(warp + 1);
    return warps_[warp];
  }

  void forget(unsigned warp, memory_space space) {
    std::erase_if(of(warp), [space](const auto& one) { return one.second.space == space; });
  }

  static bool holds(const value& one, const observed_request& request) {
    if ((request.lanes & ~one.lanes) != 0 || one.space != request.space || one.bytes < request.bytes)
      return false;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
      if (one.address[lowest(left)] != request.address[lowest(left)]) return false;
    }
    return true;
  }

  const bool forgets_all_;
  std::vector<known_values> warps_;  // of the block
};

// Counts in one reading what is not in registers.
class compiled_counts::engine {
 public:
  engine(compiled_counts& owner, std::size_t reading)
      : owner_(owner), reading_(reading), manner_(manners[reading]) {}

  void take(const observed_request& request, std::uint32_t slot) {
    if (!merge(request, slot)) count(slot, request.lanes, request.bytes, request.cost);
  }

  // What one warp has begun is not joined with what it does behind a barrier.
  void flush() {
    for (warp_cells& cells : warps_) flush(cells);
  }

 private:
  static constexpr std::size_t most_cells = 1024;

  using lane_addresses = std::array<std::uintptr_t, warp_lanes>;
  struct element {
    std::uint32_t slot;
    unsigned offset, bytes;
    access_cost cost;
  };
  // Where a wider access may come to be.
  struct cell {
    unsigned lanes = 0, bytes = 0;
    lane_addresses begin;
    unsigned filled = 0;  // bytes, a bit for each
    unsigned count = 0;   // of elements
    std::array<element, 16> elements;
  };
  struct cell_key {
    std::uintptr_t begin;  // of the first lane
    unsigned lanes, manner;
    bool operator==(const cell_key&) const = default;
  };
  struct hash {
    std::size_t operator()(const cell_key& key) const {
      const std::uint64_t mixed =
          (key.begin ^ std::uint64_t{key.manner} << 48) * 0x9e3779b97f4a7c15u + key.lanes;
      return mixed ^ mixed >> 29;
    }
  };
  using warp_cells = std::unordered_map<cell_key, cell, hash>;

  warp_cells& of(unsigned warp) {
    if (warp >= warps_.size()) warps_.resize(warp + 1);
    return warps_[warp];
  }

  [[nodiscard]] unsigned allowed(const row& line) const {
    return manner_.across_lines
               ? owner_
                     .allowed_[static_cast<std::size_t>(line.space)][static_cast<std::size_t>(line.operation)]
               : line.allowed;
  }

  // Whether the access becomes a part of a wider one, perhaps.
  bool merge(const observed_request& request, std::uint32_t slot) {
    const row& line = *owner_.rows_[owner_.row_of_slot_[slot]];
    const unsigned first = lowest(request.lanes);
    for (unsigned bytes = 16; bytes > request.bytes; bytes /= 2) {
      if ((allowed(line) & bytes) == 0) continue;
      const std::uintptr_t offset = request.address[first] % bytes;
      bool is_alike = true;
      for (unsigned left = request.lanes; left != 0 && is_alike; left &= left - 1)
        is_alike = request.address[lowest(left)] % bytes == offset;
      if (!is_alike || offset + request.bytes > bytes) continue;
      add(request, slot, bytes, static_cast<unsigned>(offset));
      return true;
    }
    return false;
  }

  void add(const observed_request& request, std::uint32_t slot, unsigned bytes, unsigned offset) {
    warp_cells& cells = of(request.warp);
    const unsigned manner =
        bytes << 8 | static_cast<unsigned>(request.space) << 4 | static_cast<unsigned>(request.operation);
    const cell_key key{request.address[lowest(request.lanes)] - offset, request.lanes, manner};
    auto found = cells.find(key);
    const unsigned filled = ((1u << request.bytes) - 1) << offset;
    if (found != cells.end() &&
        ((found->second.filled & filled) != 0 || !continues(found->second, request, offset))) {
      decompose(found->second);
      cells.erase(found);
      found = cells.end();
    }
    if (found == cells.end()) {
      if (cells.size() >= most_cells) flush(cells);
      cell fresh;
      fresh.lanes = request.lanes;
      fresh.bytes = bytes;
      for (unsigned left = request.lanes; left != 0; left &= left - 1)
        fresh.begin[lowest(left)] = request.address[lowest(left)] - offset;
      found = cells.emplace(key, fresh).first;
    }
    cell& one = found->second;
    one.filled |= filled;
    one.elements[one.count++] = {slot, offset, request.bytes, request.cost};
    if (one.filled != (1u << bytes) - 1) return;
    count_at(one.elements[0].slot, one, 0, bytes);
    if (reading_ == readings_of_lines) note_joined(one);
    cells.erase(found);
  }

  void note_joined(const cell& one) {
    const std::size_t first = owner_.row_of_slot_[one.elements[0].slot];
    for (const element& part : std::span(one.elements).first(one.count)) {
      const std::size_t other = owner_.row_of_slot_[part.slot];
      if (other != first) owner_.totals_->joined.insert({std::min(first, other), std::max(first, other)});
    }
  }

  static bool continues(const cell& one, const observed_request& request, unsigned offset) {
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
      if (one.begin[lowest(left)] != request.address[lowest(left)] - offset) return false;
    }
    return true;
  }

  void flush(warp_cells& cells) {
    if (reading_ == 1) note_uneven(cells);
    for (auto& [key, one] : cells) {
      if (manner_.rounds_up && one.count > 1) {
        count_at(one.elements[0].slot, one, 0, one.bytes);
      } else {
        decompose(one);
      }
    }
    cells.clear();
  }

  // Cells that no group of lanes has filled, but groups together.
  void note_uneven(const warp_cells& cells) {
    std::map<std::pair<std::uintptr_t, unsigned>, std::pair<unsigned, unsigned>>
        filled;  // and groups, by lane
    for (const auto& [key, one] : cells) {
      for (unsigned left = one.lanes; left != 0; left &= left - 1) {
        auto& [bytes, groups] = filled[{one.begin[lowest(left)], key.manner << 5 | lowest(left)}];
        bytes |= one.filled;
        ++groups;
        if (groups < 2 || bytes != (1u << one.bytes) - 1) continue;
        for (const element& part : std::span(one.elements).first(one.count))
          owner_.totals_->rows[owner_.row_of_slot_[part.slot]].is_uneven = true;
      }
    }
  }

  // What has not become as wide as its cell: in halves, if the code has such, down to what was observed.
  void decompose(const cell& one) {
    std::array<bool, 16> is_counted{};
    for (unsigned bytes = one.bytes / 2; bytes > 1; bytes /= 2) {
      for (unsigned offset = 0; offset < one.bytes; offset += bytes) {
        const unsigned wanted = ((1u << bytes) - 1) << offset;
        if ((one.filled & wanted) != wanted) continue;
        std::vector<std::size_t> parts;
        for (std::size_t number = 0; number < one.count; ++number) {
          const element& part = one.elements[number];
          if (!is_counted[number] && part.offset >= offset && part.offset + part.bytes <= offset + bytes &&
              part.bytes < bytes)
            parts.push_back(number);
        }
        if (parts.size() < 2) continue;
        const std::uint32_t slot = one.elements[parts.front()].slot;
        if ((allowed(*owner_.rows_[owner_.row_of_slot_[slot]]) & bytes) == 0) continue;
        count_at(slot, one, offset, bytes);
        for (const std::size_t number : parts) is_counted[number] = true;
      }
    }
    for (std::size_t number = 0; number < one.count; ++number) {
      const element& part = one.elements[number];
      if (!is_counted[number]) count(part.slot, one.lanes, part.bytes, part.cost);
    }
  }

  void count_at(std::uint32_t slot, const cell& one, unsigned offset, unsigned bytes) {
    lane_addresses address{};
    for (unsigned left = one.lanes; left != 0; left &= left - 1)
      address[lowest(left)] = one.begin[lowest(left)] + offset;
    count(slot, one.lanes, bytes,
          owner_.cost_of(owner_.rows_[owner_.row_of_slot_[slot]]->space, one.lanes, address, bytes));
  }

  void count(std::uint32_t slot, unsigned lanes, unsigned bytes, const access_cost& cost) {
    const std::size_t number = owner_.row_of_slot_[slot];
    const auto lane_count = static_cast<std::uint64_t>(std::popcount(lanes));
    memory_counters& counters = owner_.totals_->slots[slot].counters[reading_];
    counters.requests += 1;
    counters.lanes += lane_count;
    counters.bytes += lane_count * bytes;
    counters.units += cost.units;
    counters.least += cost.least;
    owner_.totals_->rows[number].lanes[reading_][width_number(bytes)] += lane_count;
  }

  compiled_counts& owner_;
  const std::size_t reading_;
  const reading_manner manner_;
  std::vector<warp_cells> warps_;  // of the block
};

compiled_counts::compiled_counts(const compiled_kernel& kernel, line_lookup lookup)
    : kernel_(kernel), lookup_(std::move(lookup)), totals_(std::make_shared<totals>()) {
  for (std::size_t reading = 1; reading < readings; ++reading)
    engines_.push_back(std::make_unique<engine>(*this, reading));
  for (const bool forgets_all : {true, false}) registers_.push_back(std::make_unique<registers>(forgets_all));
  for (const compiled_block& block : kernel_.blocks) {
    for (const compiled_access& access : block.accesses) {
      for (const memory_space space : {memory_space::global, memory_space::shared}) {
        for (const memory_operation operation : {memory_operation::load, memory_operation::store}) {
          if (access.where == compiled_space(space) && access.what == compiled_kind(operation))
            allowed_[static_cast<std::size_t>(space)][static_cast<std::size_t>(operation)] |= access.bytes;
        }
      }
    }
  }
}

compiled_counts::~compiled_counts() = default;

void compiled_counts::begin_launch(std::uint64_t threads) {
  totals_->threads += threads;
}

void compiled_counts::begin_block() {
  forget();
}

void compiled_counts::end_block() {
  forget();
}

void compiled_counts::forget() {
  for (const auto& one : engines_) one->flush();
  for (const auto& one : registers_) one->forget_all();
}

void compiled_counts::barrier_passed(std::optional<std::uint64_t> threads) {
  totals_->barrier_threads += threads.value_or(0);
  totals_->barriers_are_known = totals_->barriers_are_known && threads;
  forget();
}

// One reading after another asks for the same.
const access_cost& compiled_counts::cost_of(memory_space space, unsigned lanes,
                                            const std::array<std::uintptr_t, warp_lanes>& address,
                                            unsigned bytes) {
  if (last_cost_.space != space || last_cost_.lanes != lanes || last_cost_.bytes != bytes ||
      last_cost_.address != address) {
    last_cost_ = {space, lanes, bytes, address,
                  space == memory_space::global ? global_cost(lanes, address.data(), bytes)
                                                : shared_cost(lanes, address.data(), bytes)};
  }
  return last_cost_.cost;
}

std::uint32_t compiled_counts::slot_of(const observed_request& request) {
  const std::uint64_t number = std::uint64_t{request.place} << 8 |
                               static_cast<std::uint64_t>(request.space) << 4 |
                               static_cast<std::uint64_t>(request.operation);
  const auto [found, is_new] = slots_.emplace(number, static_cast<std::uint32_t>(row_of_slot_.size()));
  if (!is_new) return found->second;
  const line at = lookup_(request.place);
  const auto known = std::find_if(rows_.begin(), rows_.end(), [&](const auto& one) {
    return one->line == at.number && one->file == at.file && one->space == request.space &&
           one->operation == request.operation;
  });
  row_of_slot_.push_back(static_cast<std::size_t>(known - rows_.begin()));
  place_of_slot_.push_back(request.place);
  totals_->slots.emplace_back();
  if (known != rows_.end()) return found->second;
  row fresh{.file = at.file, .line = at.number, .space = request.space, .operation = request.operation};
  for (const compiled_block& block : kernel_.blocks) {
    for (const compiled_access& access : block.accesses) {
      if (access.line != fresh.line || !is_same_file(access.file, fresh.file)) continue;
      const bool is_copy = access.what == compiled_access::kind::copy;
      if (!is_copy && access.what != compiled_kind(fresh.operation)) continue;
      fresh.is_unknown = fresh.is_unknown || is_copy || access.where == compiled_access::space::generic;
      if (access.where == compiled_space(fresh.space)) fresh.allowed |= access.bytes;
    }
  }
  rows_.push_back(std::make_unique<row>(fresh));
  totals_->rows.emplace_back();
  return found->second;
}

void compiled_counts::take(const observed_request& request) {
  const std::array<bool, 3> is_there{false, registers_[0]->have(request), registers_[1]->have(request)};
  if (request.operation == memory_operation::atomic) return;
  const std::uint32_t slot = slot_of(request);
  totals_->rows[row_of_slot_[slot]].lanes[0][width_number(request.bytes)] +=
      static_cast<std::uint64_t>(std::popcount(request.lanes));
  for (std::size_t reading = 1; reading < readings; ++reading) {
    if (!is_there[static_cast<std::size_t>(manners[reading].drops)])
      engines_[reading - 1]->take(request, slot);
  }
}

// ---- launches that are not computed again

std::shared_ptr<compiled_counts::totals> compiled_counts::snapshot() const {
  return std::make_shared<totals>(*totals_);
}

std::shared_ptr<compiled_counts::totals> compiled_counts::since(const totals& before) const {
  auto rest = std::make_shared<totals>(*totals_);
  rest->threads -= before.threads;
  rest->barrier_threads -= before.barrier_threads;
  for (std::size_t slot = 0; slot < before.slots.size(); ++slot) {
    for (std::size_t reading = 0; reading < readings; ++reading)
      rest->slots[slot].counters[reading] -= before.slots[slot].counters[reading];
  }
  for (std::size_t number = 0; number < before.rows.size(); ++number) {
    for (std::size_t reading = 0; reading < readings; ++reading) {
      for (std::size_t width = 0; width < widths; ++width)
        rest->rows[number].lanes[reading][width] -= before.rows[number].lanes[reading][width];
    }
  }
  return rest;
}

void compiled_counts::add(const totals& more) {
  totals_->threads += more.threads;
  totals_->barrier_threads += more.barrier_threads;
  totals_->barriers_are_known = totals_->barriers_are_known && more.barriers_are_known;
  for (std::size_t slot = 0; slot < more.slots.size(); ++slot) {
    for (std::size_t reading = 0; reading < readings; ++reading)
      totals_->slots[slot].counters[reading] += more.slots[slot].counters[reading];
  }
  for (std::size_t number = 0; number < more.rows.size(); ++number) {
    totals_->rows[number].is_uneven = totals_->rows[number].is_uneven || more.rows[number].is_uneven;
    for (std::size_t reading = 0; reading < readings; ++reading) {
      for (std::size_t width = 0; width < widths; ++width)
        totals_->rows[number].lanes[reading][width] += more.rows[number].lanes[reading][width];
    }
  }
}

// ---- which reading is the code's

namespace {

// What the code has of one line, space and operation: unknowns with their factors, by width.
using code_terms = std::array<linear_system::terms, widths>;

// The kernel's code as equations between how many threads run its blocks, or pass a condition in one.
class code_flow {
 public:
  code_flow(const compiled_kernel& kernel, std::uint64_t threads) : kernel_(kernel) {
    blocks_.resize(kernel.blocks.size());
    for (std::size_t& unknown : blocks_) unknown = unknowns_++;
    constexpr std::size_t most_blocks = 3000;
    if (!kernel.has_unknown_branches && kernel.blocks.size() <= most_blocks) add_flow(threads);
  }

  [[nodiscard]] linear_system& system() { return system_; }

  std::size_t unknown_of(std::size_t block, unsigned condition) {
    if (condition == 0) return blocks_[block];
    const auto [found, is_new] = conditions_.emplace(std::pair(block, condition), unknowns_);
    if (is_new) ++unknowns_;
    return found->second;
  }

 private:
  void add_flow(std::uint64_t threads) {
    std::vector<linear_system::terms> entering(kernel_.blocks.size());
    std::vector<bool> is_entered(kernel_.blocks.size());
    for (std::size_t number = 0; number < kernel_.blocks.size(); ++number) {
      const compiled_block& block = kernel_.blocks[number];
      const std::size_t ways = block.next.size() + (block.may_exit ? 1 : 0);
      linear_system::terms leaving;
      for (const std::size_t next : block.next) {
        const std::size_t way = ways == 1 ? blocks_[number] : unknowns_++;
        entering[next][way] += 1;
        leaving[way] += 1;
        is_entered[next] = true;
      }
      if (ways <= 1) continue;
      if (block.may_exit) leaving[unknowns_++] += 1;
      leaving[blocks_[number]] -= 1;
      system_.add(leaving, 0);
    }
    for (std::size_t number = 0; number < kernel_.blocks.size(); ++number) {
      if (number != 0 && !is_entered[number]) continue;  // a function of its own, or nothing
      linear_system::terms balance = entering[number];
      balance[blocks_[number]] -= 1;
      // Entering less what runs is minus what begins here.
      for (auto& [unknown, factor] : balance) factor = -factor;
      system_.add(balance, number == 0 ? threads : 0);
    }
  }

  const compiled_kernel& kernel_;
  linear_system system_;
  std::size_t unknowns_ = 0;
  std::vector<std::size_t> blocks_;
  std::map<std::pair<std::size_t, unsigned>, std::size_t> conditions_;
};

bool allows_all(const linear_system& system, const code_terms& terms, const lanes_by_width& lanes) {
  std::vector<std::pair<linear_system::terms, std::uint64_t>> equations;
  for (std::size_t width = 0; width < widths; ++width) equations.emplace_back(terms[width], lanes[width]);
  return system.allows(equations);
}

void add_all(linear_system& system, const code_terms& terms, const lanes_by_width& lanes) {
  for (std::size_t width = 0; width < widths; ++width) system.add(terms[width], lanes[width]);
}

// Lines whose accesses are looked at together: one, or those that only fit in sum.
struct resolved_group {
  std::vector<std::size_t> rows;
  code_terms terms;
  std::array<lanes_by_width, readings> lanes{};
  bool is_uneven = false;
  std::optional<std::size_t> reading;

  [[nodiscard]] bool has_one_reading() const {
    return std::all_of(lanes.begin(), lanes.begin() + readings_of_lines,
                       [&](const auto& one) { return one == lanes[0]; });
  }
  // Whether each width that the code has and the source has not is there: where neither branches nor other
  // lines tell how often a block is run, the equations allow that it never is.
  [[nodiscard]] bool makes_wider_ones(std::size_t number) const {
    std::size_t written = widths;
    while (written > 0 && lanes[0][written - 1] == 0) --written;
    for (std::size_t width = written; width < widths; ++width) {
      if (!terms[width].empty() && lanes[number][width] == 0) return false;
    }
    return true;
  }
};

// The reading that the equations leave: null where none fits, or several that differ do. Wide accesses of
// which a part is used are thought of where nothing else fits.
std::optional<std::size_t> reading_of(const linear_system& system, const resolved_group& group,
                                      std::size_t most) {
  for (const bool rounds_up : {false, true}) {
    std::optional<std::size_t> found;
    for (std::size_t reading = 0; reading < most; ++reading) {
      if (manners[reading].rounds_up != rounds_up || !group.makes_wider_ones(reading) ||
          !allows_all(system, group.terms, group.lanes[reading]))
        continue;
      if (found && group.lanes[*found] != group.lanes[reading]) return std::nullopt;
      if (!found) found = reading;
    }
    if (group.is_uneven && found && *found != 0) return std::nullopt;
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

compiled_counts::result compiled_counts::resolve() const {
  code_flow flow(kernel_, totals_->threads);
  // What the code has, of each line that was observed, and of the others together.
  std::map<key, resolved_group> elsewhere;
  std::vector<resolved_group> groups(rows_.size());
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    groups[number].rows = {number};
    groups[number].lanes = totals_->rows[number].lanes;
    groups[number].is_uneven = totals_->rows[number].is_uneven;
  }
  linear_system::terms barriers;
  for (std::size_t block = 0; block < kernel_.blocks.size(); ++block) {
    for (const compiled_access& access : kernel_.blocks[block].accesses) {
      const std::size_t unknown = flow.unknown_of(block, access.condition);
      if (access.what == compiled_access::kind::barrier) {
        barriers[unknown] += 1;
        continue;
      }
      if (access.what == compiled_access::kind::copy || access.where == compiled_access::space::generic)
        continue;
      const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const auto& one) {
        return one->line == access.line && access.where == compiled_space(one->space) &&
               access.what == compiled_kind(one->operation) && is_same_file(access.file, one->file);
      });
      const std::size_t width = width_number(access.bytes);
      if (at != rows_.end()) {
        groups[static_cast<std::size_t>(at - rows_.begin())].terms[width][unknown] += 1;
      } else {
        const memory_space space =
            access.where == compiled_access::space::global ? memory_space::global : memory_space::shared;
        const memory_operation operation =
            access.what == compiled_access::kind::load ? memory_operation::load : memory_operation::store;
        elsewhere[{space, operation}].terms[width][unknown] += 1;
      }
    }
  }
  linear_system& system = flow.system();
  if (totals_->barriers_are_known) system.add(barriers, totals_->barrier_threads);
  const auto resolve_all = [&](const std::vector<resolved_group*>& candidates, std::size_t most) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (resolved_group* const group : candidates) {
        if (group->reading) continue;
        group->reading = reading_of(system, *group, most);
        if (!group->reading) continue;
        add_all(system, group->terms, group->lanes[*group->reading]);
        goes_on = true;
      }
    }
  };
  const auto add_to = [&](resolved_group& sum, std::size_t number) {
    sum.rows.push_back(number);
    sum.is_uneven = sum.is_uneven || groups[number].is_uneven;
    for (std::size_t width = 0; width < widths; ++width) {
      for (const auto& [unknown, factor] : groups[number].terms[width]) sum.terms[width][unknown] += factor;
      for (std::size_t reading = 0; reading < readings; ++reading)
        sum.lanes[reading][width] += groups[number].lanes[reading][width];
    }
  };
  // Lines of which all readings are the same are certain, stores before loads, unless one of them may have
  // given accesses to a line that is not.
  std::vector<bool> is_certain(rows_.size()), is_waiting(rows_.size());
  for (std::size_t number = 0; number < rows_.size(); ++number)
    is_certain[number] = !rows_[number]->is_unknown && groups[number].has_one_reading() &&
                         groups[number].makes_wider_ones(0) &&
                         allows_all(system, groups[number].terms, groups[number].lanes[0]);
  for (const auto& [one, other] : totals_->joined) {
    if (is_certain[one] != is_certain[other]) is_waiting[is_certain[one] ? one : other] = true;
  }
  std::vector<resolved_group*> open, waiting;
  for (const memory_operation operation : {memory_operation::store, memory_operation::load}) {
    for (std::size_t number = 0; number < rows_.size(); ++number) {
      if (rows_[number]->operation != operation || rows_[number]->is_unknown) continue;
      if (!is_certain[number]) {
        open.push_back(&groups[number]);
      } else if (is_waiting[number]) {
        waiting.push_back(&groups[number]);
      } else {
        resolve_all({&groups[number]}, 1);
        if (!groups[number].reading) open.push_back(&groups[number]);
      }
    }
  }
  // Line by line, as long as one of them can be told; then what several lines make together.
  resolve_all(open, readings_of_lines);
  for (const resolved_group* const group : open) {
    if (group->reading) continue;
    std::set<std::size_t> rows{group->rows.front()};
    for (std::size_t before = 0; before != rows.size();) {
      before = rows.size();
      for (const auto& [one, other] : totals_->joined) {
        if (rows.contains(one) && !groups[other].reading) rows.insert(other);
        if (rows.contains(other) && !groups[one].reading) rows.insert(one);
      }
    }
    if (rows.size() == 1) continue;
    resolved_group sum;
    for (const std::size_t number : rows) add_to(sum, number);
    resolve_all({&sum}, readings);
    for (const std::size_t number : rows) groups[number].reading = sum.reading;
  }
  resolve_all(waiting, readings_of_lines);
  // An access that several lines ask for is said to be one line's, and one that is made earlier than it is
  // written that of another line: what is left is looked at together, with the lines that have accesses in
  // the code alone.
  std::map<key, resolved_group> together = elsewhere;
  for (const resolved_group* const group : open) {
    const std::size_t number = group->rows.front();
    if (!group->reading) add_to(together[{rows_[number]->space, rows_[number]->operation}], number);
  }
  for (auto& [kind, sum] : together) {
    if (sum.rows.empty() || (sum.rows.size() == 1 && !elsewhere.contains(kind))) continue;
    resolve_all({&sum}, readings);
    for (const std::size_t number : sum.rows) groups[number].reading = sum.reading;
  }

  result found;
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const auto [known, is_new] =
        found.as_compiled.emplace(std::pair(rows_[number]->file, rows_[number]->line), true);
    known->second = known->second && groups[number].reading.has_value();
  }
  for (std::size_t slot = 0; slot < row_of_slot_.size(); ++slot) {
    const std::size_t number = row_of_slot_[slot];
    const std::optional<std::size_t> reading = groups[number].reading;
    if (!reading || *reading == 0) continue;
    found.counters[{place_of_slot_[slot], key{rows_[number]->space, rows_[number]->operation}}] =
        totals_->slots[slot].counters[*reading];
  }
  return found;
}

}  // namespace lab::emulator
