// What a stage says about itself, and how it registers. A stage's file ends with one `registration`; nothing
// else lists it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>

#include "common/cuda.hpp"
#include "harness/failure_kind.hpp"

namespace lab {

// Scratch memory that the harness owns and hands to a launch: at least as large as the stage asked for,
// aligned to 256 bytes, content unspecified at every launch.
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// A way in which an expected failure fails: the kind of failure, and words that its message must hold (none:
// any will do).
struct failure_pattern {
  failure_kind kind = failure_kind::wrong;
  const char* words = "";
};

// A kernel that is wrong on purpose, kept to be looked at. It must fail, and in one of the ways that it
// announces; it is never timed. Where a device does not let the fault show, the stage is not run there, since
// a result that happens to be right proves nothing: `hidden_on_gpu` and `hidden_on_emulator` say why.
struct expected_failure {
  std::span<const failure_pattern> failures =
      {};  // of static storage; none: the stage is no expected failure
  const char* hidden_on_gpu = "";
  const char* hidden_on_emulator = "";

  explicit operator bool() const { return !failures.empty(); }
};

// What a stage needs, and what it does not promise. The contract test checks each in both directions: a stage
// without a trait must behave, a stage with it must not.
struct traits {
  bool gpu_only = false;               // uses what the emulator does not model (CUB, NVRTC, ...)
  int minimum_compute_capability = 0;  // 90 for sm_90; 0 for any
  bool library = false;                // somebody else's kernel, there to be compared with
  bool drifts = false;                 // rounding errors of values no longer in an output's input stay in it
  double forgets = 0;                  // outputs lack old inputs: up to this part of the largest before them
  bool leaks_nonfinite = false;        // a NaN or Inf reaches outputs whose inputs hold none
  bool nondeterministic = false;       // the bits of the result may change from run to run
  bool synchronises = false;           // waits for the device in the middle: no graph can hold it
  lab::expected_failure expected_failure = {};  // wrong on purpose: how it fails
};

// Which thread computes an output; empty texts where the stage cannot tell from the index.
struct owner {
  std::string block;
  std::string thread;
};

// How a problem's stages are launched: they enqueue the work on the stream, and neither allocate nor
// synchronise. A problem whose lesson is allocation declares another `launch_function`.
template <class Problem>
struct launch_of {
  using type = void (*)(const typename Problem::input&, const typename Problem::output&, workspace,
                        cudaStream_t);
};
template <class Problem>
requires requires {
  typename Problem::launch_function;
}
struct launch_of<Problem> {
  using type = typename Problem::launch_function;
};

// What a stage has prepared for given parameters: `launch` owns it (a compiled module, a tuned grid, a
// table).
template <class Problem>
struct plan {
  std::function<std::remove_pointer_t<typename launch_of<Problem>::type>> launch;
  std::optional<std::size_t> workspace_bytes = {};  // where the preparation settles them
};

template <class Problem>
struct stage {
  using parameters = typename Problem::parameters;

  // One line: the idea that this stage adds to the one before.
  const char* idea = "";
  // nullptr where the device cannot run it.
  typename launch_of<Problem>::type launch = nullptr;
  // Instead of it, where something is to be prepared: called once for the parameters, outside of every launch
  // that is timed or captured, with the device current. It may wait for the stream, and allocate.
  plan<Problem> (*prepare)(const parameters&, cudaStream_t) = nullptr;
  // Scratch memory that `launch` needs for these parameters, in bytes.
  std::size_t (*workspace_bytes)(const parameters&) = nullptr;
  // Why the stage cannot run these parameters on the current device; empty when it can.
  std::string (*unsupported)(const parameters&) = nullptr;
  // Outputs that one block (or one step of it) computes: the contract test tries sizes around its multiples.
  std::int64_t tile = 1;
  // Block and thread that compute output `index`, for the message about a wrong one.
  owner (*owner_of)(const parameters&, std::int64_t index) = nullptr;
  // Bound on the error relative to the problem's own scale, where the problem's default is out of reach.
  double (*relative_error)(const parameters&) = nullptr;
  lab::traits traits = {};
};

// For stages in which consecutive outputs belong to consecutive threads: `per_thread` outputs each, `tile` a
// block.
template <std::int64_t tile, std::int64_t per_thread, class Parameters>
owner consecutive_owner(const Parameters& /*parameters*/, std::int64_t index) {
  return {std::to_string(index / tile), std::to_string(index % tile / per_thread)};
}

// Parts of `size` that cover n: blocks for a grid, say.
__host__ __device__ constexpr std::int64_t parts(std::int64_t n, std::int64_t size) {
  return (n + size - 1) / size;
}

// A registered stage without its type. `typed` points to a stage<Problem>, `problem` says which.
struct stage_entry {
  std::string path;   // "track/01_naive"
  std::string track;  // "track"
  std::string name;   // "01_naive"
  std::string idea;
  lab::traits traits;
  bool has_launch = false;
  std::type_index problem = typeid(void);
  const void* typed = nullptr;
};

// Adds an entry to the process's registry. Called before main; makes no CUDA call.
void register_stage(stage_entry entry);

// Registers a stage under its directory's path, which the build passes as LAB_PATH.
template <class Problem>
class registration {
 public:
  registration(std::string_view path, stage<Problem> description) : stage_(std::move(description)) {
    const std::size_t slash = path.find('/');
    register_stage({.path = std::string(path),
                    .track = std::string(path.substr(0, slash)),
                    .name = std::string(path.substr(slash + 1)),
                    .idea = stage_.idea,
                    .traits = stage_.traits,
                    .has_launch = stage_.launch != nullptr || stage_.prepare != nullptr,
                    .problem = typeid(Problem),
                    .typed = &stage_});
  }
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;

 private:
  stage<Problem> stage_;
};

}  // namespace lab

// The launch function of a gpu_only stage: itself for CUDA, nullptr for the emulator, where its kernel is
// left out.
#if LAB_EMULATED
#define LAB_GPU_ONLY(function) nullptr
#else
#define LAB_GPU_ONLY(function) function
#endif
