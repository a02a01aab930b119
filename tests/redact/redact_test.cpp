// What the redaction's stages are tested against: the reference, the generator, and the validation of
// columns.
#include <map>
#include <string>
#include <vector>

#include "common/utf8.hpp"
#include "harness/device/column_table.hpp"
#include "stages/redact/problem.hpp"
#include "tests/catch.hpp"
#include "tests/redact/support.hpp"

using namespace lab::redact;
using lab::column;
using lab::make_column;

namespace {

column from_rows(const std::vector<std::string>& rows) {
  return make_column(std::ssize(rows), [&](std::string& text, std::int64_t row) {
    text += rows[static_cast<std::size_t>(row)];
  });
}

constexpr content all_contents[] = {content::people, content::all_private, content::all_public,
                                    content::empty,  content::multibyte,   content::hostile,
                                    content::skewed, content::huge_row};

}  // namespace

TEST_CASE("a public row shows the last name's first character and the first name") {
  const std::map<std::string, std::string> shown = {{"Ada Lovelace", "L Ada"},
                                                    {"Madonna", " Madonna"},
                                                    {"Mary Ann Smith", "A Mary"},
                                                    {" Ann", "A "},
                                                    {"Ann ", " Ann"},
                                                    {"", " "},
                                                    {" ", " "},
                                                    {"Ann  Lee", "  Ann"},
                                                    {"é ø", "ø é"},
                                                    {"Ann 李四", "李 Ann"},
                                                    {"🦉 🦉🦉", "🦉 🦉"},
                                                    {"A\u00a0B", " A\u00a0B"},
                                                    {"Ann\tLee", " Ann\tLee"},
                                                    {"X X", "X X"},
                                                    {"a b", "b a"}};
  for (const auto& [name, expected] : shown) {
    INFO(name);
    CHECK(redacted(std::string_view(name), "public") == expected);
    for (const char* other : {"private", "Public", "publi", "publicx", "", " public", "public "})
      CHECK(redacted(std::string_view(name), other) == "X X");
  }
}

TEST_CASE("no output is longer than the bound") {
  for (const content kind : all_contents) {
    const people data = make_people(kind, 4000, 11);
    const column expected = redacted(data);
    for (std::int64_t row = 0; row < 4000; ++row)
      REQUIRE(std::ssize(expected[row]) <= std::ssize(data.names[row]) + max_growth);
  }
  CHECK(redacted(std::string_view(""), "private").size() == max_growth);
}

TEST_CASE("a column is its rows one behind the other, however many cores make it") {
  CHECK(from_rows({}).bytes() == 0);
  CHECK(from_rows({}).rows() == 0);
  CHECK(from_rows({"", "a", "", "bc"})[3] == "bc");
  CHECK(from_rows({"", "a", "", "bc"}).bytes() == 3);
  // Enough rows for several threads of the host.
  const std::int64_t rows = 100'003;
  const column counted =
      make_column(rows, [](std::string& text, std::int64_t row) { text += std::to_string(row); });
  REQUIRE(counted.rows() == rows);
  CHECK(counted.offsets[0] == 0);
  // What takes any text writes in place, and makes the same column.
  const column written = make_column(rows, [](auto& text, std::int64_t row) {
    const std::string digits = std::to_string(row);
    text += digits[0];
    text += std::string_view(digits).substr(1);
  });
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    wrong += counted[row] != std::to_string(row) || written[row] != counted[row];
  CHECK(wrong == 0);
}

TEST_CASE("a long array begins with a huge page") {
  constexpr std::int64_t huge_page = std::int64_t{2} << 20;
  const lab::host_array<char> array(3 * huge_page + 1);
  CHECK(array.size() == 3 * huge_page + 1);
  CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % huge_page == 0);
  CHECK(lab::host_array<char>(0).size() == 0);
}

TEST_CASE("generated rows depend on seed and row alone, and are what their content says") {
  for (const content kind : {content::people, content::multibyte, content::hostile}) {
    const people many = make_people(kind, 70'000, 3);
    const people few = make_people(kind, 500, 3);
    const people other = make_people(kind, 500, 4);
    std::int64_t same = 0;
    std::int64_t different = 0;
    for (std::int64_t row = 0; row < 500; ++row) {
      same += many.names[row] == few.names[row] && many.visibilities[row] == few.visibilities[row];
      different += other.names[row] != few.names[row];
    }
    CHECK(same == 500);
    CHECK(different > 300);
    CHECK_FALSE(
        lab::first_invalid_utf8({many.names.chars.data(), static_cast<std::size_t>(many.names.bytes())}));
    CHECK_FALSE(lab::first_invalid_utf8(
        {many.visibilities.chars.data(), static_cast<std::size_t>(many.visibilities.bytes())}));
  }
}

TEST_CASE("people are as long as the page says, and half of them public") {
  const std::int64_t rows = 200'000;
  const people data = make_people(content::people, rows, 1);
  const auto mean = [&](const column& one) {
    return static_cast<double>(one.bytes()) / static_cast<double>(rows);
  };
  CHECK(std::abs(mean(data.names) - 14.5) < 0.05);
  CHECK(std::abs(mean(data.visibilities) - 6.5) < 0.02);
  CHECK(std::abs(mean(redacted(data)) - 5.5) < 0.05);
}

TEST_CASE("hostile contents hold what they promise") {
  const people hostile = make_people(content::hostile, 5000, 1);
  std::map<std::string, int> names;
  std::map<std::string, int> visibilities;
  for (std::int64_t row = 0; row < 5000; ++row) {
    ++names[std::string(hostile.names[row])];
    ++visibilities[std::string(hostile.visibilities[row])];
  }
  for (const char* name :
       {"", " ", "  ", "Madonna", " Ann", "Ann ", "Ann  Lee", "🦉 🦉", "Mary Ann Smith"})
    CHECK(names[name] > 0);
  for (const char* visibility : {"public", "Public", "publi", "publicx", "", " public"})
    CHECK(visibilities[visibility] > 0);
  CHECK(make_people(content::empty, 100, 1).names.bytes() == 0);
  CHECK(make_people(content::all_public, 100, 1).visibilities.bytes() == 600);
  CHECK(redacted(make_people(content::all_private, 100, 1)).bytes() == 300);
}

TEST_CASE("a few rows are long, with the space early, late and nowhere") {
  const auto longest = [](const people& data) {
    std::int64_t found = 0;
    for (std::int64_t row = 0; row < data.names.rows(); ++row) {
      if (data.names[row].size() > data.names[found].size()) found = row;
    }
    return found;
  };
  const std::size_t huge = std::size_t{1} << 20;
  std::map<int, int> shown;  // by what part of the name is shown
  for (const std::int64_t rows : {500, 501, 502}) {
    const people data = make_people(content::huge_row, rows, 9);
    const std::int64_t row = longest(data);
    CHECK(data.names[row].size() == huge);
    CHECK(data.visibilities[row] == "public");
    CHECK(data.names.bytes() - std::ssize(data.names[row]) < 22 * rows);
    const std::size_t output = redacted(data)[row].size();
    ++shown[output < 100 ? 0 : output < huge ? 1 : 2];
    // Whatever the seed.
    for (const std::uint64_t seed : {10U, 11U}) {
      const people other = make_people(content::huge_row, rows, seed);
      CHECK(redacted(other)[longest(other)].size() / 100 == output / 100);
    }
  }
  CHECK(shown == std::map<int, int>{{0, 1}, {1, 1}, {2, 1}});
  const people more = make_people(content::huge_row, 1000, 9);
  CHECK(more.names[longest(more)].size() == (lab::emulated ? huge : (std::size_t{1} << 24) + 3));
  const people skewed = make_people(content::skewed, 2000, 9);
  int above = 0;
  for (std::int64_t row = 0; row < 2000; ++row) above += skewed.names[row].size() > 9000;
  CHECK(above >= 3);
  CHECK(above <= 5);
}

TEST_CASE("UTF-8 is what RFC 3629 says") {
  const auto bad = [](std::string_view text) { return lab::first_invalid_utf8(text); };
  for (const char* good : {"", "a", "\x7f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff",
                           "\U00010000", "\U0010ffff", "aé李🦉z"})
    CHECK_FALSE(bad(good));
  CHECK(bad("a\x80") == 1);   // a continuation byte alone
  CHECK(bad("ab\xc3") == 2);  // cut short
  CHECK(bad("\xc3(") == 0);
  CHECK(bad("\xe2\x82") == 0);
  CHECK(bad("\xf0\x9f\xa6") == 0);
  CHECK(bad("\xe2\x82(") == 0);
  CHECK(bad("\xc0\xaf") == 0);  // overlong
  CHECK(bad("\xc1\xbf") == 0);
  CHECK(bad("\xe0\x9f\xbf") == 0);
  CHECK(bad("\xf0\x8f\xbf\xbf") == 0);
  CHECK(bad("x\xed\xa0\x80") == 1);     // a surrogate
  CHECK(bad("\xf4\x90\x80\x80") == 0);  // beyond U+10FFFF
  CHECK(bad("\xf5\x80\x80\x80") == 0);
  CHECK(bad("\xff") == 0);
}

TEST_CASE("offsets have as many bits as the characters need") {
  CHECK(lab::offset_bits_for(2147483647) == 32);
  CHECK(lab::offset_bits_for(2147483648) == 64);
}
