// What nvcc made of a program's kernels, read from the machine code: accesses, their widths and lines,
// branches.
//
// PTX does not suffice: nvcc merges neighbouring accesses only when it assembles that (ptxas), so that the
// inner loop of a product in tiles has 32 loads of 4 bytes in PTX and 4 of 16 bytes beside 16 of 4 in the
// machine code. The encoding is that of compute capability 7.0 to 9.0, 16 bytes for each instruction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab::front {

// A copy is cp.async, which is both.
enum class machine_operation : std::uint8_t { load, store, copy, barrier };
enum class machine_space : std::uint8_t { none, global, shared, generic };

struct machine_access {
  machine_operation operation{};
  machine_space space{};
  unsigned bytes = 0;  // of a thread; 0 for a barrier
  std::string file;    // of the program, not of CUDA's headers; empty: unknown
  unsigned line = 0;
  unsigned condition = 0;  // 0: always made; those of a block that share a number are made together or not
};

struct machine_block {
  std::vector<machine_access> accesses;
  std::vector<std::size_t> next;  // blocks that may follow
  bool may_exit = false;
};

struct machine_kernel {
  std::string name;                   // mangled
  std::vector<machine_block> blocks;  // the first one is entered
  bool has_unknown_branches = false;  // whose targets are not in the code
};

// The kernels of a cubin (ELF) for one compute capability, 90 for 9.0. Lines are there if it was compiled
// with -lineinfo. Files below one of `headers` are not the program's: their accesses are those of the line
// that calls them. Throws std::runtime_error with what is not as it should be.
[[nodiscard]] std::vector<machine_kernel> read_cubin(std::string_view cubin, unsigned capability,
                                                     const std::vector<std::string>& headers);

// In words, a line for each file, kernel, block and access: what an observed program is given
// (common/emulator/observe/compiled_code.hpp).
[[nodiscard]] std::string listing_of(const std::vector<machine_kernel>& kernels);

}  // namespace lab::front
