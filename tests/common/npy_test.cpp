#include "common/npy.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using lab::file_error;
using lab::npy_error;
using lab::test::get;
using lab::test::message_of;
using lab::test::put;
using lab::test::temporary_directory;
using namespace std::string_literals;

// The header as numpy.save (2.4) writes it: the dictionary, padded with spaces to 128 bytes in all.
std::string numpy_header(const std::string& dictionary) {
  return "\x93NUMPY\x01\0v\0"s + dictionary + std::string(117 - dictionary.size(), ' ') + "\n";
}

// What numpy.save wrote for each array; the bytes of the values are as they stood in the file.
const std::string three_doubles =  // numpy.array([1.5, -2.25, nan])
    numpy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }") +
    "\x00\x00\x00\x00\x00\x00\xf8?\x00\x00\x00\x00\x00\x00\x02\xc0\x00\x00\x00\x00\x00\x00\xf8\x7f"s;
const std::string six_floats =  // numpy.arange(6, dtype='<f4').reshape(2, 3)
    numpy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") +
    "\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@"s;
const std::string two_integers =  // numpy.array([-1, 2**62])
    numpy_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }") +
    "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00@"s;
const std::string scalar =  // numpy.float64(7)
    numpy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (), }") +
    "\x00\x00\x00\x00\x00\x00\x1c@"s;
const std::string no_doubles = numpy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }");
const std::string no_floats = numpy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0, 2), }");
const std::string fortran =  // numpy.asfortranarray(numpy.arange(4.0).reshape(2, 2))
    numpy_header("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }") +
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x08@"s;
const std::string big_endian =  // numpy.array([1.0], dtype='>f8')
    numpy_header("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }") +
    "?\xf0\x00\x00\x00\x00\x00\x00"s;
const std::string structured =  // numpy.zeros(1, dtype=[('a', '<f8'), ('b]', '<i4')])
    numpy_header("{'descr': [('a', '<f8'), ('b]', '<i4')], 'fortran_order': False, 'shape': (1,), }") +
    std::string(12, '\0');
// numpy.lib.format.write_array(..., numpy.array([1.0, 2.0]), version=(2, 0)) and (3, 0)
const std::string version_2 =
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"s +
    std::string(58, ' ') + "\n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@"s;
const std::string version_3 = "\x93NUMPY\x03"s + version_2.substr(7);

// A version 1.0 file with any header text and `bytes` bytes of data.
std::string file_with(const std::string& header, std::size_t bytes = 0) {
  return "\x93NUMPY\x01\0"s + static_cast<char>(header.size() & 0xff) +
         static_cast<char>(header.size() >> 8) + header + std::string(bytes, '\0');
}

std::string file_of(const std::string& type, const std::string& shape, std::size_t bytes = 0) {
  return file_with("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n", bytes);
}

// What reading `bytes` as an array of T is refused with, less the path that every message starts with.
template <class T = double>
std::string npy_refusal(const std::string& bytes) {
  const temporary_directory directory;
  const fs::path path = directory / "array.npy";
  put(path, bytes);
  const std::string message = message_of<npy_error>([&] { lab::read_npy<T>(path); });
  const std::string prefix = path.string() + ": ";
  REQUIRE(message.substr(0, prefix.size()) == prefix);
  return message.substr(prefix.size());
}

template <class T>
lab::npy_array<T> read(const std::string& bytes) {
  const temporary_directory directory;
  put(directory / "array.npy", bytes);
  return lab::read_npy<T>(directory / "array.npy");
}

using shape = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("bytes are read as they are, and counts written and read again") {
  const temporary_directory directory;
  const fs::path path = directory / "array.npy";
  put(path, file_of("|u1", "(3,)") + "\x00\x80\xff"s);
  CHECK(lab::read_npy<unsigned char>(path).values == std::vector<unsigned char>{0, 128, 255});
  const std::vector<std::uint32_t> counts{0, 1, 0xffff'ffff};
  lab::write_npy<std::uint32_t>(path, counts, std::vector<std::int64_t>{3});
  CHECK(lab::read_npy_header(path).type == "<u4");
  CHECK(lab::read_npy<std::uint32_t>(path).values == counts);
  CHECK(npy_refusal<std::uint32_t>(file_of("|u1", "(3,)", 3)).find("uint32") != std::string::npos);
}

TEST_CASE("files that NumPy wrote are read, whatever the rank") {
  const auto doubles = read<double>(three_doubles);
  REQUIRE(doubles.shape == shape{3});
  REQUIRE(doubles.values[0] == 1.5);
  REQUIRE(doubles.values[1] == -2.25);
  REQUIRE(std::isnan(doubles.values[2]));

  const auto floats = read<float>(six_floats);
  REQUIRE(floats.shape == shape{2, 3});
  REQUIRE(floats.values == std::vector<float>{0, 1, 2, 3, 4, 5});

  const auto integers = read<std::int64_t>(two_integers);
  REQUIRE(integers.values == std::vector<std::int64_t>{-1, std::int64_t{1} << 62});

  const auto one = read<double>(scalar);
  REQUIRE(one.shape.empty());
  REQUIRE(one.values == std::vector<double>{7});

  REQUIRE(read<double>(no_doubles).shape == shape{0});
  REQUIRE(read<double>(no_doubles).values.empty());
  REQUIRE(read<float>(no_floats).shape == shape{3, 0, 2});
}

TEST_CASE("versions 2.0 and 3.0 are read") {
  REQUIRE(version_2.size() == 144);
  REQUIRE(read<double>(version_2).values == std::vector<double>{1, 2});
  REQUIRE(read<double>(version_3).values == std::vector<double>{1, 2});
}

TEST_CASE("headers that other programs write are read") {
  REQUIRE(read<double>(file_with("{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f8\"}", 16)).shape ==
          shape{2});
  REQUIRE(read<double>(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L)}", 48)).shape ==
          shape{2, 3});  // Python 2
  REQUIRE(read<double>(file_with("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }", 16)).shape ==
          shape{2});
}

TEST_CASE("the header alone can be read, of types that the lab does not read as well") {
  const temporary_directory directory;
  put(directory / "array.npy", structured);
  const lab::npy_header header = lab::read_npy_header(directory / "array.npy");
  REQUIRE(header.type == "[('a', '<f8'), ('b]', '<i4')]");
  REQUIRE(header.elements == 1);
  REQUIRE(header.data_offset == 128);
  REQUIRE_FALSE(header.holds<double>());

  put(directory / "array.npy", six_floats);
  REQUIRE(lab::read_npy_header(directory / "array.npy").holds<float>());
  REQUIRE(lab::read_npy_header(directory / "array.npy").elements == 6);
}

TEST_CASE("another type is refused with both names and the way out") {
  REQUIRE(npy_refusal(six_floats) ==
          "holds float32 ('<f4'), and float64 ('<f8') is wanted; convert with array.astype('float64')");
  REQUIRE(npy_refusal<float>(three_doubles) ==
          "holds float64 ('<f8'), and float32 ('<f4') is wanted; convert with array.astype('float32')");
  REQUIRE(npy_refusal<std::int64_t>(file_of("<i4", "(1,)", 4)) ==
          "holds int32 ('<i4'), and int64 ('<i8') is wanted; convert with array.astype('int64')");
  REQUIRE(npy_refusal(big_endian) ==
          "holds float64 ('>f8'), and float64 ('<f8') is wanted; its bytes are big-endian: convert with "
          "array.astype('float64')");
  REQUIRE(npy_refusal(file_of("|O", "(1,)", 20)) ==
          "holds Python objects ('|O'), and float64 ('<f8') is wanted; objects are pickled, and are not "
          "read: convert "
          "with array.astype('float64')");
  REQUIRE(npy_refusal(structured) ==
          "holds a structured type ('[('a', '<f8'), ('b]', '<i4')]'), and float64 ('<f8') is wanted; save "
          "one field "
          "of it");
  for (const auto& [code, name] :
       std::vector<std::pair<std::string, std::string>>{{"|b1", "bool"},
                                                        {"<u2", "uint16"},
                                                        {"<c16", "complex128"},
                                                        {"<f2", "float16"},
                                                        {"<f16", "long double"},
                                                        {"<U12", "text"},
                                                        {"<M8[ns]", "datetime64"},
                                                        {"", "a structured type"},
                                                        {"<", "an unknown type"},
                                                        {"?!", "an unknown type"}}) {
    REQUIRE(npy_refusal(file_of(code, "(1,)", 1))
                .starts_with("holds " + name + " ('" + code + "'), and float64"));
  }
}

TEST_CASE("Fortran order is refused with the way out") {
  REQUIRE(npy_refusal(fortran) ==
          "is in Fortran order, and C order is wanted: convert with numpy.ascontiguousarray(array)");
}

TEST_CASE("the size of the file must be that of the array") {
  REQUIRE(npy_refusal(three_doubles.substr(0, three_doubles.size() - 1)) ==
          "is truncated: shape (3,) of float64 takes 24 bytes after the header, and there are 23");
  REQUIRE(npy_refusal(three_doubles + "x") ==
          "has trailing data: shape (3,) of float64 takes 24 bytes after the header, and there are 25");
  REQUIRE(npy_refusal(no_doubles + "x") ==
          "has trailing data: shape (0,) of float64 takes 0 bytes after the header, and there are 1");
  REQUIRE(npy_refusal(file_of("<f8", "(1000000000000,)")) ==
          "is truncated: shape (1000000000000,) of float64 takes 8000000000000 bytes after the header, and "
          "there are 0");
}

TEST_CASE("a file cut anywhere in its header is refused") {
  for (const std::string& whole : {three_doubles, version_2}) {
    for (std::size_t length = 1; length < 128; ++length) {
      INFO("cut to " << length << " bytes");
      REQUIRE(npy_refusal(whole.substr(0, length)) == "is truncated: it ends within the .npy header");
    }
  }
}

TEST_CASE("a header with any one byte changed is read or refused, and nothing else") {
  for (std::size_t position = 0; position < 128; ++position) {
    for (const char byte : {'\0', '\xff', '(', '}', '\'', '9', ',', 'x'}) {
      std::string damaged = three_doubles;
      damaged[position] = byte;
      const temporary_directory directory;
      put(directory / "array.npy", damaged);
      std::size_t count = 3;
      try {
        count = lab::read_npy<double>(directory / "array.npy").values.size();
      } catch (const npy_error&) {  // refused, as most are
      }
      REQUIRE(count == 3);
    }
  }
}

TEST_CASE("what is no .npy file is refused by what it is") {
  REQUIRE(npy_refusal("") == "is empty, and a .npy file is wanted");
  REQUIRE(npy_refusal("1.0,2.0\n3.0,4.0\n") == "is not a .npy file");
  REQUIRE(npy_refusal("1\n") == "is not a .npy file");
  REQUIRE(npy_refusal("PK\x03\x04 and so on") ==
          "is an archive (.npz?), and a single array is wanted: write it with numpy.save");
  REQUIRE(npy_refusal("\x93NUMPY\x04\x00\x01\x00"s) ==
          "is of .npy version 4.0, and 1.0, 2.0 and 3.0 are understood");
  REQUIRE(npy_refusal("\x93NUMPY\x01\x01\x01\x00"s) ==
          "is of .npy version 1.1, and 1.0, 2.0 and 3.0 are understood");
  REQUIRE(npy_refusal("\x93NUMPY\x02\x00\xff\xff\xff\xff{"s) ==
          "its .npy header is damaged: it would be 4294967295 bytes long");
}

TEST_CASE("a damaged header is refused with the place") {
  const auto damage = [](const std::string& header) {
    const std::string message = npy_refusal(file_with(header, 8));
    const std::string prefix = "its .npy header is damaged: ";
    REQUIRE(message.starts_with(prefix));
    return message.substr(prefix.size());
  };
  REQUIRE(damage("") == "no '{' at byte 0");
  REQUIRE(damage("garbage") == "no '{' at byte 0");
  REQUIRE(damage("{") == "no quoted text at byte 1");
  REQUIRE(damage("{}") == "no descr, fortran_order or shape at byte 2");
  REQUIRE(damage("{'descr") == "text without its closing quote at byte 1");
  REQUIRE(damage("{'descr' '<f8'}") == "no ':' at byte 9");
  REQUIRE(damage("{'descr': '<f8', 'descr': '<f8'}") == "an unexpected key 'descr' at byte 25");
  REQUIRE(damage("{'other': 1}") == "an unexpected key 'other' at byte 9");
  REQUIRE(damage("{'fortran_order': 0}") == "neither True nor False at byte 18");
  REQUIRE(damage("{'shape': 3}") == "no '(' at byte 10");
  REQUIRE(damage("{'shape': (-3,)}") == "no extent at byte 11");
  REQUIRE(damage("{'shape': (3 4)}") == "no ')' at byte 13");
  REQUIRE(damage("{'shape': (9223372036854775808,)}") == "an extent too large to count at byte 29");
  REQUIRE(damage("{'descr': [('a', '<f8'}") == "a list without its end at byte 23");
  REQUIRE(damage("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} and more") ==
          "text after the dictionary at byte 56");
  // To Python (3) is a number in brackets.
  REQUIRE(damage("{'descr': '<f8', 'fortran_order': False, 'shape': (3)}") ==
          "a shape that is no tuple: one extent needs a comma behind it at byte 53");
  REQUIRE(damage("{'d\xff': '<f8'}") == "an unexpected key 'd\\xff' at byte 6");
  REQUIRE(damage("{'descr': '<f8', 'shape': (1,)}") == "no descr, fortran_order or shape at byte 31");
}

TEST_CASE("a shape whose product overflows is refused") {
  REQUIRE(npy_refusal(file_of("<f8", "(4294967296, 4294967296)")) ==
          "its shape (4294967296, 4294967296) is too large to count");
  REQUIRE(npy_refusal(file_of("<f8", "(0, 4294967296, 4294967296)")) ==
          "its shape (0, 4294967296, 4294967296) is too large to count");
  REQUIRE(npy_refusal(file_of("<f8", "(2305843009213693952,)")) ==  // countable elements, not countable bytes
          "its shape (2305843009213693952,) is too large to count");
}

TEST_CASE("what cannot be opened is an error of the file system") {
  const temporary_directory directory;
  const std::string base = directory.path().string();
  const auto message = [](const fs::path& path) {
    return message_of<file_error>([&] { lab::read_npy_header(path); });
  };
  REQUIRE(message(base + "/missing.npy") == base + "/missing.npy: there is no such file");
  REQUIRE(message(base) == base + ": is a directory, and a file is wanted");
  REQUIRE(message("/dev/null") == "/dev/null: is not a regular file; save the data to a file first");
  put(directory / "file", "");
  REQUIRE(message(base + "/file/below") == base + "/file/below: cannot be read: Not a directory");
}

TEST_CASE("what is written is byte for byte what NumPy writes") {
  const temporary_directory directory;
  const fs::path path = directory / "array.npy";
  const std::vector<double> doubles{1.5, -2.25, std::numeric_limits<double>::quiet_NaN()};
  lab::write_npy<double>(path, doubles, shape{3});
  REQUIRE(get(path) == three_doubles);
  lab::write_npy<float>(path, std::vector<float>{0, 1, 2, 3, 4, 5}, shape{2, 3});
  REQUIRE(get(path) == six_floats);
  lab::write_npy<std::int64_t>(path, std::vector<std::int64_t>{-1, std::int64_t{1} << 62}, shape{2});
  REQUIRE(get(path) == two_integers);
  lab::write_npy<double>(path, std::vector<double>{7}, shape{});
  REQUIRE(get(path) == scalar);
  lab::write_npy<double>(path, {}, shape{0});
  REQUIRE(get(path) == no_doubles);
  lab::write_npy<float>(path, {}, shape{3, 0, 2});
  REQUIRE(get(path) == no_floats);
}

TEST_CASE("an array of many dimensions goes both ways") {
  const temporary_directory directory;
  const shape many(64, 1);
  lab::write_npy<double>(directory / "array.npy", std::vector<double>{5}, many);
  REQUIRE(lab::read_npy<double>(directory / "array.npy").shape == many);
  REQUIRE(lab::read_npy_header(directory / "array.npy").data_offset % 64 == 0);
}

TEST_CASE("values and shape must agree, or nothing is written") {
  const temporary_directory directory;
  const fs::path path = directory / "array.npy";
  const std::vector<double> values{1, 2, 3};
  REQUIRE_THROWS_AS(lab::write_npy<double>(path, values, shape{2}), std::logic_error);
  REQUIRE_THROWS_AS(lab::write_npy<double>(path, values, shape{4}), std::logic_error);
  REQUIRE_THROWS_AS(lab::write_npy<double>(path, values, shape{-3}), std::invalid_argument);
  REQUIRE_THROWS_AS(lab::write_npy<double>(path, values, shape(65, 1)), std::invalid_argument);
  REQUIRE_THROWS_AS(lab::write_npy<double>(path, values, shape{std::int64_t{1} << 61}),
                    std::invalid_argument);
  REQUIRE(fs::is_empty(directory.path()));
}

TEST_CASE("a file that shrinks while it is read is noticed") {
  const temporary_directory directory;
  const fs::path path = directory / "array.npy";
  put(path, three_doubles);
  const lab::npy_reader reader(path, "<f8", sizeof(double));
  fs::resize_file(path, three_doubles.size() - 8);
  std::array<std::byte, 3 * sizeof(double)> values{};
  REQUIRE(message_of<npy_error>([&] { reader.read(values); }) ==
          path.string() + ": was truncated while it was read");
}
