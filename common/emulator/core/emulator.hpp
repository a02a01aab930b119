// Control of the CPU emulator: how it schedules, what it has to say, and how to go on after a failed kernel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lab::emulator {

struct options {
  int threads = 0;              // OS threads that run blocks; 0 means one for each core, 16 at most
  bool reverse = false;         // run the threads of a block last to first
  bool reverse_blocks = false;  // start the last block of a grid first; CUDA promises no order of blocks
  std::size_t memory_bytes =
      0;  // capacity of the device; 0 means 8 GiB, or half of the machine's memory if less
  // What the device says it has: grids that fill a device follow it. 0 means 4, so that those stay small.
  int multiprocessors = 0;
  // Devices, each with memory of that capacity; 0 means 1, and 16 are possible.
  int devices = 0;
  // Draws when bulk copies and products are done, and which block of a cluster goes on.
  unsigned seed = 0;
  // A program of `lab emulate` runs, and not a stage. It gets what GPUs grant and CUDA does not promise: a
  // barrier counts only the threads that have not left the kernel, fresh memory is zero unless kernels are
  // observed, and a read of unwritten shared memory is a warning, as is a bulk copy to a barrier with no
  // fence behind its initialisation. Diagnostics of the runtime's functions begin with the line of the call.
  bool is_program = false;
};

// LAB_EMULATOR_THREADS, LAB_EMULATOR_REVERSE (0 or 1), LAB_EMULATOR_MEMORY (bytes),
// LAB_EMULATOR_MULTIPROCESSORS and LAB_EMULATOR_DEVICES. What the emulator starts with.
options options_from_environment();
// What is wrong with these variables, in words; empty if nothing is. A variable that is wrong counts as
// unset.
std::string configuration_error();

// Applies to later launches and allocations.
void configure(const options& wanted);
options configuration();

// What went wrong since the last take_diagnostics() or reset(), oldest first, each text once. Texts that
// nobody has taken when the process ends are printed to stderr.
std::vector<std::string> diagnostics();
std::vector<std::string> take_diagnostics();

// Kernels may touch only [pointer, pointer + bytes) of the allocation that holds it: what lies beside is a
// guard zone of its owner's. A kernel that touches it fails when it is observed, and in a launch that is
// watched (launch_watch.hpp) when it is more than 255 bytes behind the end. There, give the guard zones whole
// pages.
void narrow_allocation(const void* pointer, std::size_t bytes);

// A kernel of a launch that is watched fails when it writes to the allocation that holds the address,
// whatever it puts back.
void forbid_writes(const void* pointer);

// Clears the sticky error that a failed kernel left, and the diagnostics; shared memory and the order of
// copies are those of a first launch again. Allocations, streams and events stay.
void reset();

}  // namespace lab::emulator
