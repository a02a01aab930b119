// The observer behind an observation, and the state that the compiler's callbacks look at. Internal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/observed/global_shadow.hpp"
#include "common/emulator/observed/observation.hpp"
#include "common/emulator/observed/shared_shadow.hpp"
#include "common/emulator/observed/warp_trace.hpp"
#include "common/emulator/observer.hpp"

namespace lab::emulator {

class observation::recorder final : public observer, private request_sink {
 public:
  recorder();
  ~recorder() override;

  void keep_block(std::uint64_t number) { wanted_block_ = number; }
  [[nodiscard]] const std::vector<observed_block>& kept_blocks() const { return kept_; }

  void begin_launch(const void* kernel, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes) override;
  void end_launch() override;
  void begin_block(uint3 block) override;
  std::optional<std::string> end_block(bool completed) override;
  void enter_thread() override;
  void barrier_passed() override;
  void barrier_without_all(const std::string& warning) override;
  void collective_passed(unsigned warp, unsigned lanes, bool orders_memory) override;
  void make_room(unsigned warp) override;
  void leave_warp(unsigned warp) override;
  void atomic_access(const void* address, unsigned bytes, const void* return_address) override;
  void fence_passed() override;

  // Accesses of the running thread. Those outside of any allocation do not return.
  void access_global(std::uintptr_t address, unsigned bytes, memory_operation operation, bool strong,
                     std::uint32_t place);
  void access_shared(std::uintptr_t address, unsigned bytes, memory_operation operation, std::uint32_t place);
  void host_access(std::uint32_t place);

  [[nodiscard]] std::vector<observed_kernel> kernels() const;
  [[nodiscard]] const std::vector<observed_fault>& faults() const { return faults_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct kernel_record {
    const void* kernel;
    std::string name;
    std::uint64_t launches = 0;
    std::uint64_t barriers = 0;
    std::uint64_t blocks = 0;         // summed over launches
    std::uint64_t block_threads = 0;  // likewise
    site_table sites;
    bool kept = false;  // what the wanted block asked of memory
  };

  void begin_log();
  void take_request(std::uint32_t place, unsigned warp, unsigned lanes, const std::uintptr_t* address,
                    memory_space space, memory_operation operation, unsigned bytes,
                    const access_cost& cost) override;
  touched_array array_of(memory_space space, std::uintptr_t address, unsigned bytes);

  void find_shared_memory();
  void push(std::uint32_t code, packed_access access);
  [[noreturn, gnu::noinline]] void stop_outside(std::uintptr_t address, unsigned bytes,
                                                memory_operation operation, std::uint32_t place);
  [[gnu::noinline]] void note_global(global_shadow::range& in, std::uintptr_t address, unsigned bytes,
                                     const global_access& access);
  std::string prefix(std::uint32_t place, unsigned thread) const;
  std::string text_of_thread(unsigned thread) const;
  void report(fault kind, const std::string& text);
  void report_unwritten_reads();
  void report_race(const global_conflict& conflict, const global_access& access);
  void report_shared(const shared_conflict& conflict, const shared_access& access);

  std::vector<std::unique_ptr<kernel_record>> records_;
  kernel_record* record_ = nullptr;  // of the launch that is under way
  dim3 grid_, block_size_;
  uint3 block_{};
  std::uint64_t block_number_ = 0;
  std::size_t dynamic_bytes_ = 0;
  std::uintptr_t dynamic_begin_ = 0;
  warp_trace trace_;
  shared_shadow shared_;
  global_shadow global_;
  std::vector<observed_fault> faults_;
  std::vector<std::string> warnings_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> reported_;  // pairs of places, in this launch
  std::optional<std::string> block_failure_;
  // By place. Said at the next barrier, unless another thread has written there until then: that is a race.
  std::map<std::uint32_t, std::string> unwritten_reads_;
  std::optional<std::uint64_t> wanted_block_;
  std::vector<observed_block> kept_;
  access_log* log_ = nullptr;  // of the block that runs, if it is wanted
  std::vector<touched_array> shared_variables_;
};

// What the callbacks need at every access. Not thread_local: an observed launch uses one OS thread.
struct callbacks {
  using recorder = observation::recorder;

  std::uintptr_t device_begin = 0, device_bytes = 0;
  std::uintptr_t shared_begin = 0, shared_bytes = 0;
  std::uintptr_t program_begin = 0;
  lane_stream* stream = nullptr;  // of the running lane; null outside of kernels
  recorder* observer = nullptr;   // null: nobody observes
};
extern constinit callbacks the_callbacks;

}  // namespace lab::emulator
