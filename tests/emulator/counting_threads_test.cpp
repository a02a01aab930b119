// Threads that count what warps have done: what they add up to, and what becomes of one that fails. Without a
// kernel, so that the thread sanitizer can look at them.
#include "common/emulator/observe/counting_threads.hpp"

#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace lab::emulator;

constexpr std::size_t site_count = 256;
constexpr unsigned warps = 4, lanes = warp_lanes;

std::uint32_t code_of(event kind, unsigned number) {
  return static_cast<std::uint32_t>(kind) | number;
}

// A block whose warps do this and that, drawn by a seed: loops of different lengths, calls that are left in
// another turn than they were entered, meetings, accesses to both spaces, streams that get full.
class drawn_block {
 public:
  explicit drawn_block(unsigned seed) : random_(seed) {}

  template <class Count>
  void run(warp_trace& trace, const Count& count) {
    trace.begin_block();
    for (unsigned turn = 0; turn < 3; ++turn) {
      for (unsigned warp = 0; warp < warps; ++warp) {
        for (unsigned part = 0; part < 4; ++part) run_lanes(trace, warp, count);
        count(warp, 0);
      }
    }
  }

 private:
  unsigned draw(unsigned end) { return static_cast<unsigned>(random_() % end); }

  template <class Count>
  void run_lanes(warp_trace& trace, unsigned warp, const Count& count) {
    const unsigned at = draw(site_count / 2), length = 8 + draw(120);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      lane_stream& stream = trace.stream(lane);
      const unsigned thread = warp * warp_lanes + lane;
      if (draw(3) == 0) {
        stream.push(code_of(event::call, at));
        trace.note_call(thread);
      } else if (draw(3) == 0) {
        stream.push(code_of(event::leave, at));
        trace.note_return(thread);
      }
      for (unsigned k = draw(length); k < length && !stream.full(); ++k) {
        stream.push(code_of(event::block, at + 1));
        const bool is_shared = draw(8) == 0;
        const std::uintptr_t address = 4096 + 4 * (draw(4) == 0 ? draw(1000) : lane + 32 * k);
        stream.push(code_of(event::access, at + 2 + k % 3),
                    pack(address, is_shared ? memory_space::shared : memory_space::global,
                         draw(2) == 0 ? memory_operation::load : memory_operation::store, 4));
      }
    }
    // As the scheduler does it: lanes without room wait for it, and those that have met go on.
    if (const unsigned full = trace.full_streams()) count(warp, full);
    if (draw(2) == 0) trace.meet(draw(2) == 0 ? all_lanes : 0x0ff0ff00u);
  }

  std::mt19937 random_;
};

bool is_same(const memory_counters& a, const memory_counters& b) {
  return a.requests == b.requests && a.lanes == b.lanes && a.bytes == b.bytes && a.units == b.units &&
         a.least == b.least;
}

bool is_same(const site_counters& a, const site_counters& b) {
  for (std::size_t space = 0; space < a.memory.size(); ++space) {
    for (std::size_t operation = 0; operation < a.memory[space].size(); ++operation)
      if (!is_same(a.memory[space][operation], b.memory[space][operation])) return false;
  }
  return a.executed == b.executed && a.executed_lanes == b.executed_lanes;
}

// By place.
std::vector<site_counters> by_number(site_table& sites) {
  std::vector<site_counters> all;
  for (unsigned number = 0; number < site_count; ++number) all.push_back(sites[number]);
  return all;
}

constexpr unsigned blocks = 24;

std::vector<site_counters> count_alone() {
  site_table sites(site_count);
  warp_trace trace;
  warp_counter counter;
  for (unsigned block = 0; block < blocks; ++block) {
    drawn_block(block).run(trace, [&](unsigned warp, unsigned to_come) {
      counter.count(trace.group(warp, to_come), sites);
      trace.forget_grouped();
    });
  }
  return by_number(sites);
}

// Hands over all that may be, and counts the rest.
void run_blocks(counting_threads& threads, warp_trace& trace, site_table& sites) {
  warp_counter counter;
  for (unsigned block = 0; block < blocks; ++block) {
    drawn_block(block).run(trace, [&](unsigned warp, unsigned to_come) {
      if (threads.may_take(trace)) {
        if (auto empty = threads.take_empty())
          return threads.give(trace.hand_over(warp, to_come, std::move(empty)));
      }
      counter.count(trace.group(warp, to_come), sites);
      trace.forget_grouped();
    });
  }
}

void check_same(const std::vector<site_counters>& found, const std::vector<site_counters>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t number = 0; number < found.size(); ++number) {
    INFO("site " << number);
    CHECK(is_same(found[number], expected[number]));
  }
}

}  // namespace

TEST_CASE("counting threads: any number of them counts what one does, launch after launch") {
  const std::vector<site_counters> expected = count_alone();
  std::uint64_t executed = 0;
  for (const site_counters& one : expected) executed += one.executed;
  CHECK(executed > 10'000);
  for (const int limit : {1, 2, 5}) {
    INFO(limit << " threads");
    counting_threads threads(site_count);
    warp_trace trace;
    for (int launch = 0; launch < 3; ++launch) {
      const std::uint64_t before = batches_counted_elsewhere();
      site_table sites(site_count);
      threads.begin(limit);
      run_blocks(threads, trace, sites);
      threads.finish(sites);
      CHECK(batches_counted_elsewhere() > before);
      check_same(by_number(sites), expected);
    }
  }
}

TEST_CASE("counting threads: none where none is allowed, and none that cannot have a table") {
  const std::vector<site_counters> expected = count_alone();
  const std::uint64_t before = batches_counted_elsewhere();
  const auto count_with = [&](counting_threads& threads, int limit) {
    warp_trace trace;
    site_table sites(site_count);
    threads.begin(limit);
    run_blocks(threads, trace, sites);
    threads.finish(sites);
    check_same(by_number(sites), expected);
  };
  counting_threads allowed(site_count);
  count_with(allowed, 0);
  counting_threads too_large(std::numeric_limits<std::size_t>::max() / 8);
  count_with(too_large, 3);
  CHECK(batches_counted_elsewhere() == before);
}

TEST_CASE("counting threads: what fails in one of them is thrown at the end, and the next launch counts") {
  const std::vector<site_counters> expected = count_alone();
  counting_threads threads(site_count);
  warp_trace trace;
  site_table sites(site_count);
  threads.begin(2);
  run_blocks(threads, trace, sites);
  // A meeting that has not taken place.
  std::unique_ptr<warp_events> wrong;
  while (!wrong) wrong = threads.take_empty();
  wrong->clear();
  wrong->streams[0].push(code_of(event::meeting, 7));
  threads.give(std::move(wrong));
  CHECK_THROWS_AS(threads.finish(sites), std::out_of_range);

  site_table again(site_count);
  threads.begin(2);
  run_blocks(threads, trace, again);
  threads.finish(again);
  check_same(by_number(again), expected);
}

TEST_CASE("counting threads: one that is never finished leaves nothing behind") {
  site_table sites(site_count);
  {
    counting_threads threads(site_count);
    warp_trace trace;
    threads.begin(2);
    run_blocks(threads, trace, sites);
  }
  counting_threads threads(site_count);
  warp_trace trace;
  site_table after(site_count);
  threads.begin(2);
  run_blocks(threads, trace, after);
  threads.begin(2);  // a launch that has thrown
  site_table again(site_count);
  run_blocks(threads, trace, again);
  threads.finish(again);
  check_same(by_number(again), count_alone());
}
