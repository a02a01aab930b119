// What the cache keeps and removes; entries that were damaged, none of which gives a wrong image; folders
// that it cannot use, in which every image is made, with one warning.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/cache_fixture.hpp"

namespace lab {
namespace {

using run_time::cache_key;
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
  return first.image == image_of("k", 200'000) && second.image == first.image && cache.compilations == 2 &&
         first.from == origin::compiled && first.warning.find(words) != std::string::npos &&
         first.warning.find(folder.string()) != std::string::npos && second.warning.empty();
}

// Asks for "k" with its entry as `damaged`, which must be found out, and mended.
void require_mended(const temporary_directory& folder, const std::string& damaged) {
  counting_cache cache(folder.path());
  test::put(entry_of(folder.path(), "k"), damaged);
  const auto first = cache.get("k");
  REQUIRE(first.from == origin::compiled);
  REQUIRE(first.image == image_of("k"));
  REQUIRE(first.warning.empty());
  const auto second = cache.get("k");
  REQUIRE(second.from == origin::disk);
  REQUIRE(second.image == image_of("k"));
}

std::string good_entry(const temporary_directory& folder) {
  (void)counting_cache(folder.path()).get("k");
  return test::get(entry_of(folder.path(), "k"));
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

TEST_CASE("a key's text tells its fields apart, whatever they hold") {
  CHECK(cache_key().add("a", "bc").text() == "a 2\nbc\n");
  // Fields that would read the same without their lengths.
  CHECK(cache_key().add("a", "1\n\nb 0\n").text() != cache_key().add("a", "1\n").add("b", "").text());
  CHECK(cache_key().add("a", "").add("b", "").text() != cache_key().add("b", "").add("a", "").text());
  CHECK(cache_key().add("option", "-lineinfo").digest() != cache_key().add("option", "-lineinfo ").digest());
  // b2sum --length 256
  CHECK(cache_key().add("source", "a\nb").add("option", "").digest() ==
        "ae0796824a3c79229529cac0927f35bdbafafe8f4d241b1f195549153bcc4b32");
}

TEST_CASE("an image comes from the disk the second time, with every byte, and an empty one as well") {
  const temporary_directory root;
  const std::filesystem::path folder = root / "a/b/kernel-lab/";
  counting_cache cache(folder);
  const auto first = cache.get("k", 1000);
  const auto second = cache.get("k", 1000);
  CHECK(first.from == origin::compiled);
  CHECK(first.warning.empty());
  CHECK(second.from == origin::disk);
  CHECK(first.image == image_of("k", 1000));
  CHECK(second.image == image_of("k", 1000));
  CHECK(cache.compilations == 1);
  CHECK(cache.get("other").from == origin::compiled);
  // Another process, or the same after a restart.
  CHECK(counting_cache(folder).get("k").image == image_of("k", 1000));
  const auto empty = [&] {
    return cache.cache.cached(test::key_named("empty"), [] { return std::string(); });
  };
  CHECK(empty().from == origin::compiled);
  CHECK(empty().from == origin::disk);
}

TEST_CASE("a byte that has changed at any place is found") {
  const temporary_directory folder;
  const std::string good = good_entry(folder);
  for (std::size_t at = 0; at < good.size(); ++at) {
    INFO("byte " << at);
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    require_mended(folder, damaged);
  }
}

TEST_CASE("an entry that was cut, or has grown, at any length is found") {
  const temporary_directory folder;
  const std::string good = good_entry(folder);
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("cut to " << length);
    require_mended(folder, good.substr(0, length));
  }
  require_mended(folder, good + '\0');
  require_mended(folder, good + good);
}

TEST_CASE("an entry under another key's name is refused") {
  const temporary_directory folder;
  counting_cache cache(folder.path());
  (void)cache.get("other");
  std::filesystem::rename(entry_of(folder.path(), "other"), entry_of(folder.path(), "k"));
  CHECK(cache.get("k").image == image_of("k"));
  CHECK(cache.compilations == 2);
  CHECK(cache.get("k").from == origin::disk);
}

TEST_CASE("what the maker throws comes through, and nothing is kept") {
  const temporary_directory folder;
  run_time::image_cache cache({folder.path()});
  const auto fail = []() -> std::string { throw std::runtime_error("no such type"); };
  CHECK(test::message_of<std::runtime_error>([&] { (void)cache.cached(test::key_named("k"), fail); }) ==
        "no such type");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE(
    "a file instead of the folder, or of one above it, and a directory in that of an entry, are told of") {
  const temporary_directory root;
  test::put(root / "file", "text");
  CHECK(works_without(root / "file", "cannot be made: Not a directory"));
  CHECK(works_without(root / "file/below", "cannot be made: Not a directory"));
  CHECK(test::get(root / "file") == "text");
  CHECK(works_without("/proc/kernel-lab", "cannot be made: "));
  std::filesystem::create_directories(entry_of(root / "folder", "k"));
  CHECK(works_without(root / "folder", "is a directory"));
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

TEST_CASE("without a name for the folder every image is made, with one warning") {
  counting_cache cache("");
  CHECK(cache.get("k").warning.find("set LAB_CACHE_DIR or HOME") != std::string::npos);
  CHECK(cache.get("k").warning.empty());
  CHECK(cache.compilations == 2);
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

TEST_CASE("an image beyond the limit is not kept, and drives nothing out; a limit of 0 makes no folder") {
  const temporary_directory root;
  counting_cache cache(root / "folder", 5000);
  (void)cache.get("small", 100);
  const auto large = cache.get("large", 5000);
  CHECK(large.image == image_of("large", 5000));
  CHECK(large.warning.find("LAB_CACHE_BYTES allows 5000") != std::string::npos);
  CHECK(cache.get("small", 100).from == origin::disk);
  counting_cache none(root / "none", 0);
  CHECK(none.get("k").warning.empty());
  CHECK(none.get("k").from == origin::compiled);
  CHECK_FALSE(std::filesystem::exists(root / "none"));
}

TEST_CASE("what killed writers left is removed after an hour, and foreign files never") {
  const temporary_directory folder;
  const std::string old_one = ".lab-17-0.partial";
  const std::string young_one = ".lab-17-1.partial";
  const std::vector<std::string> foreign = {"notes.txt", "mine.partial", "mine.image"};
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
