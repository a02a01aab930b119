#include "common/run_time/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "common/run_time/cache_entry.hpp"
#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

constexpr std::string_view entry_suffix = ".image";
constexpr std::string_view partial_suffix = ".partial";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t serial_digits = 16;
constexpr std::time_t partial_seconds = 3600;  // no write takes so long

std::string reason(int error) {
  return std::generic_category().message(error);
}

bool are_digits(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_entry(std::string_view name) {
  return name.size() == digest_digits + entry_suffix.size() && are_digits(name.substr(0, digest_digits)) &&
         name.substr(digest_digits) == entry_suffix;
}

// "DIGEST.SERIAL.partial".
bool is_partial(std::string_view name) {
  return name.size() == digest_digits + 1 + serial_digits + partial_suffix.size() &&
         are_digits(name.substr(0, digest_digits)) && name[digest_digits] == '.' &&
         are_digits(name.substr(digest_digits + 1, serial_digits)) &&
         name.substr(digest_digits + 1 + serial_digits) == partial_suffix;
}

std::string entry_name(const std::string& digest) {
  return digest + std::string(entry_suffix);
}

std::string partial_name(const std::string& digest) {
  std::random_device device;
  char serial[serial_digits + 1];
  std::snprintf(serial, sizeof serial, "%08x%08x", device(), device());
  return digest + "." + serial + std::string(partial_suffix);
}

// Makes a folder and those above it, for this user alone. Returns 0 or errno.
int make_folders(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    // A folder above may be read-only and hold the next one all the same.
    std::error_code ignored;
    const int error = errno;
    if (!std::filesystem::is_directory(made, ignored)) return error;
  }
  return 0;
}

// What is wrong with a folder that was opened; empty if nothing is.
std::string folder_problem(int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return "cannot be read: " + reason(errno);
  if (status.st_uid != ::geteuid()) return "belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by other users (chmod go-w)";
  return "";
}

// A write beyond RLIMIT_FSIZE raises SIGXFSZ, which ends the process. While one of these lives, the thread's
// write fails with EFBIG instead.
class without_file_size_signal {
 public:
  without_file_size_signal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  without_file_size_signal(const without_file_size_signal&) = delete;
  without_file_size_signal& operator=(const without_file_size_signal&) = delete;
  ~without_file_size_signal() {
    const timespec at_once{};
    if (!was_pending_) {
      while (sigtimedwait(&set_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// Returns 0 or errno.
int write_whole(int file, std::string_view bytes) {
  const without_file_size_signal guard;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

struct entry_file {
  std::string name;
  std::uint64_t bytes;
  timespec used;
};

bool is_older(const entry_file& one, const entry_file& other) {
  return std::pair(one.used.tv_sec, one.used.tv_nsec) < std::pair(other.used.tv_sec, other.used.tv_nsec);
}

}  // namespace

cache_folder::cache_folder(const std::filesystem::path& path) : path_(path.lexically_normal()) {
  // A slash at the end would follow a link.
  if (!path_.has_filename()) path_ = path_.parent_path();
  const int error = make_folders(path_);
  file_descriptor opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.is_open()) {
    problem_ = folder_problem(opened.get());
    if (problem_.empty()) directory_ = std::move(opened);
    return;
  }
  const int open_error = errno;
  std::error_code ignored;
  if (std::filesystem::is_symlink(path_, ignored)) {
    problem_ = "is a symbolic link";
  } else if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_directory(path_, ignored)) {
    problem_ = "is not a folder";
  } else {
    problem_ =
        (error != 0 ? "cannot be made: " : "cannot be read: ") + reason(error != 0 ? error : open_error);
  }
}

std::optional<std::string> cache_folder::read(const std::string& digest, std::uint64_t limit_bytes) const {
  const std::string name = entry_name(digest);
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const file_descriptor file(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno != ENOENT) remove(digest);
    return std::nullopt;
  }
  struct stat status {};
  const bool usable = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
                      static_cast<std::uint64_t>(status.st_size) <= limit_bytes;
  if (!usable) {
    remove(digest);
    return std::nullopt;
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  bytes.resize(read_bytes(path_ / name, file, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

void cache_folder::touch(const std::string& digest) const noexcept {
  const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::utimensat(directory_.get(), entry_name(digest).c_str(), times, AT_SYMLINK_NOFOLLOW);
}

void cache_folder::remove(const std::string& digest) const noexcept {
  ::unlinkat(directory_.get(), entry_name(digest).c_str(), 0);
}

bool cache_folder::write(const std::string& digest, std::string_view bytes) {
  const std::string partial = partial_name(digest);
  file_descriptor file(::openat(directory_.get(), partial.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    problem_ = "cannot be written: " + reason(errno);
    return false;
  }
  int error = write_whole(file.get(), bytes);
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (!file.close() && error == 0) error = errno;
  if (error == 0 &&
      ::renameat(directory_.get(), partial.c_str(), directory_.get(), entry_name(digest).c_str()) != 0)
    error = errno;
  if (error == 0) return true;
  ::unlinkat(directory_.get(), partial.c_str(), 0);
  problem_ = "cannot be written: " + reason(error);
  return false;
}

void cache_folder::tidy(std::uint64_t limit_bytes) const {
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (listing == nullptr) return;
  const std::time_t now = std::time(nullptr);
  std::vector<entry_file> entries;
  std::uint64_t total = 0;
  while (const dirent* const found = ::readdir(listing.get())) {
    const std::string name = found->d_name;
    struct stat status {};
    if ((!is_entry(name) && !is_partial(name)) ||
        ::fstatat(directory_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (is_entry(name)) {
      entries.push_back({name, static_cast<std::uint64_t>(status.st_size), status.st_mtim});
      total += entries.back().bytes;
    } else if (now - status.st_mtim.tv_sec > partial_seconds) {
      ::unlinkat(directory_.get(), name.c_str(), 0);
    }
  }
  if (total <= limit_bytes) return;
  std::sort(entries.begin(), entries.end(), is_older);
  for (const entry_file& entry : entries) {
    if (total <= limit_bytes) break;
    ::unlinkat(directory_.get(), entry.name.c_str(), 0);
    total -= entry.bytes;
  }
}

}  // namespace lab::run_time
