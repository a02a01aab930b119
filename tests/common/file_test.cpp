#include "common/file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include "common/utf8.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using lab::file_error;
using lab::output_file;
using lab::require_writable;
using lab::test::get;
using lab::test::message_of;
using lab::test::put;
using lab::test::temporary_directory;

void write_text(output_file& file, const std::string& text) {
  file.write(std::as_bytes(std::span(text)));
}

std::ptrdiff_t entries(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

std::string refusal(const fs::path& path) {
  return message_of<file_error>([&] { require_writable(path); });
}

}  // namespace

TEST_CASE("a file appears when it is committed, with the permissions that the user's mask allows") {
  const temporary_directory directory;
  const fs::path path = directory / "result with spaces.txt";
  {
    output_file file(path, 1000);
    write_text(file, "one ");
    write_text(file, "two");
    REQUIRE_FALSE(fs::exists(path));
    file.commit();
  }
  REQUIRE(get(path) == "one two");
  REQUIRE(entries(directory.path()) == 1);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  REQUIRE(static_cast<mode_t>(fs::status(path).permissions()) == (0666 & ~mask));
}

TEST_CASE("a file that is not committed leaves the old one, and no other") {
  const temporary_directory directory;
  put(directory / "old", "old");
  {
    output_file file(directory / "old");
    write_text(file, "new, and half writt");
  }
  REQUIRE(get(directory / "old") == "old");
  REQUIRE(entries(directory.path()) == 1);
}

TEST_CASE("a replaced file keeps its permissions, and a link stays a link") {
  const temporary_directory directory;
  fs::create_directory(directory / "real");
  put(directory / "real/data", "old");
  fs::permissions(directory / "real/data", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real/data", directory / "link");
  fs::create_symlink("link", directory / "link to link");
  output_file file(directory / "link to link");
  write_text(file, "new");
  file.commit();
  REQUIRE(fs::is_symlink(directory / "link"));
  REQUIRE(get(directory / "real/data") == "new");
  REQUIRE(fs::status(directory / "real/data").permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a link to a file that is not there yet is written through") {
  const temporary_directory directory;
  fs::create_symlink("later", directory / "link");
  output_file file(directory / "link");
  write_text(file, "now");
  file.commit();
  REQUIRE(get(directory / "later") == "now");
}

TEST_CASE("require_writable leaves nothing behind, and the old file alone") {
  const temporary_directory directory;
  put(directory / "old", "old");
  require_writable(directory / "old");
  require_writable(directory / "new");
  REQUIRE(get(directory / "old") == "old");
  REQUIRE(entries(directory.path()) == 1);
}

TEST_CASE("a place that cannot be written is named before the work") {
  const temporary_directory directory;
  const std::string base = directory.path().string();

  REQUIRE(refusal("") == ": the name of the file to write is empty");
  REQUIRE(refusal(base) == base + ": is a directory; name a file in it");
  REQUIRE(refusal(base + "/new/") == base + "/new/: names a directory; name a file in it");
  REQUIRE(refusal(base + "/no/file") ==
          base + "/no/file: cannot be written: there is no directory " + base + "/no");
  REQUIRE(refusal("/dev/null") == "/dev/null: is not a regular file, and would be replaced by one");

  put(directory / "file", "");
  REQUIRE(refusal(base + "/file/below") == base + "/file/below: cannot be written: Not a directory");

  const std::string long_name = base + "/" + std::string(300, 'n');
  REQUIRE(refusal(long_name) == long_name + ": cannot be written: File name too long");

  fs::create_symlink("loop", directory / "loop");
  REQUIRE(refusal(base + "/loop") == base + "/loop: cannot be written: Too many levels of symbolic links");
  REQUIRE(entries(directory.path()) == 2);
}

TEST_CASE("only a regular file is opened for reading, and nothing is waited for") {
  const temporary_directory directory;
  const std::string base = directory.path().string();
  const auto refused = [](const fs::path& path) {
    return message_of<file_error>([&] { lab::read_text(path); });
  };
  REQUIRE(::mkfifo((base + "/pipe").c_str(), 0600) == 0);
  REQUIRE(refused(base + "/pipe") == base + "/pipe: is not a regular file; save the data to a file first");
  REQUIRE(refused("/dev/zero") == "/dev/zero: is not a regular file; save the data to a file first");
  REQUIRE(refused(base) == base + ": is a directory, and a file is wanted");
  REQUIRE(refused(base + "/none") == base + "/none: there is no such file");
  const std::string large(200'000, 'x');
  put(directory / "large", large);
  REQUIRE(lab::read_text(directory / "large") == large);
  put(directory / "exact", std::string(1 << 16, 'y'));
  REQUIRE(lab::read_text(directory / "exact").size() == std::size_t{1} << 16);
}

TEST_CASE("one file is known under all its names, before it exists too") {
  const temporary_directory directory;
  const std::string base = directory.path().string();
  put(directory / "old", "old");
  put(directory / "other", "old");
  fs::create_hard_link(directory / "old", directory / "hard");
  fs::create_symlink("old", directory / "soft");
  fs::create_directory(directory / "below");
  fs::create_directory_symlink("below", directory / "linked");
  fs::create_symlink("below/new", directory / "soft new");
  const auto same = [&](const std::string& a, const std::string& b) {
    return lab::is_same_file(base + "/" + a, base + "/" + b);
  };
  for (const char* name : {"old", "./old", "below/../old", "hard", "soft"}) {
    CAPTURE(name);
    CHECK(same("old", name));
    CHECK(same(name, "old"));
    CHECK_FALSE(same("other", name));
    CHECK_FALSE(same("new", name));
  }
  for (const char* name : {"below/new", "linked/new", "./below//new", "soft new"}) {
    CAPTURE(name);
    CHECK(same("below/new", name));
    CHECK(same(name, "below/new"));
    CHECK_FALSE(same("new", name));
  }
  CHECK_FALSE(same("no/new", "no/other"));
}

TEST_CASE("text that is no UTF-8, or controls a terminal, is shown by its bytes") {
  CHECK(lab::escaped("naïve 李 name") == "naïve 李 name");
  CHECK(lab::escaped("a\xff\xfe\xc3") == "a\\xff\\xfe\\xc3");
  CHECK(lab::escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(lab::escaped("\x1b[31m\n\x7f") == "\\x1b[31m\\x0a\\x7f");
  CHECK(lab::escaped("one\n\ttwo\r", true) == "one\n\ttwo\\x0d");
  REQUIRE(refusal("/nonexistent/\xff") ==
          "/nonexistent/\\xff: cannot be written: there is no directory /nonexistent");
}

TEST_CASE("permissions are respected") {
  if (::geteuid() == 0) LAB_SKIP("root may write everywhere");
  const temporary_directory directory;
  const std::string base = directory.path().string();
  put(directory / "kept", "kept");
  fs::permissions(directory / "kept", fs::perms::owner_read);
  REQUIRE(refusal(base + "/kept") == base + "/kept: cannot be written: Permission denied");
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  REQUIRE(refusal(base + "/new") == base + "/new: cannot be written: Permission denied (in " + base + ")");
  fs::permissions(directory.path(), fs::perms::owner_all);
}

TEST_CASE("room that the disk does not have is missed before anything is written") {
  const temporary_directory directory;
  const fs::path path = directory / "huge";
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  const std::string message = message_of<file_error>([&] { output_file file(path, most); });
  REQUIRE(message.starts_with(path.string() + ": cannot take 9223372036854775807 bytes: "));
  REQUIRE(entries(directory.path()) == 0);
}

TEST_CASE("a write that fails midway leaves the old file") {
  const temporary_directory directory;
  put(directory / "old", "old");
  const auto former_handler = std::signal(SIGXFSZ, SIG_IGN);  // the limit then shows as an error of write()
  rlimit former{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &former) == 0);
  const rlimit small{4096, former.rlim_max};
  std::string message;
  {
    output_file file(directory / "old");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    message = message_of<file_error>([&] { write_text(file, std::string(10000, 'x')); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &former) == 0);
  }
  std::signal(SIGXFSZ, former_handler);
  REQUIRE(message == (directory / "old").string() + ": cannot be written: File too large");
  REQUIRE(get(directory / "old") == "old");
  REQUIRE(entries(directory.path()) == 1);
}
