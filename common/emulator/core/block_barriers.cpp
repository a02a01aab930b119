// What the scheduler knows of barriers in shared memory, named barriers and bulk copies.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace lab::emulator {
namespace {

// What stands for the named barriers of a cluster's blocks where an observer is told of them.
constexpr unsigned barrier_names = 16;
constexpr std::array<char, barrier_names * most_cluster_blocks> named_barriers{};

}  // namespace

// ---- while others wait

// True if some thread that does not wait at the block's barrier can go on. While the others wait, or ask
// again and again, a copy lands; and one now and then where no thread ever has to wait for it.
bool block_runner::others_go_on() {
  constexpr unsigned patience = 256;
  if (copies_.has_copies_in() && ++passes_with_copies_ % patience == 0) land_copy();
  const bool is_awake = std::exchange(woken_, false);
  if (wake_yielded()) {
    if (!is_awake) land_copy();
    return !stopping_;
  }
  if (is_awake) return true;
  if (has_arrived_in_cluster()) {
    pass_cluster_barrier();
    return std::exchange(woken_, false) || land_copy();
  }
  if (serve_registers() && std::exchange(woken_, false)) return true;
  const bool is_barrier_full = at_barrier_ != 0 && at_barrier_ + exited_ == threads_.size();
  return !is_barrier_full && land_copy();
}

bool block_runner::land_copy() {
  if (!copies_.has_copies_in()) return false;
  const block_copies::landing landed = copies_.land_one([this](const std::uint64_t* barrier) {
    return std::any_of(threads_.begin(), threads_.end(), [&](const emulated_thread& one) {
      return one.state == thread_state::at_phase && one.wait->barrier == barrier;
    });
  });
  if (rests_) {
    landed_at_rest_.insert(landed_at_rest_.end(), landed.places.begin(), landed.places.end());
  } else if (active_observer) {
    for (const auto& [shared, bytes] : landed.places) active_observer->bulk_copy_over(shared, bytes);
  }
  if (!landed.complaint.empty()) {
    failure_ = prefix(landed.where, landed.by.block) + text_of_thread(threads_[landed.by.thread].index) +
               " " + landed.complaint;
    stopping_ = true;
    return true;
  }
  wake_waiting(landed.barrier);
  return true;
}

// Threads for which the phase has ended may go on.
void block_runner::wake_waiting(const std::uint64_t* barrier) {
  if (at_other_barriers_ == 0) return;
  for (emulated_thread& thread : threads_) {
    if (thread.state != thread_state::at_phase || thread.wait->barrier != barrier ||
        !copies_.has_ended(barrier, thread.wait->phase))
      continue;
    thread.state = thread_state::ready;
    --at_other_barriers_;
    woken_ = true;
  }
}

// A copy that lands when its block has ended writes what belongs to another block, and one that is read then
// may hold what that has written.
void block_runner::finish_copies() {
  const auto left = copies_.end_block();
  if (!left) return;
  failure_ =
      prefix(left->where, left->by.block) + text_of_thread(threads_[left->by.thread].index) +
      (left->is_out ? " begins a bulk copy from shared memory that has not been read when the block ends"
                    : " begins a bulk copy into shared memory that has not landed when the block ends");
  stopping_ = true;
}

// Of each barrier that threads wait for.
std::string block_runner::describe_waits() const {
  std::string text;
  std::set<std::pair<const std::uint64_t*, unsigned>> known;
  bool tells_of_cluster = false;
  std::set<unsigned> groups;  // that wait for registers
  const auto begin = [&](const emulated_thread& thread, place where) {
    text += text.empty() ? prefix(where) : "; " + text_of(where) + ": ";
    text += text_of_thread(thread.index);
  };
  for (const emulated_thread& thread : threads_) {
    if (!waits_at_other_barrier(thread.state)) continue;
    const barrier_wait& wait = *thread.wait;
    if (thread.state == thread_state::at_registers) {
      if (groups.insert(wait.phase).second) begin(thread, wait.where), text += describe_register_wait(thread);
      continue;
    }
    if (thread.state == thread_state::at_cluster) {
      if (!std::exchange(tells_of_cluster, true)) begin(thread, wait.where), text += describe_cluster_wait();
      continue;
    }
    if (!known.emplace(wait.barrier, wait.barrier != nullptr ? 0 : wait.phase).second) continue;
    begin(thread, wait.where);
    if (wait.barrier != nullptr) {
      text += " waits for ever for " + copies_.text_of_phase(wait.barrier);
      continue;
    }
    if (wait.phase >= wait_for_product) {
      text += " waits for ever for a product that not all four warps of its warpgroup have begun";
      continue;
    }
    const auto there = std::count_if(threads_.begin(), threads_.end(), [&](const emulated_thread& one) {
      return one.waits_at(wait.phase) ||
             (!arrivals_.empty() && arrivals_[wait.phase].of_thread[one.number] != 0);
    });
    text += format(" waits for ever at named barrier %u, where %td of %zu threads are", wait.phase, there,
                   wait.threads != 0 ? wait.threads : threads_.size() - exited_);
  }
  for (const emulated_thread& thread : threads_) {
    if (thread.state != thread_state::at_barrier) continue;
    begin(thread, thread.where);
    text += " waits at this barrier";
    break;
  }
  return text;
}

// ---- barriers in shared memory

void block_runner::refuse(place where, const std::string& what) {
  if (!what.empty()) fail(where, what);
}

void block_runner::initialise_phases(std::uint64_t* barrier, int arrivals, place where,
                                     const void* return_address) {
  if (active_observer) active_observer->barrier_used(barrier, true, return_address);
  const outside_of_kernel here;
  if (!is_shared(barrier, sizeof *barrier))
    fail(where, "initialises a barrier that does not lie in the block's shared memory");
  refuse(where, copies_.initialise(barrier, arrivals, running_->number, where));
}

unsigned block_runner::arrive_in_phase(std::uint64_t* barrier, bool arrives, std::int64_t bytes, place where,
                                       bool drops, const void* return_address) {
  stop_if_launch_failed();
  if (active_observer) {
    active_observer->barrier_used(barrier, false, return_address);
    active_observer->tell_block(barrier);
  }
  const outside_of_kernel here;
  const auto [owner, own] = owner_of(barrier, where);
  unsigned parity = 0;
  refuse(where, owner->copies_.arrive(own, arrives, bytes, drops, parity));
  owner->wake_waiting(own);
  return parity;
}

bool block_runner::wait_for_phase(std::uint64_t* barrier, unsigned phase, bool gives_up, place where,
                                  const void* return_address) {
  stop_if_launch_failed();
  if (active_observer) active_observer->barrier_used(barrier, false, return_address);
  bool has_ended = false;
  {
    const outside_of_kernel here;
    if (is_in_cluster(barrier))
      fail(where, "waits at a barrier of another block, for whose phases its own threads alone can wait");
    refuse(where, copies_.refuse_wait(barrier, phase));
    has_ended = copies_.has_ended(barrier, phase);
  }
  if (!has_ended) {
    barrier_wait wait{.where = where, .barrier = barrier, .phase = phase, .gives_up = gives_up};
    running_->wait = &wait;
    running_->state = thread_state::at_phase;
    ++at_other_barriers_;
    suspend();
    if (!spins_.empty()) spins_[running_->number].tried = wait.has_given_up ? barrier : nullptr;
    if (wait.has_given_up) return false;
  }
  if (active_observer) {
    active_observer->phase_waited_for();
    active_observer->told_by_block(barrier);
  }
  return true;
}

// mbarrier.try_wait returns after some time whether the phase has ended or not: here when nothing else can
// happen. What its thread does then, and every other, is looked at, so that a loop of such waits that nobody
// ends is found (stop_if_endless()).
bool block_runner::give_up_waits() {
  bool any = false;
  for (emulated_thread& thread : threads_) {
    if (!may_give_up(thread)) continue;
    thread.wait->has_given_up = true;
    thread.state = thread_state::ready;
    --at_other_barriers_;
    any = true;
  }
  if (any) look_at_stops();
  woken_ = woken_ || any;
  return any;
}

// Whether all threads of the warp that begins with thread `first` wait there, but for those that have left
// the kernel.
bool block_runner::warp_waits_at(unsigned name, std::size_t first) const {
  bool any = false;
  for (std::size_t k = first; k < std::min(first + 32, threads_.size()); ++k) {
    const bool waits = threads_[k].waits_at(name);
    if (!waits && threads_[k].state != thread_state::exited) return false;
    any = any || waits;
  }
  return any;
}

// How often all threads of the warp have arrived without waiting, but for those that have left the kernel.
unsigned block_runner::warp_arrivals(unsigned name, std::size_t first) const {
  if (arrivals_.empty()) return 0;
  unsigned least = ~0u;
  for (std::size_t k = first; k < std::min(first + 32, threads_.size()); ++k) {
    const unsigned count = arrivals_[name].of_thread[k];
    if (count != 0 || threads_[k].state != thread_state::exited) least = std::min(least, count);
  }
  return least == ~0u ? 0 : least;
}

void block_runner::spend_arrivals(unsigned name, unsigned threads) {
  if (arrivals_.empty()) return;
  std::vector<unsigned>& counts = arrivals_[name].of_thread;
  for (std::size_t first = 0; first < threads_.size(); first += 32) {
    for (; threads != 0 && warp_arrivals(name, first) != 0; threads -= 32) {
      for (std::size_t k = first; k < std::min(first + 32, threads_.size()); ++k)
        counts[k] -= std::min(counts[k], 1u);
    }
  }
  if (std::count(counts.begin(), counts.end(), 0u) == std::ssize(counts)) arrivals_[name].threads = 0;
}

// bar.sync and bar.arrive count warps, each as 32 threads, though the block may have fewer of it.
bool block_runner::pass_named_barrier(unsigned name) {
  unsigned there = 0, waiting = 0, arrived = 0, wanted = arrivals_.empty() ? 0 : arrivals_[name].threads;
  for (const emulated_thread& thread : threads_) {
    if (!thread.waits_at(name)) continue;
    ++there;
    wanted = std::max(wanted, thread.wait->threads);
  }
  for (std::size_t first = 0; first < threads_.size(); first += 32) {
    waiting += warp_waits_at(name, first) ? 32 : 0;
    arrived += 32 * warp_arrivals(name, first);
  }
  if (wanted != 0 ? waiting + arrived < wanted : there != threads_.size() - exited_) return false;
  spend_arrivals(name, wanted > waiting ? wanted - waiting : 0);
  const auto each_that_passes = [&](const auto& visit) {
    for (std::size_t first = 0; first < threads_.size(); first += 32) {
      if (wanted != 0 && !warp_waits_at(name, first)) continue;
      for (std::size_t k = first; k < std::min(first + 32, threads_.size()); ++k) {
        if (threads_[k].waits_at(name)) visit(threads_[k]);
      }
    }
  };
  unsigned votes = 0;
  each_that_passes([&](const emulated_thread& thread) { votes += thread.wait->predicate; });
  each_that_passes([&](emulated_thread& thread) {
    thread.wait->votes = votes;
    thread.state = thread_state::ready;
    --at_other_barriers_;
    woken_ = true;
  });
  return true;
}

// When a thread has left the kernel: the others of its warp, or of the block, may have waited for it alone.
void block_runner::pass_named_barriers() {
  if (at_other_barriers_ == 0) return;
  const std::size_t first = running_->number / 32 * 32;
  for (std::size_t k = first; k < std::min(first + 32, threads_.size()); ++k) {
    const thread_state state = threads_[k].state;
    if (state != thread_state::exited && state != thread_state::at_named_barrier) return;
  }
  unsigned names = 0;
  for (const emulated_thread& thread : threads_) {
    if (thread.state == thread_state::at_named_barrier && thread.wait->phase < barrier_names)
      names |= 1u << thread.wait->phase;
  }
  for (unsigned name = 0; names >> name != 0; ++name) {
    if ((names >> name & 1) != 0) pass_named_barrier(name);
  }
}

// Its number, unless the call is wrong or says another number of threads than those that are there.
unsigned block_runner::check_named_barrier(const char* verb, int name, std::optional<int> threads,
                                           place where) {
  const outside_of_kernel here;
  if (name < 0 || static_cast<unsigned>(name) >= barrier_names ||
      (threads && (*threads <= 0 || *threads % 32 != 0)))
    fail(where,
         format("%s at named barrier %d with %d threads: there are barriers 0 to 15, and threads come in "
                "warps of 32",
                verb, name, threads.value_or(static_cast<int>(threads_.size()))));
  const auto number = static_cast<unsigned>(name), mine = static_cast<unsigned>(threads.value_or(0));
  const auto text_of_count = [](unsigned count) { return count == 0 ? "all" : std::to_string(count); };
  const auto other = std::find_if(threads_.begin(), threads_.end(),
                                  [&](const emulated_thread& one) { return one.waits_at(number); });
  // Without a number they are all of the block, which may be said with one, too.
  const auto number_of = [&](unsigned count) {
    return count != 0 ? count : static_cast<unsigned>((threads_.size() + 31) / 32 * 32);
  };
  const auto call = [&] {
    return format("%s at named barrier %u with ", verb, number) + text_of_count(mine);
  };
  if (other != threads_.end() && number_of(other->wait->threads) != number_of(mine))
    fail(where, call() + " threads, but " + text_of_thread(other->index) + " with " +
                    text_of_count(other->wait->threads) + " at " + text_of(other->wait->where));
  if (!arrivals_.empty() && arrivals_[number].threads != 0 && arrivals_[number].threads != number_of(mine))
    fail(where, call() + format(" threads, but one has arrived with %u at ", arrivals_[number].threads) +
                    text_of(arrivals_[number].where));
  return number;
}

void block_runner::arrive_at_named_barrier(int name, int threads, place where) {
  stop_if_launch_failed();
  const unsigned number = check_named_barrier("arrives", name, threads, where);
  if (active_observer) active_observer->tell_block(&named_barriers[rank_ * barrier_names + number]);
  const outside_of_kernel here;
  if (arrivals_.empty()) arrivals_.assign(barrier_names, {std::vector<unsigned>(threads_.size())});
  named_arrivals& there = arrivals_[number];
  ++there.of_thread[running_->number];
  there.threads = static_cast<unsigned>(threads);
  there.where = where;
  pass_named_barrier(number);
}

unsigned block_runner::wait_at_named_barrier(int name, std::optional<int> threads, bool predicate,
                                             place where) {
  stop_if_launch_failed();
  const unsigned number = check_named_barrier("waits", name, threads, where);
  barrier_wait wait{.where = where,
                    .phase = number,
                    .threads = static_cast<unsigned>(threads.value_or(0)),
                    .predicate = predicate};
  const void* const key = &named_barriers[rank_ * barrier_names + number];
  if (active_observer) active_observer->tell_block(key);
  running_->wait = &wait;
  running_->state = thread_state::at_named_barrier;
  ++at_other_barriers_;
  if (warp_waits_at(number, running_->number / 32 * 32) && pass_named_barrier(number)) {
    running_->state = thread_state::running;
  } else {
    suspend();
  }
  if (active_observer) active_observer->told_by_block(key);
  return wait.votes;
}

// ---- bulk copies

bool block_runner::is_shared(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto lies_in = [&](std::uintptr_t begin, std::size_t size) {
    return address - begin < size && bytes <= size - (address - begin);
  };
  const auto dynamic = reinterpret_cast<std::uintptr_t>(lab_dynamic_shared);
  if (lies_in(dynamic, sizeof lab_dynamic_shared)) return lies_in(dynamic, launch_->dynamic_shared_bytes);
  // Variables of functions that the kernel calls are not known one by one.
  return lies_in(thread_local_memory_.begin, thread_local_memory_.bytes);
}

void block_runner::check_bulk_copy(const void* global, const void* shared, std::int64_t bytes,
                                   bool writes_global, place where) {
  constexpr std::uintptr_t unit = 16;
  const auto wrong = [&](const std::string& what, cudaError_t error) {
    launch_->error = error;
    fail(where, format("begins a bulk copy of %lld bytes ", static_cast<long long>(bytes)) + what);
  };
  if (bytes <= 0 || bytes % static_cast<std::int64_t>(unit) != 0)
    wrong("which is no multiple of 16 above 0", cudaErrorMisalignedAddress);
  const auto size = static_cast<std::size_t>(bytes);
  const device_memory& memory = device_memory::instance();
  const std::string direction = writes_global ? "to" : "from";
  if (const auto complaint = memory.complaint(global, size))
    wrong(direction + " device memory, which " + *complaint, cudaErrorIllegalAddress);
  if (reinterpret_cast<std::uintptr_t>(global) % unit != 0)
    wrong(direction + " device memory " + memory.describe(global) +
              ", at an address that is no multiple of 16: misaligned",
          cudaErrorMisalignedAddress);
  if (writes_global && memory.is_read_only(global))
    wrong("to device memory that the launch may only read", cudaErrorIllegalAddress);
  if (shared == nullptr) return;
  const std::string other_direction = writes_global ? "from" : "to";
  if (!is_shared(shared, size))
    wrong(other_direction + " what is not, or not all, the block's shared memory", cudaErrorIllegalAddress);
  if (reinterpret_cast<std::uintptr_t>(shared) % unit != 0)
    wrong(other_direction + " shared memory, at an address that is no multiple of 16: misaligned",
          cudaErrorMisalignedAddress);
}

void block_runner::copy_in_bulk(void* shared, const void* global, std::int64_t bytes, std::uint64_t* barrier,
                                std::optional<unsigned> blocks, place where, const void* return_address) {
  const auto size = static_cast<std::size_t>(bytes);
  copy_target to;
  {
    const outside_of_kernel here;
    to = find_target(shared, barrier, blocks, where);
    check_bulk_copy(global, to.shared, bytes, false, where);
    check_destinations(to.blocks, to.shared, size, where);
  }
  if (active_observer) {
    active_observer->bulk_copy_began(to.has(rank_) ? to.shared : nullptr, global, size, true, return_address);
    if (to.has(rank_)) active_observer->tell_block(to.barrier);
  }
  observe_copies_to_neighbours(to, size, return_address);
  const outside_of_kernel here;
  begin_copies(to, size, where, [&](block_copies& copies) {
    return copies.copy_in(to.shared, global, size, to.barrier, this_thread(), where);
  });
}

void block_runner::copy_out_in_bulk(void* global, const void* shared, std::int64_t bytes, place where,
                                    const void* return_address) {
  {
    const outside_of_kernel here;
    check_bulk_copy(global, shared, bytes, true, where);
  }
  const auto size = static_cast<std::size_t>(bytes);
  if (active_observer) active_observer->bulk_copy_began(shared, global, size, false, return_address);
  const outside_of_kernel here;
  copies_.copy_out(global, shared, size, this_thread(), where);
}

// ---- copies of one thread (cp.async)

void block_runner::begin_copy(void* to, const void* from, std::size_t bytes, std::size_t taken,
                              const void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  // What cp.async cannot do, the thread has done.
  if ((reinterpret_cast<std::uintptr_t>(to) | address | bytes) % 4 != 0 || !is_shared(to, bytes) ||
      is_shared(from, taken) || is_stack(address) || is_in_cluster(from))
    return;
  if (active_observer) active_observer->copy_began(to, bytes, return_address);
  const outside_of_kernel here;
  copies_.copy_by_thread(to, from, bytes, taken, running_->number, return_address);
}

void block_runner::commit_copies() {
  const outside_of_kernel here;
  copies_.commit_thread_copies(running_->number);
}

void block_runner::wait_for_copies(std::size_t prior, bool all) {
  stop_if_launch_failed();
  const outside_of_kernel here;
  for (const auto& one : copies_.wait_for_thread_copies(running_->number, prior, all)) {
    if (!active_observer) continue;
    if (one.is_at_barrier)
      active_observer->bulk_copy_over(one.shared, one.bytes);
    else
      active_observer->copy_waited_for(one.shared, one.bytes, one.return_address, true);
  }
}

void block_runner::arrive_behind_copies(std::uint64_t* barrier, bool is_extra, place where,
                                        const void* return_address) {
  stop_if_launch_failed();
  const outside_of_kernel here;
  const auto left = copies_.leave_to_barrier(running_->number);
  if (active_observer) {
    active_observer->barrier_used(barrier, false, return_address);
    for (const auto& one : left)
      active_observer->copy_waited_for(one.shared, one.bytes, one.return_address, false);
    active_observer->tell_block(barrier);
  }
  if (is_in_cluster(barrier))
    fail(where, "lets copies arrive at a barrier of another block: it must be one of its own");
  refuse(where, copies_.arrive_behind_copies(barrier, is_extra, this_thread(), where));
  wake_waiting(barrier);
}

// ---- copies of tensors

void block_runner::check_tensor_copy(const tensor_box& box, unsigned dimensions, const void* shared,
                                     bool writes_global, place where) {
  const tensor_layout& layout = box.layout;
  const auto wrong = [&](const std::string& what, cudaError_t error) {
    launch_->error = error;
    fail(where, "begins a tensor copy " + what);
  };
  if (layout.rank != dimensions)
    wrong(format("with %u coordinates, by a map of %u dimensions", dimensions, layout.rank),
          cudaErrorIllegalInstruction);
  // Both measured on an H100; a copy in may begin before the tensor.
  if (const std::int64_t first = box.at[0] * layout.element_bytes; first % 16 != 0)
    wrong(format("whose box begins %lld bytes from the beginning of a row: no multiple of 16",
                 static_cast<long long>(first)),
          cudaErrorIllegalInstruction);
  if (writes_global && std::any_of(box.at.begin(), box.at.end(), [](std::int64_t at) { return at < 0; }))
    wrong("out whose box begins at a negative coordinate", cudaErrorIllegalInstruction);
  const std::string direction = writes_global ? "from" : "to";
  if (!is_shared(shared, layout.box_bytes()))
    wrong(direction +
              format(" %zu bytes of what is not, or not all, the block's shared memory", layout.box_bytes()),
          cudaErrorIllegalAddress);
  const unsigned alignment = swizzle_alignment(layout.pattern);
  if (reinterpret_cast<std::uintptr_t>(shared) % alignment != 0)
    wrong(direction + format(" shared memory at an address that is no multiple of %u: misaligned", alignment),
          cudaErrorMisalignedAddress);
  const device_memory& memory = device_memory::instance();
  const auto way = writes_global ? tensor_box::direction::out : tensor_box::direction::in;
  box.for_each_row(way, [&](std::size_t, const unsigned char* global, std::size_t bytes) {
    const std::string other_direction = writes_global ? "to" : "from";
    if (const auto complaint = memory.complaint(global, bytes))
      wrong(other_direction + " device memory, which " + *complaint, cudaErrorIllegalAddress);
    if (writes_global && memory.is_read_only(global))
      wrong("to device memory that the launch may only read", cudaErrorIllegalAddress);
  });
}

// The box is one copy in shared memory, and one in device memory for each row.
void block_runner::observe_tensor_copy(const tensor_box& box, const void* shared, bool into_shared,
                                       const void* return_address) {
  if (!active_observer) return;
  constexpr const char* name = "tensor copy";
  active_observer->bulk_copy_began(shared, nullptr, box.layout.box_bytes(), into_shared, return_address,
                                   name);
  const auto way = into_shared ? tensor_box::direction::in : tensor_box::direction::out;
  box.for_each_row(way, [&](std::size_t, const unsigned char* global, std::size_t bytes) {
    active_observer->bulk_copy_began(nullptr, global, bytes, into_shared, return_address, name);
  });
}

void block_runner::tensor_copy_in(void* shared, const tensor_box& box, unsigned dimensions,
                                  std::uint64_t* barrier, std::optional<unsigned> blocks, place where,
                                  const void* return_address) {
  const std::size_t size = box.layout.box_bytes();
  copy_target to;
  {
    const outside_of_kernel here;
    to = find_target(shared, barrier, blocks, where);
    check_tensor_copy(box, dimensions, to.shared, false, where);
    check_destinations(to.blocks, to.shared, size, where);
  }
  observe_tensor_copy(box, to.has(rank_) ? to.shared : nullptr, true, return_address);
  if (active_observer && to.has(rank_)) active_observer->tell_block(to.barrier);
  observe_copies_to_neighbours(to, size, return_address);
  const outside_of_kernel here;
  begin_copies(to, size, where, [&](block_copies& copies) {
    return copies.copy_in(to.shared, box, to.barrier, this_thread(), where);
  });
}

void block_runner::tensor_copy_out(const tensor_box& box, unsigned dimensions, const void* shared,
                                   place where, const void* return_address) {
  {
    const outside_of_kernel here;
    check_tensor_copy(box, dimensions, shared, true, where);
  }
  observe_tensor_copy(box, shared, false, return_address);
  const outside_of_kernel here;
  copies_.copy_out(box, shared, this_thread(), where);
}

void tensor_copy_in(void* shared, const tensor_box& box, unsigned dimensions, std::uint64_t* barrier,
                    std::optional<unsigned> blocks, place where) {
  running_block().tensor_copy_in(shared, box, dimensions, barrier, blocks, where,
                                 __builtin_return_address(0));
}
void tensor_copy_out(const tensor_box& box, unsigned dimensions, const void* shared, place where) {
  running_block().tensor_copy_out(box, dimensions, shared, where, __builtin_return_address(0));
}

void block_runner::check_prefetch(const void* global, std::int64_t bytes, place where) {
  const outside_of_kernel here;
  check_bulk_copy(global, nullptr, bytes, false, where);
}

void block_runner::fence_phases() {
  if (active_observer) active_observer->proxy_fence_passed();
  const outside_of_kernel here;
  copies_.fence_initialisations(running_->number);
}

// A GPU lets it stand for the other fence; a stage is asked for that one.
void block_runner::fence_proxies() {
  if (active_observer) active_observer->proxy_fence_passed();
  const outside_of_kernel here;
  if (launch_->is_program) copies_.fence_initialisations(running_->number);
}

void block_runner::commit_copies_out() {
  const outside_of_kernel here;
  copies_.commit_group(running_->number);
}

void block_runner::wait_for_copies_out(std::size_t pending, bool written) {
  stop_if_launch_failed();
  const outside_of_kernel here;
  for (const auto& [shared, bytes] : copies_.wait_group_read(running_->number, pending)) {
    if (active_observer) active_observer->bulk_copy_over(shared, bytes);
  }
  if (written) copies_.write_groups(running_->number, pending);
}

}  // namespace lab::emulator
