// Observes kernels: counts what they do as Nsight Compute would, and finds races and accesses that are wrong.
//
// Sees those kernels whose source was compiled with the instrumentation of lab_observed (CMakeLists.txt);
// others run and leave nothing behind. Everything counted is modelled (docs/emulator.md): there are no times
// and no caches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/emulator/observe/access_log.hpp"

namespace lab::emulator {

// Metrics by Nsight Compute's names (docs/counters.md); names that begin with lab__ are this project's own.
using metric_values = std::map<std::string, double>;

struct observed_line {
  std::string file;  // from the repository's root
  int line = 0;
  std::string function;
  metric_values metrics;
  std::string accesses;  // "as compiled" or "as written"; empty: it has none
};

struct observed_kernel {
  std::string name;
  std::uint64_t launches = 0;
  metric_values metrics;
  std::vector<observed_line> lines;  // by file and line
  std::string accesses;              // "as compiled" where all of them are
};

enum class fault { race, uninitialised, out_of_bounds, host_access };

struct observed_fault {
  fault kind;
  std::string text;
};

// What one block of a kernel asked of memory.
struct observed_block {
  std::string kernel;
  std::uint64_t blocks = 0;  // of the launch
  unsigned threads = 0;      // of the block
  access_log log;
};

// Kernels are observed while an object of this class lives. There may be one at a time.
class observation {
 public:
  observation();
  observation(const observation&) = delete;
  observation& operator=(const observation&) = delete;
  ~observation();

  // Counts kernels from now on as a GPU's compiler has compiled them, where that can be told from the listing
  // of its code (compiled_code.hpp). Throws std::invalid_argument for one that is not understood.
  void use_compiled_code(std::string_view listing);

  // Keeps from now on what block `number` (x + y * gridDim.x + ...) asks of memory, in the first launch of
  // each kernel that has so many blocks.
  void keep_block(std::uint64_t number);
  // What was kept, in the order of the launches.
  [[nodiscard]] const std::vector<observed_block>& kept_blocks() const;

  // In the order of their first launch.
  [[nodiscard]] std::vector<observed_kernel> kernels() const;
  // What was wrong. Each has failed its launch as well.
  [[nodiscard]] const std::vector<observed_fault>& faults() const;
  // What worked here and need not elsewhere.
  [[nodiscard]] const std::vector<std::string>& warnings() const;

 private:
  class recorder;
  std::unique_ptr<recorder> recorder_;
  friend struct callbacks;
};

}  // namespace lab::emulator
