#include "harness/front/verbs/soak.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>

#include "common/file.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/build_info.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/process/temporary_folder.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// What came of one stage's seeds.
struct soaked_stage {
  std::string stage;
  std::string skipped;  // why the device cannot run it; else empty
  std::int64_t seeds = 0;
  std::int64_t trials = 0;
  double longest_trial = 0;  // in seconds of processor time
  std::uint64_t longest_seed = 0;
  struct failure {
    std::uint64_t seed;
    std::string message;
  };
  std::vector<failure> failures;
};

void to_json(nlohmann::json& json, const soaked_stage& one) {
  auto failures = nlohmann::json::array();
  for (const auto& [seed, message] : one.failures) failures.push_back({{"seed", seed}, {"message", message}});
  json = {{"stage", one.stage},   {"skipped", text_or_null(one.skipped)}, {"seeds", one.seeds},
          {"trials", one.trials}, {"longest_trial", one.longest_trial},   {"longest_seed", one.longest_seed},
          {"failures", failures}};
}

// A call of this program about one stage and one seed, while it runs.
struct running_call {
  child_process process;
  std::size_t stage;
  std::uint64_t seed;
  std::string path;  // of its results
};

class soak {
 public:
  soak(const run_options& options, const seed_range& seeds, std::vector<soaked_stage> stages)
      : options_(options),
        seeds_(seeds),
        stages_(std::move(stages)),
        null_device_(open("/dev/null", O_WRONLY)) {}

  // With so many calls at once. Throws `interrupted`; found() then holds what had ended.
  void run(unsigned at_once) {
    // Seeds in the outer loop, so that what is there after an interrupt is about all stages. A proof has two.
    for (std::uint64_t seed = seeds_.first; seed <= seeds_.last; seed += 2) {
      for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        if (!stages_[stage].skipped.empty()) continue;
        while (running_.size() >= at_once) take_ended();
        start(stage, seed);
      }
    }
    while (!running_.empty()) take_ended();
  }

  [[nodiscard]] const std::vector<soaked_stage>& found() const { return stages_; }

 private:
  void start(std::size_t stage, std::uint64_t seed) {
    const std::string path = (folder_.path() / fmt::format("{}-{}.json", stage, seed)).string();
    std::vector<std::string> call{fs::read_symlink("/proc/self/exe").string(),
                                  "verify",
                                  stages_[stage].stage,
                                  "--seed",
                                  std::to_string(seed == seeds_.last ? options_.seed : seed),
                                  "--trial-seed",
                                  std::to_string(std::min(seed + 1, seeds_.last)),
                                  "--json",
                                  path};
    if (!options_.device.empty()) call.insert(call.end(), {"--device", options_.device});
    if (options_.timeout_seconds)
      call.insert(call.end(), {"--timeout", fmt::format("{}", *options_.timeout_seconds)});
    const owned_descriptor errors(
        open((path + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    running_.push_back(
        {child_process(call, {{null_device_.get(), 1}, {errors.get(), 2}}), stage, seed, path});
    ++begun_;
  }

  // Waits a moment, and reads what the calls that have ended found.
  void take_ended() {
    constexpr std::chrono::milliseconds moment{10};
    throw_if_interrupted();
    status_.show(fmt::format("{} of {}: {} seed {}", begun_,
                             stages_.size() * ((seeds_.last - seeds_.first) / 2 + 1),
                             stages_[running_.front().stage].stage, running_.front().seed));
    std::this_thread::sleep_for(moment);
    for (auto one = running_.begin(); one != running_.end();) {
      if (const auto ending = one->process.wait_for(std::chrono::milliseconds{0})) {
        take(*one, *ending);
        one = running_.erase(one);
      } else {
        ++one;
      }
    }
  }

  void take(const running_call& one, const process_ending& ending) {
    soaked_stage& stage = stages_[one.stage];
    stage.seeds += one.seed == seeds_.last ? 1 : 2;
    const std::string failed = read(one, ending, stage);
    std::error_code ignored;
    fs::remove(one.path + ".err", ignored);
    if (failed.empty()) return;
    stage.failures.push_back({one.seed, failed});
    status_.print(one.seed == seeds_.last
                      ? fmt::format("{}: FAIL with --trial-seed {}: {}", stage.stage, one.seed, failed)
                      : fmt::format("{}: FAIL with --seed {} --trial-seed {}: {}", stage.stage, one.seed,
                                    one.seed + 1, failed));
  }

  // Why the call failed; empty when it did not.
  static std::string read(const running_call& one, const process_ending& ending, soaked_stage& stage) {
    try {
      const auto document = nlohmann::json::parse(read_text(one.path));
      const auto& row = document.at("groups").at(0).at("rows").at(0);
      const auto status = row.at("status").get<std::string>();
      const auto found = optional_member<verification_record>(row, "verification");
      if (found) stage.trials += found->trials - found->skipped;
      if (found && found->longest_trial > stage.longest_trial) {
        stage.longest_trial = found->longest_trial;
        stage.longest_seed = one.seed;
      }
      if (status == "ok" || status == "expected_failure") return "";
      if (status == "skipped") {
        stage.skipped = row.at("message").get<std::string>();
        return "";
      }
      return row.at("message").get<std::string>();
    } catch (const std::exception&) {
      return fmt::format("the call {}{}", ending.description(), last_words(one.path + ".err"));
    }
  }

  // "; its last words: ...", of a call without results.
  static std::string last_words(const std::string& path) {
    std::string text = fs::exists(path) ? read_text(path) : "";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return "";
    return "; its last words: " + shortened(cleaned(text.substr(text.rfind('\n') + 1)), 300);
  }

  const run_options& options_;
  seed_range seeds_;
  std::vector<soaked_stage> stages_;
  owned_descriptor null_device_;
  temporary_folder folder_{"soak"};
  std::vector<running_call> running_;
  std::size_t begun_ = 0;
  status_line status_;
};

std::string table_of(const std::vector<soaked_stage>& stages) {
  table_rows rows{{"stage", "seeds", "trials", "failures", "longest trial", "with seed"}};
  for (const soaked_stage& one : stages) {
    if (!one.skipped.empty()) {
      rows.push_back({one.stage, "skipped: " + one.skipped});
      continue;
    }
    rows.push_back({one.stage, std::to_string(one.seeds), std::to_string(one.trials),
                    std::to_string(one.failures.size()), fmt::format("{:.1f} s", one.longest_trial),
                    std::to_string(one.longest_seed)});
  }
  return aligned_text(rows, {alignment::left, alignment::right}, "  ");
}

}  // namespace

int soak_stages(const run_options& options, const seed_range& seeds) {
  check_files({}, {{"--json", options.json_path}});
  const connection connected = connect(options.device, select_by(options.patterns));
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  const device_record& device = *connected.description.device;
  std::vector<soaked_stage> stages;
  for (const auto& selection : select_stages(connected.description.tracks, options.patterns)) {
    for (const stage_description* stage : selection.stages) {
      stages.push_back({.stage = stage->path, .skipped = stage->runnable ? "" : stage->why_not});
      if (!stage->broken.empty()) throw environment_error(fmt::format("{}: {}", stage->path, stage->broken));
    }
  }
  // On a GPU one: a proof keeps all cores busy with references, and neighbours would take the memory that its
  // largest trials need.
  const unsigned at_once = is_emulator(device) ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  if (is_emulator(device)) setenv("LAB_EMULATOR_THREADS", "1", 0);
  soak all(options, seeds, std::move(stages));
  std::exception_ptr ended_early;
  try {
    all.run(at_once);
  } catch (const interrupted&) {
    ended_early = std::current_exception();
  }
  const auto& found = all.found();
  std::printf("%s", fmt::format("soak on {}, seeds {} to {}\n{}", device.name, seeds.first, seeds.last,
                                table_of(found))
                        .c_str());
  std::size_t failures = 0;
  for (const soaked_stage& one : found) failures += one.failures.size();
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-soak"},
                                             {"version", 1},
                                             {"created", utc_now()},
                                             {"commit", this_build().commit},
                                             {"device", device},
                                             {"first_seed", seeds.first},
                                             {"last_seed", seeds.last},
                                             {"interrupted", ended_early != nullptr},
                                             {"failures", failures},
                                             {"stages", found}}));
  }
  if (ended_early) std::rethrow_exception(ended_early);
  std::printf("\n%s\n", failures == 0
                            ? "no failure"
                            : fmt::format("{} failure{}", failures, failures == 1 ? "" : "s").c_str());
  return failures == 0 ? exit_ok : exit_stage_failed;
}

}  // namespace lab::front
