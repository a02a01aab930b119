#include "harness/front/file_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "harness/front/child_process.hpp"
#include "harness/front/errors.hpp"

namespace lab {
namespace {

namespace fs = std::filesystem;

environment_error cannot_write(const std::string& path, const std::string& reason) {
  return environment_error(fmt::format("cannot write {}: {}", path, reason));
}

// The file itself, where `path` is a symbolic link: the link must outlive the rename.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : target;
}

struct temporary_file {
  fs::path path;
  owned_descriptor descriptor;
};

temporary_file make_temporary_beside(const std::string& path) {
  const fs::path target = resolved(path);
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::string name = (directory / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  owned_descriptor descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!descriptor.is_open()) throw cannot_write(path, std::strerror(errno));
  return {name, std::move(descriptor)};
}

void check_finite(const nlohmann::json& value, const std::string& place) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw std::domain_error(fmt::format("{} is not a finite number", place.empty() ? "the document" : place));
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) check_finite(member, place + "/" + name);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) check_finite(value[i], fmt::format("{}/{}", place, i));
  }
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) throw environment_error("cannot write a file without a name");
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) throw cannot_write(path, "it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) throw cannot_write(path, "it is not a plain file");
  if (fs::exists(status) && access(path.c_str(), W_OK) != 0) throw cannot_write(path, std::strerror(errno));
  if (path.back() == '/') throw cannot_write(path, "no such directory");
  const auto probe = make_temporary_beside(path);
  unlink(probe.path.c_str());
}

void write_file(const std::string& path, const std::string& content) {
  const auto temporary = make_temporary_beside(path);
  const auto fail = [&]() -> environment_error {
    const int error_number = errno;
    unlink(temporary.path.c_str());
    return cannot_write(path, std::strerror(error_number));
  };
  for (std::size_t written = 0; written < content.size();) {
    const ssize_t count =
        write(temporary.descriptor.get(), content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw fail();
    written += static_cast<std::size_t>(count);
  }
  // mkostemp gives nobody else access; a result file is as public as any other new file.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(temporary.descriptor.get(), 0666 & ~mask) != 0) throw fail();
  if (rename(temporary.path.c_str(), resolved(path).c_str()) != 0) throw fail();
}

std::string json_text(const nlohmann::json& document) {
  check_finite(document, "");
  // File names from the command line need not be UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lab
