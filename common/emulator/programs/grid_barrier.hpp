// What cooperative_groups::this_grid().sync() waits at. Internal.
#pragma once

#include <atomic>
#include <thread>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// For a cooperative launch, whose blocks all run at the same time.
class grid_barrier {
 public:
  static grid_barrier& instance();
  // How many blocks the launch that comes has; 0: it is not cooperative.
  void begin(unsigned blocks);
  // For each thread of the grid.
  void wait(place where);

 private:
  std::atomic<unsigned> blocks_{0};
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> round_{0};
};

}  // namespace lab::emulator
