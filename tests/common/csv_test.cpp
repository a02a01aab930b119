// CSV files in and out, well formed and not.
#include <string>
#include <vector>

#include "common/csv.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using lab::test::temporary_directory;
using rows = std::vector<std::vector<std::string>>;

void skip_without_csv() {
  if (lab::csv_is_supported()) return;
  std::puts("this test is skipped: built without libcsv");
  std::exit(4);
}

// Two columns of a file, row by row.
rows read(const std::string& content, const std::vector<std::string>& columns = {"name", "visibility"}) {
  const temporary_directory directory;
  const auto path = directory / "people.csv";
  lab::test::put(path, content);
  std::vector<std::vector<std::string>> by_column(columns.size());
  lab::read_csv(path, columns,
                [&](std::size_t column, std::string_view field) { by_column[column].emplace_back(field); });
  rows found(by_column[0].size());
  for (std::size_t row = 0; row < found.size(); ++row) {
    for (const auto& column : by_column) found[row].push_back(column.at(row));
  }
  return found;
}

std::string problem(const std::string& content) {
  const std::string message = lab::test::message_of<lab::csv_format_error>([&] { read(content); });
  const std::size_t at = message.find("people.csv: ");
  return at == std::string::npos ? message : message.substr(at + 12);
}

}  // namespace

TEST_CASE("CSV in all its forms is read") {
  skip_without_csv();
  const rows two = {{"Ada Lovelace", "public"}, {"Bob", "private"}};
  CHECK(read("name,visibility\nAda Lovelace,public\nBob,private\n") == two);
  CHECK(read("name,visibility\r\nAda Lovelace,public\r\nBob,private\r\n") == two);
  CHECK(read("name,visibility\nAda Lovelace,public\nBob,private") == two);
  CHECK(read("\xef\xbb\xbfname,visibility\nAda Lovelace,public\nBob,private\n") == two);
  CHECK(read("\xef\xbb\xbf\"name\",\"visibility\"\r\n\"Ada Lovelace\",\"public\"\r\nBob,\"private\"") == two);
  CHECK(read("id,visibility,note,name\n1,public,,Ada Lovelace\n2,private,\"\xff\",Bob\n") == two);
  CHECK(read("name,visibility\n\nAda Lovelace,public\n\n\r\nBob,private\n\n") == two);
  CHECK(read("name,visibility\n").empty());
  CHECK(read("name,visibility").empty());
  CHECK(read("name,visibility\n\"a, \"\"b\"\"\nc\r\nd\",x\n") == rows{{"a, \"b\"\nc\r\nd", "x"}});
  CHECK(read("name,visibility\n Ann ,\t\n\"\",\n") == rows{{" Ann ", "\t"}, {"", ""}});
  CHECK(read(std::string("name,visibility\na\0b,c\n", 22)) == rows{{std::string("a\0b", 3), "c"}});
}

TEST_CASE("a field longer than what is read at a time is one field") {
  skip_without_csv();
  const std::string name(5'000'001, 'x');
  const rows found = read("name,visibility\n" + name + ",public\nb,c\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0][0] == name);
  CHECK(found[1][0] == "b");
}

TEST_CASE("what is no CSV, or lacks a column, is refused in words that say where") {
  skip_without_csv();
  CHECK(problem("") == "it is empty; a header with the names of the columns is needed");
  CHECK(problem("\n\n") == "it is empty; a header with the names of the columns is needed");
  CHECK(problem("name,visible\nAda,public\n") == "no column is called visibility; there are name, visible");
  CHECK(problem("Name\nAda\n") == "no column is called name; there is Name");
  CHECK(problem("name,visibility,name\n") == "two columns are called name");
  CHECK(problem("name,visibility\nAda,public\nBob\n") == "row 2 (line 3) has 1 field, and the header has 2");
  CHECK(problem("name,visibility\n\nAda,public,3\n") == "row 1 (line 3) has 3 fields, and the header has 2");
  CHECK(problem("name,visibility\nAda,public\nB\xff,public\n") ==
        "row 2 (line 3): name is not UTF-8 from its byte 2 on");
  CHECK(problem("name,visibility\nAda,\"public\nBob,private\n") == "a quote is opened and never closed");
  CHECK(problem("name,visibility\nA\"d\"a,public\n").find("line 2: a quote within a field") == 0);
  CHECK(problem("name,visibility\n\"Ada\"x,public\n").find("line 2: a quote within a field") == 0);
  CHECK(lab::test::message_of<lab::file_error>([] { lab::read_csv("/no/such.csv", {"a"}, {}); }) ==
        "/no/such.csv: there is no such file");
}

TEST_CASE("what is written can be read back, and only what must be is quoted") {
  skip_without_csv();
  const temporary_directory directory;
  const auto path = directory / "out.csv";
  const std::vector<std::string> fields = {"L Ada",  " Ann", "Ann ", "a,b", "say \"x\"", "two\nlines",
                                           "李 Ann", "x\r",  "",     "z",   ""};
  {
    lab::csv_column_writer writer(path, "redacted");
    for (const std::string& field : fields) writer.write(field);
    CHECK_FALSE(std::filesystem::exists(path));
    writer.commit();
  }
  CHECK(lab::test::get(path) ==
        "redacted\nL Ada\n\" Ann\"\n\"Ann \"\n\"a,b\"\n\"say \"\"x\"\"\"\n\"two\nlines\"\n李 "
        "Ann\n\"x\r\"\n\"\"\nz\n\"\"\n");
  std::vector<std::string> again;
  lab::read_csv(path, {"redacted"}, [&](std::size_t, std::string_view field) { again.emplace_back(field); });
  CHECK(again == fields);
}

TEST_CASE("a build without libcsv says so") {
  if (lab::csv_is_supported()) {
    SUCCEED("this one has it");
    return;
  }
  CHECK(lab::test::message_of<lab::file_error>([] {
          lab::read_csv("people.csv", {"a"}, {});
        }).find("libcsv-dev") != std::string::npos);
}

TEST_CASE("a table is read from a regular file alone, and odd names of columns are shown by their bytes") {
  skip_without_csv();
  const auto refused = [](const std::string& path) {
    return lab::test::message_of<lab::file_error>([&] { lab::read_csv(path, {"name"}, [](auto, auto) {}); });
  };
  CHECK(refused("/dev/zero") == "/dev/zero: is not a regular file; save the data to a file first");
  CHECK(refused("/tmp") == "/tmp: is a directory, and a file is wanted");
  CHECK(problem("n\xff,\x1b[2J\n") == "no column is called name; there are n\\xff, \\x1b[2J");
}
