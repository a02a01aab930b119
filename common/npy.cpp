#include "common/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "common/utf8.hpp"

namespace lab {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the element types are little-endian in file and memory");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;              // of the first element, as NumPy does it
constexpr std::uint32_t longest_header = 1 << 20;  // NumPy writes about 100 bytes; more than this is garbage
constexpr std::size_t max_dimensions = 64;         // NumPy's own limit
constexpr std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();

// The product of `shape`, or nothing when the shape cannot be one: negative, or too many bytes to count.
std::optional<std::int64_t> count_elements(std::span<const std::int64_t> shape, std::int64_t element_bytes) {
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(elements, extent, &elements)) {
      return std::nullopt;  // NumPy, too, refuses it with a zero elsewhere
    }
  }
  if (elements > max_bytes / element_bytes) return std::nullopt;
  return empty ? 0 : elements;
}

// (3,) or (2, 5) or (), as Python prints a tuple.
std::string python_tuple(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

// NumPy's name of a type code: "<f8" is float64.
std::string type_name(std::string_view code) {
  if (code.empty() || code.front() == '[') return "a structured type";
  if (!std::isalpha(static_cast<unsigned char>(code.front()))) code.remove_prefix(1);
  if (code == "b1") return "bool";
  if (code == "f16" || code == "c32") return "long double";
  const char kind = code.empty() ? '\0' : code.front();
  const std::string digits(code.substr(code.empty() ? 0 : 1));
  const bool numbered = digits.size() == 1 && digits >= "1" && digits <= "8";
  const std::string bits = numbered ? std::to_string(8 * (digits.front() - '0')) : "";
  switch (kind) {
    case 'f':
      return "float" + bits;
    case 'i':
      return "int" + bits;
    case 'u':
      return "uint" + bits;
    case 'c':
      return code == "c16" ? "complex128" : "complex" + bits;
    case 'S':
      return "bytes";
    case 'U':
      return "text";
    case 'M':
      return "datetime64";
    case 'm':
      return "timedelta64";
    case 'V':
      return "raw bytes";
    case 'O':
      return "Python objects";
    default:
      return "an unknown type";
  }
}

std::string described(std::string_view code) {
  return type_name(code) + " ('" + escaped(code) + "')";
}

// Parses the header's Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3,), }
class header_parser {
 public:
  header_parser(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  npy_header parse() {
    npy_header header;
    bool have_type = false;
    bool have_order = false;
    bool have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(have_type, true)) {
        header.type = type();
      } else if (key == "fortran_order" && !std::exchange(have_order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(have_shape, true)) {
        header.shape = tuple();
      } else {
        fail("an unexpected key '" + escaped(key) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) fail("text after the dictionary");
    if (!have_type || !have_order || !have_shape) fail("no descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw npy_error(path_,
                    "its .npy header is damaged: " + problem + " at byte " + std::to_string(position_));
  }

  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }

  bool accept(char wanted) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("no '") + wanted + "'");
  }

  std::string quoted() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("no quoted text");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("text without its closing quote");
    const std::string result(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return result;
  }

  // A simple type is quoted text. A structured one is a list, kept as it stands: it is only ever named in an
  // error.
  std::string type() {
    skip_space();
    if (peek() != '[') return quoted();
    const std::size_t begin = position_;
    int depth = 0;
    do {
      const char next = peek();
      if (position_ == text_.size()) fail("a list without its end");
      if (next == '\'' || next == '"') {
        quoted();
        continue;
      }
      if (next == '[') ++depth;
      if (next == ']') --depth;
      ++position_;
    } while (depth > 0);
    return std::string(text_.substr(begin, position_ - begin));
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    fail("neither True nor False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(extent());
      if (!accept(',')) {
        expect(')');
        // To Python (3) is the number 3, and (3,) the tuple.
        if (shape.size() == 1) fail("a shape that is no tuple: one extent needs a comma behind it");
        break;
      }
    }
    return shape;
  }

  std::int64_t extent() {
    skip_space();
    const std::size_t begin = position_;
    std::int64_t value = 0;
    while (std::isdigit(static_cast<unsigned char>(peek()))) {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, peek() - '0', &value)) {
        fail("an extent too large to count");
      }
      ++position_;
    }
    if (position_ == begin) fail("no extent");
    if (peek() == 'L') ++position_;  // Python 2 wrote its long integers so
    return value;
  }

  const std::filesystem::path& path_;
  std::string_view text_;
  std::size_t position_ = 0;
};

std::int64_t file_bytes(const std::filesystem::path& path, const file_descriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw file_error(path, "cannot be read: " + std::generic_category().message(errno));
  }
  return status.st_size;
}

// Reads the header and leaves the file at the first element.
npy_header read_header(const std::filesystem::path& path, const file_descriptor& file) {
  std::array<std::byte, 12> prefix{};  // magic (6), version (2), length (2 in version 1, 4 later)
  const auto byte = [&](std::size_t index) { return std::to_integer<unsigned>(prefix[index]); };
  const std::size_t start = read_bytes(path, file, std::span(prefix).first(10));
  const std::string_view beginning(reinterpret_cast<const char*>(prefix.data()), start);
  if (start == 0) throw npy_error(path, "is empty, and a .npy file is wanted");
  if (beginning.starts_with("PK\x03\x04")) {
    throw npy_error(path, "is an archive (.npz?), and a single array is wanted: write it with numpy.save");
  }
  if (!beginning.starts_with(magic.substr(0, start))) throw npy_error(path, "is not a .npy file");
  if (start < 10) throw npy_error(path, "is truncated: it ends within the .npy header");

  const unsigned version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    throw npy_error(path, "is of .npy version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                              ", and 1.0, 2.0 and 3.0 are understood");
  }
  std::size_t length = byte(8) | byte(9) << 8;
  std::size_t offset = 10;
  if (version > 1) {
    if (read_bytes(path, file, std::span(prefix).subspan(10)) < 2) {
      throw npy_error(path, "is truncated: it ends within the .npy header");
    }
    length |= std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24;
    offset = 12;
  }
  if (length > longest_header) {
    throw npy_error(path,
                    "its .npy header is damaged: it would be " + std::to_string(length) + " bytes long");
  }
  std::string text(length, '\0');
  if (read_bytes(path, file, std::as_writable_bytes(std::span(text))) < length) {
    throw npy_error(path, "is truncated: it ends within the .npy header");
  }
  npy_header header = header_parser(path, text).parse();
  const std::optional<std::int64_t> elements = count_elements(header.shape, 1);
  if (!elements) throw npy_error(path, "its shape " + python_tuple(header.shape) + " is too large to count");
  header.elements = *elements;
  header.data_offset = static_cast<std::int64_t>(offset + length);
  return header;
}

void require_type(const std::filesystem::path& path, const std::string& found, std::string_view wanted) {
  // The bytes of a bool and of a uint8 are read alike.
  if (found == wanted || (found == "|u1" && wanted == npy_type<unsigned char>)) return;
  const std::string name = type_name(wanted);
  const std::string base = "holds " + described(found) + ", and " + described(wanted) + " is wanted";
  if (found.size() > 1 && found.ends_with('O')) {
    throw npy_error(
        path, base + "; objects are pickled, and are not read: convert with array.astype('" + name + "')");
  }
  if (found.starts_with('>') && found.substr(1) == wanted.substr(1)) {
    throw npy_error(path, base + "; its bytes are big-endian: convert with array.astype('" + name + "')");
  }
  throw npy_error(path, base + (found.starts_with('[') ? "; save one field of it"
                                                       : "; convert with array.astype('" + name + "')"));
}

std::string header_text(std::string_view type, std::span<const std::int64_t> shape) {
  std::string dictionary = "{'descr': '" + std::string(type) +
                           "', 'fortran_order': False, 'shape': " + python_tuple(shape) + ", }";
  const std::size_t unpadded = magic.size() + 4 + dictionary.size() + 1;
  dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
  dictionary += '\n';
  // 64 dimensions of 19 digits are far below the 65535 bytes that version 1.0 can say.
  std::string text(magic);
  text += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  return text + dictionary;
}

std::int64_t checked_count(std::span<const std::int64_t> shape, std::int64_t element_bytes) {
  const std::optional<std::int64_t> elements = count_elements(shape, element_bytes);
  if (!elements || shape.size() > max_dimensions) {
    throw std::invalid_argument("no array has the shape " + python_tuple(shape));
  }
  return *elements;
}

}  // namespace

npy_header read_npy_header(const std::filesystem::path& path) {
  return read_header(path, open_to_read(path));
}

npy_reader::npy_reader(std::filesystem::path path, std::string_view type, std::size_t element_bytes)
    : path_(std::move(path)), file_(open_to_read(path_)) {
  header_ = read_header(path_, file_);
  require_type(path_, header_.type, type);
  if (header_.fortran_order && header_.shape.size() > 1) {
    throw npy_error(
        path_, "is in Fortran order, and C order is wanted: convert with numpy.ascontiguousarray(array)");
  }
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  if (!count_elements(header_.shape, bytes)) {
    throw npy_error(path_, "its shape " + python_tuple(header_.shape) + " is too large to count");
  }
  const std::int64_t wanted = header_.elements * bytes;
  const std::int64_t found = file_bytes(path_, file_) - header_.data_offset;
  if (found != wanted) {
    throw npy_error(path_, std::string(found < wanted ? "is truncated" : "has trailing data") + ": shape " +
                               python_tuple(header_.shape) + " of " + type_name(header_.type) + " takes " +
                               std::to_string(wanted) + " bytes after the header, and there are " +
                               std::to_string(found));
  }
}

void npy_reader::read(std::span<std::byte> values) const {
  if (read_bytes(path_, file_, values) < values.size())
    throw npy_error(path_, "was truncated while it was read");
}

void write_npy(const std::filesystem::path& path, std::string_view type, std::size_t element_bytes,
               std::span<const std::byte> values, std::span<const std::int64_t> shape) {
  const std::int64_t elements = checked_count(shape, static_cast<std::int64_t>(element_bytes));
  if (values.size() != static_cast<std::size_t>(elements) * element_bytes)
    throw std::logic_error("the shape " + python_tuple(shape) + " has room for more values, or for fewer");
  const std::string header = header_text(type, shape);
  output_file file(path, header.size() + values.size());
  file.write(std::as_bytes(std::span(header)));
  file.write(values);
  file.commit();
}

}  // namespace lab
