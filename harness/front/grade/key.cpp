#include "harness/front/grade/key.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "common/file.hpp"
#include "common/run_time/cache_key.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/grade/seal.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* key_schema = "kernel-lab-key";
// A seed that can be guessed hides nothing.
constexpr std::size_t fewest_characters = 16;

}  // namespace

grading_key read_key(const fs::path& folder) {
  const fs::path file = folder / "key.json";
  std::error_code error;
  if (!fs::exists(file, error))
    throw usage_error(
        fmt::format("{} is not there: lab grade --make-key {} makes a key", file.string(), folder.string()));
  try {
    const auto json = nlohmann::json::parse(read_text(file));
    if (json.at("schema") != key_schema || json.at("version") != 1)
      throw usage_error(fmt::format("{} is no key of version 1", file.string()));
    const auto seed = json.at("seed").get<std::string>();
    if (seed.size() < fewest_characters)
      throw usage_error(
          fmt::format("{}: the seed has fewer than {} characters", file.string(), fewest_characters));
    return {folder, seed};
  } catch (const nlohmann::json::exception& problem) {
    throw usage_error(fmt::format("{} is no key: {}", file.string(), cleaned(problem.what(), 120)));
  }
}

void make_key(const fs::path& folder) {
  std::uint64_t bits[2] = {};
  if (getrandom(bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    throw environment_error("the system gives no random numbers");
  const mode_t before = umask(077);
  try {
    make_folder(folder,
                {{"key.json", nlohmann::ordered_json{{"schema", key_schema},
                                                     {"version", 1},
                                                     {"seed", hexadecimal(bits[0]) + hexadecimal(bits[1])}}
                                      .dump(2) +
                                  "\n"}});
  } catch (...) {
    umask(before);
    throw;
  }
  umask(before);
}

exercise exercise_of(const grading_key& key, const std::string& path) {
  const std::string stage = path.substr(0, path.find('.'));
  const fs::path own = key.folder / stage / "exercises.json";
  std::error_code error;
  if (!fs::exists(own, error)) {
    if (auto found = find_exercise(path)) return *found;
    throw usage_error(fmt::format("there is no exercise '{}'; lab new --list shows them", path));
  }
  const std::vector<exercise> all = parse_exercises(read_text(own), own.string(), stage);
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) return all.front();
  for (const exercise& one : all) {
    if (one.name == path.substr(dot + 1)) return one;
  }
  throw usage_error(fmt::format("{} has no exercise '{}'", own.string(), path));
}

std::uint64_t number_of(const grading_key& key, const std::string& exercise, const std::string& purpose) {
  const std::string digest =
      run_time::cache_key().add("seed", key.seed).add("exercise", exercise).add("purpose", purpose).digest();
  return std::stoull(digest.substr(0, 13), nullptr, 16);  // 52 bits
}

std::map<std::string, std::string> hidden_sizes(const grading_key& key, const exercise& exercise,
                                                const std::string& path) {
  std::map<std::string, std::string> sizes;
  for (const auto& [parameter, values] : exercise.sizes)
    sizes[parameter] = values[number_of(key, path, "size of " + parameter) % values.size()];
  return sizes;
}

}  // namespace lab::front
