// Files that are written whole or not at all, and errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

namespace lab {

// A file that cannot be read or written as asked. what() is for a person: "path: what is wrong; what to do".
class file_error : public std::runtime_error {
 public:
  file_error(const std::filesystem::path& path, const std::string& problem);
};

// An open POSIX file descriptor, closed at the end.
class file_descriptor {
 public:
  file_descriptor() = default;
  explicit file_descriptor(int value) noexcept : value_(value) {}
  file_descriptor(file_descriptor&& other) noexcept;
  file_descriptor& operator=(file_descriptor&& other) noexcept;
  ~file_descriptor();

  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool is_open() const noexcept { return value_ >= 0; }
  // False when the system says, at this late point, that written data is lost (errno has the reason).
  [[nodiscard]] bool close() noexcept;

 private:
  int value_ = -1;
};

// Opens a regular file for reading. Throws file_error for anything else: a pipe that nobody writes to would
// be waited for, and a device need not end. What was looked at is what is read: nothing can change in
// between.
file_descriptor open_to_read(const std::filesystem::path& path);

// Reads until `bytes` are full or the file ends, and returns how many were read.
std::size_t read_bytes(const std::filesystem::path& path, const file_descriptor& file,
                       std::span<std::byte> bytes);

// The whole file as text. Opens it as open_to_read does.
std::string read_text(const std::filesystem::path& path);

// Whether the two names mean one file, through links of either kind too; of files that do not exist yet,
// whether they would.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws file_error unless a file can be written at `path`: its directory exists and takes new files, and
// what is there already is a regular file that may be replaced. Meant for before the work, whose result would
// be lost.
void require_writable(const std::filesystem::path& path);

// A file that appears at `path` when commit() is called and not before: until then `path` keeps the old file,
// or none. Without commit() the destructor removes what was written. All failures are file_error.
class output_file {
 public:
  // Checks as require_writable does. `expected_bytes` are reserved, so that a full disk is known before the
  // work.
  explicit output_file(std::filesystem::path path, std::uint64_t expected_bytes = 0);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::filesystem::path path_;    // as the caller named it, for messages
  std::filesystem::path target_;  // the same with symbolic links followed: a link stays a link
  std::filesystem::path temporary_;
  file_descriptor file_;
};

}  // namespace lab
