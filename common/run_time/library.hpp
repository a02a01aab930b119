// Where the libraries of run-time compilation, NVRTC and nvJitLink, are found. Neither is linked: each is
// loaded when it is first needed, so that a program that never compiles starts without them.
#pragma once

#include <chrono>
#include <compare>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace lab::run_time {

// A library that is missing, cannot be loaded, or lacks a function. what() says where it was looked for and
// which package has it.
class library_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A release, 13.0 say.
struct version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const version&) const = default;
};

// "13.0".
[[nodiscard]] std::string to_string(version number);

enum class library { nvrtc, nvjitlink };

// The folders in which the libraries are looked for, the first one first. The dynamic linker's own search is
// not used, since nothing says which file it would load without loading it, and a key of the cache needs to
// know.
struct library_search {
  std::vector<std::filesystem::path> folders;
};

// The absolute folders of LD_LIBRARY_PATH, the folder of the toolkit that the build was configured with, and
// those in which distributions and NVIDIA's packages install.
[[nodiscard]] library_search standard_search();

// The file of a library: in any folder the name with the major version of the toolkit that the build was
// configured with (libnvrtc.so.13), or else in any folder the plain name (libnvrtc.so). Throws library_error
// where there is none.
[[nodiscard]] std::filesystem::path find_library(library which, const library_search& search);

// What tells one file of a library from another without loading it: path, device, inode, bytes and time of
// last change. NVIDIA's packages replace the file with each release. Throws library_error where there is
// none.
[[nodiscard]] std::string identity_of(library which, const library_search& search);

// A library that was loaded. It stays loaded until the process ends: NVRTC keeps state of threads that
// outlives its calls.
class loaded_library {
 public:
  // Throws library_error with the dynamic linker's words.
  explicit loaded_library(const std::filesystem::path& path);

  // A function by its name. Throws library_error where the library has none of this name.
  [[nodiscard]] void* address_of(const char* name) const;

 private:
  std::filesystem::path path_;
  void* handle_ = nullptr;
};

// A member that is a function of the member `file`, a loaded library, with the type of the library's header.
#define LAB_LIBRARY_FUNCTION(member, name) \
  decltype(name)* member = reinterpret_cast<decltype(name)*>(file.address_of(#name))

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The functions of a library, as the file has them that `search` finds: `Functions` is made of its path, once
// for each file. Adds the time that it took to `seconds`.
template <class Functions>
const Functions& functions_of(library which, const library_search& search, double* seconds) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::filesystem::path, std::unique_ptr<const Functions>>;
  const std::filesystem::path path = find_library(which, search);
  const std::lock_guard lock(mutex);
  auto& functions = loaded[path];
  if (functions == nullptr) {
    const auto begin = std::chrono::steady_clock::now();
    functions = std::make_unique<const Functions>(path);
    if (seconds != nullptr) *seconds += seconds_since(begin);
  }
  return *functions;
}

}  // namespace lab::run_time
