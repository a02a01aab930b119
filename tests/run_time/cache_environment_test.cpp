// Where the environment puts the cache and how large it lets it grow.
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/run_time/cache_fixture.hpp"

namespace lab {
namespace {

using run_time::cache_settings_from_environment;

// A variable of the environment for one scope.
class environment_variable {
 public:
  environment_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name); before != nullptr) before_ = before;
    set(value);
  }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;
  ~environment_variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

std::string folder_with(const char* directory, const char* xdg, const char* home) {
  const environment_variable first("LAB_CACHE_DIR", directory);
  const environment_variable second("XDG_CACHE_HOME", xdg);
  const environment_variable third("HOME", home);
  return cache_settings_from_environment().folder.string();
}

std::string refusal_of(const char* name, const char* value) {
  const environment_variable variable(name, value);
  return test::message_of<std::invalid_argument>([] { (void)cache_settings_from_environment(); });
}

}  // namespace

TEST_CASE("the cache's folder is LAB_CACHE_DIR's, else XDG's, else the home's") {
  CHECK(folder_with("/a/b", "/x", "/h") == "/a/b");
  CHECK(folder_with("", "/x", "/h") == "/x/kernel-lab");
  CHECK(folder_with(nullptr, "/x", "/h") == "/x/kernel-lab");
  CHECK(folder_with(nullptr, "relative", "/h") == "/h/.cache/kernel-lab");
  CHECK(folder_with(nullptr, nullptr, "/h") == "/h/.cache/kernel-lab");
  CHECK(folder_with(nullptr, nullptr, "relative") == "");
  // Without HOME, the account's.
  CHECK(folder_with(nullptr, nullptr, nullptr) != "/.cache/kernel-lab");
}

TEST_CASE("the cache's limit is 256 MiB, or LAB_CACHE_BYTES") {
  const environment_variable unset("LAB_CACHE_BYTES", nullptr);
  CHECK(cache_settings_from_environment().limit_bytes == 268'435'456);
  for (const auto& [text, bytes] : {std::pair("", 268'435'456), std::pair("0", 0), std::pair("1000", 1000)}) {
    const environment_variable given("LAB_CACHE_BYTES", text);
    CHECK(cache_settings_from_environment().limit_bytes == static_cast<std::uint64_t>(bytes));
  }
}

TEST_CASE("variables that mean nothing are refused by name and value") {
  for (const char* value :
       {"many", "-1", "1e6", " 5", "5 ", "0x10", "99999999999999999999", "1125899906842625"}) {
    INFO(value);
    CHECK(refusal_of("LAB_CACHE_BYTES", value) ==
          "LAB_CACHE_BYTES must be a whole number from 0 to 1125899906842624, not '" + std::string(value) +
              "'");
  }
  CHECK(refusal_of("LAB_CACHE_DIR", "cache\x1b[31m") ==
        "LAB_CACHE_DIR must be an absolute path, not 'cache\\x1b[31m'");
}

}  // namespace lab
