#include "common/run_time/cache.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "common/file.hpp"
#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_name = "kernel-lab";

// A variable's value; nothing where it is unset or empty.
std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

fs::path home() {
  if (const auto given = variable("HOME")) return *given;
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return {};
  return found->pw_dir;
}

fs::path folder_from_environment() {
  if (const auto given = variable("LAB_CACHE_DIR")) {
    if (!fs::path(*given).is_absolute())
      throw std::invalid_argument("LAB_CACHE_DIR must be an absolute path, not '" + escaped(*given) + "'");
    return *given;
  }
  // The XDG base directory specification has relative paths ignored.
  if (const auto given = variable("XDG_CACHE_HOME"); given && fs::path(*given).is_absolute())
    return fs::path(*given) / folder_name;
  const fs::path of_user = home();
  return of_user.is_absolute() ? of_user / ".cache" / folder_name : fs::path();
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

// A file of the cache: the digest of its key and its image together, in as many digits as its name has, and
// the image.
constexpr std::size_t digest_digits = 64;
constexpr const char* entry_suffix = ".image";

std::string checksum_of(const cache_key& key, std::string_view image) {
  return cache_key(key).add("image", image).digest();
}

// Nothing where there is no entry of this key, whole and unchanged.
std::optional<std::string> find_image(const fs::path& entry, const cache_key& key) {
  try {
    const std::string bytes = read_text(entry);
    if (bytes.size() < digest_digits) return std::nullopt;
    const auto image = std::string_view(bytes).substr(digest_digits);
    if (checksum_of(key, image) != std::string_view(bytes).substr(0, digest_digits)) return std::nullopt;
    std::error_code ignored;
    fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
    return std::string(image);
  } catch (const file_error&) {  // there is none, or the disk has lost it
    return std::nullopt;
  }
}

// Removes the entries that were used the longest time ago until the rest have no more than `limit_bytes`,
// and what writers that were killed have left for an hour. Files that the cache did not make stay.
void tidy(const fs::path& folder, std::uint64_t limit_bytes) {
  std::error_code ignored;
  std::error_code error;
  std::vector<std::tuple<fs::file_time_type, std::uint64_t, fs::path>> entries;
  std::uint64_t total = 0;
  for (fs::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    const fs::path path = file->path();
    std::error_code gone;  // another process has removed it
    const fs::file_time_type used = file->last_write_time(gone);
    const std::uint64_t bytes = gone ? 0 : file->file_size(gone);
    if (gone) continue;
    if (path.extension() == entry_suffix && path.stem().string().size() == digest_digits) {
      entries.emplace_back(used, bytes, path);
      total += bytes;
    } else if (path.extension() == ".partial" && path.filename().string().starts_with(".lab-") &&
               fs::file_time_type::clock::now() - used > std::chrono::hours(1)) {
      fs::remove(path, ignored);
    }
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [used, bytes, path] : entries) {
    if (total <= limit_bytes) return;
    fs::remove(path, ignored);
    total -= bytes;
  }
}

// Returns what stopped the image from being kept; empty if nothing did.
std::string keep(const fs::path& entry, const cache_key& key, const std::string& image,
                 std::uint64_t limit_bytes) {
  const std::string bytes = checksum_of(key, image) + image;
  if (bytes.size() > limit_bytes)
    return "cannot take an image of " + std::to_string(bytes.size()) + " bytes: LAB_CACHE_BYTES allows " +
           std::to_string(limit_bytes) + " for all together";
  std::string problem;
  try {
    output_file file(entry);
    file.write(std::as_bytes(std::span(bytes)));
    file.commit();
  } catch (const file_error& failure) {
    // It is the folder's, whatever the entry's name.
    problem = std::string(failure.what()).substr(escaped(entry.string()).size() + 2);
  }
  tidy(entry.parent_path(), limit_bytes);
  return problem;
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
  std::error_code error;
  fs::create_directories(settings_.folder, error);
  if (error) return make_without("cannot be made: " + error.message());
  const fs::path entry = settings_.folder / (key.digest() + entry_suffix);
  if (auto found = find_image(entry, key)) return {std::move(*found), origin::disk, seconds(), ""};
  std::string image = make();
  std::string warning = once(keep(entry, key, image, settings_.limit_bytes));
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
