// The files of the cache, and how they are read, replaced and removed safely. Internal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/file.hpp"

namespace lab::run_time {

// The cache's folder, open. All files are named relative to the descriptor, so that what was checked is what
// is used. Files that the cache did not make are never touched.
class cache_folder {
 public:
  // Makes the folder (0700) where there is none, and opens it. On a folder that is a symbolic link, another
  // user's, or writable by others, or that cannot be made, is_open() is false and problem() says why.
  explicit cache_folder(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const noexcept { return directory_.is_open(); }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  // The bytes of an entry, at most `limit_bytes`; nothing where there is none. A file that is no entry of
  // this user's, or longer, is removed.
  [[nodiscard]] std::optional<std::string> read(const std::string& digest, std::uint64_t limit_bytes) const;

  // Notes that an entry was used just now.
  void touch(const std::string& digest) const noexcept;

  void remove(const std::string& digest) const noexcept;

  // Puts an entry in place, whole: what was there, if anything, is read by others until it is. False with
  // problem() otherwise.
  [[nodiscard]] bool write(const std::string& digest, std::string_view bytes);

  // Removes the entries that were used the longest time ago until the rest have no more than `limit_bytes`,
  // and what writers that were killed have left for an hour.
  void tidy(std::uint64_t limit_bytes) const;

 private:
  std::filesystem::path path_;
  file_descriptor directory_;
  std::string problem_;
};

}  // namespace lab::run_time
