#include "common/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "common/utf8.hpp"

namespace lab {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

// Where `path` leads when symbolic links are followed; the end need not exist.
std::filesystem::path followed(const std::filesystem::path& path) {
  constexpr int max_links = 40;  // Linux gives up at the same depth
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == max_links) throw file_error(path, "cannot be written: " + reason(ELOOP));
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) throw file_error(path, "cannot be written: " + error.message());
    target = target.parent_path() / next;  // an absolute `next` replaces the parent
  }
  return target;
}

struct temporary_file {
  std::filesystem::path path;
  file_descriptor file;
};

// Creates an empty file beside `target`, and checks on the way all that would stop it from taking target's
// place.
temporary_file create_beside(const std::filesystem::path& path, const std::filesystem::path& target) {
  if (path.empty()) throw file_error(path, "the name of the file to write is empty");
  struct stat status {};
  mode_t mode = 0666;  // less the user's umask
  bool replaces = false;
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw file_error(path, "is a directory; name a file in it");
    if (!S_ISREG(status.st_mode))
      throw file_error(path, "is not a regular file, and would be replaced by one");
    // Between the two calls another process may have removed the file, as in a folder that several tidy.
    if (::access(target.c_str(), W_OK) != 0 && errno != ENOENT)
      throw file_error(path, "cannot be written: " + reason(errno));
    mode = status.st_mode & 07777;
    replaces = true;
  } else if (errno != ENOENT) {
    throw file_error(path, "cannot be written: " + reason(errno));
  }
  std::filesystem::path directory = target.parent_path();
  if (directory.empty()) directory = ".";
  if (!target.has_filename()) throw file_error(path, "names a directory; name a file in it");
  if (::stat(directory.c_str(), &status) != 0 && errno == ENOENT) {
    throw file_error(path, "cannot be written: there is no directory " + directory.string());
  }

  static std::atomic<unsigned> serial = 0;
  temporary_file result;
  do {  // a name left by a killed process may be in use: try the next
    result.path =
        directory / (".lab-" + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".partial");
    result.file = file_descriptor(::open(result.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!result.file.is_open() && errno == EEXIST);
  if (!result.file.is_open()) {
    throw file_error(path, "cannot be written: " + reason(errno) + " (in " + directory.string() + ")");
  }
  if (replaces) ::fchmod(result.file.get(), mode);  // a foreign file system may refuse; the data matters more
  return result;
}

}  // namespace

file_error::file_error(const std::filesystem::path& path, const std::string& problem)
    : std::runtime_error(escaped(path.string()) + ": " + problem) {}

file_descriptor::file_descriptor(file_descriptor&& other) noexcept
    : value_(std::exchange(other.value_, -1)) {}

file_descriptor& file_descriptor::operator=(file_descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

file_descriptor::~file_descriptor() {
  if (is_open()) ::close(value_);
}

bool file_descriptor::close() noexcept {
  return ::close(std::exchange(value_, -1)) == 0;
}

file_descriptor open_to_read(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) throw file_error(path, "there is no such file");
    throw file_error(path, "cannot be read: " + reason(errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw file_error(path, "cannot be read: " + reason(errno));
  if (S_ISDIR(status.st_mode)) throw file_error(path, "is a directory, and a file is wanted");
  if (!S_ISREG(status.st_mode))
    throw file_error(path, "is not a regular file; save the data to a file first");
  return file;
}

std::size_t read_bytes(const std::filesystem::path& path, const file_descriptor& file,
                       std::span<std::byte> bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + total, bytes.size() - total);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw file_error(path, "cannot be read: " + reason(errno));
    }
    if (count == 0) break;
    total += static_cast<std::size_t>(count);
  }
  return total;
}

std::string read_text(const std::filesystem::path& path) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 16;
  const file_descriptor file = open_to_read(path);
  std::string text;
  std::size_t read = piece_bytes;
  while (read == piece_bytes) {
    const std::size_t before = text.size();
    text.resize(before + piece_bytes);
    read = read_bytes(path, file, std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + read);
  }
  return text;
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat first {};
  struct stat second {};
  const bool has_first = ::stat(a.c_str(), &first) == 0;
  const bool has_second = ::stat(b.c_str(), &second) == 0;
  const auto same = [&] { return first.st_dev == second.st_dev && first.st_ino == second.st_ino; };
  if (has_first || has_second) return has_first && has_second && same();
  const auto directory_of = [](const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  };
  const std::filesystem::path to_be_a = followed(a);
  const std::filesystem::path to_be_b = followed(b);
  if (to_be_a.filename() != to_be_b.filename()) return false;
  return ::stat(directory_of(to_be_a).c_str(), &first) == 0 &&
         ::stat(directory_of(to_be_b).c_str(), &second) == 0 && same();
}

void require_writable(const std::filesystem::path& path) {
  const output_file rehearsal(path);
}

output_file::output_file(std::filesystem::path path, std::uint64_t expected_bytes)
    : path_(std::move(path)), target_(followed(path_)) {
  temporary_file created = create_beside(path_, target_);
  temporary_ = std::move(created.path);
  file_ = std::move(created.file);
  if (expected_bytes == 0) return;
  // Only a full disk counts: file systems that cannot reserve say so, and are written all the same.
  if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(expected_bytes)) != 0 &&
      (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    throw file_error(path_, "cannot take " + std::to_string(expected_bytes) + " bytes: " + reason(error));
  }
}

output_file::~output_file() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw file_error(path_, "cannot be written: " + reason(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void output_file::commit() {
  if (!file_.close()) throw file_error(path_, "cannot be written: " + reason(errno));
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw file_error(path_, "cannot be written: " + reason(errno));
  }
  temporary_.clear();
}

}  // namespace lab
