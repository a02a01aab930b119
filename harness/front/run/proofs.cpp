#include "harness/front/run/proofs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/file.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/run/results.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

constexpr const char* schema = "kernel-lab-proof";

// Words of the compiler's that change no code: warnings, and names of versions and architectures.
std::string without_warnings(const std::string& flags) {
  std::string kept;
  std::istringstream words(flags.substr(0, flags.find(", architectures")));
  for (std::string word; words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos;
    if (word.rfind("-W", 0) == 0 || is_version) continue;
    kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

proof proof_from(const nlohmann::json& json) {
  return {.stage = json.at("stage").get<std::string>(),
          .digest = json.at("digest").get<std::string>(),
          .judges = json.value("judges", ""),
          .backend = json.at("backend").get<std::string>(),
          .flags = json.at("flags").get<std::string>(),
          .compiler = json.at("compiler").get<std::string>(),
          .date = json.at("date").get<std::string>(),
          .found = json.at("found").get<verification_record>()};
}

nlohmann::json json_of(const proof& one) {
  return {{"schema", schema},       {"version", 1},        {"stage", one.stage},       {"digest", one.digest},
          {"backend", one.backend}, {"flags", one.flags},  {"compiler", one.compiler}, {"date", one.date},
          {"found", one.found},     {"judges", one.judges}};
}

// What `read` makes of the file; nothing of a file that is missing or is none of ours.
template <class Read>
void read_if_ours(const std::string& path, const Read& read) {
  try {
    read(nlohmann::json::parse(read_text(path)));
  } catch (const file_error&) {
  } catch (const nlohmann::json::exception&) {
  } catch (const protocol_error&) {
  }
}

}  // namespace

std::string proof_backend(const device_record& device) {
  if (is_emulator(device)) return "emulator";
  std::string capability = device.compute_capability;
  std::erase(capability, '.');
  return "sm_" + capability;
}

proof_store::proof_store(std::string backend, const std::string& flags, source_digests digests)
    : backend_(std::move(backend)), flags_(without_warnings(flags)), digests_(std::move(digests)) {
  read_if_ours(fmt::format("{}/reports/proofs/{}.json", LAB_SOURCE_ROOT, backend_),
               [&](const auto& document) {
                 for (const auto& one : document.at("proofs")) {
                   proof recorded = proof_from(one);
                   recorded.is_recorded = true;
                   recorded_[recorded.stage] = std::move(recorded);
                 }
               });
}

std::optional<proof> proof_store::find(const std::string& stage) const {
  const auto recorded = recorded_.find(stage);
  if (recorded != recorded_.end() && fits(recorded->second)) return recorded->second;
  std::optional<proof> kept;
  if (digest(stage).empty()) return kept;
  read_if_ours(kept_path(stage), [&](const auto& document) { kept = proof_from(document); });
  if (kept && (kept->stage != stage || !fits(*kept))) kept.reset();
  return kept;
}

void proof_store::keep(const std::string& stage, const std::string& compiler,
                       const verification_record& found) const {
  if (digest(stage).empty() || !found.passed) return;
  const proof recorded{.stage = stage,
                       .digest = digest(stage),
                       .judges = digests_.judges,
                       .backend = backend_,
                       .flags = flags_,
                       .compiler = compiler,
                       .date = utc_now(),
                       .found = found};
  const std::string path = kept_path(stage);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  try {
    write_file(path, json_text(json_of(recorded)));
  } catch (const std::exception&) {
    // A build that this user cannot write to: the stage is proved again.
  }
}

std::string proof_store::digest(const std::string& stage) const {
  const auto found = digests_.proofs.find(stage);
  return found == digests_.proofs.end() ? "" : found->second;
}

std::string proof_store::kept_path(const std::string& stage) const {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path() / "proofs" / backend_ / stage).string() + ".json";
}

bool proof_store::fits(const proof& one) const {
  return one.digest == digest(one.stage) && one.backend == backend_ && one.flags == flags_ &&
         one.found.passed;
}

}  // namespace lab::front
