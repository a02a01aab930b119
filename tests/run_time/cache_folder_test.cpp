// Folders that the cache cannot or must not use, and what it leaves and removes in those that it uses.
// Without a folder every image is made, with one warning.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/cache_fixture.hpp"

namespace lab {
namespace {

using run_time::origin;
using test::counting_cache;
using test::entry_of;
using test::image_of;
using test::temporary_directory;

constexpr ::uid_t nobody = 65534;
constexpr int cannot_here = 77;  // a child's status where the machine does not allow the test

// Each call makes the image, the first one warns in `words`, and the second one no more.
bool works_without(const std::filesystem::path& folder, const std::string& words) {
  counting_cache cache(folder);
  const auto first = cache.get("k", 200'000);
  const auto second = cache.get("k", 200'000);
  return first.image == image_of("k", 200'000) && second.image == first.image && cache.made == 2 &&
         first.from == origin::compiled && first.warning.find(words) != std::string::npos &&
         first.warning.find(folder.string()) != std::string::npos && second.warning.empty();
}

void set_used(const std::filesystem::path& file, std::time_t seconds_ago) {
  const timespec times[2] = {{std::time(nullptr) - seconds_ago, 0}, {std::time(nullptr) - seconds_ago, 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

// Runs `test` in a child with a file system of its own at `folder`, mounted with `flags` and `options`.
int status_on_mount(const std::filesystem::path& folder, unsigned long flags, const char* options,
                    const std::function<int()>& test) {
  return test::status_in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", flags, options) != 0)
      return cannot_here;
    return test();
  });
}

}  // namespace

TEST_CASE("the folder and those above it are made for this user alone, and entries as well") {
  const temporary_directory root;
  const std::filesystem::path folder = root / "a/b/kernel-lab/";
  counting_cache cache(folder);
  CHECK(cache.get("k").warning.empty());
  CHECK(cache.get("k").from == origin::disk);
  struct stat status {};
  for (const char* made : {"a", "a/b", "a/b/kernel-lab"}) {
    REQUIRE(::stat((root / made).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
  }
  REQUIRE(::stat(entry_of(folder, "k").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
}

TEST_CASE("a folder that others can write is not used") {
  const temporary_directory folder;
  for (const mode_t mode : {0777, 0770, 0702}) {
    REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    CHECK(works_without(folder.path(), "can be written by other users (chmod go-w)"));
  }
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  CHECK_FALSE(works_without(folder.path(), "can be written by other users"));
}

TEST_CASE("a symbolic link to a folder is not used, with a slash at its end or without") {
  const temporary_directory root;
  std::filesystem::create_directory(root / "real");
  std::filesystem::create_symlink(root / "real", root / "link");
  std::filesystem::create_symlink(root / "nowhere", root / "dangling");
  CHECK(works_without(root / "link", "is a symbolic link"));
  CHECK(works_without(root / "link/", "is a symbolic link"));
  CHECK(works_without(root / "dangling", "is a symbolic link"));
  CHECK(std::filesystem::is_empty(root / "real"));
}

TEST_CASE("a file in place of the folder, or of one above it, is told of") {
  const temporary_directory root;
  test::put(root / "file", "text");
  CHECK(works_without(root / "file", "is not a folder"));
  CHECK(works_without(root / "file/below", "cannot be made: Not a directory"));
  CHECK(test::get(root / "file") == "text");
  CHECK(works_without("/proc/kernel-lab", "cannot be made: "));
}

TEST_CASE("another user's folder is not used") {
  const temporary_directory folder;
  if (::geteuid() == 0) {
    REQUIRE(::chown(folder.path().c_str(), nobody, nobody) == 0);
    CHECK(works_without(folder.path(), "belongs to another user"));
  } else {
    CHECK(works_without("/usr", "belongs to another user"));
  }
}

TEST_CASE("a folder that its owner cannot write is told of") {
  const temporary_directory root;
  REQUIRE(::chmod(root.path().c_str(), 0777) == 0);
  const int status = test::status_in_child([&] {
    // Permissions do not hold for root.
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) return cannot_here;
    const std::filesystem::path folder = root / "folder";
    if (::mkdir(folder.c_str(), 0500) != 0) return 1;
    const bool good = works_without(folder, "cannot be written: Permission denied") &&
                      works_without(folder / "below", "cannot be made: Permission denied");
    return good ? 0 : 2;
  });
  if (status == cannot_here) LAB_SKIP("root cannot become another user here");
  CHECK(status == 0);
}

TEST_CASE("a full disk and a read-only one are told of") {
  const temporary_directory folder;
  const std::filesystem::path& path = folder.path();
  const int full = status_on_mount(path, 0, "size=64k,mode=700", [&] {
    if (!works_without(path, "cannot be written: No space left on device")) return 1;
    if (!test::files_in(path, ".partial").empty()) return 2;
    counting_cache cache(path);  // what is small enough is kept all the same
    return cache.get("small").warning.empty() && cache.get("small").from == origin::disk ? 0 : 3;
  });
  if (full == cannot_here) LAB_SKIP("it needs a file system of its own, which this user cannot mount");
  CHECK(full == 0);
  CHECK(status_on_mount(path, MS_RDONLY, "mode=700", [&] {
          return works_without(path, "cannot be written: Read-only file system") ? 0 : 1;
        }) == 0);
}

TEST_CASE("a limit on the size of files does not end the process") {
  const temporary_directory folder;
  const int status = test::status_in_child([&] {
    const rlimit limit{10'000, 10'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    if (!works_without(folder.path(), "cannot be written: File too large")) return 2;
    if (!test::files_in(folder.path(), ".partial").empty()) return 3;
    // The signal is as it was before: neither blocked nor waiting.
    sigset_t mask;
    sigset_t pending;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    ::sigpending(&pending);
    return sigismember(&mask, SIGXFSZ) == 0 && sigismember(&pending, SIGXFSZ) == 0 ? 0 : 4;
  });
  CHECK(status == 0);
}

TEST_CASE("without a name for the folder every image is made, with one warning") {
  counting_cache cache("");
  CHECK(cache.get("k").warning.find("set LAB_CACHE_DIR or HOME") != std::string::npos);
  CHECK(cache.get("k").warning.empty());
  CHECK(cache.made == 2);
}

TEST_CASE("a folder that was removed while the cache is in use is made again") {
  const temporary_directory root;
  counting_cache cache(root / "folder");
  (void)cache.get("k");
  std::filesystem::remove_all(root / "folder");
  CHECK(cache.get("k").from == origin::compiled);
  CHECK(cache.get("k").from == origin::disk);
}

TEST_CASE("entries that were used the longest time ago leave first") {
  const temporary_directory folder;
  constexpr std::size_t bytes = 10'000;
  counting_cache cache(folder.path(), 35'000);  // three of them
  for (const char* source : {"a", "b", "c"}) (void)cache.get(source, bytes);
  set_used(entry_of(folder.path(), "a"), 300);
  set_used(entry_of(folder.path(), "b"), 200);
  set_used(entry_of(folder.path(), "c"), 100);
  CHECK(cache.get("a", bytes).from == origin::disk);  // and is now the newest
  CHECK(cache.get("d", bytes).from == origin::compiled);
  CHECK(test::files_in(folder.path(), ".image").size() == 3);
  CHECK_FALSE(std::filesystem::exists(entry_of(folder.path(), "b")));
  for (const char* kept : {"a", "c", "d"}) CHECK(cache.get(kept, bytes).from == origin::disk);
}

TEST_CASE("an image beyond the limit is not kept, and drives nothing out") {
  const temporary_directory folder;
  counting_cache cache(folder.path(), 5000);
  (void)cache.get("small", 100);
  const auto large = cache.get("large", 5000);
  CHECK(large.image == image_of("large", 5000));
  CHECK(large.warning.find("LAB_CACHE_BYTES allows 5000") != std::string::npos);
  CHECK(cache.get("small", 100).from == origin::disk);
}

TEST_CASE("a limit of 0 keeps nothing, and makes no folder") {
  const temporary_directory root;
  counting_cache cache(root / "folder", 0);
  CHECK(cache.get("k").warning.empty());
  CHECK(cache.get("k").from == origin::compiled);
  CHECK_FALSE(std::filesystem::exists(root / "folder"));
}

TEST_CASE("what killed writers left is removed after an hour, and foreign files never") {
  const temporary_directory folder;
  const std::string digest(64, 'a');
  const std::string old_one = digest + ".0123456789abcdef.partial";
  const std::string young_one = digest + ".0123456789abcdee.partial";
  const std::vector<std::string> foreign = {"notes.txt",
                                            "mine.partial",
                                            "mine.image",
                                            digest + ".IMAGE",
                                            digest.substr(1) + ".image",
                                            digest + ".0123456789abcdeg.partial"};
  for (const std::string& name : foreign) test::put(folder / name, std::string(2000, 'x'));
  for (const std::string& name : {old_one, young_one}) test::put(folder / name, "half an entry");
  for (const std::string& name : foreign) set_used(folder / name, 100'000);
  set_used(folder / old_one, 3700);
  set_used(folder / young_one, 3500);
  counting_cache cache(folder.path(), 1000);
  (void)cache.get("a", 600);
  (void)cache.get("b", 600);
  CHECK_FALSE(std::filesystem::exists(folder / old_one));
  CHECK(std::filesystem::exists(folder / young_one));
  for (const std::string& name : foreign) CHECK(std::filesystem::exists(folder / name));
  CHECK_FALSE(std::filesystem::exists(entry_of(folder.path(), "a")));  // the limit holds all the same
}

}  // namespace lab
