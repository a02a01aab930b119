// Looks at the running thread of a kernel from time to time, so that a loop which waits for ever is found and
// one that waits for another thread of its block lets that run. Internal.
#pragma once

#include <cstdint>

namespace lab::emulator {

// While one exists, this OS thread is interrupted every few milliseconds of its CPU time, for the first time
// after some tens: short launches never are. block_runner::tick() is called then, on the stack of what was
// interrupted.
class spin_watch {
 public:
  spin_watch();
  spin_watch(const spin_watch&) = delete;
  spin_watch& operator=(const spin_watch&) = delete;
  ~spin_watch();
};

// An instruction of the program's own that a kernel was found at by the last interruption; null where no
// kernel runs.
const void* last_interrupted_at();

// Whether an instruction is neither the emulator's own nor a library's: a thread may be stopped there.
bool is_users_code(std::uintptr_t address);

// A digest of the thread that a signal has interrupted: its registers, and its stack up to `stack_end`. Two
// equal ones are the same state, in which a thread that nobody else disturbs will do the same again.
std::uint64_t digest_of_interrupted(void* context, std::uintptr_t stack_end);
// The same of the thread that calls, at this call.
std::uint64_t digest_of_caller(std::uintptr_t stack_end);
// Of memory, mixed into an earlier digest.
std::uint64_t digest_of(std::uint64_t digest, const void* begin, const void* end);

}  // namespace lab::emulator
