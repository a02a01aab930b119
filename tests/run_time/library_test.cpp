// Where the libraries are looked for, and what is said when they are missing or wrong.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/run_time/cached_compile.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/toolkit.hpp"
#include "tests/temporary_directory.hpp"

namespace lab {
namespace {

using run_time::library;
using run_time::library_error;
using run_time::library_search;
using test::temporary_directory;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The name with the major version, as a search in an empty folder says it.
std::string file_name_of(library which) {
  const std::string message = test::message_of<library_error>([&] { (void)find_library(which, {}); });
  return message.substr(0, message.find(' '));
}

}  // namespace

TEST_CASE("a missing library is named with its package and the folders that were looked in") {
  const temporary_directory empty;
  const library_search search{{empty.path(), empty / "none"}};
  const std::string nvrtc =
      test::message_of<library_error>([&] { (void)find_library(library::nvrtc, search); });
  INFO(nvrtc);
  CHECK(has(nvrtc, "libnvrtc.so."));
  CHECK(has(nvrtc, "(looked in " + empty.path().string() + ", " + (empty / "none").string() + ")"));
  CHECK(has(nvrtc, "package cuda-nvrtc-"));
  const std::string linker =
      test::message_of<library_error>([&] { (void)find_library(library::nvjitlink, {}); });
  CHECK(has(linker, "libnvJitLink.so."));
  CHECK(has(linker, "(looked in no folder)"));
  CHECK(has(linker, "package libnvjitlink-"));
}

TEST_CASE("the name with the major version comes before the plain one, in whatever folder") {
  const temporary_directory root;
  const std::string of_major = file_name_of(library::nvrtc);
  for (const char* folder : {"first", "second", "third"}) std::filesystem::create_directory(root / folder);
  std::filesystem::create_directory(root / "first" / of_major);  // a directory is no library
  test::put(root / "second/libnvrtc.so", "");
  const library_search search{{root / "first", root / "second", root / "third"}};
  CHECK(find_library(library::nvrtc, search) == root / "second/libnvrtc.so");
  test::put((root / "third") / of_major, "");
  CHECK(find_library(library::nvrtc, search) == (root / "third") / of_major);
}

TEST_CASE("a library's identity changes with its file") {
  const temporary_directory root;
  const library_search search{{root.path()}};
  CHECK_THROWS_AS(identity_of(library::nvrtc, search), library_error);
  const std::filesystem::path file = root / file_name_of(library::nvrtc);
  test::put(file, "13.0");
  const std::string before = identity_of(library::nvrtc, search);
  CHECK(identity_of(library::nvrtc, search) == before);
  SECTION("other bytes") {
    test::put(file, "13.10");
  }
  SECTION("another time of change") {
    std::filesystem::last_write_time(file,
                                     std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  }
  SECTION("another file of the same size and time") {
    test::put(root / "new", "13.1");
    std::filesystem::last_write_time(root / "new", std::filesystem::last_write_time(file));
    std::filesystem::rename(root / "new", file);
  }
  CHECK(identity_of(library::nvrtc, search) != before);
}

TEST_CASE("LD_LIBRARY_PATH's absolute folders come first") {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  const std::string before = given == nullptr ? "" : given;
  ::setenv("LD_LIBRARY_PATH", "/x/one::relative:/x/two:/x/one", 1);
  const library_search search = run_time::standard_search();
  if (given == nullptr) {
    ::unsetenv("LD_LIBRARY_PATH");
  } else {
    ::setenv("LD_LIBRARY_PATH", before.c_str(), 1);
  }
  REQUIRE(search.folders.size() > 2);
  CHECK(search.folders[0] == "/x/one");
  CHECK(search.folders[1] == "/x/two");
  CHECK(search.folders[2] != "/x/one");
  for (const auto& folder : search.folders) CHECK(folder.is_absolute());
}

TEST_CASE("a compilation without the library fails in words") {
  LAB_NEEDS_TOOLKIT();
  const temporary_directory empty;
  const library_search search{{empty.path()}};
  CHECK(has(test::message_of<library_error>([&] { (void)compile({}, search); }), empty.path().string()));
  CHECK(has(test::message_of<library_error>([&] { (void)check_syntax({"int f();"}, search); }),
            "was not found"));
  CHECK(has(test::message_of<library_error>([&] { (void)run_time::link({}, 90, {}, search); }),
            "was not found"));
  run_time::image_cache cache({empty / "cache"});
  CHECK_THROWS_AS(compile_cached({}, cache, search), library_error);
}

TEST_CASE("a file that is no library, and a library without NVRTC's functions, are refused") {
  LAB_NEEDS_TOOLKIT();
  const temporary_directory root;
  const library_search search{{root.path()}};
  const std::filesystem::path file = root / file_name_of(library::nvrtc);
  test::put(file, "not a library");
  CHECK(has(test::message_of<library_error>([&] { (void)nvrtc_version(search); }), "cannot be loaded: "));
  std::filesystem::remove(file);
  std::filesystem::create_symlink(LAB_EMPTY_LIBRARY, file);
  CHECK(has(test::message_of<library_error>([&] { (void)nvrtc_version(search); }),
            "has no function nvrtcVersion"));
}

}  // namespace lab
