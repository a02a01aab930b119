// Images that were compiled once are kept on disk. The cache may lose an entry at any time and never gives a
// wrong one: an entry holds a checksum over the text of its key and its image, and appears in its folder
// whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "common/run_time/cache_key.hpp"

namespace lab::run_time {

struct cache_settings {
  std::filesystem::path folder;                          // absolute; empty: nothing is kept
  std::uint64_t limit_bytes = std::uint64_t{256} << 20;  // of all entries together; 0: nothing is kept
};

// The folder: LAB_CACHE_DIR, or $XDG_CACHE_HOME/kernel-lab, or ~/.cache/kernel-lab. The limit:
// LAB_CACHE_BYTES. A variable that is empty counts as unset. Throws std::invalid_argument for a
// LAB_CACHE_BYTES that is no whole number and a LAB_CACHE_DIR that is not absolute.
[[nodiscard]] cache_settings cache_settings_from_environment();

enum class origin { compiled, disk };

struct cached_image {
  std::string image;
  origin from = origin::compiled;
  double seconds = 0;   // of the whole call
  std::string warning;  // why nothing is kept, for a person; each warning is handed out once
};

// May be used from several threads, and its folder by several processes, which wait for nothing: what two of
// them miss at the same time, both make.
class image_cache {
 public:
  explicit image_cache(cache_settings settings) : settings_(std::move(settings)) {}

  // The image of `key`: from the disk, or else what `make` returns, which is kept. Where the folder cannot be
  // used or is full, `make` is called each time. Throws what `make` throws, and nothing is kept then.
  [[nodiscard]] cached_image cached(const cache_key& key, const std::function<std::string()>& make);

  [[nodiscard]] const cache_settings& settings() const noexcept { return settings_; }

 private:
  std::string once(const std::string& problem);

  cache_settings settings_;
  std::mutex mutex_;
  std::set<std::string> told_;
};

// The cache of this process, as its environment has it when it is first asked for. Throws as
// cache_settings_from_environment() does.
[[nodiscard]] image_cache& process_cache();

// process_cache().cached(key, make).
[[nodiscard]] cached_image cached(const cache_key& key, const std::function<std::string()>& make);

}  // namespace lab::run_time
