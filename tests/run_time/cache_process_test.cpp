// One folder and many threads, many processes, and processes that are killed while they write.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "tests/catch.hpp"
#include "tests/run_time/cache_fixture.hpp"

namespace lab {
namespace {

using run_time::origin;
using test::counting_cache;
using test::image_of;
using test::temporary_directory;

constexpr int key_count = 12;

// Sizes that take several writes to some file systems, and differ from key to key.
std::size_t bytes_of(int key) {
  return 20'000 + 30'011 * static_cast<std::size_t>(key);
}

// Asks for all keys, in an order of its own, again and again; whether each image was right.
bool asks_well(const std::filesystem::path& folder, std::uint64_t limit_bytes, unsigned seed, int rounds) {
  std::mt19937 random(seed);
  counting_cache cache(folder, limit_bytes);
  for (int k = 0; k < rounds; ++k) {
    const int key = static_cast<int>(random() % key_count);
    const auto answer = cache.get(std::to_string(key), bytes_of(key));
    if (answer.image != image_of(std::to_string(key), bytes_of(key)) || !answer.warning.empty()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("eight processes in one folder, which is too small for all, get right images") {
  const temporary_directory folder;
  const std::uint64_t limit = GENERATE(std::uint64_t{1} << 30, std::uint64_t{700'000});
  std::vector<pid_t> children;
  for (unsigned k = 0; k < 8; ++k) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(asks_well(folder.path(), limit, k, 60) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(test::files_in(folder.path(), ".partial").empty());
  if (limit > 1'000'000) {
    counting_cache cache(folder.path());
    for (int key = 0; key < key_count; ++key) (void)cache.get(std::to_string(key), bytes_of(key));
    CHECK(cache.made == 0);
  }
}

TEST_CASE("eight threads share one cache") {
  const temporary_directory folder;
  run_time::image_cache cache({folder.path()});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&, k] {
      for (int round = 0; round < 40; ++round) {
        const std::string source = std::to_string((k + round) % 5);
        const auto answer = cache.cached(test::key_named(source), [&] { return image_of(source, 5000); });
        if (answer.image != image_of(source, 5000)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a warning is handed out once, whichever thread gets it") {
  run_time::image_cache cache({""});
  std::atomic<int> warnings = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] {
      if (!cache.cached(test::key_named("k"), [] { return std::string("image"); }).warning.empty())
        ++warnings;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(warnings == 1);
}

TEST_CASE("a process that is killed while it writes leaves no half entry") {
  const temporary_directory folder;
  constexpr std::size_t bytes = 2'000'000;
  std::mt19937 random(1);
  int keys = 0;
  for (int round = 0; round < 25; ++round, keys += 100) {
    int kept[2];
    REQUIRE(::pipe(kept) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      counting_cache cache(folder.path());
      for (int k = 0; k < 100; ++k) {
        (void)cache.get(std::to_string(keys + k), bytes);
        if (::write(kept[1], "k", 1) != 1) break;
      }
      ::_exit(0);
    }
    // One entry is there, and the next one on its way.
    char byte = 0;
    CHECK(::read(kept[0], &byte, 1) == 1);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(kept[0]);
    ::close(kept[1]);
  }
  // What was kept is whole: what is found under a name is an entry of its key.
  counting_cache cache(folder.path());
  std::size_t found = 0;
  for (int k = 0; k < keys; ++k) {
    if (!std::filesystem::exists(test::entry_of(folder.path(), std::to_string(k)))) continue;
    const auto answer = cache.get(std::to_string(k), bytes);
    CHECK(answer.from == origin::disk);
    CHECK(answer.image == image_of(std::to_string(k), bytes));
    ++found;
  }
  CHECK(found >= 25);
  CHECK(test::files_in(folder.path(), ".image").size() == found);
}

TEST_CASE("an image of 100 kB comes from the disk within a millisecond") {
  const temporary_directory folder;
  counting_cache cache(folder.path());
  (void)cache.get("k", 100'000);
  double fastest = 1;  // a machine may be busy, but not each time
  for (int k = 0; k < 100; ++k) {
    const auto answer = cache.get("k", 100'000);
    REQUIRE(answer.from == origin::disk);
    fastest = std::min(fastest, answer.seconds);
  }
  INFO(fastest << " s");
  CHECK(fastest <= 1e-3);
}

}  // namespace lab
