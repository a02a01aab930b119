// A cache in a folder of its own, a maker that counts its calls, and what tests do to files and in processes.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/run_time/cache.hpp"
#include "tests/temporary_directory.hpp"

namespace lab::test {

inline run_time::cache_key key_named(const std::string& source) {
  run_time::cache_key key;
  return key.add("source", source);
}

// What the fake maker makes of a key: bytes of every kind.
inline std::string image_of(const std::string& source, std::size_t bytes = 48) {
  std::string image = "image of " + source;
  for (std::size_t k = image.size(); k < bytes; ++k) image += static_cast<char>(k * 37);
  return image;
}

struct counting_cache {
  explicit counting_cache(const std::filesystem::path& folder,
                          std::uint64_t limit_bytes = std::uint64_t{256} << 20)
      : cache({folder, limit_bytes}) {}

  run_time::cached_image get(const std::string& source, std::size_t bytes = 48) {
    return cache.cached(key_named(source), [&] {
      ++compilations;
      return image_of(source, bytes);
    });
  }

  run_time::image_cache cache;
  int compilations = 0;
};

inline std::filesystem::path entry_of(const std::filesystem::path& folder, const std::string& source) {
  return folder / (key_named(source).digest() + ".image");
}

inline std::vector<std::string> files_in(const std::filesystem::path& folder, const std::string& suffix) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == suffix) names.push_back(file.path().filename().string());
  }
  return names;
}

// The exit status of `run` in a process of its own; 128 plus the signal that ended it. Catch2's assertions do
// not work there: `run` returns 0 for success.
inline int status_in_child(const std::function<int()>& run) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = run();
    } catch (...) {
      status = 98;
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace lab::test
