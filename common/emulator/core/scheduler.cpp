#include "common/emulator/core/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "common/emulator/core/built_in_variables.hpp"
#include "common/emulator/core/bulk_copy_functions.hpp"
#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/fp_environment.hpp"
#include "common/emulator/core/kernel_memory.hpp"
#include "common/emulator/core/machine_context.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/register_functions.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/core/spin_watch.hpp"

alignas(1024) constinit thread_local unsigned char lab_dynamic_shared[lab::emulator::shared_bytes_limit +
                                                                      lab::emulator::red_zone_bytes] = {};

namespace lab::emulator {

constinit thread_local uint3 current_thread_index{};
constinit thread_local uint3 current_block_index{};
constinit thread_local dim3 current_block_size{};
constinit thread_local dim3 current_grid_size{};

namespace {

namespace context = boost::context;

// What a thread that has used up its stack gets of it to say so.
constexpr std::size_t stack_needed_to_leave = 64 * 1024;

constinit thread_local block_runner* current_runner = nullptr;
constinit thread_local machine_fault last_fault{};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Whether no block of the kernel has come here before.
bool is_first_warning(const void* kernel, std::string_view of) {
  static std::mutex mutex;
  static std::set<std::pair<const void*, std::string_view>> given;
  const std::lock_guard lock(mutex);
  return given.insert({kernel, of}).second;
}

}  // namespace

// A stack and the fiber on it. A thread that has to leave the kernel early is not unwound: what its frames
// hold stays as it is, and a new fiber begins on the same stack. Neither exception handlers nor destructors
// nor noexcept functions of the kernel's can then stand in the way.
struct alignas(64) block_runner::carrier {
  carrier(block_runner& its_runner, std::size_t number) : runner(its_runner), stagger(number % 32 * 128) {
    stack = context::protected_fixedsize_stack(its_runner.stack_bytes_).allocate();
    bounds = {static_cast<const char*>(stack.sp) - stack.size, stack.size};
    start();
  }
  carrier(const carrier&) = delete;
  carrier& operator=(const carrier&) = delete;
  ~carrier() {
    forget_frames(bounds);
    context::protected_fixedsize_stack(stack.size).deallocate(stack);
  }

  void start() {
    forget_frames(bounds);
    thread = nullptr;
    lost = has_run = false;
    // Stacks lie a multiple of the page size apart, so that their tops would compete for the same few cache
    // sets: hence the stagger. What was on the stack is not unwound.
    suspended = prepare_stack<enter_carrier>(static_cast<char*>(stack.sp) - stagger, stack.size - stagger);
  }

  // Leaves the stack that runs, where `here` says, and goes on on this one; returns when that is resumed.
  void switch_to(suspended_stack& here) {
    void* saved = nullptr;
    before_switch(&saved, bounds);
    runner.starting_ = this;
    switch_stacks(here, suspended);
    after_switch(saved, nullptr);
  }

  block_runner& runner;
  suspended_stack suspended{};
  stack_bounds bounds;
  emulated_thread* thread = nullptr;  // the thread whose frames lie on this stack; null when idle
  bool lost = false;
  bool has_run = false;
  std::size_t stagger;
  context::stack_context stack;
};

block_runner::block_runner() = default;

block_runner::~block_runner() = default;

// ---- carriers

block_runner::carrier& block_runner::idle_carrier() {
  if (idle_.empty()) {
    carriers_.push_back(std::make_unique<carrier>(*this, carriers_.size()));
    idle_.reserve(carriers_.capacity());  // so that it does not grow on a thread's stack
    return *carriers_.back();
  }
  carrier& chosen = *idle_.back();
  idle_.pop_back();
  return chosen;
}

// The life of a carrier: threads until one waits (then this stack is switched away from, inside call.run),
// then idleness.
void block_runner::run_carrier(carrier& self) {
  for (;;) {
    for (emulated_thread* thread = self.thread; thread != nullptr;
         thread = next_runnable(thread_state::fresh)) {
      begin(*thread, self);
      try {
        launch_->call.run(launch_->call.arguments);
      } catch (...) {
        failure_ = kernel_name(launch_->call.kernel) + ": block " + text_of(current_block_index) + ": " +
                   text_of_thread(current_thread_index) + " throws an exception";
        stopping_ = true;
      }
      running_->state = thread_state::exited;
      ++exited_;
      pass_named_barriers();
    }
    self.thread = nullptr;
    self.has_run = true;
    switch_from(self);
  }
}

void block_runner::enter_carrier() {
  block_runner& runner = *current_runner;
  after_switch(nullptr, &runner.scheduler_bounds_);
  runner.run_carrier(*runner.starting_);
}

// Leaves a carrier, whose thread waits or has left the kernel, for the next lane that has a carrier of its
// own, else for the scheduler. Returns when the carrier is resumed.
void block_runner::switch_from(carrier& self) {
  if (active_observer) active_observer->leave_thread();
  emulated_thread* const next = next_runnable();
  if (next == nullptr) return switch_to_scheduler(self);
  if (next->state == thread_state::fresh) {
    // On a stack that is there, from where it waits; else the scheduler makes one.
    const bool has_idle = !idle_.empty() && idle_.back()->has_run;
    if (!has_idle) {
      --turn_;
      return switch_to_scheduler(self);
    }
    next->on = idle_.back();
    next->on->thread = next;
    idle_.pop_back();
    if (self.thread == nullptr) idle_.push_back(&self);
    return next->on->switch_to(self.suspended);
  }
  if (self.thread == nullptr) idle_.push_back(&self);
  enter(*next);
  // The lane behind it will be next.
  if (turn_ < warp_lanes_) {
    const emulated_thread& behind = lane(launch_->reverse ? warp_lanes_ - 1 - turn_ : turn_);
    if (behind.on != nullptr) __builtin_prefetch(behind.on->suspended);
  }
  next->on->switch_to(self.suspended);
}

void block_runner::switch_to_scheduler(carrier& self) {
  void* saved = nullptr;
  before_switch(self.lost ? nullptr : &saved, scheduler_bounds_);
  left_ = &self;
  switch_stacks(self.suspended, scheduler_);
  after_switch(saved, nullptr);
}

// Switches leave the control words alone, so that the next thread would go on with those of this one.
void block_runner::check_fp_environment() {
  if (fp_environment::current() == fp_environment::initial()) return;
  fp_environment::initial().apply();
  if (!failure_) {
    failure_ = kernel_name(launch_->call.kernel) + ": block " + text_of(current_block_index) + ": " +
               text_of_thread(running_->index) +
               " or one before it changes how the CPU rounds or flushes denormals, which no GPU has";
  }
  stopping_ = true;
}

void block_runner::begin(emulated_thread& thread, carrier& on) {
  thread.on = &on;
  on.thread = &thread;
  enter(thread);
}

void block_runner::enter(emulated_thread& thread) {
  running_ = &thread;
  thread.state = thread_state::running;
  current_thread.stack_begin = reinterpret_cast<std::uintptr_t>(thread.on->bounds.bottom);
  current_thread.stack_end = current_thread.stack_begin + thread.on->bounds.bytes;
  current_thread_index = thread.index;
  current_thread.number = thread.number;
  if (active_observer) active_observer->enter_thread();
}

void block_runner::resume(emulated_thread& thread) {
  if (thread.state != thread_state::fresh) enter(thread);
  thread.on->switch_to(scheduler_);
  if (active_observer) active_observer->leave_thread();
  // Once for the lanes that have followed one another: reading the control word takes as long as a switch.
  if (!fp_environment::is_usual()) [[unlikely]]
    check_fp_environment();
  carrier& on = *left_;
  if (on.lost) {
    on.start();
    idle_.push_back(&on);
  } else if (on.thread == nullptr) {
    idle_.push_back(&on);
  }
}

bool block_runner::is_stack(std::uintptr_t address) const {
  return std::any_of(carriers_.begin(), carriers_.end(), [address](const auto& one) {
    return address - reinterpret_cast<std::uintptr_t>(one->bounds.bottom) < one->bounds.bytes;
  });
}

void block_runner::suspend() {
  if (samples_left_ != 0) [[unlikely]]
    sample();
  switch_from(*running_->on);
}

// ---- a block

void block_runner::prepare_threads() {
  running_ = nullptr;
  if (const std::size_t wanted = stack_bytes_of_threads(); wanted != stack_bytes_) {
    idle_.clear();
    carriers_.clear();
    stack_bytes_ = wanted;
  }
  const unsigned size = launch_->block.x * launch_->block.y * launch_->block.z;
  const dim3 shape = launch_->block;
  if (shape.x != prepared_for_.x || shape.y != prepared_for_.y || shape.z != prepared_for_.z) {
    threads_.assign(size, {});
    for (unsigned number = 0; number < size; ++number) {
      threads_[number].number = number;
      threads_[number].index = {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
    }
    prepared_for_ = shape;
  }
  for (emulated_thread& thread : threads_) {
    thread.state = thread_state::fresh;
    thread.in_cluster = arrival::none;
    thread.odd_cluster_phase = false;
  }
  forget_spins();
  arrives_in_cluster_ = rests_ = false;
  registers_.clear();
  exited_ = at_barrier_ = at_collective_ = at_other_barriers_ = yielded_ = paused_ = 0;
  woken_ = false;
  passes_with_copies_ = 0;
  copies_.begin_block(launch_->seed_of(block_number_), launch_->shared_byte);
  arrivals_.clear();
  products_.begin_block(static_cast<unsigned>(threads_.size()));
  waits_for_blocks_ = false;
  stopping_ = false;
  failure_.reset();
}

// What a block finds in shared memory is left over from another one, so nobody may count on it.
void block_runner::prepare_shared_memory() {
  const std::size_t bytes = launch_->dynamic_shared_bytes;
  std::memset(lab_dynamic_shared, launch_->shared_byte, bytes);
  std::memset(lab_dynamic_shared + bytes, device_memory::red_zone_byte, red_zone_bytes);
  for (const shared_variable& variable : launch_->shared_variables) {
    void* const begin = reinterpret_cast<void*>(thread_local_memory_.begin + variable.offset);
    std::memset(begin, launch_->shared_byte, variable.bytes);
  }
}

std::optional<std::string> block_runner::run(const launch_state& launch, std::uint64_t block_number,
                                             block_cluster* cluster, unsigned rank) {
  launch_ = &launch;
  block_number_ = block_number;
  cluster_ = cluster;
  rank_ = rank;
  began_ = now_ns();
  enter_block();
  prepare_threads();
  prepare_shared_memory();
  if (active_observer) active_observer->begin_block(current_block_index);
  return run_threads();
}

void block_runner::enter_block() {
  current_block_index = block_index_ = launch_->block_at(block_number_);
  current_block_size = launch_->block;
  current_grid_size = launch_->grid;
  current_runner = this;
  ++barrier_epoch;
}

std::optional<std::string> block_runner::run_threads() {
  const auto size = static_cast<unsigned>(threads_.size());
  const unsigned warps = (size + 31) / 32;
  do {
    for (unsigned turn = 0; turn < warps && !stopping_; ++turn) {
      select_warp(launch_->reverse ? warps - 1 - turn : turn);
      run_warp();
      if (active_observer) active_observer->leave_warp(warp_);
    }
    if (!stopping_ && waits_for_blocks_) return rest();
    stop_if_endless();
    if (cluster_ != nullptr && !stopping_ && exited_ != size && !goes_on_in_cluster())
      return rest_in_cluster();
  } while (
      !stopping_ && exited_ != size &&
      (cluster_ != nullptr || others_go_on() || rests_for_kernel() || give_up_waits() || pass_barrier()));
  if (!stopping_) finish_copies();
  if (!stopping_) refuse_copies_from_here();
  if (stopping_) abandon_threads();
  if (active_observer) {
    auto complaint = active_observer->end_block(!stopping_);
    if (complaint && !failure_) failure_ = std::move(complaint);
  }
  check_fp_environment();
  forget_spins();
  current_runner = nullptr;
  return failure_ || stopping_ ? failure_ : check_shared_red_zone();
}

// ---- blocks that wait for each other, on one OS thread

std::optional<std::string> block_runner::rest() {
  if (auto damage = check_shared_red_zone()) return damage;
  kept_shared_.assign(lab_dynamic_shared,
                      lab_dynamic_shared + launch_->dynamic_shared_bytes + red_zone_bytes);
  for (const shared_variable& variable : launch_->shared_variables) {
    const auto* const begin =
        reinterpret_cast<const unsigned char*>(thread_local_memory_.begin + variable.offset);
    kept_shared_.insert(kept_shared_.end(), begin, begin + variable.bytes);
  }
  if (active_observer) active_observer->rest_block();
  forget_spins();
  running_ = nullptr;
  current_runner = nullptr;
  return std::nullopt;
}

std::optional<std::string> block_runner::go_on() {
  enter_block();
  if (cluster_ != nullptr) return go_on_in_cluster();
  const unsigned char* from = kept_shared_.data();
  const auto restore = [&from](void* to, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    from += bytes;
  };
  restore(lab_dynamic_shared, launch_->dynamic_shared_bytes + red_zone_bytes);
  for (const shared_variable& variable : launch_->shared_variables)
    restore(reinterpret_cast<void*>(thread_local_memory_.begin + variable.offset), variable.bytes);
  waits_for_blocks_ = false;
  wake_yielded();
  for (emulated_thread& thread : threads_) {
    if (thread.state != thread_state::at_kernel) continue;
    thread.state = thread_state::ready;
    --at_other_barriers_;
  }
  if (active_observer) active_observer->resume_block(current_block_index);
  return run_threads();
}

// Whether threads wait for the kernel before where no other one can go on: the block is to rest then.
bool block_runner::rests_for_kernel() {
  waits_for_blocks_ = std::any_of(threads_.begin(), threads_.end(),
                                  [](const auto& one) { return one.state == thread_state::at_kernel; });
  return waits_for_blocks_;
}

void block_runner::wait_for_kernel_before(place where) {
  if (active_observer) active_observer->kernel_before_waited_for();
  if (!launch_->waits_for_kernel) return;
  barrier_wait wait{.where = where};
  running_->wait = &wait;
  running_->state = thread_state::at_kernel;
  ++at_other_barriers_;
  suspend();
}

std::optional<std::string> block_runner::rest_in_cluster() {
  if (auto damage = check_shared_red_zone()) {
    failure_ = std::move(damage);
    stopping_ = true;
    abandon_threads();
    return failure_;
  }
  rests_ = true;
  cluster_->keep(rank_);
  copies_.move(cluster_->distance_to(rank_));
  if (active_observer) active_observer->rest_in_cluster();
  running_ = nullptr;
  current_runner = nullptr;
  return std::nullopt;
}

std::optional<std::string> block_runner::go_on_in_cluster() {
  rests_ = false;
  cluster_->bring_back(rank_);
  copies_.move(0);
  woken_ = false;
  wake_yielded();
  if (active_observer) {
    active_observer->resume_block(block_index_);
    for (const auto& [shared, bytes] : landed_at_rest_) active_observer->bulk_copy_over(shared, bytes);
  }
  landed_at_rest_.clear();
  return run_threads();
}

void block_runner::wait_for_all_blocks(place where) {
  if (cluster_ != nullptr) fail(where, "waits for the grid in a launch of clusters, which is not emulated");
  waits_for_blocks_ = true;
  waits_at_ = where;
  running_->state = thread_state::yielded;
  ++yielded_;
  suspend();
}

std::string block_runner::describe_missing_block(std::uint64_t block) const {
  const auto text_of_block = [this](std::uint64_t number) {
    const std::uint64_t row = number / launch_->grid.x;
    return "block " + text_of(uint3{static_cast<unsigned>(number % launch_->grid.x),
                                    static_cast<unsigned>(row % launch_->grid.y),
                                    static_cast<unsigned>(row / launch_->grid.y)});
  };
  return text_of(waits_at_) + ": " + kernel_name(launch_->call.kernel) + ": " + text_of_block(block_number_) +
         " waits here for all blocks of the grid, but " + text_of_block(block) + " has left the kernel";
}

void block_runner::abandon_threads() {
  for (emulated_thread& thread : threads_) {
    const bool waits = thread.state == thread_state::at_barrier ||
                       thread.state == thread_state::at_collective || waits_at_other_barrier(thread.state) ||
                       thread.state == thread_state::ready || thread.state == thread_state::yielded ||
                       thread.state == thread_state::paused;
    if (!waits) continue;
    thread.on->start();
    idle_.push_back(thread.on);
  }
}

std::optional<std::string> block_runner::check_shared_red_zone() const {
  const std::size_t bytes = launch_->dynamic_shared_bytes;
  const unsigned char* const zone = lab_dynamic_shared + bytes;
  const unsigned char* const damage = std::find_if(
      zone, zone + red_zone_bytes, [](unsigned char byte) { return byte != device_memory::red_zone_byte; });
  if (damage == zone + red_zone_bytes) return std::nullopt;
  return format("%s: block %s: wrote at offset %td of its %zu bytes of dynamic shared memory",
                kernel_name(launch_->call.kernel).c_str(), text_of(current_block_index).c_str(),
                damage - lab_dynamic_shared, bytes);
}

// ---- a warp

void block_runner::select_warp(unsigned warp) {
  warp_ = warp;
  warp_begin_ = warp * 32;
  warp_lanes_ = std::min(32u, static_cast<unsigned>(threads_.size()) - warp_begin_);
}

// The next lane that can go on.
block_runner::emulated_thread* block_runner::next_runnable() {
  while (turn_ < warp_lanes_ && !stopping_) {
    const unsigned turn = turn_++;
    emulated_thread& thread = lane(launch_->reverse ? warp_lanes_ - 1 - turn : turn);
    if (thread.state == thread_state::fresh || thread.state == thread_state::ready) return &thread;
  }
  return nullptr;
}

// Likewise, or null if it is not of that kind; then its turn is still to come.
block_runner::emulated_thread* block_runner::next_runnable(thread_state kind) {
  emulated_thread* const next = next_runnable();
  if (next == nullptr || next->state == kind) return next;
  --turn_;
  return nullptr;
}

// Until each lane has left the kernel or waits at the block's barrier, or cannot go on.
void block_runner::run_warp() {
  bool progress = true;
  while (progress && !stopping_) {
    progress = false;
    turn_ = 0;
    while (emulated_thread* thread = next_runnable()) {
      progress = true;
      if (thread->state == thread_state::fresh) {
        thread->on = &idle_carrier();
        thread->on->thread = thread;
      }
      resume(*thread);
    }
    if (!stopping_ && (complete_collectives() || wake_paused())) progress = true;
    if (progress) stop_if_endless();
  }
}

unsigned block_runner::exited_lanes() const {
  unsigned lanes = 0;
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (threads_[warp_begin_ + number].state == thread_state::exited) lanes |= 1u << number;
  }
  if (warp_lanes_ < 32) lanes |= ~0u << warp_lanes_;  // lanes that the block does not have
  return lanes;
}

// Completes every collective whose lanes have all arrived.
bool block_runner::complete_collectives() {
  if (at_collective_ == 0) return false;
  const unsigned exited = exited_lanes();
  bool any = false;
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    emulated_thread& thread = lane(number);
    if (thread.state != thread_state::at_collective || thread.call->kind == collective::active_mask) continue;
    any |= complete_collective(*thread.call, exited);
  }
  // Only when nothing else can happen is it known which lanes an __activemask() would find side by side.
  return any || (!stopping_ && complete_active_masks());
}

bool block_runner::complete_collective(const collective_call& call, unsigned exited) {
  const unsigned arrived = call.mask & ~exited;
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (!(arrived >> number & 1)) continue;
    const emulated_thread& other = lane(number);
    if (other.state != thread_state::at_collective || other.call->kind != call.kind ||
        other.call->mask != call.mask || other.call->combine != call.combine ||
        other.call->perform != call.perform) {
      return false;
    }
  }
  if (call.kind == collective::whole_warp && arrived != ~0u) {
    failure_ = describe_lost_lane(call, arrived);
    stopping_ = true;
    return false;
  }
  if (call.kind == collective::shuffle) {
    if (auto wrong = read_from_nobody(arrived)) {
      // A program may leave the value unused, as a GPU's programs do; a stage is told not to count on that.
      if (!launch_->is_program) {
        failure_ = std::move(wrong);
        stopping_ = true;
        return false;
      }
      if (is_first_warning(launch_->call.kernel, "a lane that is not there"))
        add_diagnostic("warning: " + *wrong);
    }
  }

  unsigned votes = 0;
  std::optional<std::uint64_t> combined;
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (!(arrived >> number & 1)) continue;
    const std::uint64_t value = lane(number).call->value;
    if (value != 0) votes |= 1u << number;
    if (call.combine) combined = combined ? call.combine(*combined, value) : value;
  }
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (!(arrived >> number & 1)) continue;
    emulated_thread& self = lane(number);
    std::uint64_t value = 0;
    if (call.kind == collective::shuffle) {
      const unsigned source = self.call->source_lane;
      // A lane outside the mask, or one that is not there, gives an undefined value, which partial reductions
      // receive and never use.
      value = arrived >> source & 1 ? lane(source).call->value : 0xcdcdcdcdcdcdcdcdu;
    } else if (call.kind == collective::ballot) {
      value = votes;
    } else if (call.kind == collective::match) {
      for (unsigned other = 0; other < warp_lanes_; ++other) {
        if ((arrived >> other & 1) && lane(other).call->value == self.call->value) value |= 1u << other;
      }
    } else if (call.kind == collective::reduce) {
      value = *combined;
    }
    self.result = {value, arrived};
  }
  if (call.perform) {
    std::array<std::uint64_t, 32> values{};
    for (unsigned number = 0; number < values.size(); ++number) values[number] = lane(number).call->value;
    call.perform(values.data());
  }
  const bool synchronizes = call.kind == collective::synchronize;
  // Only now: `call` and the values lie on the stacks of threads that may run from here on.
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (arrived >> number & 1) lane(number).state = thread_state::ready;
  }
  at_collective_ -= static_cast<unsigned>(std::popcount(arrived));
  if (active_observer) active_observer->collective_passed(warp_, arrived, synchronizes);
  return true;
}

// The diagnostic of a shuffle that reads a lane of its own mask which is not there.
std::optional<std::string> block_runner::read_from_nobody(unsigned arrived) {
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (!(arrived >> number & 1)) continue;
    const emulated_thread& self = lane(number);
    const unsigned source = self.call->source_lane;
    if (!(self.call->mask >> source & 1) || (arrived >> source & 1)) continue;
    return prefix(self.call->where) + text_of_thread(self.index) + " reads lane " + format("%u", source) +
           " in " + self.call->name +
           (source < warp_lanes_ ? ", which has left the kernel" : ", which this block does not have");
  }
  return std::nullopt;
}

// The diagnostic of what all lanes of a warp have to do together, where some are not there.
std::string block_runner::describe_lost_lane(const collective_call& call, unsigned arrived) const {
  const auto number = static_cast<unsigned>(std::countr_one(arrived));
  const unsigned first = static_cast<unsigned>(std::countr_zero(arrived));
  return prefix(call.where) + text_of_thread(threads_[warp_begin_ + first].index) + " calls " + call.name +
         format(", for which all 32 lanes of a warp are needed, but lane %u ", number) +
         (number < warp_lanes_ ? "has left the kernel" : "is not in this block");
}

// Lanes that wait at one line are taken to run side by side.
bool block_runner::complete_active_masks() {
  const emulated_thread* first = nullptr;
  unsigned together = 0;
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    const emulated_thread& thread = lane(number);
    if (thread.state != thread_state::at_collective || thread.call->kind != collective::active_mask) continue;
    if (!first) first = &thread;
    if (same_place(first->call->where, thread.call->where)) together |= 1u << number;
  }
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (!(together >> number & 1)) continue;
    lane(number).result = {together, together};
    lane(number).state = thread_state::ready;
  }
  at_collective_ -= static_cast<unsigned>(std::popcount(together));
  return together != 0;
}

// ---- a block's barrier

// True if some lane of the warp had stopped for the observer.
bool block_runner::wake_paused() {
  if (paused_ == 0) return false;
  active_observer->make_room(warp_);
  for (unsigned number = 0; number < warp_lanes_; ++number) {
    if (lane(number).state == thread_state::paused) lane(number).state = thread_state::ready;
  }
  paused_ = 0;
  return true;
}

// True if some thread had given up its turn: it may go on now that all other warps have had theirs.
bool block_runner::wake_yielded() {
  if (yielded_ == 0) return false;
  for (emulated_thread& thread : threads_) {
    if (thread.state == thread_state::yielded) thread.state = thread_state::ready;
  }
  yielded_ = 0;
  return true;
}

// True if all threads of the block wait at one barrier: then they may pass. Otherwise no thread can go on.
bool block_runner::pass_barrier() {
  const bool all_of_them = at_barrier_ == threads_.size();
  const bool all_who_stayed =
      (active_observer != nullptr || launch_->is_program) && at_barrier_ + exited_ == threads_.size();
  bool together = all_of_them || all_who_stayed;
  const emulated_thread* first = nullptr;
  barrier_count_ = 0;
  for (const emulated_thread& thread : threads_) {
    if (thread.state != thread_state::at_barrier) continue;
    if (!first) first = &thread;
    together = together && same_place(thread.where, first->where);
    barrier_count_ += thread.predicate;
  }
  if (!together) {
    failure_ = describe_deadlock();
    stopping_ = true;
    return false;
  }
  if (!all_of_them) {
    if (active_observer) {
      active_observer->barrier_without_all(describe_uneven_barrier());
    } else if (is_first_warning(launch_->call.kernel, "a barrier")) {
      add_diagnostic("warning: " + describe_uneven_barrier());
    }
  }
  for (emulated_thread& thread : threads_) {
    if (thread.state == thread_state::at_barrier) thread.state = thread_state::ready;
  }
  at_barrier_ = 0;
  ++barrier_epoch;
  if (active_observer) active_observer->barrier_passed();
  return true;
}

std::string block_runner::prefix(place where, uint3 block) const {
  return text_of(where) + ": " + kernel_name(launch_->call.kernel) + ": block " + text_of(block) + ": ";
}

std::string block_runner::describe_deadlock() const {
  if (at_other_barriers_ != 0) return describe_waits();
  for (const emulated_thread& thread : threads_) {
    if (thread.state == thread_state::at_collective) {
      return prefix(thread.call->where) + text_of_thread(thread.index) + " waits in " + thread.call->name +
             format(" for the lanes of mask 0x%08x, but ", thread.call->mask) + describe_missing_lane(thread);
    }
  }
  return describe_uneven_barrier();
}

// Says what the first lane does that `waiting` waits for.
std::string block_runner::describe_missing_lane(const emulated_thread& waiting) const {
  const unsigned warp_begin = waiting.number / 32 * 32;
  for (unsigned number = warp_begin; number < std::min<std::size_t>(warp_begin + 32, threads_.size());
       ++number) {
    const emulated_thread& other = threads_[number];
    if (!(waiting.call->mask >> (number - warp_begin) & 1)) continue;
    if (other.state == thread_state::at_barrier) {
      return text_of_thread(other.index) + " waits at the block barrier at " + text_of(other.where);
    }
    if (other.state != thread_state::at_collective) continue;
    if (other.call->kind != waiting.call->kind || other.call->mask != waiting.call->mask ||
        other.call->combine != waiting.call->combine || other.call->perform != waiting.call->perform) {
      return text_of_thread(other.index) + " waits in " + other.call->name +
             format(" with mask 0x%08x at ", other.call->mask) + text_of(other.call->where);
    }
  }
  return "they never come";
}

std::string block_runner::describe_uneven_barrier() const {
  const emulated_thread* first = nullptr;
  const emulated_thread* gone = nullptr;
  for (const emulated_thread& thread : threads_) {
    if (thread.state == thread_state::exited) {
      if (!gone) gone = &thread;
      continue;
    }
    if (!first) first = &thread;
    if (!same_place(first->where, thread.where)) {
      return prefix(first->where) + text_of_thread(first->index) + " waits at this barrier, but " +
             text_of_thread(thread.index) + " waits at the one at " + text_of(thread.where);
    }
  }
  return prefix(first->where) + format("%u of %zu threads, ", at_barrier_, threads_.size()) +
         text_of_thread(first->index) + " first, wait at this barrier, but " + text_of_thread(gone->index) +
         " has left the kernel";
}

// ---- loops that wait
//
// A thread whose registers and stack are found again as they were before, with nothing new found of any other
// thread in between, does the same for ever: it can go on only if another thread changes memory. So others
// are let run, and when none is left that could, and all memory holds what it has held before, that is the
// end.
//
// Looked at are threads wherever a tick finds them, in code of the program's, and where they call the
// emulator: a loop that comes by such calls is judged there alone, since elsewhere the registers hold what
// the emulator has left in them.

void block_runner::forget_spins() {
  spins_.clear();
  quiet_ = 0;
  quiet_since_ = 0;
  quiet_memory_.clear();
  samples_left_ = 0;
  asked_ = nullptr;
  if (std::exchange(stuck_, false)) --launch_->stuck;
}

bool block_runner::repeats(unsigned thread, std::uint64_t state, const void* instruction, place where) {
  // Also in a signal handler: a kernel's code holds no lock of the allocator's.
  if (spins_.empty()) {
    allocates_for_itself = true;
    spins_.assign(threads_.size(), {});
    allocates_for_itself = false;
  }
  spin& known = spins_[thread];
  known.instruction = instruction;
  known.where = where;
  const unsigned count = std::min<unsigned>(known.count, static_cast<unsigned>(known.states.size()));
  if (std::find(known.states.begin(), known.states.begin() + count, state) != known.states.begin() + count) {
    ++quiet_;
    return true;
  }
  known.states[known.count++ % known.states.size()] = state;
  quiet_ = 0;
  quiet_since_ = 0;
  if (std::exchange(stuck_, false)) --launch_->stuck;
  return false;
}

bool block_runner::repeats_at_call(std::uint64_t state, const void* return_address, place where) {
  // The call lies before the address that it returns to.
  const auto call = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(return_address) - 1);
  const bool repeated = repeats(running_->number, state, call, where);
  spins_[running_->number].is_in_calls = true;
  return repeated;
}

// Of a thread that stops at a barrier or a collective. What is asked of the clock is asked elsewhere: it
// would stay on this stack, as something new.
void block_runner::sample() {
  if (active_observer) active_observer->leave_thread();
  --samples_left_;
  const place where = running_->state == thread_state::at_barrier      ? running_->where
                      : running_->state == thread_state::at_collective ? running_->call->where
                      : waits_at_other_barrier(running_->state)        ? running_->wait->where
                                                                       : place{};
  repeats_at_call(digest_of_caller(current_thread.stack_end), nullptr, where);
  if (active_observer) active_observer->enter_thread();
}

void block_runner::stop_if_endless() {
  const std::size_t live = threads_.size() - exited_;
  if (copies_.has_copies_in()) return;  // which may land
  if (stopping_ || live == 0 || spins_.empty() || quiet_ < live) return;
  if (launch_->waits_for_kernel) {
    waits_for_blocks_ = true;  // for what the kernel before writes, perhaps
    return;
  }
  for (unsigned rank = 0; cluster_ != nullptr && rank < cluster_->size(); ++rank) {
    if (rank == rank_ || cluster_->presence_of(rank) == block_cluster::presence::gone) continue;
    const block_runner& other = cluster_->block(rank);
    if (cluster_->presence_of(rank) == block_cluster::presence::present && other.is_quiet()) continue;
    quiet_since_ = 0;
    return;
  }
  // Where blocks start in an order of their own, one that waits for an earlier one is to be found soon: the
  // launch is repeated in ascending order, and nothing is held against it.
  const bool has_waited = launch_->reverse_blocks && now_ns() - began_ > 1'000'000'000;
  if (!has_waited && !waits_for_ever()) return;
  failure_ = describe_endless_loop();
  stopping_ = true;
}

// Of all that the threads of the block can read; empty where that is not known.
std::optional<std::uint64_t> block_runner::digest_of_all_memory() const {
  std::optional<std::uint64_t> digest = digest_of_kernels_memory();
  if (!digest) return std::nullopt;
  if (cluster_ != nullptr) *digest ^= cluster_->digest();
  digest = digest_of(*digest, lab_dynamic_shared, lab_dynamic_shared + launch_->dynamic_shared_bytes);
  for (const shared_variable& variable : launch_->shared_variables) {
    const auto* const begin = reinterpret_cast<const char*>(thread_local_memory_.begin + variable.offset);
    digest = digest_of(*digest, begin, begin + variable.bytes);
  }
  return digest;
}

// Whether nothing new was found for so long, in no block that runs, of the threads and of memory.
bool block_runner::waits_for_ever() {
  constexpr std::int64_t patience = 500'000'000, patience_without_memory = 10'000'000'000;
  const std::int64_t now = now_ns();
  if (quiet_since_ == 0) {
    quiet_since_ = now;
    quiet_memory_.clear();
  }
  if (now - quiet_since_ < patience) return false;
  // One block stands for all of a cluster, which share an OS thread.
  bool another_is_stuck = false;
  for (unsigned rank = 0; cluster_ != nullptr && rank < cluster_->size(); ++rank)
    another_is_stuck = another_is_stuck || (rank != rank_ && cluster_->block(rank).stuck_);
  if (!another_is_stuck && !std::exchange(stuck_, true)) ++launch_->stuck;
  if (launch_->stuck < launch_->running) return false;
  const auto memory = digest_of_all_memory();
  if (!memory) return now - quiet_since_ > patience_without_memory;
  const bool is_known = std::find(quiet_memory_.begin(), quiet_memory_.end(), *memory) != quiet_memory_.end();
  if (!is_known) quiet_memory_.push_back(*memory);
  quiet_since_ = now_ns();  // once more, now that others may see it
  return is_known;
}

std::string block_runner::describe_endless_loop() const {
  if (std::any_of(threads_.begin(), threads_.end(), may_give_up)) return describe_waits();
  const emulated_thread* first = nullptr;
  const emulated_thread* waiting = nullptr;
  for (const emulated_thread& thread : threads_) {
    const bool blocked = thread.state == thread_state::at_barrier ||
                         thread.state == thread_state::at_collective || waits_at_other_barrier(thread.state);
    if (!first && spins_[thread.number].instruction != nullptr && thread.state != thread_state::exited &&
        !blocked)
      first = &thread;
    if (!waiting && thread.state == thread_state::at_barrier) waiting = &thread;
  }
  if (!first) first = running_;
  const spin& loop = spins_[first->number];
  std::string line = text_of_instruction(loop.instruction);
  if (line.empty() && loop.where.line != 0) line = text_of(loop.where) + ": ";
  std::string text = line + kernel_name(launch_->call.kernel) + ": block " + text_of(current_block_index) +
                     ": " + text_of_thread(first->index) +
                     " waits in a loop for ever: no thread that can still run changes what it reads";
  if (loop.tried != nullptr) text += "; it asks for " + copies_.text_of_phase(loop.tried);
  if (waiting)
    text += "; " + text_of_thread(waiting->index) + " waits at the barrier at " + text_of(waiting->where);
  const std::uint64_t blocks = std::uint64_t{launch_->grid.x} * launch_->grid.y * launch_->grid.z;
  const std::uint64_t next = launch_->next_block;
  if (next < blocks) {
    text += "; block " + text_of(launch_->block_at(next)) +
            " and those behind it start when earlier ones have ended";
  }
  return text;
}

// Called in a signal handler, of whatever was interrupted.
void block_runner::tick(void* context) {
  const std::uintptr_t stack = stack_pointer(context);
  if (running_ == nullptr || stopping_ || stack < current_thread.stack_begin ||
      stack >= current_thread.stack_end)
    return;
  const std::uintptr_t instruction = instruction_pointer(context);
  // Samples cost more than ticks do.
  constexpr unsigned ticks_for_samples = 8;
  if (!active_observer || ++ticks_ % ticks_for_samples == 0) look_at_stops();
  // An observed kernel is in the emulator most of the time, which leaves traces in the registers between.
  if (active_observer || looks_up_line || !is_users_code(instruction)) return;
  if (launch_->first_failed_block.load(std::memory_order_relaxed) < block_number_) leave_for_good();
  if (!spins_.empty() && std::exchange(spins_[running_->number].is_in_calls, false)) return;
  if (!repeats(running_->number, digest_of_interrupted(context, current_thread.stack_end),
               reinterpret_cast<const void*>(instruction))) {
    return;
  }
  give_way();
}

void block_runner::give_way() {
  running_->state = thread_state::yielded;
  ++yielded_;
  switch_to_scheduler(*running_->on);
}

// ---- what the running thread asks for

unsigned block_runner::wait_at_barrier(bool predicate, place where) {
  running_->predicate = predicate;
  running_->where = where;
  running_->state = thread_state::at_barrier;
  ++at_barrier_;
  suspend();
  return barrier_count_;
}

collective_result block_runner::wait_for_lanes(const collective_call& call) {
  if (!(call.mask >> (running_->number % 32) & 1)) {
    fail(call.where, format("calls %s with mask 0x%08x, which does not contain its own lane %u", call.name,
                            call.mask, running_->number % 32));
  }
  emulated_thread& self = *running_;
  self.call = &call;
  self.state = thread_state::at_collective;
  ++at_collective_;
  suspend();
  return self.result;
}

void block_runner::yield_from(const void* instruction) {
  stop_if_launch_failed();
  // A loop that calls __nanosleep may stop nowhere else.
  if (!spins_.empty() || samples_left_ != 0)
    repeats_at_call(digest_of_caller(current_thread.stack_end), instruction);
  give_way();
}

void block_runner::pause() {
  // A thread with much to say may be one that waits in a loop.
  if (samples_left_ != 0) {
    --samples_left_;
    if (repeats(running_->number, digest_of_caller(current_thread.stack_end),
                active_observer->last_seen_at())) {
      return give_way();
    }
  }
  running_->state = thread_state::paused;
  ++paused_;
  suspend();
}

void block_runner::fail(place where, const std::string& what) {
  if (active_observer) active_observer->leave_thread();
  failure_ = prefix(where) + text_of_thread(running_->index) + " " + what;
  stopping_ = true;
  leave_for_good();
}

void block_runner::fail_assertion(const char* condition, place where) {
  if (active_observer) active_observer->leave_thread();
  launch_->error = cudaErrorAssert;
  fail(where, std::string("fails the assertion `") + condition + "`");
}

void block_runner::fail_at(const void* instruction, const std::string& what, cudaError_t error) {
  if (active_observer) active_observer->leave_thread();
  launch_->error = error;
  failure_ = text_of_instruction(instruction) + kernel_name(launch_->call.kernel) + ": block " +
             text_of(current_block_index) + ": " + text_of_thread(running_->index) + " " + what;
  leave_for_good();
}

void block_runner::abandon(const std::string& diagnostic, cudaError_t error) {
  launch_->error = error;
  failure_ = diagnostic;
  leave_for_good();
}

void block_runner::note_fault(const machine_fault& fault) {
  if (active_observer) active_observer->leave_thread();
  failure_ = text_of_instruction(fault.instruction) + kernel_name(launch_->call.kernel) + ": block " +
             text_of(current_block_index) + ": " + text_of_thread(running_->index) + " ";
  // Frames may reach over the inaccessible page below the stack.
  const std::uintptr_t lowest = 2 * current_thread.stack_begin - current_thread.stack_end;
  const auto address = reinterpret_cast<std::uintptr_t>(fault.address);
  if (!fault.in_memory) {
    *failure_ += fault.what;
  } else if (address >= lowest && address < current_thread.stack_end) {
    *failure_ += format("needs more than %zu KiB of stack, where cudaLimitStackSize is %zu bytes",
                        stack_bytes_ / 1024, stack_limit.load());
  } else if (is_in_cluster(fault.address)) {
    *failure_ += fault.what + (" " + cluster_->describe(fault.address));
  } else {
    *failure_ += fault.what + (" " + device_memory::instance().describe(fault.address));
  }
  if (fault.in_memory) launch_->error = cudaErrorIllegalAddress;
}

long long block_runner::count_clock_call(const void* instruction) {
  const auto place = reinterpret_cast<std::uintptr_t>(instruction);
  return ++launch_->clock_calls[(place ^ place >> 6) % launch_->clock_calls.size()];
}

// Ends the thread, and the block. The thread's locals are not destroyed.
void block_runner::leave_for_good() {
  stopping_ = true;
  running_->state = thread_state::exited;
  ++exited_;
  running_->on->lost = true;
  switch_to_scheduler(*running_->on);
  std::abort();  // not reached
}

void block_runner::stop_if_launch_failed() {
  if (launch_->first_failed_block.load(std::memory_order_relaxed) < block_number_) {
    leave_for_good();
  }
}

// Whether the running thread, and no other one in between, has found one word unchanged so often that it may
// wait for another one of its block, which no tick has to find out then.
bool block_runner::asks_again(const void* address, std::size_t bytes) {
  constexpr unsigned often = 256;
  const bool is_same = address == asked_ && running_->number == asks_;
  // A word that was changed before can be read.
  std::uint64_t value = 0;
  if (is_same) std::memcpy(&value, address, std::min(bytes, sizeof value));
  if (!is_same || value != found_) {
    asked_ = address;
    asks_ = running_->number;
    found_ = value;
    times_asked_ = 0;
  }
  if (++times_asked_ < often) return false;
  times_asked_ = 0;
  return true;
}

void block_runner::pass_atomic(const void* address, std::size_t bytes, const void* return_address) {
  stop_if_launch_failed();
  if (samples_left_ == 0) [[likely]] {
    if (asks_again(address, bytes)) give_way();
    return;
  }
  --samples_left_;
  if (active_observer) active_observer->leave_thread();
  std::uint64_t value = 0;
  std::memcpy(&value, address, std::min(bytes, sizeof value));
  const std::uint64_t state = digest_of(digest_of_caller(current_thread.stack_end), &value, &value + 1);
  if (repeats_at_call(state, return_address)) {
    return give_way();
  }
  if (active_observer) active_observer->enter_thread();
}

// ---- the functions that kernels call

bool divert_fault(const machine_fault& fault, void* context) {
  if (current_runner == nullptr) return false;
  // A function's frame may reach beyond the stack's end before it is touched.
  const std::uintptr_t lowest = 2 * current_thread.stack_begin - current_thread.stack_end;
  const std::uintptr_t stack = stack_pointer(context);
  if (stack < lowest || stack >= current_thread.stack_end) return false;  // the scheduler's own
  last_fault = fault;
  const auto leave = [] {
    current_runner->note_fault(last_fault);
    current_runner->leave_for_good();
  };
  return go_on_at(context, leave, std::max(stack, current_thread.stack_begin + stack_needed_to_leave));
}

void tick(void* context) {
  if (current_runner != nullptr) current_runner->tick(context);
}

bool is_on_another_stack(std::uintptr_t address) {
  return current_runner->is_stack(address);
}

block_runner& running_block() {
  return *current_runner;
}
bool inside_kernel() {
  return current_runner != nullptr;
}

void stop_if_launch_failed() {
  if (current_runner) current_runner->stop_if_launch_failed();
}
void pass_atomic(const void* address, std::size_t bytes, const void* return_address) {
  if (current_runner) current_runner->pass_atomic(address, bytes, return_address);
}

unsigned wait_at_barrier(bool predicate, place where) {
  return current_runner->wait_at_barrier(predicate, where);
}
collective_result wait_for_lanes(const collective_call& call) {
  return current_runner->wait_for_lanes(call);
}
void wait_for_all_blocks(place where) {
  current_runner->wait_for_all_blocks(where);
}
void wait_for_kernel_before(place where) {
  current_runner->wait_for_kernel_before(where);
}
void trigger_dependents() {
  current_runner->trigger_dependents();
}
void initialise_phases(std::uint64_t* barrier, int arrivals, place where) {
  current_runner->initialise_phases(barrier, arrivals, where, __builtin_return_address(0));
}
unsigned arrive_in_phase(std::uint64_t* barrier, bool arrives, std::int64_t bytes, place where, bool drops) {
  return current_runner->arrive_in_phase(barrier, arrives, bytes, where, drops, __builtin_return_address(0));
}
void wait_for_phase(std::uint64_t* barrier, unsigned phase, place where) {
  current_runner->wait_for_phase(barrier, phase, false, where, __builtin_return_address(0));
}
bool try_wait_for_phase(std::uint64_t* barrier, unsigned phase, place where) {
  return current_runner->wait_for_phase(barrier, phase, true, where, __builtin_return_address(0));
}
void fence_phases() {
  current_runner->fence_phases();
}
void fence_proxies() {
  current_runner->fence_proxies();
}
void copy_in_bulk(void* shared, const void* global, std::int64_t bytes, std::uint64_t* barrier,
                  std::optional<unsigned> blocks, place where) {
  current_runner->copy_in_bulk(shared, global, bytes, barrier, blocks, where, __builtin_return_address(0));
}
void copy_out_in_bulk(void* global, const void* shared, std::int64_t bytes, place where) {
  current_runner->copy_out_in_bulk(global, shared, bytes, where, __builtin_return_address(0));
}
void check_prefetch(const void* global, std::int64_t bytes, place where) {
  current_runner->check_prefetch(global, bytes, where);
}
void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t taken) {
  current_runner->begin_copy(to, from, bytes, taken, __builtin_return_address(0));
}
void commit_copies() {
  current_runner->commit_copies();
}
void wait_for_copies(std::size_t prior, bool all) {
  current_runner->wait_for_copies(prior, all);
}
void arrive_behind_copies(std::uint64_t* barrier, bool is_extra, place where) {
  current_runner->arrive_behind_copies(barrier, is_extra, where, __builtin_return_address(0));
}
void commit_copies_out() {
  current_runner->commit_copies_out();
}
void wait_for_copies_out(std::size_t pending, bool written) {
  current_runner->wait_for_copies_out(pending, written);
}
unsigned wait_at_named_barrier(int name, std::optional<int> threads, bool predicate, place where) {
  return current_runner->wait_at_named_barrier(name, threads, predicate, where);
}
void arrive_at_named_barrier(int name, int threads, place where) {
  current_runner->arrive_at_named_barrier(name, threads, where);
}
void change_registers(int count, bool takes, place where) {
  current_runner->change_registers(count, takes, where);
}
dim3 cluster_shape() {
  return current_runner->cluster_shape();
}
unsigned cluster_rank() {
  return current_runner->cluster_rank();
}
void arrive_in_cluster(place where) {
  current_runner->arrive_in_cluster(where);
}
void wait_for_cluster(place where) {
  current_runner->wait_for_cluster(where);
}
void* map_to_block(const void* own, unsigned rank, place where) {
  return current_runner->map_to_block(own, rank, where);
}
void* reach_block(const void* own, unsigned rank, place where) {
  return current_runner->reach_block(own, rank, where);
}
void copy_to_block(void* there, const void* shared, std::int64_t bytes, std::uint64_t* barrier, place where) {
  current_runner->copy_to_block(there, shared, bytes, barrier, where, __builtin_return_address(0));
}
bool is_in_cluster(const void* address) {
  return current_runner != nullptr && current_runner->is_in_cluster(address);
}
place_in_cluster find_in_cluster(const void* address) {
  return current_runner->find_in_cluster(address);
}
const void* address_for_neighbours(const void* own) {
  return current_runner->address_for_neighbours(own);
}
std::string describe_absence(const void* address) {
  return current_runner->describe_absence(address);
}
void pause_thread() {
  current_runner->pause();
}
void fail_launch(const std::string& diagnostic, cudaError_t error) {
  current_runner->abandon(diagnostic, error);
}
void yield_thread() {
  current_runner->yield_from(__builtin_return_address(0));
}
void refuse_misaligned(const void* address, std::size_t bytes) {
  if (current_runner == nullptr) return;
  current_runner->fail_at(__builtin_return_address(0), misaligned_access(address, bytes, "accesses"),
                          cudaErrorMisalignedAddress);
}

void fail_thread(place where, const std::string& what) {
  current_runner->fail(where, what);
}

void trap(place where) {
  current_runner->fail(where, "calls __trap()");
}

void fail_assertion(const char* condition, const char* file, unsigned line) {
  if (current_runner != nullptr) current_runner->fail_assertion(condition, {file, static_cast<int>(line)});
}

void refuse_width(const char* name, int width, place where) {
  current_runner->fail(where,
                       format("calls %s with width %d, which is no power of two up to 32", name, width));
}

void fence() {
  stop_if_launch_failed();
  if (active_observer) active_observer->fence_passed();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void release_only() {
  if (active_observer) active_observer->release_only();
}

// What a misaligned access does, in words.
std::string misaligned_access(const void* address, std::size_t bytes, const char* verb) {
  return format("%s %zu bytes %s, at an address that is no multiple of %zu: misaligned", verb, bytes,
                device_memory::instance().describe(address).c_str(), bytes);
}

long long ticks() {
  note_side_effect(effect::is_seen, __builtin_return_address(0));
  // A place that has asked a million times waits for time to pass, which then goes faster and faster.
  constexpr long long patience = 1 << 20, calls_to_double = 64, most_doublings = 24;
  static std::atomic<long long> count{0};
  const long long calls =
      current_runner == nullptr ? 0 : current_runner->count_clock_call(__builtin_return_address(0));
  return count += 1ll << std::clamp((calls - patience) / calls_to_double, 0ll, most_doublings);
}

}  // namespace lab::emulator

// What assert() calls, instead of the C library's: within a kernel it fails the launch.
extern "C" void __assert_fail(const char* condition, const char* file, unsigned line,
                              const char* function) noexcept {
  lab::emulator::fail_assertion(condition, file, line);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
  std::abort();
}
