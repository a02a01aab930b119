#include "common/run_time/library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

struct library_names {
  const char* file;
  const char* package;
};

library_names names_of(library which) {
  if (which == library::nvrtc) return {"libnvrtc.so", "cuda-nvrtc-" LAB_TOOLKIT_MAJOR "-0 or later"};
  return {"libnvJitLink.so", "libnvjitlink-" LAB_TOOLKIT_MAJOR "-0 or later"};
}

void add_folder(library_search& search, const std::filesystem::path& folder) {
  if (!folder.is_absolute()) return;
  if (std::find(search.folders.begin(), search.folders.end(), folder) == search.folders.end())
    search.folders.push_back(folder);
}

std::string list_of(const std::vector<std::filesystem::path>& folders) {
  if (folders.empty()) return "no folder";
  std::string text;
  for (const auto& folder : folders) text += (text.empty() ? "" : ", ") + escaped(folder.string());
  return text;
}

}  // namespace

std::string to_string(version number) {
  return std::to_string(number.major) + "." + std::to_string(number.minor);
}

library_search standard_search() {
  library_search search;
  if (const char* const given = std::getenv("LD_LIBRARY_PATH"); given != nullptr) {
    std::string_view rest = given;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      add_folder(search, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const char* folder :
       {LAB_NVRTC_FOLDER, LAB_NVJITLINK_FOLDER, "/usr/local/cuda/lib64",
        "/usr/local/cuda-" LAB_TOOLKIT_MAJOR "/lib64", LAB_SYSTEM_FOLDER, "/usr/lib64", "/usr/lib"})
    add_folder(search, folder);
  return search;
}

std::filesystem::path find_library(library which, const library_search& search) {
  const library_names names = names_of(which);
  const std::string plain = names.file;
  const std::string of_major = plain + "." LAB_TOOLKIT_MAJOR;
  for (const std::string& name : {of_major, plain}) {
    for (const auto& folder : search.folders) {
      std::error_code error;
      if (std::filesystem::is_regular_file(folder / name, error)) return folder / name;
    }
  }
  throw library_error(of_major + " was not found (looked in " + list_of(search.folders) +
                      "): install NVIDIA's package " + names.package +
                      ", or name the library's folder in LD_LIBRARY_PATH");
}

std::string identity_of(library which, const library_search& search) {
  const std::filesystem::path path = find_library(which, search);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw library_error(escaped(path.string()) + " cannot be read");
  std::string text = path.string();
  for (const long long number :
       {static_cast<long long>(status.st_dev), static_cast<long long>(status.st_ino),
        static_cast<long long>(status.st_size), static_cast<long long>(status.st_mtim.tv_sec),
        static_cast<long long>(status.st_mtim.tv_nsec)})
    text += " " + std::to_string(number);
  return text;
}

loaded_library::loaded_library(const std::filesystem::path& path)
    : path_(path), handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const words = ::dlerror();
  throw library_error("cannot be loaded: " + escaped(words == nullptr ? path.string() : words));
}

void* loaded_library::address_of(const char* name) const {
  void* const address = ::dlsym(handle_, name);
  if (address == nullptr)
    throw library_error(escaped(path_.string()) + " has no function " + name +
                        ": CUDA " LAB_TOOLKIT_MAJOR ".0 or later is needed");
  return address;
}

}  // namespace lab::run_time
