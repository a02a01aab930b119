// Calling what a stage has written: whatever it throws or changes stays its own affair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "common/cuda.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/stage.hpp"
#include "harness/failure_kind.hpp"
#include "harness/records.hpp"

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
    std::optional<result> returned;
    guarded_call(name, [&] { returned.emplace(call()); });
    return std::move(*returned);
  }
}

// ---- what the tracks of arrays and of string columns ask of a stage in the same way

// The stage behind an entry of the registry. Throws std::logic_error when it solves another problem.
template <class Problem>
const stage<Problem>& typed_stage(const stage_entry& entry) {
  if (entry.problem != typeid(Problem))
    throw std::logic_error(entry.path + " is registered for another problem");
  return *static_cast<const stage<Problem>*>(entry.typed);
}

// Outputs or rows (`unit`) of a block, as the stage says. Sizes around it are tried, so it must be one that
// can be: throws stage_error.
std::int64_t checked_tile(std::int64_t tile, const char* unit);

// Throws memory_error, before anything is allocated, where so many bytes are not free.
void require_memory(std::size_t needed);

// Why a stage cannot have its scratch memory where it could have all else; empty when it can. `needed` are
// the bytes of both.
std::string too_much_scratch(std::size_t arrays, std::size_t needed, std::size_t scratch);

// Why the stage itself says that it cannot run p; empty when it can.
template <class Problem>
std::string unsupported_by(const stage<Problem>& stage, const typename Problem::parameters& p) {
  if (stage.unsupported == nullptr) return "";
  return call_stage("unsupported", [&] { return stage.unsupported(p); });
}

// Says which block and thread compute what is wrong, where the stage can tell.
template <class Problem>
void add_owner(failure_record& failure, const stage<Problem>& stage, const typename Problem::parameters& p) {
  if (!failure.index || stage.owner_of == nullptr) return;
  const owner by = call_stage("owner_of", [&] { return stage.owner_of(p, *failure.index); });
  failure.block = by.block;
  failure.thread = by.thread;
}

// More scratch memory than any device has.
inline constexpr std::size_t absurd_bytes = std::size_t{1} << 46;

// Bytes of scratch memory that the stage asks for; absurd amounts as they are.
template <class Problem>
std::size_t requested_workspace(const stage<Problem>& stage, const typename Problem::parameters& p) {
  if (stage.workspace_bytes == nullptr) return 0;
  return call_stage("workspace_bytes", [&] { return stage.workspace_bytes(p); });
}

// Likewise, to be added up: absurd amounts are cut, and still do not fit.
template <class Problem>
std::size_t asked_workspace(const stage<Problem>& stage, const typename Problem::parameters& p) {
  return std::min(requested_workspace(stage, p), 2 * absurd_bytes);
}

// Why a stage cannot have so many bytes of scratch memory on any device; empty when it can.
std::string absurd_workspace(std::size_t bytes);

// A stage with what it has prepared for its parameters, if it prepares anything.
template <class Problem>
class prepared_stage {
 public:
  // Throws stage_error when the stage throws, or its plan launches nothing.
  prepared_stage(const stage<Problem>& stage, const typename Problem::parameters& p, cudaStream_t stream)
      : stage_(stage), workspace_bytes_(asked_workspace(stage, p)) {
    if (stage.prepare == nullptr) return;
    const std::int64_t start = host_nanoseconds();
    plan_ = call_stage("prepare", [&] { return stage.prepare(p, stream); });
    CUDA_CHECK(cudaStreamSynchronize(stream));
    nanoseconds_ = static_cast<double>(host_nanoseconds() - start);
    if (!plan_.launch) throw stage_error("prepare returned a plan without a launch");
    if (plan_.workspace_bytes) workspace_bytes_ = *plan_.workspace_bytes;
    if (const std::string why = absurd_workspace(workspace_bytes_); !why.empty())
      throw stage_error(why, failure_kind::unsupported);
  }

  // Enqueues the work.
  template <class... Arguments>
  auto launch(Arguments&&... arguments) const {
    return plan_.launch ? plan_.launch(std::forward<Arguments>(arguments)...)
                        : stage_.launch(std::forward<Arguments>(arguments)...);
  }

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  // What the preparation took, by the host's clock; 0 where there was none.
  [[nodiscard]] double nanoseconds() const { return nanoseconds_; }

 private:
  const stage<Problem>& stage_;
  plan<Problem> plan_;
  std::size_t workspace_bytes_;
  double nanoseconds_ = 0;
};

}  // namespace lab
