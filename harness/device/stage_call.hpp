// Calling what a stage has written: whatever it throws or changes stays its own affair.
#pragma once

#include <cxxabi.h>

#include <cfenv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "common/error.hpp"
#include "common/memory.hpp"
#include "harness/failure_kind.hpp"

namespace lab {

// A stage's own function did what it must not: threw, answered what makes no sense, or (of kind `launch`)
// broke the contract of a launch.
class stage_error : public std::runtime_error {
 public:
  explicit stage_error(const std::string& what, failure_kind kind = failure_kind::crash)
      : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] failure_kind kind() const noexcept { return kind_; }

 private:
  failure_kind kind_;
};

// By these words scratch memory that is asked for by mistake is told from what does not fit here.
inline constexpr const char* more_than_any_device_has = "more than any device has";

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

// "int" for `throw 42`: the type of the exception that is being handled.
inline std::string thrown_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an unknown type";
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), &std::free);
  return name ? name.get() : type->name();
}

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
  } catch (const stage_error&) {
    throw;
  } catch (const abi::__forced_unwind&) {  // pthread_exit(), which must not be held up
    throw;
  } catch (const std::exception& thrown) {
    throw stage_error(std::string(name) + " threw an exception: " + thrown.what());
  } catch (...) {
    throw stage_error(std::string(name) + " threw an exception: a value of type " + thrown_type());
  }
}

}  // namespace lab
