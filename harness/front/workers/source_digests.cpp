#include "harness/front/workers/source_digests.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.hpp"

namespace lab::front {

source_digests read_source_digests() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  try {
    const auto document = nlohmann::json::parse(read_text(program.parent_path() / "sources.json"));
    return {document.at("tree").get<std::string>(),
            document.at("stages").get<std::map<std::string, std::string>>(),
            document.at("proofs").get<std::map<std::string, std::string>>(),
            document.at("judges").get<std::string>()};
  } catch (const file_error&) {
    return {};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

std::string digest_of(const source_digests& digests, const std::string& stage) {
  const auto found = digests.stages.find(stage);
  return found == digests.stages.end() ? "" : found->second;
}

}  // namespace lab::front
