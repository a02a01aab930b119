// The blocks of a cluster, which take turns on one OS thread, and their shared memory. Internal.
//
// A block runs until none of its threads can go on, then the next one does, in an order that a seed draws.
// The shared memory of the block that runs lies where the compiler has put it; that of each other one is kept
// in pages of its own, where its neighbours reach it. The pages of a block that has not begun, or has left
// the kernel, are inaccessible, and so are those of the block that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/core/program_symbols.hpp"

namespace lab::emulator {

class block_runner;
struct launch_state;

class block_cluster {
 public:
  block_cluster();
  block_cluster(const block_cluster&) = delete;
  block_cluster& operator=(const block_cluster&) = delete;
  ~block_cluster();

  // Runs the cluster whose first block starts as number `first_turn`, to its end or to the first thing that
  // is wrong with it: then its diagnostic.
  std::optional<std::string> run(const launch_state& launch, std::uint64_t first_turn);

  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] block_runner& block(unsigned rank) const { return *blocks_[rank]; }

  // ---- shared memory
  enum class presence { not_begun, present, gone };
  [[nodiscard]] presence presence_of(unsigned rank) const { return memory_of_[rank]; }
  // Whether it is an address in the shared memory of another block, and of which.
  [[nodiscard]] std::optional<unsigned> owner_of(const void* address) const;
  // Where the owner of that address has it while it runs.
  [[nodiscard]] void* own_address(const void* address) const;
  // Where other blocks find what the block of that rank has at `own`.
  [[nodiscard]] void* address_in(unsigned rank, const void* own) const;
  [[nodiscard]] std::ptrdiff_t distance_to(unsigned rank) const;
  // Takes over what is in shared memory now, and puts it back.
  void keep(unsigned rank);
  void bring_back(unsigned rank);
  // What an access of that address does wrong, in words: "shared memory of block (1,0,0), which ..".
  [[nodiscard]] std::string describe(const void* address) const;
  // A digest of all that is kept.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  std::optional<std::string> go_on(unsigned rank, bool begins, std::uint64_t first_turn);
  void leave(unsigned rank);
  bool land_copy();
  bool give_up_waits();
  std::string describe_deadlock() const;
  void give_up();
  std::vector<unsigned> drawn_order();
  std::uint64_t draw();
  template <class Copy>
  void for_each_part(unsigned rank, Copy copy) const;

  const launch_state* launch_ = nullptr;
  unsigned size_ = 0;
  std::vector<std::unique_ptr<block_runner>> blocks_;  // by rank; there may be more than `size_`
  std::vector<presence> memory_of_;
  const thread_local_range live_ = thread_local_memory();  // the OS thread's
  std::size_t bytes_each_ = 0;
  unsigned char* memory_ = nullptr;
  std::uint64_t random_ = 0;
};

}  // namespace lab::emulator
