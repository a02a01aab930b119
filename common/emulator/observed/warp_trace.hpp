// What the lanes of one warp did, and how a GPU would have grouped it. Internal.
//
// Lanes run one after the other, so each leaves a stream of events: it entered a basic block, accessed
// memory, called, returned, met other lanes. Grouping replays the streams as a GPU runs a diverged warp: of
// the lanes' next events, those of the deepest call and, in it, of the lowest address in the program go
// first, all lanes that stand there together. In code laid out in the order of the source, that lets lanes
// that left a loop early wait behind it for the others. A warp that does not diverge has 32 equal streams and
// is replayed column by column.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/emulator/observed/access_model.hpp"

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
      : numbers_(static_cast<std::uint32_t*>(std::calloc(program_bytes, sizeof(std::uint32_t)))) {}

  site_counters& operator[](std::uint32_t offset) {
    std::uint32_t& number = numbers_[offset];
    if (number == 0) number = add(offset);
    return counters_[number - 1];
  }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }
  const std::vector<site_counters>& counters() const { return counters_; }
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

// Is told of every request as it was grouped.
class request_sink {
 public:
  virtual ~request_sink() = default;
  // One access of `lanes` of a warp, at address[lane].
  virtual void take_request(std::uint32_t place, unsigned warp, unsigned lanes, const std::uintptr_t* address,
                            memory_space space, memory_operation operation, unsigned bytes,
                            const access_cost& cost) = 0;
};

class warp_trace {
 public:
  // Null: nobody is told, and whole warps are replayed faster.
  void set_sink(request_sink* sink) { sink_ = sink; }
  lane_stream& stream(unsigned lane) { return streams_[lane]; }

  // Calls that each thread of the block is in.
  using call_depths = std::array<std::uint8_t, 1024>;
  void begin_block() { depths_.fill(0); }
  [[nodiscard]] const call_depths& depths() const { return depths_; }
  void set_depths(const call_depths& depths) { depths_ = depths; }
  // The lanes of `lanes` have met.
  void meet(unsigned lanes);
  // Lanes whose streams have no room.
  unsigned full_streams() const;
  // Replays what the lanes have done into `sites`: to the end, or until the stream of one of the lanes
  // `to_come`, which have more to do, is empty.
  void replay(unsigned warp, unsigned to_come, site_table& sites);

 private:
  struct affine_cost {
    packed_access head = 0;  // of lane 0, its address within 128 bytes; 0 is no entry
    std::uint64_t step = 0;  // from lane to lane
    std::uint64_t jump = 0;  // from lane 15 to lane 16
    access_cost cost;
  };

  // What a lane does next.
  struct next_event {
    std::uint64_t order = 0;  // the smallest goes first; none for meetings, and where nothing is left
    std::uint64_t what = 0;   // code, and manner of an access
  };

  void look_at(unsigned lanes);
  bool pass_meetings();
  unsigned select(std::uint64_t& bound) const;
  std::uint32_t common_run(unsigned group, std::uint64_t bound) const;
  void perform(unsigned group, std::uint32_t length, site_table& sites);
  void perform_together(std::uint32_t begin, std::uint32_t length, site_table& sites);
  void count_access(unsigned group, const packed_access* access, std::uint32_t code, site_table& sites);
  const access_cost& cost_of_steps(packed_access first, std::uint64_t step, std::uint64_t jump);
  void keep_rest();

  std::array<lane_stream, warp_lanes> streams_;
  std::array<std::uint32_t, warp_lanes> at_{};  // next event of each lane
  std::array<next_event, warp_lanes> next_{};   // in a replay
  unsigned active_ = 0;                         // lanes with events that have not been replayed
  unsigned meeting_ = 0;                        // those of them whose next event is a meeting
  call_depths depths_{};
  std::uint8_t* depth_ = nullptr;   // of the warp that is replayed
  std::vector<unsigned> meetings_;  // lanes of each
  std::array<affine_cost, 4096> costs_;
  request_sink* sink_ = nullptr;
  unsigned warp_ = 0;  // that is replayed
};

}  // namespace lab::emulator
