// Calling what a stage has written: whatever it throws or changes stays its own affair.
#pragma once

#include <cfenv>
#include <exception>
#include <stdexcept>
#include <string>

#include "common/error.hpp"
#include "common/memory.hpp"

namespace lab {

// A stage's own function did what it must not: threw, or answered what makes no sense.
class stage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Rounding mode, flushing of denormals and exception flags of this thread, restored at the end: what a stage
// sets must not reach the reference that it is compared with.
class floating_point_guard {
 public:
  floating_point_guard() { std::fegetenv(&before_); }
  floating_point_guard(const floating_point_guard&) = delete;
  floating_point_guard& operator=(const floating_point_guard&) = delete;
  ~floating_point_guard() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

// The result of `call`, a function of the stage's that its description calls `name`. What it throws becomes a
// stage_error, whatever its type; CUDA's errors and a lack of memory pass through.
template <class Function>
auto call_stage(const char* name, const Function& call) {
  const floating_point_guard guard;
  try {
    return call();
  } catch (const cuda_error&) {
    throw;
  } catch (const memory_error&) {
    throw;
  } catch (const std::exception& thrown) {
    throw stage_error(std::string(name) + " threw an exception: " + thrown.what());
  } catch (...) {
    throw stage_error(std::string(name) + " threw an exception that is no std::exception");
  }
}

}  // namespace lab
