// The registers that the warpgroups of a block give and take. PTX ISA, section "setmaxnreg". Internal.
//
// How many a thread has when the block begins is the compiler's choice, which is not known here. It is at
// most an equal share of the multiprocessor's for each thread of the block, in multiples of 8, and all that
// the block ever has is that many for each thread.
#include <algorithm>
#include <set>
#include <utility>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace lab::emulator {
namespace {

constexpr int all_registers = 65536, most_of_thread = 256, least_of_thread = 24, unit = 8;
constexpr unsigned group_threads = 128;

}  // namespace

unsigned block_runner::threads_of_group(unsigned group) const {
  return std::min(group_threads, static_cast<unsigned>(threads_.size()) - group * group_threads);
}

void block_runner::begin_registers() {
  const auto threads = static_cast<int>(threads_.size());
  const int of_thread = std::min(most_of_thread, all_registers / threads / unit * unit);
  const std::size_t groups = (threads_.size() + group_threads - 1) / group_threads;
  registers_.assign(groups, {of_thread, of_thread, 0});
}

// Of those that the block began with; those of a warpgroup that has left the kernel are free.
int block_runner::free_registers() const {
  const int of_thread =
      std::min(most_of_thread, all_registers / static_cast<int>(threads_.size()) / unit * unit);
  int free = of_thread * static_cast<int>(threads_.size());
  for (unsigned group = 0; group < registers_.size(); ++group) {
    const auto begin = threads_.begin() + group * group_threads;
    const bool has_left = std::all_of(begin, begin + threads_of_group(group), [](const emulated_thread& one) {
      return one.state == thread_state::exited;
    });
    if (!has_left) free -= registers_[group].count * static_cast<int>(threads_of_group(group));
  }
  return free;
}

void block_runner::change_registers(int count, bool takes, place where) {
  stop_if_launch_failed();
  const char* const verb = takes ? "takes" : "gives";
  if (count < least_of_thread || count > most_of_thread || count % unit != 0)
    fail(where, format("%s registers, so that each thread has %d: from %d to %d are possible, in steps of %d",
                       verb, count, least_of_thread, most_of_thread, unit));
  if (registers_.empty()) begin_registers();
  const unsigned group = running_->number / group_threads;
  register_share& share = registers_[group];
  if (share.arrived != 0 && (share.wanted != count || !same_place(share.where, where)))
    fail(where, format("%s registers, where other threads of its warpgroup do at ", verb) +
                    text_of(share.where) + format(" (%d and %d)", count, share.wanted));
  // A program's kernel may have begun with fewer than there can be.
  const bool may_be_fewer = launch_->is_program && !share.is_known;
  if (takes ? count < share.count && !may_be_fewer : count > share.count)
    fail(where, format("%s registers, so that each thread has %d, where it has %s%d", verb, count,
                       share.is_known ? "" : "at most ", share.count));
  share.wanted = count;
  share.where = where;
  ++share.arrived;
  barrier_wait wait{.where = where, .phase = group, .threads = threads_of_group(group)};
  running_->wait = &wait;
  running_->state = thread_state::at_registers;
  ++at_other_barriers_;
  serve_registers();
  if (running_->state == thread_state::ready) {
    running_->state = thread_state::running;
    return;
  }
  suspend();
}

// Warpgroups of which all threads ask, and for which there are enough, go on.
bool block_runner::serve_registers() {
  bool any = false;
  for (unsigned group = 0; group < registers_.size(); ++group) {
    register_share& share = registers_[group];
    const unsigned threads = threads_of_group(group);
    if (share.arrived != threads ||
        (share.wanted - share.count) * static_cast<int>(threads) > std::max(0, free_registers()))
      continue;
    share.count = share.wanted;
    share.is_known = true;
    share.arrived = 0;
    any = true;
    const auto begin = threads_.begin() + group * group_threads;
    std::for_each(begin, begin + threads, [this](emulated_thread& one) {
      if (one.state != thread_state::at_registers) return;
      one.state = thread_state::ready;
      --at_other_barriers_;
      woken_ = true;
    });
  }
  // What one has given may be enough for another.
  return any && (serve_registers(), true);
}

std::string block_runner::describe_register_wait(const emulated_thread& thread) const {
  const register_share& share = registers_[thread.number / group_threads];
  const unsigned threads = threads_of_group(thread.number / group_threads);
  if (share.arrived != threads)
    return format(" waits for ever for all threads of its warpgroup to change their registers; %u of %u do",
                  share.arrived, threads);
  return format(
      " waits for ever for registers: it takes %d for each thread of its warpgroup, more than the "
      "%d that it has and the %d that are free for them",
      share.wanted, share.count, std::max(0, free_registers()) / static_cast<int>(threads));
}

}  // namespace lab::emulator
