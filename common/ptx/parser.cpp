#include <charconv>

#include "common/ptx/lexer.hpp"
#include "common/ptx/module.hpp"

namespace lab::ptx {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  for (const std::string_view one : all) {
    if (text == one) return true;
  }
  return false;
}

// Recursive descent with one token of look-ahead beyond the current one; depth is bounded.
class parser {
 public:
  explicit parser(std::string_view ptx) : lexer_(ptx), current_(lexer_.next()), following_(lexer_.next()) {}

  module read();

 private:
  void read_version();
  void read_target();
  void read_item();
  void read_function(std::string linkage);
  void read_head(function& read);
  void read_header_end(function& read);
  void read_body(function& read);
  void read_body_or_error(function& read);
  void skip_item();
  bool read_attribute();
  void read_statement(std::vector<statement>& body);
  void read_label(std::vector<statement>& body);
  void read_instruction(std::vector<statement>& body);
  void read_declarations(const std::string& linkage, std::vector<declaration>& into);
  declaration read_declaration_head(const std::string& linkage);
  void read_declared_name(declaration& read);
  void read_values(declaration& read);
  std::string read_value();
  std::vector<declaration> read_parameters();
  operand read_operand(int depth = 0);
  operand read_address();
  operand read_name_or_number();
  void read_parts(operand& read, std::string_view close, int depth);
  std::string read_offset();
  std::uint64_t read_count(std::string_view what);
  void skip_line();
  void skip_section();
  void count_statement();

  token take() {
    const token taken = current_;
    current_ = following_;
    following_ = lexer_.next();
    return taken;
  }
  [[nodiscard]] bool at(std::string_view text) const {
    return current_.kind != token_kind::string && current_.text == text;
  }
  bool take_if(std::string_view text) {
    if (!at(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text, std::string_view after) {
    if (!take_if(text)) wanted("'" + std::string(text) + "' after " + std::string(after));
  }
  std::string take_word(std::string_view what) {
    if (current_.kind != token_kind::word) wanted(std::string(what));
    return std::string(take().text);
  }
  [[noreturn]] void wanted(const std::string& what) const {
    if (current_.kind == token_kind::end)
      throw error(current_.where, "the text ends, and " + what + " is wanted; is the file cut off?");
    throw error(current_.where, what + " is wanted, and this is '" + shortened(current_.text) + "'");
  }
  static std::string shortened(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string result;
    for (const char c : text.substr(0, most)) result += c < ' ' || c >= 0x7f ? '?' : c;
    return text.size() > most ? result + "..." : result;
  }

  lexer lexer_;
  token current_;
  token following_;
  module module_;
  std::size_t statements_ = 0;
};

void parser::count_statement() {
  if (++statements_ > most_statements)
    throw error(current_.where, "more than " + std::to_string(most_statements) + " statements are too many");
}

std::uint64_t parser::read_count(std::string_view what) {
  if (current_.kind != token_kind::number) wanted(std::string(what));
  const std::string_view text = current_.text;
  std::uint64_t value = 0;
  constexpr std::uint64_t most = 1'000'000'000;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value > most)
    wanted(std::string(what) + " (a number up to " + std::to_string(most) + ")");
  take();
  return value;
}

module parser::read() {
  if (current_.kind == token_kind::end)
    throw error(current_.where, "there is no PTX here: the text is empty");
  while (current_.kind != token_kind::end) read_item();
  return std::move(module_);
}

void parser::read_version() {
  take();
  const std::string_view text = current_.text;
  const std::size_t point = text.find('.');
  const auto number = [&](std::string_view digits, int& value) {
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return !digits.empty() && failure == std::errc{} && end == digits.data() + digits.size();
  };
  if (current_.kind != token_kind::number || point == std::string_view::npos ||
      !number(text.substr(0, point), module_.version_major) ||
      !number(text.substr(point + 1), module_.version_minor))
    wanted("a version such as 9.0");
  take();
}

void parser::read_target() {
  take();
  module_.target = take_word("a target such as sm_90");
  while (take_if(",")) take_word("another target");
}

void parser::skip_line() {
  const std::size_t line = current_.where.line;
  while (current_.kind != token_kind::end && current_.where.line == line) take();
}

void parser::skip_section() {
  const position begin = current_.where;
  while (current_.kind != token_kind::end && !at("{")) take();
  while (current_.kind != token_kind::end && !at("}")) take();
  if (current_.kind == token_kind::end) throw error(begin, "this section is not closed");
  take();
}

void parser::read_item() {
  if (take_if(";")) return;
  if (module_.functions.size() + module_.variables.size() > most_names)
    throw error(current_.where,
                "more than " + std::to_string(most_names) + " functions and variables are too many");
  if (at(".version")) return read_version();
  if (at(".target")) return read_target();
  if (at(".file") || at(".loc")) return skip_line();
  if (at(".section")) return skip_section();
  if (take_if(".address_size")) {
    const token size = current_;
    if (read_count("the size of an address") != 64)
      throw error(size.where, "addresses have 64 bits; PTX of others is not read");
    return;
  }
  if (at(".alias") || at(".pragma")) return skip_item();
  std::string linkage;
  if (is_one_of(current_.text, {".visible", ".extern", ".weak", ".common"})) linkage = take().text;
  if (at(".func") || at(".entry")) return read_function(std::move(linkage));
  if (is_one_of(current_.text, {".global", ".const", ".shared"})) {
    return read_declarations(linkage, module_.variables);
  }
  if (at("}")) throw error(current_.where, "this brace closes nothing");
  wanted("a function, a variable or a directive of PTX");
}

std::vector<declaration> parser::read_parameters() {
  std::vector<declaration> all;
  expect("(", "a function's name");
  if (take_if(")")) return all;
  do {
    count_statement();
    declaration one = read_declaration_head("");
    read_declared_name(one);
    all.push_back(std::move(one));
  } while (take_if(","));
  expect(")", "the parameters");
  return all;
}

void parser::read_function(std::string linkage) {
  function read;
  read.linkage = std::move(linkage);
  read_head(read);
  if (!take_if(";")) {
    read.has_body = true;
    read_body_or_error(read);
  }
  module_.functions.push_back(std::move(read));
}

void parser::read_head(function& read) {
  read.is_kernel = take().text == ".entry";
  if (at(".attribute")) read_attribute();  // of its address, which nobody may take
  if (at("(")) read.results = read_parameters();
  read.where = current_.where;
  read.name = take_word("the name of a function");
  if (at("(")) read.parameters = read_parameters();
  read_header_end(read);
}

// Throws for a text that ends, and beyond the limits.
void parser::read_body_or_error(function& read) {
  const lexer before = lexer_;
  const token current = current_, following = following_;
  try {
    read_body(read);
  } catch (const error& found) {
    if (current_.kind == token_kind::end || statements_ > most_statements) throw;
    lexer_ = before;
    current_ = current;
    following_ = following;
    skip_item();
    read.body.clear();
    read.unread = found;
  }
}

// Behind the brace that closes the first one, or behind a semicolon before it.
void parser::skip_item() {
  const bool is_body = at("{");
  const position begin = current_.where;
  for (std::size_t depth = 0;;) {
    if (current_.kind == token_kind::end)
      throw error(begin, "what begins here is not closed; is the file cut off?");
    const bool closes = at("}");
    if (closes && depth == 0) throw error(current_.where, "this brace closes nothing");
    depth += at("{") ? 1 : 0;
    depth -= closes ? 1 : 0;
    const bool ends = depth == 0 && (is_body ? closes : at(";"));
    take();
    if (ends) return;
  }
}

// .attribute(.managed), .attribute(.unified(19, 95)); whether it is the former.
bool parser::read_attribute() {
  take();
  expect("(", ".attribute");
  const bool is_managed = at(".managed");
  for (std::size_t depth = 1; depth != 0; take()) {
    if (current_.kind == token_kind::end) wanted("')' behind an attribute");
    depth += at("(") ? 1 : 0;
    depth -= at(")") ? 1 : 0;
  }
  return is_managed;
}

// Between the parameters and the body: .noreturn, .pragma "...", .maxntid 128, 1, 1
void parser::read_header_end(function&) {
  while (!at("{") && !at(";")) {
    const bool pragma = at(".pragma");
    if (current_.kind != token_kind::directive) wanted("'{' after the function's parameters");
    take();
    while (current_.kind == token_kind::number || current_.kind == token_kind::string || at(",")) take();
    if (pragma) expect(";", "a pragma");
  }
}

void parser::read_body(function& read) {
  const position open = current_.where;
  take();
  for (std::vector<position> blocks{open}; !blocks.empty();) {
    if (current_.kind == token_kind::end)
      throw error(current_.where, "the text ends within the function " + shortened(read.name) +
                                      ", whose brace of line " + std::to_string(blocks.back().line) +
                                      " is not closed; is the file cut off?");
    const position where = current_.where;
    if (at("{")) {
      take();
      blocks.push_back(where);
      read.body.push_back({.kind = statement_kind::block_begin, .where = where});
    } else if (at("}")) {
      take();
      blocks.pop_back();
      read.end = where;
      if (!blocks.empty()) read.body.push_back({.kind = statement_kind::block_end, .where = where});
    } else {
      read_statement(read.body);
    }
    count_statement();
  }
}

void parser::read_statement(std::vector<statement>& body) {
  if (take_if(";")) return;
  if (at(".loc") || at(".file")) return skip_line();
  if (at(".section")) return skip_section();
  if (at(".pragma")) {
    statement pragma{.kind = statement_kind::pragma, .where = take().where};
    if (current_.kind != token_kind::string) wanted("a string after .pragma");
    pragma.opcode = take().text;
    expect(";", "a pragma");
    body.push_back(std::move(pragma));
    return;
  }
  if (is_one_of(current_.text, {".reg", ".local", ".param", ".shared", ".global", ".const"})) {
    std::vector<declaration> all;
    read_declarations("", all);
    for (declaration& one : all) {
      const position where = one.where;
      body.push_back({.kind = statement_kind::declaration, .where = where, .declared = std::move(one)});
    }
    return;
  }
  if (current_.kind == token_kind::word && following_.text == ":") return read_label(body);
  read_instruction(body);
}

void parser::read_label(std::vector<statement>& body) {
  statement label{.kind = statement_kind::label, .where = current_.where};
  label.opcode = take().text;
  take();
  if (take_if(".branchtargets")) {
    label.kind = statement_kind::branch_targets;
    do {
      count_statement();
      label.operands.push_back(read_name_or_number());
    } while (take_if(","));
    expect(";", "branch targets");
  } else if (is_one_of(current_.text, {".callprototype", ".calltargets"})) {
    throw error(current_.where,
                std::string(current_.text) +
                    ": a call through a pointer cannot be translated; use the stage \"udf/04_link_time\"");
  }
  body.push_back(std::move(label));
}

void parser::read_instruction(std::vector<statement>& body) {
  statement read{.where = current_.where};
  if (take_if("@")) {
    read.guard_negated = take_if("!");
    read.guard = take_word("a predicate after '@'");
  }
  read.opcode = take_word("an instruction");
  while (current_.kind == token_kind::directive) {
    read.modifiers.emplace_back(take().text);
    // .level::eviction, .shared::cta
    while (at(":") && following_.text == ":") {
      take();
      take();
      read.modifiers.back() += "::" + take_word("a word after '::'");
    }
  }
  while (!at(";")) {
    if (!read.operands.empty() && !take_if(",")) wanted("',' or ';' after an operand");
    count_statement();
    read.operands.push_back(read_operand());
  }
  take();
  body.push_back(std::move(read));
}

operand parser::read_operand(int depth) {
  if (depth > 3) throw error(current_.where, "operands are nested too deep");
  operand read{.where = current_.where};
  if (at("{") || at("(")) {
    const bool vector = take().text == "{";
    read.kind = vector ? operand_kind::vector : operand_kind::list;
    read_parts(read, vector ? "}" : ")", depth);
    return read;
  }
  if (at("[")) return read_address();
  read = read_name_or_number();
  if (take_if("|")) {
    operand pair{.kind = operand_kind::pair, .where = read.where};
    pair.parts.push_back(std::move(read));
    pair.parts.push_back(read_name_or_number());
    return pair;
  }
  return read;
}

void parser::read_parts(operand& read, std::string_view close, int depth) {
  if (take_if(close)) return;
  do {
    count_statement();
    read.parts.push_back(read_operand(depth + 1));
  } while (take_if(","));
  expect(close, "the last operand");
}

operand parser::read_address() {
  operand read{.kind = operand_kind::address, .where = take().where};
  operand base = read_name_or_number();
  if (base.negated) throw error(base.where, "an address cannot be negated");
  read.text = std::move(base.text);
  read.offset = std::move(base.offset);
  expect("]", "an address");
  return read;
}

// +8, +-8, -8; empty where there is none.
std::string parser::read_offset() {
  if (!at("+") && !at("-")) return {};
  bool minus = take().text == "-";
  if (take_if("-")) minus = !minus;
  if (current_.kind != token_kind::number) wanted("a number after the sign");
  return (minus ? "-" : "") + std::string(take().text);
}

operand parser::read_name_or_number() {
  operand read{.where = current_.where};
  read.negated = take_if("!");
  const bool minus = take_if("-");
  if (current_.kind == token_kind::number) {
    read.kind = operand_kind::number;
    read.text = (minus ? "-" : "") + std::string(take().text);
  } else if (current_.kind == token_kind::word && !minus) {
    read.text = take().text;
    while (current_.kind == token_kind::directive) read.text += take().text;
    read.offset = read_offset();
  } else {
    wanted("an operand");
  }
  return read;
}

declaration parser::read_declaration_head(const std::string& linkage) {
  declaration head{.linkage = linkage, .where = current_.where};
  if (!is_one_of(current_.text, {".reg", ".local", ".param", ".shared", ".global", ".const"}))
    wanted("a space such as .reg or .param");
  head.space = take().text;
  while (current_.kind == token_kind::directive) {
    if (take_if(".align")) {
      head.alignment = static_cast<std::uint32_t>(read_count("an alignment"));
    } else if (at(".attribute")) {
      if (read_attribute() && head.linkage.empty()) head.linkage = ".managed";
    } else if (is_one_of(current_.text, {".v2", ".v4", ".v8"})) {
      head.vector = take().text;
    } else if (take_if(".ptr")) {  // of kernels: .ptr .global .align 8
      if (is_one_of(current_.text, {".global", ".const", ".shared", ".local"})) take();
    } else {
      if (!head.type.empty()) wanted("a name");
      head.type = take().text;
    }
  }
  if (head.type.empty()) wanted("a type such as .b64");
  return head;
}

void parser::read_declared_name(declaration& read) {
  read.where = current_.where;
  read.name = take_word("the name of what is declared");
  if (take_if("<")) {
    read.count = read_count("how many registers");
    if (read.count == 0) throw error(read.where, "a declaration of no registers");
    expect(">", "the number of registers");
  }
  std::uint64_t elements = 1;
  while (take_if("[")) {
    read.is_array = true;
    const position where = current_.where;
    const std::uint64_t extent = at("]") ? 0 : read_count("the size of an array");
    elements = elements * extent;
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    if (elements > most) throw error(where, "an array of more than 2^31 elements");
    expect("]", "the size of an array");
  }
  if (read.is_array) read.elements = elements;
}

std::string parser::read_value() {
  std::string value;
  std::size_t depth = 0;  // of nested values, which stay text
  while (current_.kind != token_kind::end && !at(";") && (depth != 0 || (!at(",") && !at("}")))) {
    depth += at("{") ? 1 : 0;
    depth -= at("}") ? 1 : 0;
    value += take().text;
  }
  if (value.empty()) wanted("an initial value");
  return value;
}

void parser::read_values(declaration& read) {
  read.has_values = true;
  if (!take_if("{")) {
    read.values.push_back(read_value());
    return;
  }
  do {
    read.values.push_back(read_value());
  } while (take_if(","));
  expect("}", "the initial values");
}

void parser::read_declarations(const std::string& linkage, std::vector<declaration>& into) {
  declaration head = read_declaration_head(linkage);
  do {
    count_statement();
    declaration one = head;
    read_declared_name(one);
    if (take_if("=")) read_values(one);
    into.push_back(std::move(one));
  } while (take_if(","));
  expect(";", "a declaration");
}

}  // namespace

module parse(std::string_view ptx) {
  if (ptx.size() > most_bytes)
    throw error({}, "PTX of " + std::to_string(ptx.size()) + " bytes; at most " + std::to_string(most_bytes) +
                        " are read");
  return parser(ptx).read();
}

}  // namespace lab::ptx
