#include "common/emulator/observed/recorder.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <tuple>

#include "common/emulator/diagnostics.hpp"
#include "common/emulator/errors.hpp"
#include "common/emulator/observed/metrics.hpp"
#include "common/emulator/observed/source_lines.hpp"
#include "common/emulator/program_symbols.hpp"
#include "common/emulator/scheduler.hpp"

namespace lab::emulator {

constinit callbacks the_callbacks{};

namespace {

const char* verb_of(memory_operation operation) {
  return operation == memory_operation::load    ? "reads"
         : operation == memory_operation::store ? "writes"
                                                : "atomically changes";
}

// "_ZZN3lab4copyEvE4tile" -> "tile"
std::string shared_variable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  const std::string name = plain ? plain.get() : mangled;
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
  the_callbacks = {.device_begin = device.begin,
                   .device_bytes = device.bytes,
                   .program_begin = the_program().begin,
                   .observer = this};
  active_observer = this;
}

observation::recorder::~recorder() {
  active_observer = nullptr;
  the_callbacks = {};
}

// ---- the launch

void observation::recorder::begin_launch(const void* kernel, dim3 grid, dim3 block,
                                         std::size_t dynamic_shared_bytes) {
  const auto found =
      std::find_if(records_.begin(), records_.end(), [&](const auto& one) { return one->kernel == kernel; });
  if (found == records_.end()) {
    records_.push_back(std::make_unique<kernel_record>(kernel_record{
        .kernel = kernel, .name = kernel_name(kernel), .sites = site_table(the_program().bytes)}));
    record_ = records_.back().get();
  } else {
    record_ = found->get();
  }
  ++record_->launches;
  record_->blocks += std::uint64_t{grid.x} * grid.y * grid.z;
  record_->block_threads += std::uint64_t{block.x} * block.y * block.z;
  grid_ = grid;
  block_size_ = block;
  dynamic_bytes_ = dynamic_shared_bytes;
  reported_.clear();
  global_.begin_launch(std::uint64_t{grid.x} * grid.y * grid.z);
}

void observation::recorder::end_launch() {
  global_.end_launch();
  the_callbacks.stream = nullptr;
  the_callbacks.shared_bytes = 0;
  record_ = nullptr;
}

void observation::recorder::find_shared_memory() {
  const thread_local_range memory = thread_local_memory();
  dynamic_begin_ = reinterpret_cast<std::uintptr_t>(lab_dynamic_shared);
  the_callbacks.shared_bytes = memory.bytes;
  if (the_callbacks.shared_begin == memory.begin) return;
  the_callbacks.shared_begin = memory.begin;
  shared_.resize(memory.bytes);
  const auto ignore = [&](const auto& variable) {
    shared_.ignore(reinterpret_cast<std::uintptr_t>(&variable) - memory.begin, sizeof variable);
  };
  ignore(threadIdx);
  ignore(blockIdx);
  ignore(blockDim);
  ignore(gridDim);
  ignore(current_thread);
}

void observation::recorder::begin_block(uint3 block) {
  find_shared_memory();
  block_ = block;
  block_number_ = (std::uint64_t{block.z} * grid_.y + block.y) * grid_.x + block.x;
  block_failure_.reset();
  unwritten_reads_.clear();
  trace_.begin_block();
  shared_.begin_block();
  global_.begin_block(block_number_);
  if (wanted_block_ == block_number_ && !record_->kept) begin_log();
}

std::optional<std::string> observation::recorder::end_block(bool completed) {
  if (completed) report_unwritten_reads();
  log_ = nullptr;
  trace_.set_sink(nullptr);
  return std::exchange(block_failure_, std::nullopt);
}

void observation::recorder::enter_thread() {
  the_callbacks.stream = &trace_.stream(current_thread.number % warp_lanes);
}

void observation::recorder::barrier_passed() {
  ++record_->barriers;
  if (log_ != nullptr) log_->barrier_passed();
  report_unwritten_reads();
  shared_.barrier_passed();
}

void observation::recorder::barrier_without_all(const std::string& warning) {
  if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end() && warnings_.empty()) {
    warnings_.push_back(warning);
  }
}

void observation::recorder::collective_passed(unsigned warp, unsigned lanes, bool orders_memory) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (trace_.stream(lane).count == lane_stream::capacity + lane_stream::slack) make_room(warp);
  }
  trace_.meet(lanes);
  if (orders_memory) shared_.warp_synchronized(warp, lanes);
}

void observation::recorder::make_room(unsigned warp) {
  trace_.replay(warp, trace_.full_streams(), record_->sites);
}

void observation::recorder::leave_warp(unsigned warp) {
  trace_.replay(warp, 0, record_->sites);
}

void observation::recorder::fence_passed() {
  global_.fence_passed();
}

// ---- accesses

void observation::recorder::push(std::uint32_t code, packed_access access) {
  lane_stream& stream = *the_callbacks.stream;
  stream.push(code, access);
  while (stream.full()) pause_thread();
}

// Apart from access_global(), which is called for each access and has no use for their stack frames.
void observation::recorder::stop_outside(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                         std::uint32_t place) {
  const std::string text = prefix(place, current_thread.number) + verb_of(operation) +
                           format(" %u bytes at ", bytes) + global_.describe_outside(address);
  faults_.push_back({fault::out_of_bounds, text});
  fail_launch(text);
}

void observation::recorder::note_global(global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                                        const global_access& access) {
  if (const auto conflict = global_.note(in, address, bytes, access)) report_race(*conflict, access);
}

void observation::recorder::access_global(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                          bool strong, std::uint32_t place) {
  global_shadow::range* const in = global_.find(address, bytes);
  if (in == nullptr) [[unlikely]]
    stop_outside(address, bytes, operation, place);
  if (!global_.is_known(*in, address, bytes, operation, strong))
    note_global(*in, address, bytes, {current_thread.number, place, operation, strong});
  push(static_cast<std::uint32_t>(event::access) | place,
       pack(address, memory_space::global, operation, bytes));
}

void observation::recorder::access_shared(std::uintptr_t address, unsigned bytes, memory_operation operation,
                                          std::uint32_t place) {
  const std::size_t offset = address - the_callbacks.shared_begin;
  if (shared_.ignores(offset)) return;
  const unsigned thread = current_thread.number;
  const std::size_t in_dynamic = address - dynamic_begin_;
  if (in_dynamic < sizeof lab_dynamic_shared && in_dynamic + bytes > dynamic_bytes_) {
    const std::string text = prefix(place, thread) + verb_of(operation) +
                             format(" %u bytes at offset %zu of %zu bytes of dynamic shared memory", bytes,
                                    in_dynamic, dynamic_bytes_);
    faults_.push_back({fault::out_of_bounds, text});
    fail_launch(text);
  }
  const shared_access access{thread, place, operation};
  if (const auto conflict = shared_.note(offset, bytes, access)) report_shared(*conflict, access);
  push(static_cast<std::uint32_t>(event::access) | place,
       pack(address, memory_space::shared, operation, bytes));
}

void observation::recorder::atomic_access(const void* address, unsigned bytes, const void* return_address) {
  if (the_callbacks.stream == nullptr) return;
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const auto place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                                the_callbacks.program_begin);
  if (value - the_callbacks.device_begin < the_callbacks.device_bytes) {
    access_global(value, bytes, memory_operation::atomic, true, place);
  } else if (value - the_callbacks.shared_begin < the_callbacks.shared_bytes) {
    access_shared(value, bytes, memory_operation::atomic, place);
  }
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
          {shared_variable_name(symbol.name), the_callbacks.shared_begin + symbol.value, symbol.bytes});
  }
  trace_.set_sink(this);
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
  return {"shared memory", the_callbacks.shared_begin, the_callbacks.shared_bytes};
}

void observation::recorder::take_request(std::uint32_t place, unsigned warp, unsigned lanes,
                                         const std::uintptr_t* address, memory_space space,
                                         memory_operation operation, unsigned bytes,
                                         const access_cost& cost) {
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

std::string observation::recorder::text_of_thread(unsigned thread) const {
  const dim3 size = block_size_;
  return "thread " + text_of({thread % size.x, thread / size.x % size.y, thread / size.x / size.y});
}

std::string observation::recorder::prefix(std::uint32_t place, unsigned thread) const {
  return text_of_line(place) + ": block " + text_of(block_) + ": " + text_of_thread(thread) + " ";
}

void observation::recorder::report(fault kind, const std::string& text) {
  constexpr std::size_t max_faults = 20;
  if (faults_.size() < max_faults) faults_.push_back({kind, text});
  if (!block_failure_) block_failure_ = text;
}

void observation::recorder::report_unwritten_reads() {
  for (const auto& [place, text] : unwritten_reads_) report(fault::uninitialised, text);
  unwritten_reads_.clear();
}

void observation::recorder::report_race(const global_conflict& conflict, const global_access& access) {
  if (!reported_.emplace(std::pair(access.place, conflict.place), true).second) return;
  const uint3 other{static_cast<unsigned>(conflict.block % grid_.x),
                    static_cast<unsigned>(conflict.block / grid_.x % grid_.y),
                    static_cast<unsigned>(conflict.block / grid_.x / grid_.y)};
  report(fault::race, prefix(access.place, access.thread) + verb_of(access.operation) +
                          " device memory that " + text_of_thread(conflict.thread) + " of block " +
                          text_of(other) + (conflict.wrote ? " writes at " : " reads at ") +
                          text_of_line(conflict.place) + ", and nothing orders the two blocks");
}

void observation::recorder::report_shared(const shared_conflict& conflict, const shared_access& access) {
  const std::uint32_t other_place = conflict.earlier ? conflict.earlier->place : 0;
  if (!reported_.emplace(std::pair(access.place, other_place), true).second) return;
  if (!conflict.earlier) {
    unwritten_reads_.emplace(access.place, prefix(access.place, access.thread) +
                                               "reads shared memory that its block has not written");
    return;
  }
  unwritten_reads_.erase(other_place);
  const bool same_warp = conflict.earlier->thread / warp_lanes == access.thread / warp_lanes;
  report(fault::race, prefix(access.place, access.thread) + verb_of(access.operation) +
                          " shared memory that " + text_of_thread(conflict.earlier->thread) +
                          (conflict.earlier->wrote ? " writes at " : " reads at ") +
                          text_of_line(other_place) +
                          (same_warp ? ", with no __syncwarp() or __syncthreads() between"
                                     : ", with no __syncthreads() between"));
}

void observation::recorder::host_access(std::uint32_t place) {
  if (inside_kernel()) return;  // one that began before the observation
  if (!reported_.emplace(std::pair(place, 0), true).second) return;
  const std::string text = text_of_line(place) + ": host code touches device memory";
  faults_.push_back({fault::host_access, text});
  add_diagnostic(text);
  set_sticky_error(cudaErrorIllegalAddress);
}

// ---- the result

std::vector<observed_kernel> observation::recorder::kernels() const {
  std::vector<observed_kernel> kernels;
  for (const auto& record : records_) {
    site_counters total;
    std::map<std::tuple<std::string, int, std::string>, site_counters> lines;
    const auto& offsets = record->sites.offsets();
    for (std::size_t number = 0; number < offsets.size(); ++number) {
      const site_counters& counters = record->sites.counters()[number];
      const source_line& line = line_of(offsets[number]);
      total += counters;
      if (!line.outside_of_kernel) lines[{line.file, line.line, line.function}] += counters;
    }
    observed_kernel kernel{.name = record->name, .launches = record->launches, .metrics = metrics_of(total)};
    kernel.metrics["lab__barriers.sum"] = static_cast<double>(record->barriers);
    const auto launches = static_cast<double>(record->launches);
    kernel.metrics["launch__grid_size"] = static_cast<double>(record->blocks) / launches;
    kernel.metrics["launch__block_size"] = static_cast<double>(record->block_threads) / launches;
    for (const auto& [line, counters] : lines) {
      kernel.lines.push_back({std::get<0>(line), std::get<1>(line), std::get<2>(line), metrics_of(counters)});
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace lab::emulator
