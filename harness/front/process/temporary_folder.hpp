// A folder for temporary files, which this user alone can enter.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "harness/front/process/errors.hpp"

namespace lab::front {

// Gone with all that is in it at the end of the scope.
class temporary_folder {
 public:
  // Named lab-WHAT-XXXXXX. Throws environment_error where it cannot be made.
  explicit temporary_folder(const std::string& what) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / ("lab-" + what + "-XXXXXX")).string();
    if (error || mkdtemp(name.data()) == nullptr)
      throw environment_error(fmt::format("no folder for temporary files can be made as {}: {}", name,
                                          error ? error.message() : std::strerror(errno)));
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lab::front
