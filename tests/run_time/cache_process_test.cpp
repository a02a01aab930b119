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
    CHECK(cache.compilations == 0);
  }
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
  constexpr int keys_per_round = 3;
  std::mt19937 random(1);
  std::size_t left = 0;
  int rounds = 0;
  for (; rounds < 200 && left < 10; ++rounds) {
    const pid_t child = ::fork();
    if (child == 0) {
      counting_cache cache(folder.path());
      for (int k = 0; k < keys_per_round; ++k)
        (void)cache.get(std::to_string(rounds * keys_per_round + k), bytes);
      ::_exit(0);
    }
    // Killed as soon as it is seen to write, or a little later.
    bool ended = false;
    while (!ended && test::files_in(folder.path(), ".partial").size() == left)
      ended = ::waitpid(child, nullptr, WNOHANG) == child;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    if (!ended) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    left = test::files_in(folder.path(), ".partial").size();
  }
  CHECK(left > 0);  // some were indeed stopped halfway
  // What was kept is whole, and what was not is made.
  counting_cache cache(folder.path());
  for (int k = 0; k < rounds * keys_per_round; ++k) {
    const bool kept = std::filesystem::exists(test::entry_of(folder.path(), std::to_string(k)));
    const auto answer = cache.get(std::to_string(k), bytes);
    CHECK((answer.from == origin::disk) == kept);
    CHECK(answer.image == image_of(std::to_string(k), bytes));
  }
  CHECK(test::files_in(folder.path(), ".partial").size() == left);  // not an hour old
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
