// Calling what a stage has written: whatever it throws or changes stays its own affair.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

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

// "int" for `throw 42`: the type of the exception that is being handled.
std::string thrown_type();

// Calls `call`, a function of the stage's that its description calls `name`. What it throws becomes a
// stage_error, whatever its type; CUDA's errors and a lack of memory pass through.
void guarded_call(const char* name, const std::function<void()>& call);

// Likewise, and returns its result.
template <class Function>
auto call_stage(const char* name, const Function& call) {
  using result = decltype(call());
  if constexpr (std::is_void_v<result>) {
    guarded_call(name, std::cref(call));
  } else {
    std::optional<result> made;
    guarded_call(name, [&] { made.emplace(call()); });
    return std::move(*made);
  }
}

}  // namespace lab
