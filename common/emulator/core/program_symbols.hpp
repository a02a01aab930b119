// What the running program's symbol table and thread-local memory hold, a kernel's __shared__ variables among
// them. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lab::emulator {

struct program_symbol {
  std::string name;      // mangled
  std::uintptr_t value;  // a function's address as linked; a thread-local variable's offset
  std::size_t bytes;
  bool is_function;  // else it is a thread-local variable
};

// A variable that kernels can write and read: __device__, or any other that the program can write. Those in
// constant memory are none (dialect.hpp).
struct device_variable {
  std::uintptr_t begin;  // as linked
  std::size_t bytes;
  std::string name;  // as it is written
};

// The last one that begins at or before the address, as linked; null if there is none, or if the address lies
// in no section that the program can write.
const device_variable* find_device_variable(std::uintptr_t address);

struct memory_range {
  std::uintptr_t begin;
  std::size_t bytes;
};
// Where the program keeps its variables, those of constant memory too, but for the emulator's and the C++
// library's. None if it was stripped.
const std::vector<memory_range>& program_variables();

// Its tables of virtual functions.
const std::vector<memory_range>& virtual_tables();

// The functions and thread-local variables of the executable; none if it was stripped.
const std::vector<program_symbol>& program_symbols();

// The mangled name of a function of the executable; empty if it is not known.
const std::string& mangled_name(const void* function);

// The executable's thread-local memory of the OS thread that calls, in which __shared__ variables lie.
struct thread_local_range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};
thread_local_range thread_local_memory();

// Where a variable lies in the thread-local memory of the executable.
struct shared_variable {
  std::size_t offset;
  std::size_t bytes;
};

// The variables that the kernel declares itself; those of functions that it calls are not known to be its
// own. The span stays valid.
std::span<const shared_variable> shared_variables(const void* kernel);

// Whether a thread-local variable is the emulator's own, and no shared memory. (CUB's are shared memory.)
bool is_of_emulator(const program_symbol& variable);

// Those of all functions of the program. The span stays valid.
std::span<const shared_variable> all_shared_variables();

}  // namespace lab::emulator
