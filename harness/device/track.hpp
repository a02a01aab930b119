// A track as the harness sees it: it describes its parameters, lists what must be tried, and makes workloads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/inputs.hpp"
#include "harness/device/stage.hpp"
#include "harness/records.hpp"

namespace lab {

// A request that makes no sense: an unknown name, a value out of range, a file that is not what it should be.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A source text that its compiler refuses: a request that is at fault, with the compiler's lines and carets.
class source_error : public usage_error {
 public:
  source_error(const std::string& message, std::string log) : usage_error(message), log_(std::move(log)) {}
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

// Parameters that a stage cannot run, or a stage that this device cannot run.
class unsupported_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a check found. `largest_error` is the largest error as a fraction of its bound; `relative_error` the
// largest as a fraction of its output's scale, of which `relative_bound` is allowed.
struct check_result {
  std::int64_t compared = 0;
  double largest_error = 0;
  double relative_error = 0;
  double relative_bound = 0;
  // Whether an output was wrong as a trait says that it may be.
  bool drifted = false;
  bool leaked = false;
  bool forgot = false;
  // Of a person's own data: the first output whose error is half of itself and more, which a trait allows,
  // and what there is to say of the results.
  std::optional<failure_record> useless;
  std::string remark;
  std::optional<failure_record> failure;
};

// One stage on one set of parameters, with its inputs, outputs and scratch memory on the device. What the
// stage throws comes out as stage_error (stage_call.hpp), but for CUDA's errors and a lack of memory.
class workload {
 public:
  workload() = default;
  workload(const workload&) = delete;
  workload& operator=(const workload&) = delete;
  virtual ~workload() = default;

  // Enqueues fresh inputs, and poisons outputs, scratch memory and the guard zones around all of them.
  virtual void prepare(pattern kind, std::uint64_t seed) = 0;
  // As prepare(), for a launch that a profiler counts: nothing of the harness's own runs within it.
  virtual void prepare_to_count(pattern kind, std::uint64_t seed) { prepare(kind, seed); }
  // Other inputs of the same kind and size, as cheaply as they can be had: no launch before has seen them.
  virtual void vary(std::uint64_t seed) = 0;
  // Likewise, with outputs poisoned and scratch memory as the launch before has left it.
  virtual void renew(std::uint64_t seed) {
    vary(seed);
    poison();
  }
  // Fills outputs and scratch memory, marks their guard zones, and leaves the inputs.
  virtual void poison(memory_fill fill) = 0;
  void poison() { poison(memory_fill::ones); }
  // Enqueues the stage.
  virtual void launch() = 0;
  // What the stage's preparation took, by the host's clock; 0 where there was none.
  [[nodiscard]] virtual double preparation_nanoseconds() const { return 0; }
  // Whether a graph may hold what launch() does: not where memory is allocated in it.
  [[nodiscard]] virtual bool capturable() const { return true; }
  // Waits, and compares everything that `prepare` set up with what it must be now.
  virtual check_result check() = 0;
  // Likewise, but for what was computed: outputs that nobody wrote, and what was changed beside them.
  virtual std::optional<failure_record> damage() { return std::nullopt; }
  // Of a launch that has been repeated and given the same bits: what repetitions do wrong beside their
  // results. May launch again.
  virtual std::optional<failure_record> check_repetitions() { return damage(); }
  // Launches once more, several times: false where output i stays as it is whatever memory held, true where
  // what is written there is made of what memory held; no value where neither is so or can be told.
  virtual std::optional<bool> writes_what_it_finds(std::int64_t /*index*/) { return std::nullopt; }
  // Waits, and hashes the outputs bit by bit.
  virtual std::uint64_t digest() = 0;
};

// One input that a stage is tried on.
struct trial {
  parameter_values parameters;
  pattern input = pattern::random;
  std::optional<std::uint64_t> seed = {};  // where the input is made for one; else the run's
  bool brief = false;                      // one of many sizes: a single launch will do
  // Further inputs, one after the other in the same memory: what is kept of the launch before shows.
  std::vector<std::uint64_t> then = {};
};

// What a stage is applied to: a person's own files, and texts by their names (track_description::texts).
struct application {
  parameter_values parameters;  // those that were given
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::string> texts;
  bool allow_inexact = false;  // results of which some are useless, since a trait allows it
};

// The plain operation that moves the fewest bytes, and the fewest operations.
struct ceiling_need {
  std::string kind;  // "copy", "read" or "write"
  std::int64_t bytes = 0;
  std::optional<std::int64_t> written_bytes = {};  // of a copy, where it is not half
  int gpus = 1;                                    // over which the bytes are spread, all at work at once
  std::int64_t outputs = 0;                        // that a launch computes
  double operations = 0;                           // on `unit`; 0: none that could be a limit
  std::string unit = {};                           // "fp32" or "tensor"
  std::string operation = {};                      // the only one that is timed; empty: the fastest of all

  bool operator==(const ceiling_need&) const = default;
};

class track {
 public:
  track() = default;
  track(const track&) = delete;
  track& operator=(const track&) = delete;
  virtual ~track() = default;

  // All but its stages.
  [[nodiscard]] virtual track_description describe() const = 0;
  // `given` completed by the bench defaults (the first of a sweep). Throws usage_error.
  [[nodiscard]] virtual parameter_values complete(const parameter_values& given) const = 0;
  // What every run tries, whatever it measures; sizes drawn at random follow `seed`.
  [[nodiscard]] virtual std::vector<trial> trials(const stage_entry& stage, bool thorough,
                                                  std::uint64_t seed) const = 0;
  // What must be right at the parameters that are measured, beside random inputs: inputs on which one element
  // that is left out, doubled or moved shows, whatever the size. None where everything is compared anyway.
  [[nodiscard]] virtual std::vector<trial> exact_trials(const stage_entry& /*stage*/,
                                                        const parameter_values& /*parameters*/,
                                                        std::uint64_t /*seed*/) const {
    return {};
  }
  // What was tried at small sizes, at larger ones; some of it at parameters that are nearly those that are
  // measured, and on the emulator one exact trial of more values than are measured, at most so many times as
  // many.
  [[nodiscard]] virtual std::vector<trial> larger_trials(const stage_entry& stage,
                                                         std::uint64_t seed) const = 0;
  [[nodiscard]] virtual std::vector<trial> other_inputs(const stage_entry& /*stage*/,
                                                        const parameter_values& /*parameters*/,
                                                        std::uint64_t /*seed*/) const {
    return {};
  }
  [[nodiscard]] virtual parameter_values nearly(const parameter_values& measured) const { return measured; }
  [[nodiscard]] virtual parameter_values beyond(const parameter_values& measured, double /*most*/) const {
    return measured;
  }
  // What the stage asks for beyond the problem's own bound on errors, relative to the scale; 0 where it does
  // not.
  [[nodiscard]] virtual double declared_bound(const stage_entry& /*stage*/,
                                              const parameter_values& /*parameters*/) const {
    return 0;
  }
  // Whether a stage that declares running sums (traits `drifts` and `leaks_nonfinite`) has any for these
  // parameters: the traits excuse nothing else.
  [[nodiscard]] virtual bool has_running_sums(const parameter_values& /*parameters*/) const { return true; }
  // Of the inputs with `seed`, where their size depends on it.
  [[nodiscard]] virtual ceiling_need ceiling(const parameter_values& parameters,
                                             std::uint64_t seed) const = 0;
  // Why the stage cannot run these parameters; empty when it can. Scratch memory beyond all measure is a
  // reason.
  [[nodiscard]] virtual std::string unsupported(const stage_entry& stage,
                                                const parameter_values& parameters) const = 0;
  // Why no parameters at all let the stage run on this machine; empty when some do.
  [[nodiscard]] virtual std::string why_not_runnable(const stage_entry& /*stage*/) const { return ""; }
  // Throws memory_error before anything is allocated when it will not fit.
  [[nodiscard]] virtual std::unique_ptr<workload> make(const stage_entry& stage,
                                                       const parameter_values& parameters,
                                                       cudaStream_t stream) const = 0;
  // Runs the stage on the user's files and checks a sample of the result before anything is written; what a
  // expected failure makes is written as it is. Throws usage_error for files that are not what they should
  // be.
  [[nodiscard]] virtual check_result apply(const stage_entry& stage, const application& to,
                                           cudaStream_t stream) const = 0;
};

// Throws usage_error where there are any: for tracks that take none.
inline void refuse_texts(const std::map<std::string, std::string>& texts) {
  if (!texts.empty()) throw usage_error("this track takes no --" + texts.begin()->first);
}

// Throws usage_error unless there are exactly this many input files, and one output that can be written.
void require_files(const application& to, std::int64_t inputs);

// Throws unsupported_error with the stage's path where there is a reason `why` it cannot run.
inline void require_supported(const stage_entry& stage, const std::string& why) {
  if (!why.empty()) throw unsupported_error(stage.path + ": " + why);
}

// Adds a track under its directory's name. Called before main; makes no CUDA call.
void register_track(std::string name, std::unique_ptr<track> added);

// What this process knows. Stages are sorted by path.
const track& find_track(const std::string& name);        // throws usage_error
const stage_entry& find_stage(const std::string& path);  // throws usage_error
const track& track_of(const stage_entry& stage);
std::vector<std::string> track_names();
std::vector<const stage_entry*> stages_of(const std::string& track);
std::size_t stage_count();
// Throws std::logic_error when a stage has no track or another problem's type.
void check_registry();

}  // namespace lab
