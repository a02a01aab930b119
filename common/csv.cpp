#include "common/csv.hpp"

#include <algorithm>
#include <optional>
#include <span>

#if LAB_WITH_CSV
#include <csv.h>
#endif

#include "common/utf8.hpp"

namespace lab {

#if LAB_WITH_CSV

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

// What the parser's callbacks know. They are called through C, which no exception may cross: an error waits.
class table_reader {
 public:
  table_reader(std::filesystem::path path, const std::vector<std::string>& columns,
               const std::function<void(std::size_t, std::string_view)>& take)
      : path_(std::move(path)), columns_(columns), take_(take) {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    // libcsv would take spaces off both ends of a field; to RFC 4180 they are part of it.
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });
    csv_set_blk_size(&parser_, piece_bytes);
  }
  table_reader(const table_reader&) = delete;
  table_reader& operator=(const table_reader&) = delete;
  ~table_reader() { csv_free(&parser_); }

  // The next bytes of the file, which hold at most one end of a line, behind all others.
  void parse(std::string_view bytes) {
    const std::size_t parsed = csv_parse(&parser_, bytes.data(), bytes.size(), on_field, on_row, this);
    if (!problem_ && parsed != bytes.size()) fail(malformed());
    raise();
    if (!bytes.empty() && bytes.back() == '\n') ++line_;
  }

  void finish() {
    if (csv_fini(&parser_, on_field, on_row, this) != 0 && !problem_)
      fail("a quote is opened and never closed");
    if (!problem_ && !has_header_) fail("it is empty; a header with the names of the columns is needed");
    raise();
  }

 private:
  static void on_field(void* text, std::size_t bytes, void* self) {
    static_cast<table_reader*>(self)->guarded([&](table_reader& reader) {
      reader.field(bytes == 0 ? std::string_view() : std::string_view(static_cast<char*>(text), bytes));
    });
  }
  static void on_row(int /*end*/, void* self) {
    static_cast<table_reader*>(self)->guarded([](table_reader& reader) { reader.end_row(); });
  }

  template <class Work>
  void guarded(const Work& work) {
    if (problem_) return;
    try {
      work(*this);
    } catch (...) {
      problem_ = std::current_exception();
    }
  }

  void field(std::string_view text) {
    const std::size_t column = fields_++;
    if (!has_header_) {
      header_.emplace_back(text);
      return;
    }
    if (column >= place_.size() || !place_[column]) return;
    if (const auto bad = first_invalid_utf8(text)) {
      fail(where() + ": " + escaped(header_[column]) + " is not UTF-8 from its byte " +
           std::to_string(*bad + 1) + " on");
      return;
    }
    take_(*place_[column], text);
  }

  void end_row() {
    if (!has_header_) {
      find_columns();
      has_header_ = true;
    } else {
      if (fields_ != header_.size()) {
        fail(where() + " has " + std::to_string(fields_) + (fields_ == 1 ? " field" : " fields") +
             ", and the header has " + std::to_string(header_.size()));
      }
      ++row_;
    }
    fields_ = 0;
  }

  void find_columns() {
    place_.resize(header_.size());
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const auto found = std::find(header_.begin(), header_.end(), columns_[k]);
      if (found == header_.end()) {
        fail("no column is called " + columns_[k] + "; there " + (header_.size() == 1 ? "is " : "are ") +
             listed());
        return;
      }
      if (std::find(found + 1, header_.end(), columns_[k]) != header_.end()) {
        fail("two columns are called " + columns_[k]);
        return;
      }
      place_[static_cast<std::size_t>(found - header_.begin())] = k;
    }
  }

  // The header for a message, which must be UTF-8 and not endless.
  [[nodiscard]] std::string listed() const {
    constexpr std::size_t max_listed = 20;
    std::string text;
    for (std::size_t k = 0; k < std::min(header_.size(), max_listed); ++k) {
      text += k == 0 ? "" : ", ";
      text += header_[k].empty() ? "(no name)" : escaped(header_[k]);
    }
    return header_.size() > max_listed ? text + ", ..." : text;
  }

  [[nodiscard]] std::string where() const {
    return "row " + std::to_string(row_) + " (line " + std::to_string(line_) + ")";
  }

  std::string malformed() {
    if (::csv_error(&parser_) != CSV_EPARSE) return csv_strerror(::csv_error(&parser_));
    return "line " + std::to_string(line_) +
           ": a quote within a field that is not quoted, or text behind a closing quote";
  }

  void fail(const std::string& problem) {
    problem_ = std::make_exception_ptr(csv_format_error(path_, problem));
  }
  void raise() const {
    if (problem_) std::rethrow_exception(problem_);
  }

  std::filesystem::path path_;
  const std::vector<std::string>& columns_;
  const std::function<void(std::size_t, std::string_view)>& take_;
  csv_parser parser_{};
  std::vector<std::string> header_;
  std::vector<std::optional<std::size_t>> place_;  // of each column of the file in `columns_`
  bool has_header_ = false;
  std::size_t fields_ = 0;  // of the row so far
  std::int64_t row_ = 1;
  std::int64_t line_ = 1;
  std::exception_ptr problem_;
};

bool needs_quotes(std::string_view field) {
  if (field.empty()) return true;  // an empty line is no row to a reader
  return field.find_first_of(",\"\r\n") != std::string_view::npos || field.front() == ' ' ||
         field.back() == ' ';  // many readers would drop them
}

}  // namespace

bool csv_is_supported() noexcept {
  return true;
}

void read_csv(const std::filesystem::path& path, const std::vector<std::string>& columns,
              const std::function<void(std::size_t column, std::string_view field)>& take) {
  const file_descriptor file = open_to_read(path);
  table_reader reader(path, columns, take);
  std::string piece(piece_bytes, '\0');
  bool first = true;
  std::size_t read = piece_bytes;
  while (read == piece_bytes) {
    read = read_bytes(path, file, std::as_writable_bytes(std::span(piece)));
    std::string_view bytes(piece.data(), read);
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (first && bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    first = false;
    // Line by line, so that errors can name theirs.
    while (!bytes.empty()) {
      const std::size_t line = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      reader.parse(bytes.substr(0, line));
      bytes.remove_prefix(line);
    }
  }
  reader.finish();
}

csv_column_writer::csv_column_writer(const std::filesystem::path& path, std::string_view header)
    : file_(path) {
  write(header);
}

void csv_column_writer::write(std::string_view field) {
  if (needs_quotes(field)) {
    const std::size_t before = pending_.size();
    const std::size_t quoted = csv_write(nullptr, 0, field.data(), field.size());
    pending_.resize(before + quoted);
    csv_write(pending_.data() + before, quoted, field.data(), field.size());
  } else {
    pending_ += field;
  }
  pending_ += '\n';
  if (pending_.size() >= piece_bytes) flush();
}

void csv_column_writer::flush() {
  file_.write(std::as_bytes(std::span(pending_)));
  pending_.clear();
}

void csv_column_writer::commit() {
  flush();
  file_.commit();
}

#else

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw file_error(path,
                   "this build reads and writes no CSV: it was made without libcsv; install it (package "
                   "libcsv-dev), and configure and build again");
}

}  // namespace

bool csv_is_supported() noexcept {
  return false;
}

void read_csv(const std::filesystem::path& path, const std::vector<std::string>& /*columns*/,
              const std::function<void(std::size_t, std::string_view)>& /*take*/) {
  refuse(path);
}

csv_column_writer::csv_column_writer(const std::filesystem::path& path, std::string_view /*header*/)
    : file_(path) {
  refuse(path);
}
void csv_column_writer::write(std::string_view /*field*/) {}
void csv_column_writer::flush() {}
void csv_column_writer::commit() {}

#endif

}  // namespace lab
