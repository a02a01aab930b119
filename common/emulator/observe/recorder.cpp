#include "common/emulator/observe/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "common/emulator/core/built_in_variables.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/elf_file.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/observe/metrics.hpp"

namespace lab::emulator {

constinit callbacks the_callbacks{};
constinit thread_local running_lane the_lane{};

namespace {

const char* verb_of(memory_operation operation) {
  return operation == memory_operation::load    ? "reads"
         : operation == memory_operation::store ? "writes"
                                                : "atomically changes";
}

uint3 block_in(dim3 grid, std::uint64_t number) {
  return {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
          static_cast<unsigned>(number / grid.x / grid.y)};
}

// "_ZZN3lab4copyEvE4tile" -> "tile"
std::string shared_variable_name(const std::string& mangled) {
  const std::string name = demangled(mangled.c_str());
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

observation::observation() : recorder_(std::make_unique<recorder>()) {}
observation::~observation() = default;
std::vector<observed_kernel> observation::kernels() const {
  return recorder_->kernels();
}
const std::vector<observed_fault>& observation::faults() const {
  return recorder_->faults();
}
const std::vector<std::string>& observation::warnings() const {
  return recorder_->warnings();
}
void observation::use_compiled_code(std::string_view listing) {
  recorder_->use_compiled_code(listing);
}
void observation::keep_block(std::uint64_t number) {
  recorder_->keep_block(number);
}
const std::vector<observed_block>& observation::kept_blocks() const {
  return recorder_->kept_blocks();
}

observation::recorder::recorder() {
  if (active_observer != nullptr) throw std::logic_error("kernels are being observed already");
  const device_memory::range device = device_memory::instance().addresses();
  if (the_program().bytes >= site_table::offset_limit)
    throw std::logic_error("the program is too large to be observed");
  for (const memory_range& one : virtual_tables()) {
    tables_begin_ = tables_begin_ == 0 ? one.begin : std::min(tables_begin_, one.begin);
    tables_end_ = std::max(tables_end_, one.begin + one.bytes);
  }
  the_callbacks = {.device_begin = device.begin,
                   .device_bytes = device.bytes,
                   .program_begin = the_program().begin,
                   .observer = this};
  active_observer = this;
}

observation::recorder::~recorder() {
  active_observer = nullptr;
  the_callbacks = {};
  the_lane = {};
}

// ---- the launch

void observation::recorder::begin_launch(const kernel_call& call, dim3 grid, dim3 block,
                                         std::size_t dynamic_shared_bytes) {
  const void* const kernel = call.kernel;
  is_early_ = std::exchange(begins_early_, false);
  if (is_early_) before_ = {kernel_name_, grid_, block_size_};
  told_beyond_.clear();
  cluster_ = call.cluster.value_or(dim3{});
  cluster_began_ = shared_shadow::no_cluster;
  kernel_name_ = kernel_name(kernel);
  arguments_begin_ = reinterpret_cast<std::uintptr_t>(call.arguments);
  host_stack_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  argument_bytes_ = call.argument_bytes;
  find_host_pointers();
  saw_events_ = false;
  launch_failure_.reset();
  flags_.clear();
  const auto found =
      std::find_if(records_.begin(), records_.end(), [&](const auto& one) { return one->kernel == kernel; });
  if (found == records_.end()) {
    records_.push_back(std::make_unique<kernel_record>(
        kernel_record{.kernel = kernel, .name = kernel_name_, .sites = site_table(the_program().bytes)}));
    record_ = records_.back().get();
    if (compiled_code_) {
      begin_compiled(compiled_code_->find(mangled_name(kernel)));
      record_->awaits_function = !record_->compiled;
    }
  } else {
    record_ = found->get();
  }
  ++record_->launches;
  record_->cluster_blocks =
      call.cluster ? std::uint64_t{call.cluster->x} * call.cluster->y * call.cluster->z : 0;
  record_->blocks += std::uint64_t{grid.x} * grid.y * grid.z;
  record_->block_threads += std::uint64_t{block.x} * block.y * block.z;
  grid_ = grid;
  block_size_ = block;
  if (record_->compiled) record_->compiled->begin_launch(threads_of_launch());
  dynamic_bytes_ = dynamic_shared_bytes;
  reported_.clear();
  {
    const std::lock_guard lock(ahead_mutex_);
    global_.begin_launch(grid, cluster_, is_early_);
    std::erase_if(unfinished_, [this](const unfinished_launch& one) {
      return one.first_block >= global_.first_block() || is_done(one.work);
    });
    if (unfinished_.empty()) mapped_writes_.clear();
    first_block_ = global_.first_block();
  }
  counting_.begin(configuration().threads - 1);
}

void observation::recorder::begin_compiled(const compiled_kernel* code) {
  if (code == nullptr) return;
  record_->compiled = std::make_unique<compiled_counts>(*code, [](std::uint32_t place) {
    const source_line& line = line_of(place);
    return compiled_counts::line{line.file, line.outside_of_kernel ? 0 : line.line};
  });
}

std::uint64_t observation::recorder::threads_of_launch() const {
  return std::uint64_t{grid_.x} * grid_.y * grid_.z * block_size_.x * block_size_.y * block_size_.z;
}

void observation::recorder::end_grid() {
  counting_.finish(record_->sites);
}

void observation::recorder::begin_counts() {
  counted_before_ = record_->sites.counters();
  barriers_before_ = record_->barriers;
  collectives_before_ = record_->collectives;
  bulk_before_ = record_->bulk;
  compiled_before_ = record_->compiled ? record_->compiled->snapshot() : nullptr;
}

std::function<void()> observation::recorder::end_counts() {
  counted_before_.resize(record_->sites.counters().size());
  auto counted = std::make_shared<std::vector<site_counters>>(record_->sites.counters());
  for (std::size_t number = 0; number < counted->size(); ++number)
    (*counted)[number] -= counted_before_[number];
  std::shared_ptr<compiled_counts::totals> compiled;
  if (record_->compiled) compiled = record_->compiled->since(*compiled_before_);
  return [this, record = record_, barriers = record_->barriers - barriers_before_,
          collectives = record_->collectives - collectives_before_, bulk = record_->bulk.since(bulk_before_),
          counted, compiled] {
    saw_events_ = true;
    record->barriers += barriers;
    record->collectives += collectives;
    record->bulk.add(bulk);
    record->sites += *counted;
    if (compiled) record->compiled->add(*compiled);
  };
}

// Also those within structures.
void observation::recorder::find_host_pointers() {
  host_pointers_.clear();
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= argument_bytes_; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(arguments_begin_ + at), sizeof word);
    const auto* const pointer = reinterpret_cast<const void*>(word);
    const bool is_program = word - the_program().begin < the_program().bytes;
    if (!is_program && device_memory::instance().is_host_memory(pointer)) host_pointers_.push_back(word);
  }
}

std::optional<std::string> observation::recorder::end_launch() {
  for (const auto& [place, flag] : flags_) {
    add_warning(flag.text + "; all who write there write the same value, and test it before");
  }
  flags_.clear();
  judge_loads();
  same_values_.clear();
  resting_.clear();
  // What a kernel writes that is not observed nobody knows.
  if (!saw_events_) device_memory::instance().note_all_written();
  global_.end_launch();
  if (host_is_ahead) {
    const std::lock_guard lock(ahead_mutex_);
    unfinished_.push_back({first_block_, global_.last_block(), kernel_name_, latest_work()});
  }
  the_lane.set_stream(nullptr);
  the_lane.shared_bytes = 0;
  the_lane.stack_bytes = 0;
  record_ = nullptr;
  return std::exchange(launch_failure_, std::nullopt);
}

void observation::recorder::find_shared_memory() {
  const thread_local_range memory = thread_local_memory();
  dynamic_begin_ = reinterpret_cast<std::uintptr_t>(lab_dynamic_shared);
  the_lane.shared_bytes = memory.bytes;
  the_lane.shared_begin = memory.begin;
  if (shared_begin_ != memory.begin) shadows_.clear();
  shared_begin_ = memory.begin;
  shared_ = &shadow_of(rank_);
  global_.set_order(*shared_);
}

shared_shadow& observation::recorder::shadow_of(unsigned rank) {
  if (rank >= shadows_.size()) shadows_.resize(rank + 1);
  if (shadows_[rank]) return *shadows_[rank];
  shadows_[rank] = std::make_unique<shared_shadow>(epochs_);
  shared_shadow& made = *shadows_[rank];
  const thread_local_range memory = thread_local_memory();
  made.resize(memory.bytes);
  // Between variables and in the emulator's own, as far as the program's symbols say which these are.
  if (!program_symbols().empty()) made.mark(0, memory.bytes, shared_shadow::use::outside);
  for (const program_symbol& symbol : program_symbols()) {
    if (!symbol.is_function && !is_of_emulator(symbol))
      made.mark(symbol.value, symbol.bytes, shared_shadow::use::shared);
  }
  made.mark(reinterpret_cast<std::uintptr_t>(lab_dynamic_shared) - memory.begin, sizeof lab_dynamic_shared,
            shared_shadow::use::shared);
  const auto ignore = [&](const auto& variable) {
    made.mark(reinterpret_cast<std::uintptr_t>(&variable) - memory.begin, sizeof variable,
              shared_shadow::use::ignored);
  };
  ignore(current_thread_index);
  ignore(current_block_index);
  ignore(current_block_size);
  ignore(current_grid_size);
  ignore(current_thread);
  return made;
}

void observation::recorder::name_block(uint3 block) {
  block_ = block;
  block_number_ = number_of(block);
  const uint3 within{block.x % cluster_.x, block.y % cluster_.y, block.z % cluster_.z};
  rank_ = (within.z * cluster_.y + within.y) * cluster_.x + within.x;
  const uint3 first{block.x - within.x, block.y - within.y, block.z - within.z};
  const bool is_same =
      first.x == first_of_cluster_.x && first.y == first_of_cluster_.y && first.z == first_of_cluster_.z;
  if (cluster_.x * cluster_.y * cluster_.z == 1 || (is_same && cluster_began_ != shared_shadow::no_cluster))
    return;
  first_of_cluster_ = first;
  cluster_began_ = ++epochs_;
  told_beyond_.clear();
}

uint3 observation::recorder::block_of_rank(unsigned rank) const {
  return {first_of_cluster_.x + rank % cluster_.x, first_of_cluster_.y + rank / cluster_.x % cluster_.y,
          first_of_cluster_.z + rank / cluster_.x / cluster_.y};
}

void observation::recorder::begin_block(uint3 block) {
  name_block(block);
  find_shared_memory();
  block_failure_.reset();
  unwritten_reads_.clear();
  late_reads_.clear();
  late_delivered_.clear();
  trace_.begin_block();
  shared_->begin_block(rank_, cluster_began_);
  in_flight_.clear();
  bulk_.clear();
  has_bulk_tiles_ = false;
  global_.begin_block(block_number_);
  the_known_reads.begin_epoch();
  if (wanted_block_ == block_number_ && !record_->kept) begin_log();
  if (record_->compiled) record_->compiled->begin_block();
  set_sink();
}

// Nobody who has to be told of each request: warps are counted faster, and elsewhere.
void observation::recorder::set_sink() {
  counter_.set_sink(log_ != nullptr || record_->compiled || record_->awaits_function ? this : nullptr);
}

std::optional<std::string> observation::recorder::end_block(bool completed) {
  if (the_lane.unfinished) after_access();
  if (completed) {
    report_unwritten_reads();
    report_late_reads();
  }
  log_ = nullptr;
  if (record_->compiled) record_->compiled->end_block();
  counter_.set_sink(nullptr);
  return std::exchange(block_failure_, std::nullopt);
}

void observation::recorder::rest_block() {
  if (the_lane.unfinished) after_access();
  report_unwritten_reads();
  report_late_reads();
  late_delivered_.clear();
  rest_in_cluster();
}

void observation::recorder::rest_in_cluster() {
  if (the_lane.unfinished) after_access();
  resting_[block_number_] = {.depths = trace_.depths(),
                             .log = log_,
                             .has_bulk_tiles = has_bulk_tiles_,
                             .bulk = std::move(bulk_),
                             .in_flight = std::move(in_flight_),
                             .unwritten_reads = std::move(unwritten_reads_),
                             .late_reads = std::move(late_reads_),
                             .late_delivered = std::move(late_delivered_)};
  bulk_.clear();
  in_flight_.clear();
  unwritten_reads_.clear();
  late_reads_.clear();
  late_delivered_.clear();
  log_ = nullptr;
  if (record_->compiled) record_->compiled->end_block();
  counter_.set_sink(nullptr);
}

void observation::recorder::grid_passed() {
  global_.grid_passed();
}

void observation::recorder::resume_block(uint3 block) {
  name_block(block);
  resting_block& then = resting_[block_number_];
  trace_.set_depths(then.depths);
  log_ = then.log;
  has_bulk_tiles_ = then.has_bulk_tiles;
  bulk_ = std::move(then.bulk);
  in_flight_ = std::move(then.in_flight);
  unwritten_reads_ = std::move(then.unwritten_reads);
  late_reads_ = std::move(then.late_reads);
  late_delivered_ = std::move(then.late_delivered);
  set_sink();
  shared_ = &shadow_of(rank_);
  global_.set_order(*shared_);
  if (cluster_began_ == shared_shadow::no_cluster) shared_->resume_block();
  global_.begin_block(block_number_);
  the_known_reads.begin_epoch();
}

void observation::recorder::enter_thread() {
  if (the_lane.unfinished) after_access();
  if (current_thread.number / warp_lanes != the_lane.thread / warp_lanes) the_known_reads.begin_turn();
  the_lane.set_stream(&trace_.stream(current_thread.number % warp_lanes));
  the_lane.thread = current_thread.number;
  the_lane.stack_begin = current_thread.stack_begin;
  the_lane.stack_bytes = current_thread.stack_end - current_thread.stack_begin;
}

void observation::recorder::leave_thread() {
  if (the_lane.unfinished) after_access();
  the_lane.set_stream(nullptr);
}

const void* observation::recorder::last_seen_at() {
  const lane_stream& stream = trace_.stream(current_thread.number % warp_lanes);
  if (stream.count == 0) return nullptr;
  // One less than what a call returns to.
  return reinterpret_cast<const void*>(the_callbacks.program_begin +
                                       place_of(stream.codes[stream.count - 1]) - 1);
}

void observation::recorder::barrier_passed() {
  ++record_->barriers;
  if (log_ != nullptr) log_->barrier_passed();
  record_->awaits_function = false;  // what was before is not counted
  if (record_->compiled) {
    const std::uint64_t threads = std::uint64_t{block_size_.x} * block_size_.y * block_size_.z;
    record_->compiled->barrier_passed(barrier_is_partial_ ? std::nullopt : std::optional(threads));
  }
  barrier_is_partial_ = false;
  report_unwritten_reads();
  shared_->barrier_passed();
  global_.barrier_passed();
  the_known_reads.begin_epoch();
}

void observation::recorder::barrier_without_all(const std::string& warning) {
  barrier_is_partial_ = true;
  if (warnings_.empty()) warnings_.push_back(warning);
}

void observation::recorder::add_warning(const std::string& text) {
  constexpr std::size_t max_warnings = 20;
  if (warnings_.size() < max_warnings &&
      std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end())
    warnings_.push_back(text);
}

void observation::recorder::collective_passed(unsigned warp, unsigned lanes, bool orders_memory) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (trace_.stream(lane).count == lane_stream::capacity + lane_stream::slack) make_room(warp);
  }
  trace_.meet(lanes);
  if (!orders_memory) {
    ++record_->collectives;
    return;
  }
  shared_->warp_synchronized(warp, lanes);
  the_known_reads.begin_turn();
}

void observation::recorder::make_room(unsigned warp) {
  count(warp, trace_.full_streams());
}

void observation::recorder::leave_warp(unsigned warp) {
  if (!saw_events_) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      saw_events_ = saw_events_ || trace_.stream(lane).count != 0;
  }
  count(warp, 0);
}

// Here, or elsewhere while the kernel goes on, if that is worth it. A log needs its requests in their order.
void observation::recorder::count(unsigned warp, unsigned to_come) {
  if (!counter_.has_sink() && counting_.may_take(trace_)) {
    if (auto empty = counting_.take_empty())
      return counting_.give(trace_.hand_over(warp, to_come, std::move(empty)));
  }
  counter_.count(trace_.group(warp, to_come), record_->sites);
  trace_.forget_grouped();
}

void observation::recorder::fence_passed() {
  const unobserved here;
  global_.fence_passed();
  shared_->fence_passed(current_thread.number);
  the_known_reads.begin_turn();
}

void observation::recorder::proxy_fence_passed() {
  const unobserved here;
  shared_->proxy_fence_passed(the_lane.thread);
}

void observation::recorder::release_only() {
  shared_->release_only(current_thread.number);
}

void observation::recorder::kernel_before_waited_for() {
  static const auto waited = std::make_shared<const shared_shadow::beyond_block>(
      shared_shadow::beyond_block{.blocks = {}, .kernel_before = true});
  const unobserved here;
  if (is_early_) shared_->be_told(the_lane.thread, waited);
}

// Whether the running thread is told what others have done.
bool observation::recorder::strong_access(std::uintptr_t address, memory_operation operation) {
  const bool is_told = shared_->strong_access(the_lane.thread, address, operation);
  const bool is_clustered = cluster_began_ != shared_shadow::no_cluster;
  if (!is_clustered && !is_early_) return is_told;
  if (address - the_lane.shared_begin < the_lane.shared_bytes) {
    // Blocks that are no neighbours have shared memory at the same address, and tell each other nothing
    // there.
    address =
        is_clustered
            ? reinterpret_cast<std::uintptr_t>(address_for_neighbours(reinterpret_cast<const void*>(address)))
            : address ^ (block_number_ + 1) << 48;
  }
  if (operation != memory_operation::load) {
    shared_shadow::shared_beyond& told = told_beyond_[address];
    told = shared_shadow::join(told, shared_->tell(the_lane.thread));
  }
  if (const auto told = told_beyond_.find(address); is_told && told != told_beyond_.end())
    shared_->be_told(the_lane.thread, told->second);
  return is_told;
}

// ---- accesses

// The access is made when this returns. Other threads may have run since it was noted, and have released what
// a strong one now sees.
void observation::recorder::push_access(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                        strength strong, std::uint32_t place, memory_space space) {
  const bool is_told = strong != strength::plain && is_told_;  // of this thread: others may run
  the_lane.stream->push(static_cast<std::uint32_t>(event::access) | place,
                        pack(address, space, operation, bytes));
  if (!the_lane.stream->full()) return;
  while (the_lane.stream->full()) pause_thread();
  if (!is_told) return;
  const unobserved here;
  strong_access(address, memory_operation::load);
}

void observation::recorder::forget_known_words(std::uintptr_t address, unsigned bytes) {
  for (std::uintptr_t word = address / 4 * 4; word < address + bytes; word += 4) the_known_reads.remove(word);
}

// Apart from access_global(), which is called for each access and has no use for their stack frames.
void observation::recorder::stop_outside(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                         std::uint32_t place) {
  const unobserved here;
  const std::string text = prefix(place, current_thread.number) + verb_of(operation) +
                           format(" %u bytes at ", bytes) + global_.describe_outside(address);
  faults_.push_back({fault::out_of_bounds, text});
  fail_launch(text);
}

void observation::recorder::note_global(global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                                        const global_access& access) {
  const unobserved here;
  const bool is_store = access.operation == memory_operation::store;
  if (access.operation != memory_operation::store) report_unwritten(in, address, bytes, access);
  if (access.strong == strength::is_volatile) {
    if (is_store && bytes <= 8) global_.keep_value(address, bytes);
    if (!is_store) deliver_late(in, address, bytes, access.place);
  }
  is_told_ = access.strong != strength::plain && strong_access(address, access.operation);
  if (const auto conflict = global_.note(in, address, bytes, access)) {
    report_race(*conflict, access, address, bytes);
  } else if (is_store && !flags_.empty() && flags_.contains(access.place)) {
    judge_later(address, bytes, access.place, std::nullopt);
  }
}

void observation::recorder::access_global(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                          strength strong, std::uint32_t place) {
  global_shadow::range* const in = global_.find(address, bytes);
  if (in == nullptr) [[unlikely]]
    stop_outside(address, bytes, operation, place);
  if (bytes == sizeof(std::uintptr_t) && operation == memory_operation::load) {
    const std::uintptr_t value = *reinterpret_cast<const std::uintptr_t*>(address);
    if (value - tables_begin_ < tables_end_ - tables_begin_) [[unlikely]]
      report_hosts_table(value, place);
  }
  const global_access access{the_lane.thread, place, operation, strong};
  const bool is_plain_load = operation == memory_operation::load && strong == strength::plain;
  if (!is_plain_load || !global_.is_known(*in, address, bytes, access.thread)) {
    // What is not the pattern of fresh memory has been written.
    const bool is_usual =
        bytes == 4 && strong == strength::plain &&
        (is_plain_load ? *reinterpret_cast<const unsigned char*>(address) != device_memory::fresh_byte
                       : flags_.empty());
    if (!is_usual || !global_.note_harmless(*in, address, access)) note_global(*in, address, bytes, access);
  }
  push_access(address, bytes, operation, strong, place, memory_space::global);
}

void observation::recorder::access_elsewhere(std::uintptr_t address, unsigned bytes,
                                             memory_operation operation, strength strong,
                                             std::uint32_t place) {
  if (is_in_cluster(reinterpret_cast<const void*>(address)))
    return access_neighbour(address, bytes, operation, strong, place);
  if (address - arguments_begin_ < argument_bytes_ ||
      !elsewhere_is_device_memory(address, bytes, operation, place))
    return;
  note_global(*global_.find_variable(address), address, bytes, {the_lane.thread, place, operation, strong});
  push_access(address, bytes, operation, strong, place, memory_space::global);
}

// Whether it is a __device__ variable; does not return if it is nothing that a kernel may touch.
bool observation::recorder::elsewhere_is_device_memory(std::uintptr_t address, unsigned bytes,
                                                       memory_operation operation, std::uint32_t place) {
  const unobserved here;
  if (address - the_program().begin < the_program().bytes) {
    global_shadow::range* const in = global_.find_variable(address);
    if (in == nullptr) return false;  // constant
    const std::size_t offset = address - in->begin;
    if (offset + bytes > in->bytes) {
      const std::string text = prefix(place, the_lane.thread) + verb_of(operation) +
                               format(" %u bytes at offset %zu of the device variable %s of %zu bytes", bytes,
                                      offset, in->variable->c_str(), in->bytes);
      faults_.push_back({fault::out_of_bounds, text});
      fail_launch(text);
    }
    return true;
  }
  const auto* const pointer = reinterpret_cast<const void*>(address);
  if (is_on_another_stack(address)) return false;
  if (device_memory::instance().is_mapped(pointer)) {
    if (!host_is_ahead || operation == memory_operation::load) return false;
    for (std::uintptr_t word = address / 4; word * 4 < address + bytes; ++word)
      mapped_writes_[word] = global_.running_block();
    note_used(address, bytes);
    return false;
  }
  // What a kernel has taken from malloc() is host memory here. So what counts is where the host's pointers
  // lead, and the stack of the host thread.
  constexpr std::uintptr_t reach = 4096, stack_reach = 1 << 20;
  const bool is_hosts = std::any_of(host_pointers_.begin(), host_pointers_.end(),
                                    [address](std::uintptr_t from) { return address - from < reach; });
  const bool is_on_hosts_stack = address + stack_reach - host_stack_ < 2 * stack_reach;
  if (device_memory::instance().is_host_memory(pointer) && !is_hosts && !is_on_hosts_stack) return false;
  const std::string text = prefix(place, the_lane.thread) + verb_of(operation) + format(" %u bytes ", bytes) +
                           device_memory::instance().describe(reinterpret_cast<const void*>(address));
  faults_.push_back({fault::out_of_bounds, text});
  fail_launch(text, cudaErrorIllegalAddress);
}

void observation::recorder::stop_misaligned(std::uintptr_t address, unsigned bytes,
                                            memory_operation operation, std::uint32_t place) {
  const unobserved here;
  const auto* const pointer = reinterpret_cast<const void*>(address);
  const std::size_t in_dynamic = address - dynamic_begin_;
  const bool is_shared = address - the_lane.shared_begin < the_lane.shared_bytes;
  const std::string text =
      prefix(place, the_lane.thread) +
      (!is_shared
           ? misaligned_access(pointer, bytes, verb_of(operation))
           : format(
                 "%s %u bytes of shared memory%s, at an address that is no multiple of %u: misaligned",
                 verb_of(operation), bytes,
                 in_dynamic < sizeof lab_dynamic_shared ? format(" at offset %zu", in_dynamic).c_str() : "",
                 bytes));
  faults_.push_back({fault::out_of_bounds, text});
  fail_launch(text, cudaErrorMisalignedAddress);
}

// The word still holds what it held before another block wrote it, for this one read: the write need not have
// arrived. Who waits for it reads again; who does not was not entitled to it.
void observation::recorder::deliver_late(global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                                         std::uint32_t place) {
  if (const auto waited = late_reads_.find(address); waited != late_reads_.end()) {
    late_reads_.erase(waited);
    return;
  }
  if (late_delivered_.contains(address)) return;
  const auto late = global_.may_come_late(in, address, bytes);
  auto* const memory = reinterpret_cast<unsigned char*>(address);
  if (!late || std::equal(memory, memory + bytes, late->before.begin())) return;
  late_delivered_[address] = true;
  late_reads_[address] = {
      place, prefix(place, the_lane.thread) + "reads device memory that " + text_of_thread(late->thread) +
                 text_of_other_block(late->block) + " writes at " + text_of_line(late->place) +
                 ", and no __threadfence() of that block stands between this write and what tells "
                 "of it: the old value may be read"};
  std::copy_n(memory, bytes, late_value_.begin());
  std::copy_n(late->before.begin(), bytes, memory);
  late_address_ = address;
  late_bytes_ = bytes;
  the_lane.set_unfinished(true);
}

void observation::recorder::report_late_reads() {
  for (const auto& [address, read] : late_reads_) {
    if (reported_.emplace(std::pair(read.place, 1), true).second) report(fault::race, read.text);
  }
  late_reads_.clear();
}

void observation::recorder::after_access() {
  const unobserved here;
  the_lane.set_unfinished(false);
  if (late_bytes_ != 0) {
    std::copy_n(late_value_.begin(), late_bytes_, reinterpret_cast<unsigned char*>(late_address_));
    late_bytes_ = 0;
  }
  for (const unjudged& write : unjudged_) judge(write);
  unjudged_.clear();
}

void observation::recorder::judge_later(std::uintptr_t address, unsigned bytes, std::uint32_t place,
                                        const std::optional<race>& with) {
  unjudged& write =
      unjudged_.emplace_back(unjudged{.address = address, .bytes = bytes, .place = place, .with = with});
  std::copy_n(reinterpret_cast<const unsigned char*>(address), bytes, write.before.begin());
  the_lane.set_unfinished(true);
}

void observation::recorder::judge(const unjudged& write) {
  const auto* const memory = reinterpret_cast<const unsigned char*>(write.address);
  if (write.with) {
    bool& is_race = reported_[{write.place, write.with->other_place}];
    if (is_race) return;
    is_race = !std::equal(memory, memory + write.bytes, write.before.begin());
    if (is_race) {
      report(fault::race, text_of(*write.with));
    } else if (!write.with->same_block && !same_values_.contains(write.place)) {
      same_values_[write.place] = true;
      add_warning(text_of(*write.with) + "; both write the same value");
    }
    return;
  }
  const auto found = flags_.find(write.place);
  if (found == flags_.end()) return;
  flag_writes& flag = found->second;
  if (flag.bytes == 0) {
    flag.bytes = write.bytes;
    std::copy_n(memory, write.bytes, flag.value.begin());
  } else if (flag.bytes != write.bytes || !std::equal(memory, memory + write.bytes, flag.value.begin())) {
    report(fault::race, flag.text);
    flags_.erase(found);
  }
}

void observation::recorder::access_shared(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                          strength strong, std::uint32_t place) {
  const std::size_t offset = address - the_lane.shared_begin;
  if (shared_->ignores(offset)) return;
  const unsigned thread = the_lane.thread;
  const std::size_t in_dynamic = address - dynamic_begin_;
  if (in_dynamic < sizeof lab_dynamic_shared && in_dynamic + bytes > dynamic_bytes_) {
    const unobserved here;
    const std::string text = prefix(place, thread) + verb_of(operation) +
                             format(" %u bytes at offset %zu of %zu bytes of dynamic shared memory", bytes,
                                    in_dynamic, dynamic_bytes_);
    faults_.push_back({fault::out_of_bounds, text});
    fail_launch(text);
  }
  if (shared_->is_outside(offset, bytes)) stop_outside_shared(offset, bytes, operation, place);
  const shared_access access{thread, place, operation, false, strong == strength::is_volatile};
  if (strong != strength::plain) {
    const unobserved here;
    is_told_ = strong_access(address, operation);
  }
  if (operation != memory_operation::load) forget_known_words(address, bytes);
  if (!in_flight_.empty()) report_in_flight(address, bytes, operation, place);
  if (!bulk_.empty()) report_bulk(bulk_, address, bytes, operation, place);
  if (const auto conflict = shared_->note(offset, bytes, access))
    report_shared(*conflict, access, address, bytes);
  push_access(address, bytes, operation, strong, place, memory_space::shared);
}

void observation::recorder::access_neighbour(std::uintptr_t address, unsigned bytes,
                                             memory_operation operation, strength strong,
                                             std::uint32_t place) {
  const unobserved here;
  if (const std::string absent = describe_absence(reinterpret_cast<const void*>(address)); !absent.empty()) {
    const std::string text = prefix(place, the_lane.thread) + verb_of(operation) + " " + absent;
    faults_.push_back({fault::race, text});
    fail_launch(text, cudaErrorIllegalAddress);
  }
  if (strong != strength::plain) strong_access(address, operation);
  note_neighbour(address, bytes, {the_lane.thread, place, operation, false, strong == strength::is_volatile});
}

void observation::recorder::note_neighbour(std::uintptr_t address, unsigned bytes,
                                           const shared_access& access) {
  const place_in_cluster at = find_in_cluster(reinterpret_cast<const void*>(address));
  const auto own = reinterpret_cast<std::uintptr_t>(at.own);
  if (const auto rests = resting_.find(number_of(block_of_rank(at.rank))); rests != resting_.end())
    report_bulk(rests->second.bulk, own, bytes, access.operation, access.place);
  shared_shadow& there = shadow_of(at.rank);
  if (there.ignores(own - the_lane.shared_begin)) return;
  if (const auto conflict = there.note(own - the_lane.shared_begin, bytes, access, *shared_))
    report_shared(*conflict, access, address, bytes);
}

void observation::recorder::stop_outside_shared(std::size_t offset, unsigned bytes,
                                                memory_operation operation, std::uint32_t place) {
  const unobserved here;
  const program_symbol* before = nullptr;
  for (const program_symbol& symbol : program_symbols()) {
    if (!symbol.is_function && !is_of_emulator(symbol) && symbol.value <= offset &&
        (before == nullptr || symbol.value > before->value))
      before = &symbol;
  }
  std::string text = prefix(place, the_lane.thread) + verb_of(operation) +
                     format(" %u bytes of shared memory outside every variable", bytes);
  if (before != nullptr) {
    text += format(": at offset %zu of %s of %zu bytes", offset - before->value,
                   shared_variable_name(before->name).c_str(), before->bytes);
  }
  faults_.push_back({fault::out_of_bounds, text});
  fail_launch(text);
}

void observation::recorder::table_set(std::uintptr_t table) {
  const unobserved here;
  tables_of_kernels_.insert(table);
}

// There is one program here; on a GPU the host's functions are elsewhere.
void observation::recorder::report_hosts_table(std::uintptr_t table, std::uint32_t place) {
  const unobserved here;
  const auto holds = [table](const memory_range& one) { return table - one.begin < one.bytes; };
  const std::vector<memory_range>& tables = virtual_tables();
  if (std::none_of(tables.begin(), tables.end(), holds) || tables_of_kernels_.contains(table)) return;
  if (!reported_.emplace(std::pair(place, 4), true).second) return;
  report(fault::out_of_bounds,
         prefix(place, the_lane.thread) +
             "reads the address of the virtual functions of an object that host code has made: those are the "
             "host's, and a kernel can call none of them");
}

namespace {

std::uint32_t place_of_caller(const void* return_address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                    the_callbacks.program_begin);
}

}  // namespace

void observation::recorder::report_in_flight(std::uintptr_t address, unsigned bytes,
                                             memory_operation operation, std::uint32_t place) {
  const unobserved here;
  for (std::uintptr_t word = address / 4 * 4; word < address + bytes; word += 4) {
    const auto found = in_flight_.find(word);
    if (found == in_flight_.end()) continue;
    const asynchronous_copy& copy = found->second;
    if (!reported_.emplace(std::pair(place, copy.place), true).second) return;
    return report(fault::race, prefix(place, the_lane.thread) + verb_of(operation) +
                                   " shared memory that an asynchronous copy of " +
                                   text_of_thread(copy.thread) + " at " + text_of_line(copy.place) +
                                   " may still be writing: " +
                                   (copy.is_at_barrier ? "the phase of its barrier has not ended"
                                                       : "that thread has not waited for it"));
  }
}

// The running thread's copies are of whole words.
void observation::recorder::copy_began(const void* to, std::size_t bytes, const void* return_address) {
  const unobserved here;
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  forget_known_words(begin, static_cast<unsigned>(bytes));
  for (std::uintptr_t word = begin; word < begin + bytes; word += 4)
    in_flight_[word] = {the_lane.thread, place_of_caller(return_address)};
}

// The thread has written what the copy writes by now, and not before; who waits at a barrier knows of it.
void observation::recorder::copy_waited_for(const void* to, std::size_t bytes, const void* return_address,
                                            bool is_over) {
  const unobserved here;
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  for (std::uintptr_t word = begin; word < begin + bytes; word += 4) {
    const auto found = in_flight_.find(word);
    if (found == in_flight_.end()) continue;
    if (is_over)
      in_flight_.erase(found);
    else
      found->second.is_at_barrier = true;
  }
  const shared_access access{the_lane.thread, place_of_caller(return_address), memory_operation::store};
  if (const auto conflict =
          shared_->note(begin - the_lane.shared_begin, static_cast<unsigned>(bytes), access);
      conflict && conflict->earlier && !conflict->earlier->both_write)
    report_shared(*conflict, access, begin, static_cast<unsigned>(bytes));
}

// ---- barriers in shared memory, and bulk copies

// Of a barrier that was initialised by another thread, and nothing orders this thread behind it.
void observation::recorder::barrier_used(const void* barrier, bool initialises, const void* return_address) {
  const auto address = reinterpret_cast<std::uintptr_t>(barrier);
  const unobserved here;
  if (is_in_cluster(barrier))
    return note_neighbour(address, sizeof(std::uint64_t),
                          {the_lane.thread, place_of_caller(return_address), memory_operation::atomic});
  if (address - the_lane.shared_begin >= the_lane.shared_bytes) return;
  const shared_access access{the_lane.thread, place_of_caller(return_address),
                             initialises ? memory_operation::store : memory_operation::atomic};
  if (initialises) {
    has_bulk_tiles_ = has_bulk_tiles_ || !configuration().is_program;
    forget_known_words(address, sizeof(std::uint64_t));
  }
  const auto conflict = shared_->note(address - the_lane.shared_begin, sizeof(std::uint64_t), access);
  if (conflict && conflict->earlier) report_shared(*conflict, access, address, sizeof(std::uint64_t));
}

void observation::recorder::tell_block(const void* key) {
  const unobserved here;
  shared_->fence_passed(the_lane.thread);
  strong_access(reinterpret_cast<std::uintptr_t>(key), memory_operation::store);
  the_known_reads.begin_turn();
}

void observation::recorder::told_by_block(const void* key) {
  const unobserved here;
  strong_access(reinterpret_cast<std::uintptr_t>(key), memory_operation::load);
}

// The copy's accesses are the running thread's, and made now; but they are not counted.
void observation::recorder::bulk_copy_began(const void* shared, const void* global, std::size_t bytes,
                                            bool into_shared, const void* return_address, const char* name) {
  const unobserved here;
  constexpr unsigned unit = 16;
  const auto in_shared = reinterpret_cast<std::uintptr_t>(shared);
  const auto in_global = reinterpret_cast<std::uintptr_t>(global);
  const std::uint32_t place = place_of_caller(return_address);
  has_bulk_tiles_ = has_bulk_tiles_ || into_shared;
  ++record_->bulk.copies;
  if (global != nullptr) (into_shared ? record_->bulk.bytes_loaded : record_->bulk.bytes_stored) += bytes;
  const shared_access access{the_lane.thread, place,
                             into_shared ? memory_operation::store : memory_operation::load, true};
  if (in_shared - the_lane.shared_begin < the_lane.shared_bytes) {
    report_bulk(bulk_, in_shared, static_cast<unsigned>(bytes), access.operation, place);
    report_unfenced(in_shared, bytes, into_shared, place);
    if (into_shared) forget_known_words(in_shared, static_cast<unsigned>(bytes));
    if (const auto conflict =
            shared_->note(in_shared - the_lane.shared_begin, static_cast<unsigned>(bytes), access)) {
      if (conflict->earlier) {
        auto certain = *conflict;
        certain.earlier->both_write = false;  // the copy's values are not known yet
        report_shared(certain, access, in_shared, static_cast<unsigned>(bytes));
      } else {
        report_shared(*conflict, access, in_shared, static_cast<unsigned>(bytes));
      }
    }
    bulk_.push_back({in_shared, bytes, into_shared, the_lane.thread, place, name, block_number_});
  }
  for (std::uintptr_t at = in_global; at < in_global + bytes; at += unit) {
    const auto size = static_cast<unsigned>(std::min<std::uintptr_t>(unit, in_global + bytes - at));
    global_shadow::range* const in = global_.find(at, size);
    if (in == nullptr) return;
    note_global(*in, at, size,
                {the_lane.thread, place, into_shared ? memory_operation::load : memory_operation::store,
                 strength::plain});
  }
}

// Bulk copies see ordinary writes behind a fence alone (PTX ISA, "async proxy").
void observation::recorder::report_unfenced(std::uintptr_t shared, std::size_t bytes, bool into_shared,
                                            std::uint32_t place) {
  const auto write = shared_->unfenced_write(shared - the_lane.shared_begin, bytes, the_lane.thread);
  if (!write || !reported_.emplace(std::pair(place, write->place), true).second) return;
  report(fault::race, prefix(place, the_lane.thread) + "begins a bulk copy " +
                          (into_shared ? "into" : "from") + " shared memory that " +
                          text_of_thread(write->thread) + " writes at " + text_of_line(write->place) +
                          ", with no fence_proxy_async() between");
}

void observation::recorder::copy_to_neighbour(const void* there, std::size_t bytes, bool begins,
                                              const void* return_address) {
  const unobserved here;
  const place_in_cluster at = find_in_cluster(there);
  const auto own = reinterpret_cast<std::uintptr_t>(at.own);
  std::vector<bulk_copy>& copies = resting_[number_of(block_of_rank(at.rank))].bulk;
  if (!begins) {
    std::erase_if(copies, [&](const bulk_copy& one) { return one.shared == own && one.bytes == bytes; });
    return;
  }
  const shared_access access{the_lane.thread, place_of_caller(return_address), memory_operation::store, true};
  note_neighbour(reinterpret_cast<std::uintptr_t>(there), static_cast<unsigned>(bytes), access);
  copies.push_back({own, bytes, true, the_lane.thread, access.place, "bulk copy", block_number_});
}

void observation::recorder::bulk_copy_over(const void* shared, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared);
  bool was_of_thread = false;
  for (std::uintptr_t word = address; !in_flight_.empty() && word < address + bytes; word += 4)
    was_of_thread = in_flight_.erase(word) != 0 || was_of_thread;
  if (was_of_thread) return;
  const auto found = std::find_if(bulk_.begin(), bulk_.end(), [&](const bulk_copy& one) {
    return one.shared == address && one.bytes == bytes;
  });
  if (found == bulk_.end()) {
    has_bulk_tiles_ = true;  // another block's
  } else {
    bulk_.erase(found);
  }
}

void observation::recorder::report_bulk(const std::vector<bulk_copy>& copies, std::uintptr_t address,
                                        unsigned bytes, memory_operation operation, std::uint32_t place) {
  for (const bulk_copy& copy : copies) {
    if (copy.shared >= address + bytes || address >= copy.shared + copy.bytes) continue;
    if (!copy.into_shared && operation == memory_operation::load) continue;
    const unobserved here;
    if (!reported_.emplace(std::pair(place, copy.place), true).second) continue;
    report(fault::race, prefix(place, the_lane.thread) + verb_of(operation) + " shared memory that a " +
                            copy.name + " of " + text_of_thread(copy.thread) +
                            text_of_other_block(copy.block) + " at " + text_of_line(copy.place) +
                            " may still be " + (copy.into_shared ? "writing" : "reading"));
  }
}

void observation::recorder::atomic_access(const void* address, unsigned bytes, const void* return_address,
                                          bool reads) {
  if (the_lane.stream == nullptr) return;
  if (the_lane.unfinished) after_access();
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const auto place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                                the_callbacks.program_begin);
  if (value % bytes != 0) stop_misaligned(value, bytes, memory_operation::atomic, place);
  note_test(value);
  if (value - the_callbacks.device_begin < the_callbacks.device_bytes) {
    access_global(value, bytes, reads ? memory_operation::atomic : memory_operation::store,
                  strength::is_atomic, place);
  } else if (value - the_lane.shared_begin < the_lane.shared_bytes) {
    access_shared(value, bytes, memory_operation::atomic, strength::is_atomic, place);
  } else if (value - the_lane.stack_begin >= the_lane.stack_bytes) {
    access_elsewhere(value, bytes, memory_operation::atomic, strength::is_atomic, place);
  }
}

// `if (best < *result) atomicMax(result, best);`: the thread has read the word, and a basic block has begun
// since.
void observation::recorder::note_test(std::uintptr_t address) {
  constexpr std::uint32_t most_events = 64;
  constexpr packed_access address_mask = (packed_access{1} << address_bits) - 1;
  const lane_stream& stream = *the_lane.stream;
  bool has_branched = false;
  for (std::uint32_t back = 1; back <= std::min(stream.count, most_events); ++back) {
    const std::uint32_t code = stream.codes[stream.count - back];
    if (kind_of(code) == event::meeting) return;
    has_branched = has_branched || kind_of(code) == event::block;
    if (kind_of(code) != event::access) continue;
    const packed_access before = stream.accesses[stream.count - back];
    if ((before & address_mask) != (address & address_mask)) continue;
    const bool is_load = before >> (address_bits + 8) == static_cast<packed_access>(memory_operation::load);
    const unobserved here;
    if (has_branched && is_load) tests_before_atomics_.insert(place_of(code));
    return;
  }
}

void observation::recorder::compare_and_swap(std::uint64_t desired, const void* return_address) {
  if (the_lane.stream == nullptr) return;
  const unobserved here;
  const auto place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                                the_callbacks.program_begin);
  auto& value = swapped_values_.emplace(place, desired).first->second;
  if (value != desired) value.reset();
}

void observation::recorder::note_load(std::uint32_t place, std::uint32_t atomic, const std::string& text) {
  load_beside_atomics& load =
      loads_beside_atomics_.try_emplace(place, load_beside_atomics{text, {}}).first->second;
  load.atomics.insert(atomic);
}

void observation::recorder::judge_loads() {
  // A breadth-first search gives all vertices that it finds the same level.
  const auto has_one_value = [this](std::uint32_t atomic) {
    const auto found = swapped_values_.find(atomic);
    return found != swapped_values_.end() && found->second.has_value();
  };
  for (const auto& [place, load] : loads_beside_atomics_) {
    if (tests_before_atomics_.contains(place)) {
      add_warning(
          load.text +
          "; it is a test before an atomic function on the same word, and nothing else may depend on it");
    } else if (std::all_of(load.atomics.begin(), load.atomics.end(), has_one_value)) {
      add_warning(load.text + "; each atomicCAS() that writes there writes the same value");
    } else {
      faults_.push_back({fault::race, load.text});
      if (!launch_failure_) launch_failure_ = load.text;
    }
  }
  loads_beside_atomics_.clear();
  swapped_values_.clear();
}

// ---- what one block asks of memory

void observation::recorder::begin_log() {
  record_->kept = true;
  const unsigned threads = block_size_.x * block_size_.y * block_size_.z;
  kept_.push_back({.kernel = record_->name,
                   .blocks = std::uint64_t{grid_.x} * grid_.y * grid_.z,
                   .threads = threads,
                   .log = access_log(block_number_, (threads + warp_lanes - 1) / warp_lanes)});
  log_ = &kept_.back().log;
  shared_variables_.clear();
  for (const program_symbol& symbol : program_symbols()) {
    if (!symbol.is_function)
      shared_variables_.push_back(
          {shared_variable_name(symbol.name), the_lane.shared_begin + symbol.value, symbol.bytes});
  }
}

touched_array observation::recorder::array_of(memory_space space, std::uintptr_t address, unsigned bytes) {
  if (space == memory_space::global) {
    const global_shadow::range* const in = global_.find(address, bytes);
    return in == nullptr ? touched_array{.begin = address} : touched_array{"", in->begin, in->bytes};
  }
  if (address - dynamic_begin_ < dynamic_bytes_)
    return {"dynamic shared memory", dynamic_begin_, dynamic_bytes_};
  for (const touched_array& variable : shared_variables_) {
    if (address - variable.begin < variable.bytes) return variable;
  }
  return {"shared memory", the_lane.shared_begin, the_lane.shared_bytes};
}

void observation::recorder::take_request(std::uint32_t place, unsigned warp, unsigned lanes,
                                         const std::uintptr_t* address, memory_space space,
                                         memory_operation operation, unsigned bytes,
                                         const access_cost& cost) {
  if (record_->awaits_function) {
    record_->awaits_function = false;
    begin_compiled(compiled_code_->find_function(line_of(place).function));
    if (record_->compiled) {
      record_->compiled->begin_launch(threads_of_launch());
      compiled_before_ = record_->compiled->snapshot();
    }
  }
  if (record_->compiled)
    record_->compiled->take({place, warp, lanes, address, space, operation, bytes, cost});
  if (log_ == nullptr) return;
  logged_request request{.place = place,
                         .warp = warp,
                         .lanes = lanes,
                         .space = space,
                         .operation = operation,
                         .bytes = bytes,
                         .cost = cost};
  std::uintptr_t lowest = ~std::uintptr_t{0};
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    request.address[lane] = address[lane];
    lowest = std::min(lowest, address[lane]);
  }
  request.array = array_of(space, lowest, bytes);
  log_->add(std::move(request));
}

// ---- faults

std::string observation::recorder::text_of_thread(unsigned thread, std::optional<dim3> block) const {
  const dim3 size = block.value_or(block_size_);
  return "thread " +
         lab::emulator::text_of({thread % size.x, thread / size.x % size.y, thread / size.x / size.y});
}

std::string observation::recorder::prefix(std::uint32_t place, unsigned thread) const {
  return text_of_line(place) + ": " + kernel_name_ + ": block " + lab::emulator::text_of(block_) + ": " +
         text_of_thread(thread) + " ";
}

void observation::recorder::report(fault kind, const std::string& text) {
  constexpr std::size_t max_faults = 20;
  if (faults_.size() < max_faults) faults_.push_back({kind, text});
  if (!block_failure_) block_failure_ = text;
  if (!launch_failure_) launch_failure_ = text;
}

void observation::recorder::report_unwritten_reads() {
  // Bulk copies fill tiles as far as the array goes; threads read the rest, too, and use nothing of it.
  if (has_bulk_tiles_) unwritten_reads_.clear();
  for (const auto& [place, text] : unwritten_reads_) {
    // Lanes beyond a block's last warp often read such words and use nothing of them.
    if (configuration().is_program) {
      add_warning(text + ": no result may depend on what is left over there");
    } else {
      report(fault::uninitialised, text);
    }
  }
  unwritten_reads_.clear();
}

// " of block (1,0,0)", unless it is the running one.
std::string observation::recorder::text_of_other_block(std::uint64_t block) const {
  if (block == block_number_) return "";
  return " of block " + lab::emulator::text_of(block_in(grid_, block));
}

std::string observation::recorder::text_of(const race& found) const {
  const std::string does =
      prefix(found.place, found.thread) + verb_of(found.operation) +
      (found.space == memory_space::shared ? " shared memory that " : " device memory that ");
  const std::string at = (found.other_wrote ? " writes at " : " reads at ") + text_of_line(found.other_place);
  if (found.of_kernel_before)
    return does + text_of_thread(found.other_thread, before_.block) + " of block " +
           lab::emulator::text_of(block_in(before_.grid, found.other_block)) + " of " + before_.kernel + at +
           ", which may still run: nothing waits for its end (griddepcontrol.wait) before this";
  const bool same_warp = found.other_thread / warp_lanes == found.thread / warp_lanes;
  return does + text_of_thread(found.other_thread) + text_of_other_block(found.other_block) + at +
         (!found.same_block ? ", and nothing orders the two blocks"
          : same_warp       ? ", with no __syncwarp() or __syncthreads() between"
                            : ", with no __syncthreads() between");
}

void observation::recorder::report_race(const global_conflict& conflict, const global_access& access,
                                        std::uintptr_t address, unsigned bytes) {
  const race found{
      access.thread,   access.place,   access.operation, memory_space::global, conflict.block,
      conflict.thread, conflict.place, conflict.wrote,   conflict.same_block,  conflict.of_kernel_before};
  if (conflict.of_kernel_before) {
    if (reported_.emplace(std::pair(access.place, conflict.place), true).second)
      report(fault::race, text_of(found));
    return;
  }
  const bool is_plain_store = access.operation == memory_operation::store && access.strong == strength::plain;
  if (is_plain_store && conflict.wrote) return judge_later(address, bytes, access.place, found);
  const bool is_new = reported_.emplace(std::pair(access.place, conflict.place), true).second;
  const bool is_beside_atomic = access.operation == memory_operation::load && conflict.is_atomic;
  if (is_beside_atomic || (access.operation == memory_operation::atomic && !conflict.wrote)) {
    note_load(is_beside_atomic ? access.place : conflict.place,
              is_beside_atomic ? conflict.place : access.place, text_of(found));
    return;
  }
  if (!conflict.tested_before || !(is_plain_store || access.operation == memory_operation::load)) {
    if (is_new) report(fault::race, text_of(found));
    return;
  }
  const std::uint32_t place = is_plain_store ? access.place : conflict.place;
  if (is_new && !flags_.contains(place)) flags_[place].text = text_of(found);
  if (is_plain_store && flags_.contains(place)) judge_later(address, bytes, place, std::nullopt);
}

// Fresh memory holds a pattern. What does not hold it has been written; what does may have been, with just
// that.
void observation::recorder::report_unwritten(const global_shadow::range& in, std::uintptr_t address,
                                             unsigned bytes, const global_access& access) {
  const auto* const memory = reinterpret_cast<const unsigned char*>(address);
  for (unsigned byte = 0; byte < bytes; ++byte) {
    if (memory[byte] != device_memory::fresh_byte) return;
  }
  if (!global_.nobody_wrote(in, address, bytes) || device_memory::instance().may_be_written(memory, bytes))
    return;
  if (!reported_.emplace(std::pair(access.place, 2), true).second) return;
  report(fault::uninitialised,
         prefix(access.place, access.thread) + verb_of(access.operation) +
             format(" %u bytes that were never written, at offset %zu of an allocation of %zu bytes", bytes,
                    address - in.begin, in.bytes));
}

void observation::recorder::report_shared(const shared_conflict& conflict, const shared_access& access,
                                          std::uintptr_t address, unsigned bytes) {
  const unobserved here;
  const std::uint32_t other_place = conflict.earlier ? conflict.earlier->place : 0;
  if (conflict.earlier) {
    const unsigned rank = conflict.earlier->thread / shared_shadow::block_threads;
    const race found{access.thread,
                     access.place,
                     access.operation,
                     memory_space::shared,
                     rank == rank_ ? block_number_ : number_of(block_of_rank(rank)),
                     conflict.earlier->thread % shared_shadow::block_threads,
                     other_place,
                     conflict.earlier->wrote,
                     rank == rank_};
    unwritten_reads_.erase(other_place);
    if (conflict.earlier->both_write) return judge_later(address, bytes, access.place, found);
    if (!reported_.emplace(std::pair(access.place, other_place), true).second) return;
    const bool is_beside_atomic = access.operation == memory_operation::load && conflict.earlier->is_atomic;
    if (is_beside_atomic || (access.operation == memory_operation::atomic && !conflict.earlier->wrote)) {
      note_load(is_beside_atomic ? access.place : other_place, is_beside_atomic ? other_place : access.place,
                text_of(found));
    } else {
      report(fault::race, text_of(found));
    }
    return;
  }
  if (!reported_.emplace(std::pair(access.place, other_place), true).second) return;
  unwritten_reads_.emplace(access.place, prefix(access.place, access.thread) +
                                             "reads shared memory that its block has not written");
}

void observation::recorder::host_access(std::uint32_t place) {
  if (inside_kernel()) return;  // one that began before the observation
  if (!reported_.emplace(std::pair(place, 0), true).second) return;
  const std::string text = text_of_line(place) + ": host code touches device memory";
  faults_.push_back({fault::host_access, text});
  add_diagnostic(text);
  set_sticky_error(cudaErrorIllegalAddress);
}

void observation::recorder::host_access_ahead(std::uintptr_t address, unsigned bytes,
                                              memory_operation operation, strength strong,
                                              std::uint32_t place) {
  if (keeps_order || inside_kernel() || device_memory::instance().is_lifted()) return;
  struct keeping {
    keeping() { keeps_order = true; }
    ~keeping() { keeps_order = false; }
  } const now;
  const bool writes = operation != memory_operation::load;
  const std::lock_guard lock(ahead_mutex_);
  std::vector<std::uint32_t> blocks = global_.blocks_of(address, bytes, writes);
  for (std::uintptr_t word = address / 4; word * 4 < address + bytes; ++word) {
    if (const auto found = mapped_writes_.find(word); found != mapped_writes_.end())
      blocks.push_back(found->second);
  }
  const auto launch = std::find_if(unfinished_.begin(), unfinished_.end(), [&](const unfinished_launch& one) {
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](auto block) { return one.first_block <= block && block <= one.last_block; }) &&
           !is_done(one.work);
  });
  if (launch != unfinished_.end() && strong != strength::plain) {
    // What it is told by a flag, it knows.
    return host_waits_for(launch->work);
  }
  std::string other;
  if (launch != unfinished_.end()) {
    other = launch->kernel + " may still be using";
  } else if (const unfinished_copy copy = find_copy(address, bytes, writes); copy.is_there) {
    other = std::string(copy.fills ? "the fill" : "the copy") +
            (copy.call.empty() ? "" : " at " + copy.call.substr(0, copy.call.size() - 2)) +
            (copy.reads ? " may still be reading" : " may still be writing");
  } else {
    return;
  }
  if (!reported_.emplace(std::pair(place, 3), true).second) return;
  const std::string line = text_of_line(place);
  const std::string text =
      line + ": host code " + verb_of(operation) + format(" %u bytes of memory that ", bytes) + other;
  note_early_access(line, [this, text](bool waits_in_same_statement) {
    const std::lock_guard again(ahead_mutex_);
    if (waits_in_same_statement) {
      return add_warning(
          text +
          ": the statement waits for the device as well, but the compiler chooses in which order "
          "a statement's parts are evaluated");
    }
    const std::string whole = text + ": it has not waited for the device";
    faults_.push_back({fault::race, whole});
    add_diagnostic(whole);
    set_sticky_error(cudaErrorLaunchFailure);
  });
}

// ---- the result

std::vector<observed_kernel> observation::recorder::kernels() const {
  std::vector<observed_kernel> kernels;
  for (const auto& record : records_) {
    site_counters total;
    const compiled_counts::result compiled =
        record->compiled ? record->compiled->resolve() : compiled_counts::result{};
    struct line_total {
      site_counters counters;
      bool has_accesses = false;
    };
    std::map<std::tuple<std::string, int, std::string>, line_total> lines;
    const auto& offsets = record->sites.offsets();
    for (std::size_t number = 0; number < offsets.size(); ++number) {
      site_counters counters = record->sites.counters()[number];
      bool has_accesses = false;
      for (const memory_space space : {memory_space::global, memory_space::shared}) {
        for (const memory_operation operation : {memory_operation::load, memory_operation::store}) {
          has_accesses = has_accesses || counters.of(space, operation).requests != 0;
          const auto found = compiled.counters.find({offsets[number], {space, operation}});
          if (found != compiled.counters.end()) counters.of(space, operation) = found->second;
        }
      }
      const source_line& line = line_of(offsets[number]);
      total += counters;
      if (line.outside_of_kernel) continue;
      line_total& sum = lines[{line.file, line.line, line.function}];
      sum.counters += counters;
      sum.has_accesses = sum.has_accesses || has_accesses;
    }
    observed_kernel kernel{.name = record->name, .launches = record->launches, .metrics = metrics_of(total)};
    kernel.metrics["lab__barriers.sum"] = static_cast<double>(record->barriers);
    kernel.metrics["lab__warp_collectives.sum"] = static_cast<double>(record->collectives);
    if (record->cluster_blocks != 0)
      kernel.metrics["launch__cluster_size"] = static_cast<double>(record->cluster_blocks);
    const copy_counts& bulk = record->bulk;
    if (bulk.copies + bulk.waits != 0) {
      kernel.metrics["lab__bulk_copies.sum"] = static_cast<double>(bulk.copies);
      kernel.metrics["lab__bulk_copy_bytes_mem_global_op_ld.sum"] = static_cast<double>(bulk.bytes_loaded);
      kernel.metrics["lab__bulk_copy_bytes_mem_global_op_st.sum"] = static_cast<double>(bulk.bytes_stored);
      kernel.metrics["lab__phase_waits.sum"] = static_cast<double>(bulk.waits);
    }
    const auto launches = static_cast<double>(record->launches);
    kernel.metrics["launch__grid_size"] = static_cast<double>(record->blocks) / launches;
    kernel.metrics["launch__block_size"] = static_cast<double>(record->block_threads) / launches;
    bool as_compiled = record->compiled != nullptr;
    for (const auto& [at, sum] : lines) {
      const auto& [file, line, function] = at;
      const auto found = compiled.as_compiled.find({file, line});
      const bool is_compiled = found != compiled.as_compiled.end() && found->second;
      as_compiled = as_compiled && (is_compiled || !sum.has_accesses);
      kernel.lines.push_back({file, line, function, metrics_of(sum.counters),
                              !sum.has_accesses ? ""
                              : is_compiled     ? "as compiled"
                                                : "as written"});
    }
    kernel.accesses = as_compiled ? "as compiled" : "as written";
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace lab::emulator
