#include "common/run_time/cache.hpp"

#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/run_time/cache_entry.hpp"
#include "common/run_time/cache_folder.hpp"
#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

constexpr const char* folder_name = "kernel-lab";

// A variable's value; nothing where it is unset or empty.
std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::filesystem::path home() {
  if (const auto given = variable("HOME")) return *given;
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return {};
  return found->pw_dir;
}

std::filesystem::path folder_from_environment() {
  if (const auto given = variable("LAB_CACHE_DIR")) {
    if (!std::filesystem::path(*given).is_absolute())
      throw std::invalid_argument("LAB_CACHE_DIR must be an absolute path, not '" + escaped(*given) + "'");
    return *given;
  }
  // The XDG base directory specification has relative paths ignored.
  if (const auto given = variable("XDG_CACHE_HOME"); given && std::filesystem::path(*given).is_absolute())
    return std::filesystem::path(*given) / folder_name;
  const std::filesystem::path of_user = home();
  return of_user.is_absolute() ? of_user / ".cache" / folder_name : std::filesystem::path();
}

std::uint64_t limit_from_environment(std::uint64_t otherwise) {
  constexpr std::uint64_t most = std::uint64_t{1} << 50;
  const auto given = variable("LAB_CACHE_BYTES");
  if (!given) return otherwise;
  std::uint64_t number = 0;
  const char* const end = given->data() + given->size();
  const auto [stop, error] = std::from_chars(given->data(), end, number);
  if (error == std::errc{} && stop == end && number <= most) return number;
  throw std::invalid_argument("LAB_CACHE_BYTES must be a whole number from 0 to " + std::to_string(most) +
                              ", not '" + escaped(*given) + "'");
}

std::optional<std::string> find_image(const cache_folder& folder, const cache_key& key,
                                      const std::string& digest, std::uint64_t limit_bytes) {
  try {
    const auto bytes = folder.read(digest, limit_bytes);
    if (!bytes) return std::nullopt;
    std::string image;
    if (decode_entry(*bytes, key, image)) {
      folder.touch(digest);
      return image;
    }
  } catch (const file_error&) {  // a disk that cannot be read here has lost the entry
  }
  folder.remove(digest);
  return std::nullopt;
}

// Returns what stopped the image from being kept; empty if nothing did.
std::string keep(cache_folder& folder, const cache_key& key, const std::string& digest,
                 const std::string& image, std::uint64_t limit_bytes) {
  const std::string bytes = encode_entry(key, image);
  if (bytes.size() > limit_bytes)
    return "cannot take an image of " + std::to_string(bytes.size()) + " bytes: LAB_CACHE_BYTES allows " +
           std::to_string(limit_bytes) + " for all together";
  const bool written = folder.write(digest, bytes);
  folder.tidy(limit_bytes);
  return written ? "" : folder.problem();
}

}  // namespace

cache_settings cache_settings_from_environment() {
  cache_settings settings;
  settings.folder = folder_from_environment();
  settings.limit_bytes = limit_from_environment(settings.limit_bytes);
  return settings;
}

std::string image_cache::once(const std::string& problem) {
  if (problem.empty()) return "";
  const std::string warning =
      "compiled kernels are not kept: " +
      (has_digests() ? "the folder " + escaped(settings_.folder.string()) + " " : "") + problem;
  const std::lock_guard lock(mutex_);
  return told_.insert(warning).second ? warning : "";
}

cached_image image_cache::cached(const cache_key& key, const std::function<std::string()>& make) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto make_without = [&](const std::string& problem) {
    std::string image = make();
    return cached_image{std::move(image), origin::compiled, seconds(), once(problem)};
  };
  if (settings_.limit_bytes == 0) return make_without("");
  if (!has_digests()) return make_without("this build is without libb2 (package libb2-dev)");
  if (settings_.folder.empty()) return make_without("has no name: set LAB_CACHE_DIR or HOME");
  cache_folder folder(settings_.folder);
  if (!folder.is_open()) return make_without(folder.problem());
  const std::string digest = key.digest();
  if (auto found = find_image(folder, key, digest, settings_.limit_bytes))
    return {std::move(*found), origin::disk, seconds(), ""};
  std::string image = make();
  std::string warning = once(keep(folder, key, digest, image, settings_.limit_bytes));
  return {std::move(image), origin::compiled, seconds(), std::move(warning)};
}

image_cache& process_cache() {
  static image_cache cache(cache_settings_from_environment());
  return cache;
}

cached_image cached(const cache_key& key, const std::function<std::string()>& make) {
  return process_cache().cached(key, make);
}

}  // namespace lab::run_time
