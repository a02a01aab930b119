// Entries of the cache that were damaged, cut, exchanged or replaced by something else: none gives a wrong
// image, and each is made anew.
#include <fcntl.h>

#include <filesystem>
#include <string>

#include "common/run_time/cache_entry.hpp"
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

std::string good_entry() {
  return run_time::encode_entry(test::key_named("k"), image_of("k"));
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

TEST_CASE("an image comes from the disk the second time, with every byte") {
  const temporary_directory folder;
  counting_cache cache(folder.path());
  const auto first = cache.get("k", 1000);
  const auto second = cache.get("k", 1000);
  CHECK(first.from == origin::compiled);
  CHECK(second.from == origin::disk);
  CHECK(first.image == image_of("k", 1000));
  CHECK(second.image == image_of("k", 1000));
  CHECK(cache.made == 1);
  CHECK(cache.get("other").from == origin::compiled);
  // Another process, or the same after a restart.
  CHECK(counting_cache(folder.path()).get("k").image == image_of("k", 1000));
}

TEST_CASE("an empty image is an image") {
  const temporary_directory folder;
  run_time::image_cache cache({folder.path()});
  const auto empty = [] { return std::string(); };
  CHECK(cache.cached(test::key_named("k"), empty).from == origin::compiled);
  CHECK(cache.cached(test::key_named("k"), empty).from == origin::disk);
}

TEST_CASE("a byte that has changed at any place is found") {
  const temporary_directory folder;
  const std::string good = good_entry();
  for (std::size_t at = 0; at < good.size(); ++at) {
    INFO("byte " << at);
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    require_mended(folder, damaged);
  }
}

TEST_CASE("an entry that was cut, or has grown, at any length is found") {
  const temporary_directory folder;
  const std::string good = good_entry();
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("cut to " << length);
    require_mended(folder, good.substr(0, length));
  }
  require_mended(folder, good + '\0');
  require_mended(folder, good + good);
}

TEST_CASE("lengths that no file can have are found") {
  const temporary_directory folder;
  for (const std::size_t at : {48, 56}) {
    std::string damaged = good_entry();
    damaged.replace(at, 8, 8, '\xff');
    require_mended(folder, damaged);
  }
}

TEST_CASE("an entry under another key's name is refused") {
  const temporary_directory folder;
  counting_cache cache(folder.path());
  (void)cache.get("other");
  std::filesystem::rename(entry_of(folder.path(), "other"), entry_of(folder.path(), "k"));
  CHECK(cache.get("k").image == image_of("k"));
  CHECK(cache.made == 2);
  CHECK(cache.get("k").from == origin::disk);
  std::string image;
  CHECK_FALSE(run_time::decode_entry(good_entry(), test::key_named("other"), image));
  CHECK(run_time::decode_entry(good_entry(), test::key_named("k"), image));
}

TEST_CASE("what is no file of this user's in an entry's place is replaced") {
  const temporary_directory folder;
  const temporary_directory elsewhere;
  counting_cache cache(folder.path());
  const std::filesystem::path entry = entry_of(folder.path(), "k");
  SECTION("a symbolic link, even to a good entry") {
    test::put(elsewhere / "good", good_entry());
    std::filesystem::create_symlink(elsewhere / "good", entry);
    CHECK(cache.get("k").from == origin::compiled);
    CHECK(test::get(elsewhere / "good") == good_entry());
    CHECK_FALSE(std::filesystem::is_symlink(entry));
  }
  SECTION("a pipe, which is not waited for") {
    REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
    CHECK(cache.get("k").from == origin::compiled);
  }
  SECTION("a file that others can write") {
    test::put(entry, good_entry());
    REQUIRE(::chmod(entry.c_str(), 0666) == 0);
    CHECK(cache.get("k").from == origin::compiled);
  }
  CHECK(cache.get("k").from == origin::disk);
}

TEST_CASE("a directory in an entry's place is told of, and the image made each time") {
  const temporary_directory folder;
  counting_cache cache(folder.path());
  std::filesystem::create_directory(entry_of(folder.path(), "k"));
  const auto first = cache.get("k");
  CHECK(first.image == image_of("k"));
  CHECK(first.warning.find("cannot be written") != std::string::npos);
  CHECK(cache.get("k").from == origin::compiled);
  CHECK(test::files_in(folder.path(), ".partial").empty());
}

TEST_CASE("what the maker throws comes through, and nothing is kept") {
  const temporary_directory folder;
  run_time::image_cache cache({folder.path()});
  const auto fail = []() -> std::string { throw std::runtime_error("no such type"); };
  CHECK(test::message_of<std::runtime_error>([&] { (void)cache.cached(test::key_named("k"), fail); }) ==
        "no such type");
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace lab
