// What a kernel's compiled code says of how its accesses are counted: from listings of code and accesses of a
// warp, both made here, so that neither a compiler nor a kernel is needed.
#include "common/emulator/observe/compiled_counts.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/emulator/observe/compiled_code.hpp"
#include "common/emulator/observe/linear_system.hpp"
#include "tests/catch.hpp"

namespace {

using namespace lab::emulator;

constexpr auto global = memory_space::global, shared = memory_space::shared;
constexpr auto load = memory_operation::load, store = memory_operation::store;
constexpr std::uintptr_t tile = 0x10000, array = 0x80000;
constexpr const char* file = "/programs/kernel.cu";

std::string times(int count, const std::string& text) {
  std::string all;
  for (int number = 0; number < count; ++number) all += text;
  return all;
}

// A kernel of one file.
std::string kernel_of(const std::string& blocks) {
  return std::string("file 1 ") + file + "\nkernel _Z6kernelPf\n" + blocks;
}

// One warp of one block that runs the kernel `f`. A place is a line, and what else is behind it.
class one_warp {
 public:
  explicit one_warp(const std::string& listing)
      : code_(listing), counts_(*code_.find("_Z6kernelPf"), [](std::uint32_t site) {
          return compiled_counts::line{file, static_cast<int>(site / 10)};
        }) {
    counts_.begin_launch(warp_lanes);
    counts_.begin_block();
  }

  void access(int line, memory_space space, memory_operation operation,
              const std::function<std::uintptr_t(unsigned)>& address, unsigned bytes = 4,
              unsigned lanes = all_lanes, int site = 0) {
    std::uintptr_t addresses[warp_lanes] = {};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) addresses[lane] = address(lane);
    const access_cost cost =
        space == global ? global_cost(lanes, addresses, bytes) : shared_cost(lanes, addresses, bytes);
    const auto at = static_cast<std::uint32_t>(10 * line + site);
    memory_counters& written = written_[{at, {space, operation}}];
    written.requests += 1;
    written.units += cost.units;
    counts_.take({at, 0, lanes, addresses, space, operation, bytes, cost});
  }
  void barrier() { counts_.barrier_passed(warp_lanes); }

  struct figures {
    std::uint64_t requests = 0, units = 0;
    bool as_compiled = false;
    bool operator==(const figures&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const figures& one) {
      return out << one.requests << " requests, " << one.units << " units, as "
                 << (one.as_compiled ? "compiled" : "written");
    }
  };
  // Of a line.
  figures of(int line, memory_space space, memory_operation operation) {
    counts_.end_block();
    const compiled_counts::result result = counts_.resolve();
    figures sum;
    for (const auto& [key, written] : written_) {
      if (static_cast<int>(key.first / 10) != line || key.second != compiled_counts::key{space, operation})
        continue;
      const auto found = result.counters.find(key);
      const memory_counters& counters = found == result.counters.end() ? written : found->second;
      sum.requests += counters.requests;
      sum.units += counters.units;
    }
    sum.as_compiled = result.as_compiled.at({file, line});
    return sum;
  }

 private:
  compiled_code code_;
  compiled_counts counts_;
  std::map<std::pair<std::uint32_t, compiled_counts::key>, memory_counters> written_;
};

// A product in tiles of 16: line 14 reads a row of one tile, the same for 16 lanes, and a column of the
// other. Half of the warp is one row of threads.
std::string product_listing(int wide, int single, const std::string& more = "") {
  return kernel_of("block 0\nnext 1\nblock 1\nstore shared 4 at 1:10\nbarrier none 0 at 1:12\n" +
                   times(wide, "load shared 16 at 1:14\n") + times(single, "load shared 4 at 1:14\n") + more +
                   "barrier none 0 at 1:15\nnext 1 2\nblock 2\nstore global 4 at 1:17\nnext exit\n");
}
void run_product(one_warp& warp, int rounds = 4) {
  for (int round = 0; round < rounds; ++round) {
    warp.access(10, shared, store, [](unsigned lane) { return tile + 4 * lane; });
    warp.barrier();
    for (unsigned k = 0; k < 16; ++k) {
      warp.access(14, shared, load, [k](unsigned lane) { return tile + lane / 16 * 64 + 4 * k; });
      warp.access(
          14, shared, load, [k](unsigned lane) { return tile + 4096 + 64 * k + 4 * (lane % 16); }, 4,
          all_lanes, 1);
    }
    warp.barrier();
  }
  warp.access(17, global, store, [](unsigned lane) { return array + 4 * lane; });
}

}  // namespace

TEST_CASE("linear systems: what follows is determined, what contradicts is refused, the rest is open") {
  linear_system system;
  CHECK(system.add({{0, 1}, {1, 1}}, 10));
  CHECK(system.allows({{0, 1}}, 4));
  CHECK(system.allows({{0, 1}}, 5));
  CHECK(system.add({{0, 1}, {1, -1}}, 2));
  CHECK(system.allows({{0, 3}, {1, 5}}, 38));
  CHECK(!system.allows({{0, 3}, {1, 5}}, 37));
  CHECK(!system.add({{0, 2}}, 13));
  CHECK(system.add({{0, 2}}, 12));
  CHECK(!system.allows({}, 1));
  CHECK(system.allows({}, 0));
  CHECK(system.allows({{7, 1}}, 1u << 30));
  // Each of them, and not both.
  CHECK(system.allows({{{{8, 1}, {9, 2}}, 5}}));
  CHECK(system.allows({{{{8, 2}, {9, 4}}, 11}}));
  CHECK(!system.allows({{{{8, 1}, {9, 2}}, 5}, {{{8, 2}, {9, 4}}, 11}}));
  CHECK(system.allows({{{{8, 1}, {9, 2}}, 5}, {{{8, 2}, {9, 4}}, 10}}));
  // A third of a whole number is none, but a whole number three times.
  CHECK(system.add({{2, 3}}, 12));
  CHECK(system.allows({{2, 1}}, 4));
  CHECK(!system.allows({{2, 1}}, 5));
}

TEST_CASE("compiled code: listings are read whole, and what is none is refused with its line") {
  const compiled_code code(
      "file 1 /a b/x.cu\nkernel _Z4copyPf\nblock 0\nload shared 16 at 1:14 if 2\nnext 0 exit\n"
      "kernel _ZN12_GLOBAL__N_15scaleI6float4EEvPT_ has-unknown-branches\nblock 0\nnext\n");
  const compiled_kernel* const copy = code.find("_Z4copyPf");
  REQUIRE(copy != nullptr);
  REQUIRE(copy->blocks.size() == 1);
  CHECK(copy->blocks[0].next == std::vector<std::size_t>{0});
  CHECK(copy->blocks[0].may_exit);
  const compiled_access& access = copy->blocks[0].accesses.at(0);
  CHECK(access.file == "/a b/x.cu");
  CHECK(access.line == 14);
  CHECK(access.bytes == 16);
  CHECK(access.condition == 2);
  CHECK(!copy->has_unknown_branches);
  CHECK(code.find("_Z5otherPf") == nullptr);
  CHECK(compiled_code("").find("_Z4copyPf") == nullptr);
  for (const char* const wrong :
       {"nonsense\n", "block 0\n", "kernel\n", "kernel f\nload shared 4 at 1:2\n",
        "kernel f\nblock 0\nload shared 4\n", "kernel f\nblock 0\nload here 4 at 1:2\n",
        "kernel f\nblock 0\nnext 1\n", "kernel f\nblock 0\nnext x\n",
        "kernel f\nblock 0\nload shared 4 at 1:2 unless 3\n", "file x\n"}) {
    INFO(wrong);
    CHECK_THROWS_AS(compiled_code(wrong), std::invalid_argument);
  }
}

TEST_CASE("compiled code: kernels are found whatever a compiler calls what has no name outside of its file") {
  const compiled_code code(
      "kernel _ZN3lab44_GLOBAL__N__9b5c3e65_11_classics_cu_355d616d4tileILi1EEEvPf\nkernel "
      "_ZN3lab44_GLOBAL__N__9b5c3e65_11_classics_cu_355d616d4tileILi0EEEvPf\nkernel _Z5scaleI6float4EvPT_\n"
      "kernel _Z5scaleIfEvPT_\nkernel _Z5scaleI6__halfEvPT_\nkernel _Z4onlyPK6float4\n");
  const auto symbol_of = [&](const char* symbol) {
    const compiled_kernel* const found = code.find(symbol);
    return found == nullptr ? std::string("none") : found->symbol;
  };
  CHECK(symbol_of("_ZN3lab12_GLOBAL__N_14tileILi0EEEvPf") ==
        "_ZN3lab44_GLOBAL__N__9b5c3e65_11_classics_cu_355d616d4tileILi0EEEvPf");
  CHECK(symbol_of("_Z5scaleI16emulated_vector4IfEEvPT_") == "_Z5scaleI6float4EvPT_");
  CHECK(symbol_of("_Z5scaleI13emulated_halfIN3lab8emulator8binary16EEEvPT_") == "_Z5scaleI6__halfEvPT_");
  CHECK(symbol_of("_Z5scaleIdEvPT_") == "none");  // of three that it could be
  CHECK(symbol_of("_Z4onlyPKv") == "_Z4onlyPK6float4");
  CHECK(code.find_function("void scale<float>(float*)") == code.find("_Z5scaleIfEvPT_"));
  CHECK(code.find_function("void scale<double>(double*)") == nullptr);
  CHECK(code.find_function("tile<0>") == code.find("_ZN3lab12_GLOBAL__N_14tileILi0EEEvPf"));
  CHECK(code.find_function("scale<emulated_vector4<float> >") == code.find("_Z5scaleI6float4EvPT_"));
  CHECK(code.find_function("tile") == nullptr);
  // What stands in a header is compiled with each file: the same, or nobody knows which is meant.
  const std::string once = "kernel _Z1fv\nblock 0\nload shared 4 at 1:2\nnext exit\n";
  CHECK(compiled_code(once + once).find("_Z1fv") != nullptr);
  CHECK(compiled_code(once + "kernel _Z1fv\nblock 0\nload shared 8 at 1:2\nnext exit\n").find("_Z1fv") ==
        nullptr);
}

TEST_CASE("compiled code: a file is the same by its end, and another one is not") {
  CHECK(is_same_file("/a/b/x.cu", "/a/b/x.cu"));
  CHECK(is_same_file("/a/b/x.cu", "b/x.cu"));
  CHECK(is_same_file("/a/b/x.cu", "/a/c/../b/x.cu"));
  CHECK(!is_same_file("/a/b/x.cu", "/c/b/x.cu"));
  CHECK(!is_same_file("/a/b/x.cu", "c/x.cu"));
  CHECK(!is_same_file("/a/b/xx.cu", "x.cu"));
}

TEST_CASE("compiled counts: rows of a tile are read 16 bytes at a time, columns are not") {
  one_warp warp(product_listing(4, 16));
  run_product(warp);
  // 4 loads of two wavefronts, and 16 of one, in each of 4 rounds; as written 32 of one.
  CHECK(warp.of(14, shared, load) == one_warp::figures{4 * 20, 4 * 24, true});
  CHECK(warp.of(10, shared, store) == one_warp::figures{4, 4, true});
  CHECK(warp.of(17, global, store) == one_warp::figures{1, 4, true});
}

TEST_CASE(
    "compiled counts: code that merges more, or less, than the accesses allow leaves the line as written") {
  const one_warp::figures written{4 * 32, 4 * 32, false};
  // Columns would have to be merged as well; not all of a row is; one is made twice; or one is missing.
  for (const auto& [wide, single] :
       {std::pair{8, 0}, {4, 12}, {3, 20}, {2, 24}, {5, 16}, {4, 17}, {4, 15}, {0, 31}}) {
    CAPTURE(wide, single);
    one_warp warp(product_listing(wide, single));
    run_product(warp);
    CHECK(warp.of(14, shared, load) == written);
  }
  // Widths that the rows cannot be read in.
  one_warp other(product_listing(4, 16, "load shared 8 at 1:14\n"));
  run_product(other);
  CHECK(other.of(14, shared, load) == written);
}

TEST_CASE("compiled counts: code with single accesses alone merges nothing") {
  one_warp warp(product_listing(0, 32));
  run_product(warp);
  CHECK(warp.of(14, shared, load) == one_warp::figures{4 * 32, 4 * 32, true});
}

TEST_CASE("compiled counts: a loop that the code runs more often than the program is not the program's") {
  // Twice as many accesses in each round, which the barriers count.
  one_warp warp(product_listing(8, 32));
  run_product(warp);
  CHECK(!warp.of(14, shared, load).as_compiled);
  CHECK(warp.of(14, shared, load).requests == 4 * 32);
}

TEST_CASE(
    "compiled counts: strided accesses and those of unequal lanes are not merged, also where the code has "
    "wide ones") {
  const std::string listing = kernel_of(
      "block 0\nload shared 16 at 1:5\nload shared 4 at 1:6\nload shared 4 at 1:6\nload shared 4 at 1:6\n"
      "load shared 4 at 1:6\nnext exit\n");
  one_warp warp(listing);
  for (unsigned k = 0; k < 4; ++k) {
    warp.access(5, shared, load, [k](unsigned lane) { return tile + 16 * lane + 4 * k; });
    warp.access(6, shared, load, [k](unsigned lane) { return tile + 0x2000 + 16 * lane + 4 * k; });
  }
  CHECK(warp.of(5, shared, load) == one_warp::figures{1, 4, true});
  // The same addresses at another line, which the code reads one by one.
  CHECK(warp.of(6, shared, load) == one_warp::figures{4, 16, true});
  // A row of 33 words: no lane but every fourth could.
  one_warp padded(listing);
  for (unsigned k = 0; k < 4; ++k) {
    padded.access(5, shared, load, [k](unsigned lane) { return tile + 132 * lane + 4 * k; });
    padded.access(6, shared, load, [k](unsigned lane) { return tile + 132 * lane + 4 * k; });
  }
  CHECK(padded.of(5, shared, load) == one_warp::figures{4, 4, false});
  CHECK(padded.of(6, shared, load) == one_warp::figures{4, 4, true});
}

TEST_CASE("compiled counts: a wide access of which the program uses a part is one") {
  // Elements 1 to 7 of 8, by one thread.
  const auto run = [](const std::string& loads) {
    one_warp warp(kernel_of("block 0\n" + loads + "next exit\n"));
    for (unsigned k = 1; k < 8; ++k)
      warp.access(
          5, shared, load, [k](unsigned) { return tile + 4 * k; }, 4, 1);
    return warp.of(5, shared, load);
  };
  CHECK(run(times(2, "load shared 16 at 1:5 if 1\n")) == one_warp::figures{2, 2, true});
  CHECK(run("load shared 16 at 1:5 if 1\n" + times(3, "load shared 4 at 1:5 if 1\n")) ==
        one_warp::figures{4, 4, true});
  CHECK(run(times(2, "load shared 16 at 1:5 if 1\n") + "load shared 4 at 1:5 if 1\n") ==
        one_warp::figures{7, 7, false});
}

TEST_CASE("compiled counts: of a loop that the code has unrolled, the rest is counted one by one") {
  // Four at a time as long as there are four, then one by one: how often each, the equations leave open.
  const std::string listing = kernel_of(
      "block 0\nnext 1 2\nblock 1\nload shared 16 at 1:5\nnext 1 2\nblock 2\nnext 3 4\n"
      "block 3\nload shared 4 at 1:5\nnext 3 4\nblock 4\nnext exit\n");
  for (unsigned count = 4; count < 12; ++count) {
    CAPTURE(count);
    one_warp warp(listing);
    for (unsigned k = 0; k < count; ++k) warp.access(5, shared, load, [k](unsigned) { return tile + 4 * k; });
    const std::uint64_t requests = count / 4 + count % 4;
    CHECK(warp.of(5, shared, load) == one_warp::figures{requests, count / 4 * 2 + count % 4, true});
  }
  // Too few for a wide one, which the code has nevertheless.
  one_warp warp(listing);
  warp.access(5, shared, load, [](unsigned) { return tile; });
  CHECK(warp.of(5, shared, load) == one_warp::figures{1, 1, false});
}

TEST_CASE("compiled counts: lanes that leave a loop at different times are not guessed at") {
  one_warp warp(
      kernel_of("block 0\nnext 1 2\nblock 1\nload shared 16 at 1:5\nnext 1 2\nblock 2\nnext 3 4\n"
                "block 3\nload shared 4 at 1:5\nnext 3 4\nblock 4\nnext exit\n"));
  // Lanes 0 to 15 go round twice, the others four times: theirs fill 16 bytes, of 16 lanes and of two groups.
  for (unsigned k = 0; k < 4; ++k)
    warp.access(
        5, shared, load, [k](unsigned lane) { return tile + 16 * lane + 4 * k; }, 4,
        k < 2 ? all_lanes : 0xffff0000u);
  CHECK(!warp.of(5, shared, load).as_compiled);
  CHECK(warp.of(5, shared, load).requests == 4);
}

TEST_CASE("compiled counts: a load that a register makes needless is dropped where the code has dropped it") {
  const auto run = [](const std::string& blocks, const std::function<void(one_warp&)>& between) {
    one_warp warp(kernel_of(blocks));
    warp.access(5, global, load, [](unsigned lane) { return array + 4 * lane; });
    between(warp);
    warp.access(6, global, load, [](unsigned lane) { return array + 4 * lane; });
    warp.access(7, global, store, [](unsigned lane) { return array + 0x10000 + 4 * lane; });
    return warp.of(6, global, load);
  };
  const auto nothing = [](one_warp&) {};
  const auto stores = [](one_warp& warp) {
    warp.access(7, global, store, [](unsigned lane) { return array + 0x20000 + 4 * lane; });
  };
  const auto waits = [](one_warp& warp) { warp.barrier(); };
  const auto writes_it = [](one_warp& warp) {
    warp.access(7, global, store, [](unsigned lane) { return array + 4 * lane; });
  };
  const std::string first = "block 0\nload global 4 at 1:5\n", second = "load global 4 at 1:6\n",
                    barrier = "barrier none 0 at 1:9\n", last = "store global 4 at 1:7\n",
                    end = "next exit\n";
  const one_warp::figures dropped{0, 0, true}, counted{1, 4, true}, written{1, 4, false};
  CHECK(run(first + last + end, nothing) == dropped);
  CHECK(run(first + second + last + end, nothing) == counted);
  // A store that may be to the same place: the code says which it is.
  CHECK(run(first + last + last + end, stores) == dropped);
  CHECK(run(first + last + second + last + end, stores) == counted);
  // What was just stored is known as well.
  CHECK(run(first + last + last + end, writes_it) == dropped);
  // Behind a barrier nothing is: code without the load is not this program's.
  CHECK(run(first + barrier + second + last + end, waits) == counted);
  CHECK(run(first + barrier + last + end, waits) == written);
  // Another place than before is loaded.
  one_warp other(kernel_of(first + last + end));
  other.access(5, global, load, [](unsigned lane) { return array + 4 * lane; });
  other.access(6, global, load, [](unsigned lane) { return array + 4 * lane + 4; });
  other.access(7, global, store, [](unsigned lane) { return array + 0x10000 + 4 * lane; });
  CHECK(other.of(6, global, load) == one_warp::figures{1, 5, false});
}

TEST_CASE("compiled counts: what data make a repetition is none that code has dropped, unless it says so") {
  // values[index[k]], where all indices are the same by chance, in a loop that runs as often as it likes.
  const std::string loop = "block 0\nnext 1\nblock 1\nload shared 4 at 1:5\n",
                    end = "next 1 2\nblock 2\nnext exit\n";
  const auto run = [](const std::string& listing, bool waits) {
    one_warp warp(kernel_of(listing));
    for (unsigned k = 0; k < 5; ++k) {
      for (unsigned twice = 0; twice < 2; ++twice)
        warp.access(5, shared, load, [k](unsigned lane) { return tile + 4 * lane + 128 * k; });
      if (waits) warp.barrier();
    }
    return warp.of(5, shared, load);
  };
  CHECK(run(loop + end, false) == one_warp::figures{10, 10, false});
  // A barrier in the loop tells how often that is.
  const std::string barrier = "barrier none 0 at 1:6\n";
  CHECK(run(loop + barrier + end, true) == one_warp::figures{5, 5, true});
  CHECK(run(loop + "load shared 4 at 1:5\n" + barrier + end, true) == one_warp::figures{10, 10, true});
}

TEST_CASE("compiled counts: a sum that grows in memory is loaded once, as the code has it") {
  // c[i] += a[k] * b[k * n + i]; : two loads a turn, a store, and one load before.
  const auto run = [](const std::string& loads_in_turn) {
    one_warp warp(kernel_of("block 0\nload global 4 at 1:5\nnext 1\nblock 1\n" + loads_in_turn +
                            "store global 4 at 1:5\nnext 1 2\nblock 2\nnext exit\n"));
    for (unsigned k = 0; k < 10; ++k) {
      warp.access(5, global, load, [](unsigned lane) { return array + 4 * lane; });
      warp.access(
          5, global, load, [k](unsigned) { return array + 0x10000 + 4 * k; }, 4, all_lanes, 1);
      warp.access(
          5, global, load, [k](unsigned lane) { return array + 0x20000 + 128 * k + 4 * lane; }, 4, all_lanes,
          2);
      warp.access(
          5, global, store, [](unsigned lane) { return array + 4 * lane; }, 4, all_lanes, 3);
    }
    return warp.of(5, global, load);
  };
  CHECK(run(times(2, "load global 4 at 1:5\n")) == one_warp::figures{21, 4 + 10 + 40, true});
  // As many as are written, and one before the loop: more than there are.
  CHECK(run(times(3, "load global 4 at 1:5\n")) == one_warp::figures{30, 90, false});
  CHECK(run("load global 4 at 1:5\n") == one_warp::figures{30, 90, false});
}

TEST_CASE("compiled counts: float4 written by hand stays what it is") {
  const auto run = [](unsigned bytes_of_code) {
    one_warp warp(kernel_of("block 0\nload global " + std::to_string(bytes_of_code) +
                            " at 1:5\nstore global " + std::to_string(bytes_of_code) +
                            " at 1:6\nnext exit\n"));
    warp.access(
        5, global, load, [](unsigned lane) { return array + 16 * lane; }, 16);
    warp.access(
        6, global, store, [](unsigned lane) { return array + 0x10000 + 16 * lane; }, 16);
    return warp.of(5, global, load);
  };
  CHECK(run(16) == one_warp::figures{1, 16, true});
  CHECK(run(8) == one_warp::figures{1, 16, false});
}

TEST_CASE("compiled counts: what two lines make together is counted once, for both or for neither") {
  // part[2i] at line 5 and part[2i + 1] at line 6 are one load of 8 bytes, at either line.
  for (const char* const line : {"5", "6"}) {
    one_warp warp(kernel_of(std::string("block 0\nload shared 8 at 1:") + line + "\nnext exit\n"));
    warp.access(5, shared, load, [](unsigned lane) { return tile + 8 * lane; });
    warp.access(6, shared, load, [](unsigned lane) { return tile + 8 * lane + 4; });
    CHECK(warp.of(5, shared, load) == one_warp::figures{1, 2, true});
    CHECK(warp.of(6, shared, load) == one_warp::figures{0, 0, true});
  }
  // In the first of three turns alone, where the distance of the two is one word.
  one_warp once(
      kernel_of("block 0\nload shared 8 at 1:5\nnext 1\nblock 1\nload shared 4 at 1:5\nload shared 4 at 1:6\n"
                "next 1 2\nblock 2\nnext exit\n"));
  for (const unsigned distance : {4u, 512u, 1024u}) {
    once.access(5, shared, load, [](unsigned lane) { return tile + 8 * lane; });
    once.access(6, shared, load, [distance](unsigned lane) { return tile + 8 * lane + distance; });
    once.barrier();
  }
  CHECK(once.of(5, shared, load) == one_warp::figures{3, 6, true});
  CHECK(once.of(6, shared, load) == one_warp::figures{2, 4, true});
  one_warp apart(kernel_of("block 0\nload shared 8 at 1:5\nload shared 4 at 1:6\nnext exit\n"));
  apart.access(5, shared, load, [](unsigned lane) { return tile + 8 * lane; });
  apart.access(6, shared, load, [](unsigned lane) { return tile + 8 * lane + 4; });
  CHECK(apart.of(5, shared, load) == one_warp::figures{1, 2, false});
}

TEST_CASE(
    "compiled counts: accesses whose memory the code does not tell, and copies past registers, stay as "
    "written") {
  for (const char* const line : {"load generic 4 at 1:5\n", "copy generic 4 at 1:5\n",
                                 "load shared 4 at 1:5\nload generic 4 at 1:5\n"}) {
    one_warp warp(kernel_of(std::string("block 0\n") + line + "next exit\n"));
    warp.access(5, shared, load, [](unsigned lane) { return tile + 4 * lane; });
    CHECK(warp.of(5, shared, load) == one_warp::figures{1, 1, false});
  }
}

TEST_CASE("compiled counts: a launch that is not computed again counts as it did") {
  const compiled_code code(product_listing(4, 16));
  compiled_counts counts(*code.find("_Z6kernelPf"), [](std::uint32_t site) {
    return compiled_counts::line{file, static_cast<int>(site)};
  });
  const auto accesses = [&] {
    const auto access = [&](int line, memory_space space, memory_operation operation, std::uintptr_t begin,
                            std::uintptr_t step) {
      std::uintptr_t address[warp_lanes];
      for (unsigned lane = 0; lane < warp_lanes; ++lane) address[lane] = begin + step * lane;
      counts.take(
          {static_cast<std::uint32_t>(line), 0, all_lanes, address, space, operation, 4,
           space == global ? global_cost(all_lanes, address, 4) : shared_cost(all_lanes, address, 4)});
    };
    counts.begin_block();
    access(10, shared, store, tile, 4);
    counts.barrier_passed(warp_lanes);
    for (unsigned k = 0; k < 16; ++k) {
      access(14, shared, load, tile + 4 * k, 0);
      access(14, shared, load, tile + 0x1000 + 128 * k, 4);
    }
    counts.barrier_passed(warp_lanes);
    access(17, global, store, array, 4);
    counts.end_block();
  };
  counts.begin_launch(warp_lanes);
  const auto before = counts.snapshot();
  accesses();
  const auto once = counts.since(*before);
  for (int again = 0; again < 2; ++again) {
    counts.begin_launch(warp_lanes);
    counts.add(*once);
  }
  const auto found = counts.resolve();
  CHECK(found.as_compiled.at({file, 14}));
  CHECK(found.counters.at({14, {shared, load}}).requests == 3 * 20);
}
