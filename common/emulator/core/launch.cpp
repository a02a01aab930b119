#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/emulator/core/block_cluster.hpp"
#include "common/emulator/core/call_trace.hpp"
#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/devices.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/fault_handler.hpp"
#include "common/emulator/core/fp_environment.hpp"
#include "common/emulator/core/kernel_launches.hpp"
#include "common/emulator/core/kernel_memory.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/core/spin_watch.hpp"
#include "common/emulator/core/stream_listener.hpp"
#include "common/emulator/core/thread_pool.hpp"

namespace lab::emulator {
namespace {

// The device runs one kernel at a time; the mutex also guards the limits.
struct device {
  std::recursive_mutex mutex;  // a kernel that begins early runs the one before it
  std::map<const void*, std::size_t> dynamic_shared_limits;  // kernels whose limit was raised
  std::set<const void*> large_cluster_kernels;               // that may have clusters of 16 blocks
  std::set<const void*> triggering_kernels;                  // that have let the next one begin
  // The last one that was enqueued, and which call of a stream's that was.
  const void* last_kernel = nullptr;
  cudaStream_t last_stream = nullptr;
  std::uint64_t last_call = 0;
  std::size_t launches = 0;
  thread_pool pool;
};

// What the blocks of one launch after the other find in shared memory. As double: -6e66, NaN, 1e286; as int:
// -842150451, -1, 2071690107.
constexpr std::array<unsigned char, 3> shared_bytes_of_launches{0xcd, 0xff, 0x7b};

device& the_device() {
  static never_destroyed<device> instance;
  return *instance;
}

struct refusal {
  cudaError_t error;
  std::string why;
};

std::optional<refusal> refuse(const cudaLaunchConfig_t& config, std::size_t dynamic_shared_limit,
                              std::size_t static_shared, std::size_t most_threads) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  const auto threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return refusal{cudaErrorInvalidConfiguration,
                   "a grid of " + text_of(grid) + " blocks; from 1 to (2147483647,65535,65535) are possible"};
  }
  if (threads == 0 || threads > block_size_limit || block.x > 1024 || block.y > 1024 || block.z > 64) {
    return refusal{cudaErrorInvalidConfiguration,
                   "a block of " + text_of(block) + " threads; from 1 to 1024 are possible, 64 in z"};
  }
  if (threads > most_threads) {
    return refusal{cudaErrorInvalidValue, format("a block of %llu threads, where __launch_bounds__ says %zu",
                                                 static_cast<unsigned long long>(threads), most_threads)};
  }
  if (static_shared > shared_bytes_default) {
    return refusal{
        cudaErrorInvalidValue,
        format("%zu bytes of __shared__ variables; %zu are possible, and more only as dynamic shared memory",
               static_shared, shared_bytes_default)};
  }
  // What was announced is of dynamic memory alone; without it both share the default, and with it all there
  // is.
  constexpr std::size_t all_shared = std::size_t{227} << 10;
  dynamic_shared_limit = dynamic_shared_limit <= shared_bytes_default
                             ? dynamic_shared_limit - std::min(dynamic_shared_limit, static_shared)
                             : std::min(dynamic_shared_limit, all_shared - static_shared);
  if (config.dynamicSmemBytes > dynamic_shared_limit) {
    return refusal{cudaErrorInvalidValue,
                   format("%zu bytes of dynamic shared memory; this kernel's limit is %zu",
                          config.dynamicSmemBytes, dynamic_shared_limit)};
  }
  if (!is_stream(config.stream))
    return refusal{cudaErrorInvalidResourceHandle, "a stream that does not exist"};
  if (const int other = device_of(config.stream); other != current_device()) {
    return refusal{cudaErrorInvalidResourceHandle,
                   format("a stream of device %d, where device %d is the current one (cudaSetDevice)", other,
                          current_device())};
  }
  return std::nullopt;
}

// What a launch asks for beyond grid and block.
struct launch_attributes {
  std::optional<dim3> cluster;
  bool may_begin_early = false;
  std::optional<refusal> refused;
};

launch_attributes attributes_of(const cudaLaunchConfig_t& config) {
  launch_attributes found;
  for (unsigned number = 0; number < config.numAttrs; ++number) {
    const cudaLaunchAttribute& one = config.attrs[number];
    if (one.id == cudaLaunchAttributeClusterDimension) {
      found.cluster = dim3(one.val.clusterDim.x, one.val.clusterDim.y, one.val.clusterDim.z);
    } else if (one.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      found.may_begin_early = one.val.programmaticStreamSerializationAllowed != 0;
    } else if (one.id != cudaLaunchAttributeIgnore) {
      found.refused = refusal{cudaErrorNotSupported,
                              format("launch attribute %d, which is not emulated", static_cast<int>(one.id))};
    }
  }
  return found;
}

// What __cluster_dims__ says (dialect.hpp). The linker gathers the addresses of the bytes in front of such
// functions.
extern "C" {
extern const std::uintptr_t functions_begin[] __asm__("__start___patchable_function_entries")
    __attribute__((visibility("hidden")));
extern const std::uintptr_t functions_end[] __asm__("__stop___patchable_function_entries")
    __attribute__((visibility("hidden")));
}
// So that every program has such a table.
__attribute__((used, noinline)) void __cluster_dims__(1) be_in_table() {}

std::optional<dim3> read_cluster_of(const void* kernel) {
#if defined(__aarch64__)
  constexpr std::uintptr_t code_bytes = 4;
#else
  constexpr std::uintptr_t code_bytes = 1;
#endif
  const auto address = reinterpret_cast<std::uintptr_t>(kernel);
  std::uintptr_t last = 0;
  for (const std::uintptr_t* at = functions_begin; at != functions_end; ++at) {
    if (*at < address) last = std::max(last, *at);
  }
  // It is the kernel's if no other function lies between.
  const auto lies_between = [&](const program_symbol& one) {
    const std::uintptr_t begin = one.value + the_program().begin;
    return one.is_function && last < begin && begin < address;
  };
  const std::vector<program_symbol>& symbols = program_symbols();
  if (last == 0 || symbols.empty() || std::any_of(symbols.begin(), symbols.end(), lies_between))
    return std::nullopt;
  const auto code = static_cast<unsigned>((address - last) / code_bytes);
  return dim3(code % 32, code / 32 % 32 + 1, code / 32 / 32 + 1);
}

std::optional<dim3> cluster_of_kernel(const void* kernel) {
  static std::mutex mutex;
  static std::map<const void*, std::optional<dim3>> known;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(kernel);
  if (is_new) entry->second = read_cluster_of(kernel);
  return entry->second;
}

std::optional<refusal> refuse_cluster(dim3 cluster, dim3 grid, bool is_large_allowed) {
  constexpr unsigned portable_blocks = 8;
  const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  if (blocks == 0 || blocks > (is_large_allowed ? most_cluster_blocks : portable_blocks))
    return refusal{cudaErrorInvalidClusterSize, "clusters of " + text_of(cluster) +
                                                    " blocks; 8 in all are possible, and 16 where "
                                                    "cudaFuncAttributeNonPortableClusterSizeAllowed is set"};
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return refusal{cudaErrorInvalidConfiguration,
                   "a grid of " + text_of(grid) + " blocks, in clusters of " + text_of(cluster)};
  return std::nullopt;
}

std::size_t static_shared_bytes(const void* kernel) {
  std::size_t bytes = 0;
  for (const shared_variable& variable : shared_variables(kernel)) bytes += variable.bytes;
  return bytes;
}

// The device is locked.
std::size_t dynamic_shared_limit(const device& on, const void* kernel) {
  const auto found = on.dynamic_shared_limits.find(kernel);
  return found == on.dynamic_shared_limits.end() ? shared_bytes_default : found->second;
}

// Which argument is the address of host memory, in words.
std::optional<std::string> host_pointer(const kernel_call& call) {
  device_memory& memory = device_memory::instance();
  for (std::size_t number = 0; number < call.pointer_count; ++number) {
    const void* const pointer = call.pointers[number];
    const auto offset = reinterpret_cast<std::uintptr_t>(pointer) - the_program().begin;
    if (pointer == nullptr || memory.owns(pointer) || memory.is_mapped(pointer) ||
        offset < the_program().bytes || !memory.is_host_memory(pointer)) {
      continue;
    }
    return format(
        "argument %zu of its launch points to host memory, at %p: a kernel may touch what cudaMalloc() or "
        "cudaMallocHost() gave, and no other",
        number + 1, pointer);
  }
  return std::nullopt;
}

// The diagnostic of the failed block that started first, the same whatever the number of OS threads.
class first_failure {
 public:
  explicit first_failure(std::atomic<std::uint64_t>& block) : block_(block) {}

  void note(std::uint64_t block, std::string text) {
    const std::lock_guard lock(mutex_);
    if (block >= block_.load()) return;
    block_ = block;
    text_ = std::move(text);
  }

  const std::optional<std::string>& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::atomic<std::uint64_t>& block_;
  std::optional<std::string> text_;
};

// A kernel rounds as CUDA says, whatever the host program has asked the CPU for.
class initial_rounding {
 public:
  initial_rounding() { fp_environment::initial().apply(); }
  initial_rounding(const initial_rounding&) = delete;
  initial_rounding& operator=(const initial_rounding&) = delete;
  ~initial_rounding() { hosts_.apply(); }

 private:
  fp_environment hosts_ = fp_environment::current();
};

// What an OS thread is while it runs blocks of a launch.
class running_blocks {
 public:
  explicit running_blocks(launch_state& state) : state_(state) {
    prepare_signal_stack();
    ++state_.running;
  }
  running_blocks(const running_blocks&) = delete;
  running_blocks& operator=(const running_blocks&) = delete;
  ~running_blocks() { --state_.running; }

 private:
  launch_state& state_;
  const initial_rounding rounding_;
  const spin_watch watch_;
};

// The first blocks of a kernel that begins early run until they wait for the kernel before it, which is then
// run by `before`, and on to their end: so what they do before they wait comes before all that it does.
void run_early_blocks(launch_state& state, std::uint64_t blocks, first_failure& failure,
                      const std::function<void()>& before) {
  constexpr std::uint64_t most_threads = 8192;  // whose stacks a process may have
  static thread_local std::vector<std::unique_ptr<block_runner>> runners;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(most_threads / (state.block.x * state.block.y * state.block.z), 1, blocks);
  while (runners.size() < most) runners.push_back(std::make_unique<block_runner>());
  std::vector<std::uint64_t> at_rest;
  const auto run_each = [&](std::uint64_t count, const auto& run) {
    const running_blocks running(state);
    for (std::uint64_t k = 0; k < count && state.first_failed_block == launch_state::none; ++k) run(k);
  };
  state.waits_for_kernel = true;
  run_each(most, [&](std::uint64_t block) {
    state.next_block = block + 1;
    if (auto text = runners[block]->run(state, block)) return failure.note(block, std::move(*text));
    if (runners[block]->waits_for_blocks()) at_rest.push_back(block);
  });
  state.waits_for_kernel = false;
  before();
  if (sticky_error() != cudaSuccess) state.first_failed_block = 0;
  run_each(at_rest.size(), [&](std::uint64_t k) {
    if (auto text = runners[at_rest[k]]->go_on()) failure.note(at_rest[k], std::move(*text));
  });
  if (state.first_failed_block != launch_state::none) runners.clear();
}

// Runs an observed grid. Blocks that wait for all others (a cooperative launch) rest meanwhile, each on a
// runner of its own.
void run_one_by_one(launch_state& state, std::uint64_t blocks, first_failure& failure) {
  struct resting {
    std::uint64_t block;
    std::unique_ptr<block_runner> runner;
  };
  static thread_local std::unique_ptr<block_runner> runner;
  std::vector<resting> at_rest;
  std::optional<std::uint64_t> ended;
  const auto keep = [&](std::uint64_t block, std::unique_ptr<block_runner>& which,
                        std::optional<std::string> text) {
    const bool rests = !text && which->waits_for_blocks();
    if (text) failure.note(block, std::move(*text));
    if (rests) {
      at_rest.push_back({block, std::move(which)});
    } else if (!ended) {
      ended = block;
    }
  };
  for (std::uint64_t block = state.next_block++; block < blocks && block < state.first_failed_block;
       block = state.next_block++) {
    if (!runner) runner = std::make_unique<block_runner>();
    keep(block, runner, runner->run(state, block));
  }
  while (!at_rest.empty() && state.first_failed_block == launch_state::none) {
    if (ended)
      return failure.note(at_rest.front().block, at_rest.front().runner->describe_missing_block(*ended));
    active_observer->grid_passed();
    for (resting& one : std::exchange(at_rest, {})) {
      if (one.block < state.first_failed_block) keep(one.block, one.runner, one.runner->go_on());
    }
  }
}

// Runs the clusters of a grid one after the other, as long as there are some.
void run_clusters(launch_state& state, std::uint64_t blocks, first_failure& failure) {
  static thread_local std::unique_ptr<block_cluster> cluster;
  if (!cluster) cluster = std::make_unique<block_cluster>();
  for (std::uint64_t block = state.next_block.fetch_add(state.cluster_size());
       block < blocks && block < state.first_failed_block;
       block = state.next_block.fetch_add(state.cluster_size())) {
    if (auto text = cluster->run(state, block)) failure.note(block, std::move(*text));
  }
}

// Runs the grid, and before all that needs it `before`, if there is one; the diagnostic of what went wrong.
std::optional<std::string> run_grid(launch_state& state, thread_pool& pool, int os_threads,
                                    const std::function<void()>& before) {
  const std::uint64_t blocks = std::uint64_t{state.grid.x} * state.grid.y * state.grid.z;
  first_failure failure(state.first_failed_block);
  if (before) run_early_blocks(state, blocks, failure, before);
  // Each OS thread takes the next block not yet started and runs it to its end. So every block that started
  // before a running one has ended or is running on an OS thread of its own, and may be waited for.
  const auto run_blocks = [&] {
    static thread_local block_runner runner;
    const running_blocks running(state);
    if (state.cluster_size() > 1) {
      run_clusters(state, blocks, failure);
    } else if (active_observer != nullptr) {
      run_one_by_one(state, blocks, failure);
    } else {
      for (std::uint64_t block = state.next_block++; block < blocks && block < state.first_failed_block;
           block = state.next_block++) {
        if (auto text = runner.run(state, block)) failure.note(block, std::move(*text));
      }
    }
  };
  // Each block of a cluster keeps its threads' stacks, of which a process may have so many.
  constexpr unsigned most_blocks_in_clusters = 8;
  std::uint64_t most = static_cast<std::uint64_t>(os_threads);
  if (state.cluster_size() > 1)
    most = std::clamp<std::uint64_t>(most_blocks_in_clusters / state.cluster_size(), 1, most);
  pool.run(static_cast<int>(std::min(most, blocks / state.cluster_size())), run_blocks);
  if (active_observer != nullptr) active_observer->end_grid();
  return failure.text();
}

// Keeps from kernels what other devices have.
class hidden_devices {
 public:
  hidden_devices() { device_memory::instance().hide_from(current_device()); }
  hidden_devices(const hidden_devices&) = delete;
  hidden_devices& operator=(const hidden_devices&) = delete;
  ~hidden_devices() { device_memory::instance().show_all(); }
};

// A fault in a kernel of the emulator's headers is one of the program's call.
void add_failure(const std::string& failure) {
  constexpr std::string_view own = "common/emulator/";
  const std::size_t behind = failure.find(": ");
  if (!failure.starts_with(own) || behind == std::string::npos) return add_diagnostic(failure);
  const std::string call = text_of_call();
  if (call.empty()) return add_diagnostic(failure);
  add_diagnostic(call + "in a library's kernel, " + failure.substr(behind + 2));
}

// Runs the grid; false if something has failed.
bool run_one(const cudaLaunchConfig_t& config, const kernel_call& call, unsigned char shared_byte, device& on,
             const options& chosen, const std::function<void()>& before) {
  launch_state state{.grid = config.gridDim,
                     .block = config.blockDim,
                     .dynamic_shared_bytes = config.dynamicSmemBytes,
                     .call = call,
                     .reverse = chosen.reverse,
                     .reverse_blocks = chosen.reverse_blocks,
                     .is_program = chosen.is_program,
                     .seed = chosen.seed,
                     .shared_variables = shared_variables(call.kernel),
                     .shared_byte = shared_byte,
                     .cluster = call.cluster.value_or(dim3{})};
  if (active_observer) {
    active_observer->begin_launch(call, state.grid, state.block, state.dynamic_shared_bytes);
  }
  std::optional<std::string> failure;
  const auto compute = [&] { return run_grid(state, on.pool, active_observer ? 1 : chosen.threads, before); };
  if (chosen.devices > 1) {
    const hidden_devices hidden;
    failure = compute();
  } else {
    failure = compute_or_recall != nullptr ? compute_or_recall(config, call, on.pool, chosen.threads, compute)
                                           : compute();
  }
  if (state.has_triggered) on.triggering_kernels.insert(call.kernel);
  if (active_observer) {
    auto complaint = active_observer->end_launch();
    if (complaint && !failure) failure = std::move(complaint);
  } else {
    device_memory::instance().note_all_written();
  }
  if (const auto damage = device_memory::instance().check_red_zones()) {
    const std::string text = kernel_name(call.kernel) + ": " + *damage;
    if (failure) {
      add_diagnostic(text);
    } else {
      failure = text;
    }
  }
  if (failure) {
    add_failure(*failure);
    set_sticky_error(state.error);
  }
  return sticky_error() == cudaSuccess;
}

bool run_with_children(const cudaLaunchConfig_t& config, const kernel_call& call, unsigned char shared_byte,
                       device& on, const options& chosen, const std::function<void()>& before = {}) {
  return active_kernel_launches->run([&] { return run_one(config, call, shared_byte, on, chosen, before); });
}

// Runs the grid on the current device, and the kernel before that it may begin before; says what has failed.
// That kernel is known to let it begin once it has done so in an earlier launch.
cudaError_t run_launch(const cudaLaunchConfig_t& config, const kernel_call& call, unsigned char shared_byte,
                       device& on, const kernel_before& first = {}) {
  if (sticky_error() != cudaSuccess) return finish(sticky_error());
  const runtime_access access;
  const fault_handling handling;
  const std::lock_guard lock(on.mutex);
  const options chosen = configuration();
  const bool begins_early = on.triggering_kernels.contains(first.kernel) && !active_observer &&
                            !call.cluster && chosen.devices <= 1;
  if (first.run && !begins_early) first.run();
  if (active_observer && on.triggering_kernels.contains(first.kernel)) active_observer->begins_early();
  if (sticky_error() != cudaSuccess) return finish(sticky_error());
  try {
    const bool is_right = run_with_children(config, call, shared_byte, on, chosen,
                                            begins_early ? first.run : std::function<void()>());
    return is_right ? cudaSuccess : finish(sticky_error());
  } catch (const std::system_error& error) {
    add_diagnostic(format("no OS thread for the emulator: %s", error.what()));
    return finish(cudaErrorLaunchOutOfResources);
  }
}

struct block_limits {
  std::mutex mutex;
  std::map<const void*, std::size_t> all;
};
block_limits& limits_of_kernels() {
  static never_destroyed<block_limits> one;
  return *one;
}

}  // namespace

void set_block_limit(const void* kernel, std::size_t threads) {
  block_limits& limits = limits_of_kernels();
  const std::lock_guard lock(limits.mutex);
  limits.all[kernel] = threads;
}

std::size_t block_limit(const void* kernel) {
  block_limits& limits = limits_of_kernels();
  const std::lock_guard lock(limits.mutex);
  const auto found = limits.all.find(kernel);
  return found == limits.all.end() ? std::size_t{block_size_limit} : found->second;
}

cudaError_t refuse_launch(const kernel_call& call, cudaError_t error, const std::string& what) {
  add_diagnostic_of_call(kernel_name(call.kernel) + ": launch refused: it asks for " + what);
  return finish(error);
}

cudaError_t check_launch(const cudaLaunchConfig_t& config, const kernel_call& call) {
  const auto refused = refuse(config, dynamic_shared_limit(the_device(), call.kernel),
                              static_shared_bytes(call.kernel), block_limit(call.kernel));
  return refused ? refuse_launch(call, refused->error, refused->why) : cudaSuccess;
}

void reset() {
  set_sticky_error(cudaSuccess);
  cudaGetLastError();
  take_diagnostics();
  device& on = the_device();
  const std::scoped_lock lock(on.mutex);
  on.launches = 0;
}

bool run_kernel(const cudaLaunchConfig_t& config, const kernel_call& call) {
  return run_with_children(config, call, shared_bytes_of_launches[0], the_device(), configuration());
}

cudaError_t kernel_launches::add(const cudaLaunchConfig_t&, const kernel_call& call) {
  add_diagnostic(kernel_name(call.kernel) + ": launch refused: launched from within a kernel");
  return finish(cudaErrorNotSupported);
}

cudaError_t launch(const cudaLaunchConfig_t& asked, const kernel_call& asked_call) {
  cudaLaunchConfig_t config = asked;
  kernel_call call = asked_call;
  const launch_attributes attributes = attributes_of(config);
  config.attrs = nullptr;  // which need not outlive this call
  config.numAttrs = 0;
  const std::optional<dim3> of_kernel = cluster_of_kernel(call.kernel);
  if (!call.cluster) call.cluster = attributes.cluster ? attributes.cluster : of_kernel;
  if (sticky_error() != cudaSuccess) return finish(sticky_error());
  if (inside_kernel()) return active_kernel_launches->add(config, call);
  if (active_graph_capture->is_capturing(config.stream)) {
    cudaLaunchConfig_t later = config;
    later.stream = nullptr;
    active_graph_capture->capture(config.stream,
                                  [later, kept = kept_call(call)] { return launch(later, kept.call()); });
    return finish(cudaSuccess);
  }
  // A timeline shows a kernel that is run later when it runs.
  std::optional<traced_call> traced;
  if (!is_deferring()) traced.emplace("cudaLaunchKernel", 0, call.kernel);
  note_stream("a kernel", config.stream);
  device& on = the_device();
  std::unique_lock lock(on.mutex);
  auto refused = attributes.refused;
  if (!refused)
    refused = refuse(config, dynamic_shared_limit(on, call.kernel), static_shared_bytes(call.kernel),
                     block_limit(call.kernel));
  if (!refused && of_kernel && text_of(*of_kernel) != text_of(*call.cluster))
    refused = refusal{cudaErrorInvalidClusterSize, "clusters of " + text_of(*call.cluster) +
                                                       " blocks, where __cluster_dims__ says " +
                                                       text_of(*of_kernel)};
  if (!refused && call.cluster)
    refused = refuse_cluster(*call.cluster, config.gridDim, on.large_cluster_kernels.contains(call.kernel));
  if (refused) return refuse_launch(call, refused->error, refused->why);

  // An observed kernel is stopped where it touches the memory, with its line; another one would not be
  // stopped.
  if (const auto stray = active_observer ? std::nullopt : host_pointer(call)) {
    add_diagnostic_of_call(kernel_name(call.kernel) + ": " + *stray);
    set_sticky_error(cudaErrorIllegalAddress);
    return finish(sticky_error());
  }

  const unsigned char shared_byte = shared_bytes_of_launches[on.launches++ % shared_bytes_of_launches.size()];
  // Nothing may stand between a kernel and one that begins before it has ended.
  const bool follows = on.last_call + 1 == stream_calls && on.last_stream == config.stream;
  const kernel_before first{attributes.may_begin_early && follows ? on.last_kernel : nullptr, nullptr};
  on.last_kernel = call.kernel;
  on.last_stream = config.stream;
  on.last_call = stream_calls;
  lock.unlock();
  active_stream_listener->enqueue(config.stream);
  if (!is_deferring()) return run_launch(config, call, shared_byte, on, first);
  if (config.stream == nullptr) {
    complete_all();
    return run_launch(config, call, shared_byte, on);
  }
  const auto run = [config, kept = kept_call(call), shared_byte, &on](const kernel_before& first) {
    const kernel_call later = kept.call();
    const traced_call traced_run("cudaLaunchKernel", 0, later.kernel);
    run_launch(config, later, shared_byte, on, first);
  };
  if (attributes.may_begin_early) {
    defer_early(config.stream, run, call.kernel);
  } else {
    defer(
        config.stream, [run] { run({}); }, call.kernel);
  }
  return finish(cudaSuccess);
}

}  // namespace lab::emulator

using namespace lab::emulator;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return finish(cudaSuccess);
  if (kernel == nullptr || value < 0 || static_cast<std::size_t>(value) > shared_bytes_limit) {
    return finish(cudaErrorInvalidValue);
  }
  device& device = the_device();
  const std::lock_guard lock(device.mutex);
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    device.large_cluster_kernels.erase(kernel);
    if (value != 0) device.large_cluster_kernels.insert(kernel);
    return finish(cudaSuccess);
  }
  device.dynamic_shared_limits[kernel] = std::max(static_cast<std::size_t>(value), shared_bytes_default);
  return finish(cudaSuccess);
}

// Of an H100's multiprocessor. Registers are not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  constexpr std::size_t threads = 2048, most_blocks = 32, shared_bytes = std::size_t{228} << 10,
                        reserved_of_block = 1 << 10, granularity = 128;
  if (blocks == nullptr || kernel == nullptr || block_size < 1) return finish(cudaErrorInvalidValue);
  const auto block_threads = static_cast<std::size_t>(block_size + 31) / 32 * 32;
  const std::size_t static_bytes = static_shared_bytes(kernel);
  const std::size_t block_bytes =
      (static_bytes + dynamic_shared_bytes + reserved_of_block + granularity - 1) / granularity * granularity;
  const bool is_possible = static_cast<std::size_t>(block_size) <= block_limit(kernel) &&
                           static_bytes <= shared_bytes_default && dynamic_shared_bytes <= shared_bytes &&
                           block_bytes <= shared_bytes;
  *blocks =
      is_possible
          ? static_cast<int>(std::min({most_blocks, threads / block_threads, shared_bytes / block_bytes}))
          : 0;
  return finish(cudaSuccess);
}
