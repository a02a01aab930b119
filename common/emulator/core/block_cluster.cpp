#include "common/emulator/core/block_cluster.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/spin_watch.hpp"

namespace lab::emulator {
namespace {

// What stands for the even and the odd phases of the cluster's barrier where an observer is told of them.
constexpr std::array<char, 2> cluster_barrier{};

}  // namespace

block_cluster::block_cluster() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_each_ = (live_.bytes + page - 1) / page * page;
  void* const memory = mmap(nullptr, bytes_each_ * most_cluster_blocks, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<unsigned char*>(memory);
}

block_cluster::~block_cluster() {
  munmap(memory_, bytes_each_ * most_cluster_blocks);
}

// SplitMix64, as in block_copies.cpp.
std::uint64_t block_cluster::draw() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

std::vector<unsigned> block_cluster::drawn_order() {
  std::vector<unsigned> order(size_);
  std::iota(order.begin(), order.end(), 0u);
  for (unsigned left = size_; left > 1; --left) std::swap(order[left - 1], order[draw() % left]);
  return order;
}

// ---- shared memory

std::optional<unsigned> block_cluster::owner_of(const void* address) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory_);
  if (offset >= bytes_each_ * size_) return std::nullopt;
  return static_cast<unsigned>(offset / bytes_each_);
}

std::ptrdiff_t block_cluster::distance_to(unsigned rank) const {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(memory_) + rank * bytes_each_ -
                                     live_.begin);
}

void* block_cluster::own_address(const void* address) const {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return reinterpret_cast<void*>(value - static_cast<std::uintptr_t>(distance_to(*owner_of(address))));
}

void* block_cluster::address_in(unsigned rank, const void* own) const {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(own) +
                                 static_cast<std::uintptr_t>(distance_to(rank)));
}

template <class Copy>
void block_cluster::for_each_part(unsigned rank, Copy copy) const {
  const auto part = [&](std::uintptr_t begin, std::size_t bytes) {
    void* const live = reinterpret_cast<void*>(begin);
    copy(live, address_in(rank, live), bytes);
  };
  part(reinterpret_cast<std::uintptr_t>(lab_dynamic_shared), launch_->dynamic_shared_bytes + red_zone_bytes);
  for (const shared_variable& variable : all_shared_variables())
    part(live_.begin + variable.offset, variable.bytes);
}

void block_cluster::keep(unsigned rank) {
  mprotect(memory_ + rank * bytes_each_, bytes_each_, PROT_READ | PROT_WRITE);
  for_each_part(rank, [](void* live, void* kept, std::size_t bytes) { std::memcpy(kept, live, bytes); });
}

void block_cluster::bring_back(unsigned rank) {
  for_each_part(rank, [](void* live, void* kept, std::size_t bytes) { std::memcpy(live, kept, bytes); });
  mprotect(memory_ + rank * bytes_each_, bytes_each_, PROT_NONE);
}

std::uint64_t block_cluster::digest() const {
  std::uint64_t digest = 1;
  for (unsigned rank = 0; rank < size_; ++rank) {
    if (memory_of_[rank] != presence::present || !block(rank).rests()) continue;
    for_each_part(rank, [&](void*, void* kept, std::size_t bytes) {
      digest = digest_of(digest, kept, static_cast<char*>(kept) + bytes);
    });
  }
  return digest;
}

std::string block_cluster::describe(const void* address) const {
  const unsigned rank = *owner_of(address);
  const std::string whose =
      "shared memory of block " + text_of(block(rank).block_index()) + " of its cluster, ";
  switch (memory_of_[rank]) {
    case presence::not_begun:
      return whose + "which has not begun: nothing orders this behind its beginning";
    case presence::gone:
      return whose + "which has left the kernel: nothing orders its end behind this";
    case presence::present:
      break;
  }
  return whose + "which is its own, at an address that another block has mapped; that is not emulated";
}

// ---- running

std::optional<std::string> block_cluster::go_on(unsigned rank, bool begins, std::uint64_t first_turn) {
  if (!begins) return blocks_[rank]->go_on();
  memory_of_[rank] = presence::present;
  const std::uint64_t turn = first_turn + (launch_->reverse_blocks ? size_ - 1 - rank : rank);
  return blocks_[rank]->run(*launch_, turn, this, rank);
}

void block_cluster::leave(unsigned rank) {
  memory_of_[rank] = presence::gone;
  // What was kept when it rested last.
  mprotect(memory_ + rank * bytes_each_, bytes_each_, PROT_NONE);
}

bool block_cluster::land_copy() {
  const std::vector<unsigned> order = drawn_order();
  return std::any_of(order.begin(), order.end(), [this](unsigned rank) {
    return memory_of_[rank] == presence::present && block(rank).land_copy();
  });
}

// One block at a time, since threads of the others are taken to do nothing new while they are not looked at.
bool block_cluster::give_up_waits() {
  const std::vector<unsigned> order = drawn_order();
  return std::any_of(order.begin(), order.end(), [this](unsigned rank) {
    return memory_of_[rank] == presence::present && block(rank).give_up_waits();
  });
}

// Of the first block that waits, and of those that it may be waiting for.
std::string block_cluster::describe_deadlock() const {
  constexpr unsigned most_texts = 4;
  std::string text;
  unsigned texts = 0;
  for (unsigned rank = 0; rank < size_ && texts < most_texts; ++rank) {
    if (memory_of_[rank] != presence::present) continue;
    text += (text.empty() ? "" : "; ") + block(rank).describe_deadlock();
    ++texts;
  }
  return text;
}

void block_cluster::give_up() {
  for (unsigned rank = 0; rank < size_; ++rank) {
    if (memory_of_[rank] == presence::present) block(rank).give_up();
    leave(rank);
  }
}

std::optional<std::string> block_cluster::run(const launch_state& launch, std::uint64_t first_turn) {
  launch_ = &launch;
  size_ = launch.cluster_size();
  random_ = launch.seed_of(first_turn);
  memory_of_.assign(size_, presence::not_begun);
  while (blocks_.size() < size_) blocks_.push_back(std::make_unique<block_runner>());
  std::optional<std::string> failure;
  for (;;) {
    bool yields = false;
    for (const unsigned rank : drawn_order()) {
      if (memory_of_[rank] == presence::gone) continue;
      const bool begins = memory_of_[rank] == presence::not_begun;
      if (!begins && !block(rank).may_go_on()) continue;
      failure = go_on(rank, begins, first_turn);
      if (block(rank).rests()) {
        // A copy from its shared memory, or a thread of its own, may have found something wrong in another
        // one.
        yields = yields || block(rank).may_go_on();
      } else if (!failure && !block(rank).has_stopped()) {
        leave(rank);
      } else {
        give_up();
        return failure;
      }
    }
    if (std::all_of(memory_of_.begin(), memory_of_.end(), [](presence one) { return one == presence::gone; }))
      return std::nullopt;
    const auto present = [this](auto what) {
      for (unsigned rank = 0; rank < size_; ++rank) {
        if (memory_of_[rank] == presence::present && what(block(rank))) return true;
      }
      return false;
    };
    if (present([](block_runner& one) { return one.is_awake(); })) continue;
    if (block_runner::pass_cluster_barrier(*this) || land_copy()) {
      failure = std::nullopt;
      present([&](block_runner& one) {
        if (!failure) failure = one.failure();
        return failure.has_value();
      });
      if (!failure) continue;
    } else if (yields || give_up_waits()) {
      continue;
    } else {
      failure = describe_deadlock();
    }
    give_up();
    return failure;
  }
}

// ---- a block of a cluster

// Whether some thread of the block can go on without another block. Now and then the others have their turn
// all the same: a thread that never has to wait may wait for one of theirs.
bool block_runner::goes_on_in_cluster() {
  serve_registers();
  constexpr unsigned patience = 256;
  if (at_barrier_ != 0 && at_barrier_ + exited_ == threads_.size()) {
    if (!pass_barrier()) return true;  // it has failed
    woken_ = true;
  }
  return woken_ && ++passes_with_copies_ % patience != 0 && std::exchange(woken_, false);
}

void block_runner::give_up() {
  if (!std::exchange(rests_, false)) return;
  abandon_threads();
  forget_spins();
}

bool block_runner::is_quiet() const {
  const bool asks_again = yielded_ != 0 || std::any_of(threads_.begin(), threads_.end(), may_give_up);
  return !woken_ && (!asks_again || (!spins_.empty() && quiet_ >= threads_.size() - exited_));
}

bool block_runner::is_in_cluster(const void* address) const {
  return cluster_ != nullptr && cluster_->owner_of(address).has_value();
}

place_in_cluster block_runner::find_in_cluster(const void* address) const {
  return {*cluster_->owner_of(address), cluster_->own_address(address)};
}

const void* block_runner::address_for_neighbours(const void* own) const {
  return cluster_->address_in(rank_, own);
}

unsigned block_runner::cluster_rank() const {
  return rank_;
}

// ---- the cluster's barrier

void block_runner::arrive_in_cluster(place where) {
  stop_if_launch_failed();
  if (running_->in_cluster != arrival::none)
    fail(where, "arrives twice at the cluster's barrier, and has not waited between");
  running_->in_cluster = arrival::arrived;
  arrives_in_cluster_ = true;
  if (active_observer) active_observer->tell_block(&cluster_barrier[running_->odd_cluster_phase]);
}

void block_runner::wait_for_cluster(place where) {
  stop_if_launch_failed();
  if (running_->in_cluster == arrival::none)
    fail(where, "waits at the cluster's barrier, where it has not arrived");
  if (running_->in_cluster == arrival::arrived) {
    barrier_wait wait{.where = where};
    running_->wait = &wait;
    running_->state = thread_state::at_cluster;
    ++at_other_barriers_;
    suspend();
  }
  running_->in_cluster = arrival::none;
  if (active_observer) active_observer->told_by_block(&cluster_barrier[running_->odd_cluster_phase]);
  running_->odd_cluster_phase = !running_->odd_cluster_phase;
}

// All threads, but for those that have left the kernel.
bool block_runner::has_arrived_in_cluster() const {
  return arrives_in_cluster_ &&
         std::all_of(threads_.begin(), threads_.end(), [](const emulated_thread& thread) {
           return thread.state == thread_state::exited || thread.in_cluster == arrival::arrived;
         });
}

void block_runner::pass_cluster_barrier() {
  arrives_in_cluster_ = false;
  for (emulated_thread& thread : threads_) {
    if (thread.in_cluster == arrival::arrived) thread.in_cluster = arrival::passed;
    if (thread.state != thread_state::at_cluster) continue;
    thread.state = thread_state::ready;
    --at_other_barriers_;
    woken_ = true;
  }
}

bool block_runner::pass_cluster_barrier(const block_cluster& cluster) {
  bool is_complete = false;
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    const auto presence = cluster.presence_of(rank);
    if (presence == block_cluster::presence::gone) continue;
    if (presence == block_cluster::presence::not_begun || !cluster.block(rank).has_arrived_in_cluster())
      return false;
    is_complete = true;
  }
  for (unsigned rank = 0; is_complete && rank < cluster.size(); ++rank) {
    if (cluster.presence_of(rank) == block_cluster::presence::present)
      cluster.block(rank).pass_cluster_barrier();
  }
  return is_complete;
}

std::string block_runner::describe_cluster_wait() const {
  std::size_t arrived = 0, present = 0;
  const auto add = [&](const block_runner& one) {
    present += one.threads_.size() - one.exited_;
    arrived += static_cast<std::size_t>(
        std::count_if(one.threads_.begin(), one.threads_.end(), [](const emulated_thread& thread) {
          return thread.state != thread_state::exited && thread.in_cluster == arrival::arrived;
        }));
  };
  if (cluster_ == nullptr) add(*this);
  for (unsigned rank = 0; cluster_ != nullptr && rank < cluster_->size(); ++rank) {
    if (cluster_->presence_of(rank) == block_cluster::presence::present) add(cluster_->block(rank));
  }
  return format(" waits for ever at the cluster's barrier, where %zu of %zu threads have arrived", arrived,
                present);
}

// ---- the shared memory of other blocks

std::string block_runner::describe_absence(const void* address) const {
  const unsigned rank = *cluster_->owner_of(address);
  return cluster_->presence_of(rank) == block_cluster::presence::present ? "" : cluster_->describe(address);
}

void block_runner::refuse_absent(const void* address, place where) {
  if (const std::string absent = describe_absence(address); !absent.empty()) fail(where, "uses " + absent);
}

std::pair<block_runner*, std::uint64_t*> block_runner::owner_of(std::uint64_t* barrier, place where) {
  if (!is_in_cluster(barrier)) return {this, barrier};
  refuse_absent(barrier, where);
  return {&cluster_->block(*cluster_->owner_of(barrier)),
          static_cast<std::uint64_t*>(cluster_->own_address(barrier))};
}

void* block_runner::map_to_block(const void* own, unsigned rank, place where) {
  const outside_of_kernel here;
  const unsigned blocks = launch_->cluster_size();
  if (rank >= blocks)
    fail(where, format("maps an address to block %u of a cluster of %u blocks", rank, blocks));
  const void* const local = is_in_cluster(own) ? cluster_->own_address(own) : own;
  if (!is_shared(local, 1)) fail(where, "maps an address that is not one of shared memory");
  return rank == rank_ ? const_cast<void*>(local) : cluster_->address_in(rank, local);
}

void* block_runner::reach_block(const void* own, unsigned rank, place where) {
  void* const there = map_to_block(own, rank, where);
  const outside_of_kernel here;
  if (is_in_cluster(there)) refuse_absent(there, where);
  return there;
}

// PTX ISA, "cp.async.bulk": the addresses may be those of another block, the same for both; of a multicast
// copy they say where in each block.
block_runner::copy_target block_runner::find_target(void* shared, std::uint64_t* barrier,
                                                    std::optional<unsigned> blocks, place where) {
  const auto rank_of = [this](const void* address) {
    return is_in_cluster(address) ? *cluster_->owner_of(address) : rank_;
  };
  const auto own = [this](void* address) {
    return is_in_cluster(address) ? cluster_->own_address(address) : address;
  };
  const unsigned rank = rank_of(shared), size = launch_->cluster_size();
  if (blocks && (*blocks == 0 || *blocks >> size != 0))
    fail(where,
         format("begins a bulk copy to the blocks of mask 0x%04x in a cluster of %u blocks", *blocks, size));
  if (!blocks && rank_of(barrier) != rank)
    fail(where, format("begins a bulk copy to shared memory of block %u of its cluster, with a barrier of "
                       "block %u: both must lie in one block",
                       rank, rank_of(barrier)));
  return {own(shared), static_cast<std::uint64_t*>(own(barrier)), blocks.value_or(1u << rank)};
}

void block_runner::check_destinations(unsigned blocks, const void* shared, std::size_t bytes, place where) {
  for (unsigned rank = 0; blocks >> rank != 0; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    block_runner& to = rank == rank_ ? *this : cluster_->block(rank);
    const std::string whose = &to == this ? "" : ", in block " + text_of(to.block_index_) + " of its cluster";
    if (&to != this) refuse_absent(cluster_->address_in(rank, shared), where);
    if (!to.is_shared(shared, bytes))
      fail(where, "begins a bulk copy to what is not, or not all, the block's shared memory" + whose);
    if (to.copies_.is_in_flight(shared, bytes))
      fail(where, "begins a bulk copy to shared memory that another one may still be writing" + whose);
  }
}

void block_runner::begin_copies(const copy_target& target, std::size_t bytes, place where,
                                const std::function<std::string(block_copies&)>& begin) {
  for (unsigned rank = 0; target.blocks >> rank != 0; ++rank) {
    if (!target.has(rank)) continue;
    block_runner& to = rank == rank_ ? *this : cluster_->block(rank);
    const std::string wrong = begin(to.copies_);
    if (!wrong.empty())
      fail(where, &to == this ? wrong : wrong + ", in block " + text_of(to.block_index_) + " of its cluster");
    if (to.copies_.is_in_flight(target.shared, bytes)) continue;
    if (active_observer && &to == this) active_observer->bulk_copy_over(target.shared, bytes);
    if (active_observer && &to != this)
      active_observer->copy_to_neighbour(cluster_->address_in(rank, target.shared), bytes, false, nullptr);
    to.wake_waiting(target.barrier);
  }
}

// In front of which it is told of the one into this block, if there is one.
void block_runner::observe_copies_to_neighbours(const copy_target& to, std::size_t bytes,
                                                const void* return_address) {
  for (unsigned rank = 0; active_observer && to.blocks >> rank != 0; ++rank) {
    if (!to.has(rank) || rank == rank_) continue;
    active_observer->copy_to_neighbour(cluster_->address_in(rank, to.shared), bytes, true, return_address);
    active_observer->tell_block(cluster_->address_in(rank, to.barrier));
  }
}

void block_runner::copy_to_block(void* there, const void* shared, std::int64_t bytes, std::uint64_t* barrier,
                                 place where, const void* return_address) {
  // To an observer it reads here now.
  if (active_observer && is_shared(shared, static_cast<std::size_t>(bytes))) {
    active_observer->bulk_copy_began(shared, nullptr, static_cast<std::size_t>(bytes), false, return_address);
    active_observer->bulk_copy_over(shared, static_cast<std::size_t>(bytes));
  }
  const outside_of_kernel here;
  constexpr std::uintptr_t unit = 16;
  const auto is_multiple = [](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % unit == 0;
  };
  if (bytes <= 0 || bytes % static_cast<std::int64_t>(unit) != 0 || !is_multiple(there) ||
      !is_multiple(shared)) {
    launch_->error = cudaErrorMisalignedAddress;
    fail(where,
         format("begins a bulk copy of %lld bytes between blocks: its size and addresses are multiples of 16",
                static_cast<long long>(bytes)));
  }
  const auto size = static_cast<std::size_t>(bytes);
  if (!is_shared(shared, size))
    fail(where, "begins a bulk copy from what is not, or not all, the block's shared memory");
  const copy_target to = find_target(there, barrier, {}, where);
  check_destinations(to.blocks, to.shared, size, where);
  if (active_observer && to.has(rank_)) {
    active_observer->bulk_copy_began(to.shared, nullptr, size, true, return_address);
    active_observer->tell_block(to.barrier);
  }
  observe_copies_to_neighbours(to, size, return_address);
  begin_copies(to, size, where, [&](block_copies& copies) {
    return copies.copy_in(to.shared, shared, size, to.barrier, this_thread(), where, &copies_);
  });
}

// A copy that another block has still to be given reads here.
void block_runner::refuse_copies_from_here() {
  for (unsigned rank = 0; cluster_ != nullptr && rank < cluster_->size(); ++rank) {
    const auto left = cluster_->block(rank).copies_.find_copy_from(copies_);
    if (rank == rank_ || !left || cluster_->presence_of(rank) != block_cluster::presence::present) continue;
    failure_ = prefix(left->where, left->by.block) + text_of_thread(threads_[left->by.thread].index) +
               " begins a bulk copy from shared memory that has not been read when the block ends";
    stopping_ = true;
    return;
  }
}

// ---- addresses as numbers

std::uint32_t shared_number(const void* address) {
  const auto offset_of = [](const void* own) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(own) -
                                      reinterpret_cast<std::uintptr_t>(lab_dynamic_shared));
  };
  if (!is_in_cluster(address)) return offset_of(address);
  const place_in_cluster there = find_in_cluster(address);
  return (offset_of(there.own) & ((1u << shared_offset_bits) - 1)) | (there.rank + 1) << shared_offset_bits;
}

void* shared_address(std::uint32_t number, place where) {
  const std::int32_t above = static_cast<std::int32_t>(number) >> shared_offset_bits;
  const bool is_own = above == 0 || above == -1;
  constexpr int unused_bits = 32 - shared_offset_bits;
  const std::int32_t offset = is_own ? static_cast<std::int32_t>(number)
                                     : static_cast<std::int32_t>(number << unused_bits) >> unused_bits;
  auto* const own = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(lab_dynamic_shared) +
                                            static_cast<std::uintptr_t>(static_cast<std::intptr_t>(offset)));
  return is_own ? own : map_to_block(own, static_cast<unsigned>(above - 1), where);
}

}  // namespace lab::emulator
