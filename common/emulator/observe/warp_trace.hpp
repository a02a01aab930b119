// What the lanes of one warp did, and how a GPU would have grouped it. Internal.
//
// Lanes run one after the other, so each leaves a stream of events: it entered a basic block, accessed
// memory, called, returned, met other lanes. Grouping replays the streams as a GPU runs a diverged warp: of
// the lanes' next events, those of the deepest call and, in it, of the lowest address in the program go
// first, all lanes that stand there together. In code laid out in the order of the source, that lets lanes
// that left a loop early wait behind it for the others. A warp that does not diverge has 32 equal streams,
// and is one group to their end.
//
// What the groups did is counted from a list of them (warp_counter.hpp). That may be done later, elsewhere
// and in any order. So may the grouping of what a warp has done until it waits; before that, a lane has the
// less room for more the more of its events could not be grouped yet, and the kernel has to wait for the
// answer.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "common/emulator/observe/access_model.hpp"

namespace lab::emulator {

enum class memory_space : std::uint8_t { global, shared };
enum class memory_operation : std::uint8_t { load, store, atomic };

struct memory_counters {
  std::uint64_t requests = 0;  // accesses of a warp
  std::uint64_t lanes = 0;     // that took part, summed over requests
  std::uint64_t bytes = 0;     // that lanes asked for
  std::uint64_t units = 0;     // see access_cost
  std::uint64_t least = 0;

  memory_counters& operator+=(const memory_counters& other);
  memory_counters& operator-=(const memory_counters& other);
};

// Counters of one place in the program, summed over warps and launches.
struct site_counters {
  std::array<std::array<memory_counters, 3>, 2> memory;  // by space and operation
  std::uint64_t executed = 0;                            // blocks and accesses, once for each group of lanes
  std::uint64_t executed_lanes = 0;

  site_counters& operator+=(const site_counters& other);
  site_counters& operator-=(const site_counters& other);
  memory_counters& of(memory_space space, memory_operation operation) {
    return memory[static_cast<std::size_t>(space)][static_cast<std::size_t>(operation)];
  }
  const memory_counters& of(memory_space space, memory_operation operation) const {
    return memory[static_cast<std::size_t>(space)][static_cast<std::size_t>(operation)];
  }
};

// Counters by place: an offset into the program's code, which is below `program_bytes`.
class site_table {
 public:
  // Offsets must be below this: a larger program cannot be observed.
  static constexpr std::uint32_t offset_limit = 1u << 29;

  explicit site_table(std::size_t program_bytes)
      : numbers_(static_cast<std::uint32_t*>(std::calloc(program_bytes, sizeof(std::uint32_t)))) {
    if (!numbers_) throw std::bad_alloc();
  }

  site_counters& operator[](std::uint32_t offset) {
    std::uint32_t& number = numbers_[offset];
    if (number == 0) number = add(offset);
    return counters_[number - 1];
  }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }
  const std::vector<site_counters>& counters() const { return counters_; }
  site_table& operator+=(const site_table& more) {
    for (std::size_t number = 0; number < more.offsets_.size(); ++number)
      (*this)[more.offsets_[number]] += more.counters_[number];
    return *this;
  }
  // Of the first places that this table has come to know.
  site_table& operator+=(const std::vector<site_counters>& more) {
    for (std::size_t number = 0; number < more.size(); ++number) counters_[number] += more[number];
    return *this;
  }

 private:
  struct release {
    void operator()(std::uint32_t* memory) const { std::free(memory); }
  };
  std::uint32_t add(std::uint32_t offset);

  // calloc: pages that are never touched, and so most of this, take no memory.
  std::unique_ptr<std::uint32_t[], release> numbers_;
  std::vector<std::uint32_t> offsets_;
  std::vector<site_counters> counters_;
};

// An event is a kind and the offset of its place in the code (a marker: its number).
enum class event : std::uint32_t {
  block = 0,
  access = 1u << 29,
  call = 2u << 29,
  leave = 3u << 29,
  meeting = 4u << 29
};
inline constexpr std::uint32_t event_kinds = 7u << 29;

inline event kind_of(std::uint32_t code) {
  return static_cast<event>(code & event_kinds);
}
inline std::uint32_t place_of(std::uint32_t code) {
  return code & ~event_kinds;
}

// Address, space, operation and bytes of an access in one word, such that lanes' words differ by their
// addresses.
using packed_access = std::uint64_t;
inline constexpr unsigned address_bits = 48;
inline packed_access pack(std::uintptr_t address, memory_space space, memory_operation operation,
                          unsigned bytes) {
  return address | static_cast<std::uint64_t>(bytes) << address_bits |
         static_cast<std::uint64_t>(space) << (address_bits + 6) |
         static_cast<std::uint64_t>(operation) << (address_bits + 8);
}

struct lane_stream {
  // Events that a lane may be ahead of the replay: a few hundred KiB for the warp, so that it stays in a
  // cache.
  static constexpr std::uint32_t capacity = 1024;
  static constexpr std::uint32_t slack = 64;  // for meetings, which cannot wait for room

  std::uint32_t count = 0;
  std::uint32_t codes[capacity + slack];
  packed_access accesses[capacity + slack];

  void push(std::uint32_t code) { codes[count++] = code; }
  void push(std::uint32_t code, packed_access access) {
    accesses[count] = access;
    codes[count++] = code;
  }
  bool full() const { return count >= capacity; }
};

// All of an access but the address.
inline packed_access manner_of(packed_access access) {
  return access >> address_bits;
}

// What the lanes of one warp have left, and how that was grouped.
struct warp_events {
  // Lanes that did their next `length` events side by side.
  struct step {
    std::uint32_t lanes;
    std::uint32_t length;
  };

  std::array<lane_stream, warp_lanes> streams;
  std::vector<unsigned> meetings;                 // lanes of each
  std::array<std::uint8_t, warp_lanes> depths{};  // calls that each lane is in before what is not grouped yet
  std::vector<step> steps;                        // from the beginning of the streams
  bool is_grouped = false;                        // as far as it is going to be
  unsigned warp = 0;                              // within the block

  void clear();
};

class warp_grouping {
 public:
  // To the end, or until the stream of one of the lanes `to_come`, which have more to do, is empty.
  void group(warp_events& events, unsigned to_come);
  // How many events of each lane that took.
  [[nodiscard]] const std::array<std::uint32_t, warp_lanes>& grouped() const { return at_; }

 private:
  // What a lane does next.
  struct next_event {
    std::uint64_t order = 0;  // the smallest goes first; none for meetings, and where nothing is left
    std::uint64_t what = 0;   // code, and manner of an access
  };

  void look_at(unsigned lanes);
  bool pass_meetings();
  unsigned select(std::uint64_t& bound) const;
  std::uint32_t common_run(unsigned group, std::uint64_t bound) const;
  void step(unsigned lanes, std::uint32_t length);

  warp_events* events_ = nullptr;
  std::array<std::uint32_t, warp_lanes> at_{};  // next event of each lane
  std::array<next_event, warp_lanes> next_{};
  unsigned active_ = 0;   // lanes with events that have not been grouped
  unsigned meeting_ = 0;  // those of them whose next event is a meeting
};

// The events of the warp that runs.
class warp_trace {
 public:
  lane_stream& stream(unsigned lane) { return events_->streams[lane]; }
  [[nodiscard]] const std::array<lane_stream, warp_lanes>& streams() const { return events_->streams; }

  // Calls that each thread of the block is in. Those of a lane's events are counted as they are noted, so
  // that nobody has to wait until they are grouped.
  using call_depths = std::array<std::uint8_t, 1024>;
  void begin_block() { set_depths({}); }
  [[nodiscard]] const call_depths& depths() const { return depths_; }
  void set_depths(const call_depths& depths) { depths_ = grouped_depths_ = depths; }
  void note_call(unsigned thread) { ++depths_[thread]; }
  void note_return(unsigned thread) { depths_[thread] -= depths_[thread] > 0; }

  // The lanes of `lanes` have met.
  void meet(unsigned lanes);
  // Lanes whose streams have no room.
  [[nodiscard]] unsigned full_streams() const;

  // Groups what the lanes have done until now, as warp_grouping does. What was grouped is then to be counted,
  // and forgotten.
  const warp_events& group(unsigned warp, unsigned to_come);
  void forget_grouped();
  // Likewise, but what was there is returned, and the trace goes on in `empty`. Where no lane is to come it
  // has not been grouped yet.
  std::unique_ptr<warp_events> hand_over(unsigned warp, unsigned to_come, std::unique_ptr<warp_events> empty);

 private:
  std::uint8_t* grouped_depths(unsigned warp) { return grouped_depths_.data() + warp * warp_lanes; }
  void move_rest(warp_events& to);

  std::unique_ptr<warp_events> events_ = std::make_unique_for_overwrite<warp_events>();
  warp_grouping grouping_;
  call_depths depths_{};          // now
  call_depths grouped_depths_{};  // before what has not been grouped
};

}  // namespace lab::emulator
