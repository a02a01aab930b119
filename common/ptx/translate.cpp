#include "common/ptx/translate.hpp"

#include <algorithm>
#include <charconv>

#include "common/ptx/emitter.hpp"
#include "common/ptx/signature.hpp"

namespace lab::ptx {
namespace {

std::string names_of(const std::vector<const function*>& functions) {
  std::string text;
  for (const function* one : functions) {
    text += (text.empty() ? "" : ", ") + one->name + " (line " + std::to_string(one->where.line) + ")";
    if (text.size() > 400) return text + ", ...";
  }
  return text;
}

const function& named_function(const module& source, const std::string& name) {
  const function* found = nullptr;
  for (const function& one : source.functions) {
    if (one.name == name && (found == nullptr || one.has_body)) found = &one;
  }
  if (found == nullptr) throw error({}, "the file has no function " + name);
  return *found;
}

const function& only_function(const module& source) {
  std::vector<const function*> visible;
  std::vector<const function*> all;
  for (const function& one : source.functions) {
    if (!one.has_body || one.is_kernel) continue;
    all.push_back(&one);
    if (one.linkage == ".visible" || one.linkage == ".weak") visible.push_back(&one);
  }
  const std::vector<const function*>& candidates = visible.empty() ? all : visible;
  if (candidates.size() > 1)
    throw error(candidates[1]->where,
                "there are several functions, and one is to be named: " + names_of(candidates));
  if (candidates.size() == 1) return *candidates.front();
  if (source.functions.empty()) throw error({}, "there is no function in this PTX");
  return source.functions.front();
}

const function& choose_function(const module& source, const std::string& name) {
  const function& chosen = name.empty() ? only_function(source) : named_function(source, name);
  if (chosen.is_kernel)
    throw error(chosen.where, chosen.name + " is a kernel (.entry), and a device function (.func) is wanted");
  if (!chosen.has_body) throw error(chosen.where, chosen.name + " is declared here without a body");
  if (chosen.results.size() > 1) refuse(chosen.where, "the function has several results");
  return chosen;
}

bool is_identifier(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), fits);
}

std::string cpp_name(const function& of, const std::string& called) {
  if (!called.empty()) {
    if (!is_identifier(called)) throw error(of.where, "a function of C++ cannot be called '" + called + "'");
    return called;
  }
  std::string name = of.name;
  for (char& c : name) c = c == '$' || c == '%' ? '_' : c;
  return name;
}

// The variable that the asm statement writes: of the result's type where a register has that, else wider.
std::string result_variable_type(const cpp_type& result, int bits) {
  if (result.bits == bits && bits >= 16) return result.name;
  return bits == 16 ? "short" : bits == 32 ? "int" : "long long";
}

std::string return_expression(const cpp_type& result, const std::string& variable_type) {
  if (result.kind == 'b') return "(result & 0xff) != 0";
  return result.name == variable_type ? "result" : "static_cast<" + result.name + ">(result)";
}

std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// One initial value of a table, in `bits` bits.
std::string table_value(const std::string& text, int bits, position where) {
  const bool minus = !text.empty() && text[0] == '-';
  std::string_view digits = std::string_view(text).substr(minus ? 1 : 0);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' &&
      (digits[1] == 'x' || digits[1] == 'X' || digits[1] == 'f' || digits[1] == 'F' || digits[1] == 'd' ||
       digits[1] == 'D')) {
    base = 16;
    digits.remove_prefix(2);
  }
  if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || failure != std::errc{} || end != digits.data() + digits.size())
    refuse(where, "the initial value " + text.substr(0, 60) + " is no number");
  if (minus) value = ~value + 1;
  if (bits < 64) value &= (std::uint64_t{1} << bits) - 1;
  return std::to_string(value) + (bits == 64 ? "ull" : bits == 32 ? "u" : "");
}

class writer {
 public:
  void add(std::string text, std::size_t origin = 0) {
    text_ += std::move(text) + "\n";
    lines_.push_back(origin);
  }

  void add_table(const declaration& table, const std::string& name) {
    const auto type = find_ptx_type(table.type);
    if (!type || type->kind == 'p' || !table.vector.empty())
      refuse(table.where, "the table " + table.name + " has elements of a type that C++ has not");
    const std::size_t elements =
        !table.is_array
            ? 1
            : std::max<std::size_t>(table.elements, table.elements == 0 ? table.values.size() : 0);
    if (table.values.size() > elements)
      throw error(table.where, table.name + " has more initial values than elements");
    constexpr std::size_t most_elements = std::size_t{1} << 24;
    if (elements > most_elements)
      refuse(table.where, "the table " + table.name + " has more than 2^24 elements");
    const std::string element = type->bits == 8    ? "unsigned char"
                                : type->bits == 16 ? "unsigned short"
                                : type->bits == 32 ? "unsigned int"
                                                   : "unsigned long long";
    const std::string space = table.space == ".const" ? ") static __constant__ " : ") static __device__ ";
    const std::uint32_t alignment =
        std::max<std::uint32_t>(table.alignment, static_cast<std::uint32_t>(type->bits / 8));
    if ((alignment & (alignment - 1)) != 0) throw error(table.where, "an alignment is a power of two");
    add("alignas(" + std::to_string(alignment) + space + "const " + element + " " + name + "[" +
            std::to_string(elements) + "] = {",
        table.where.line);
    constexpr std::size_t width = 100;
    std::string line = "   ";
    for (std::size_t k = 0; k < table.values.size(); ++k) {
      line += " " + table_value(table.values[k], type->bits, table.where) +
              (k + 1 < table.values.size() ? "," : "};");
      if (line.size() > width || k + 1 == table.values.size()) {
        add(line, table.where.line);
        line = "   ";
      }
    }
  }

  std::string& text() { return text_; }
  std::vector<std::size_t>& lines() { return lines_; }

 private:
  std::string text_;
  std::vector<std::size_t> lines_;
};

// All that the text is made of.
class translator {
 public:
  translator(std::string_view ptx, const request& asked)
      : asked_(asked),
        source_(parse(ptx)),
        of_(choose_function(source_, asked.name)),
        emitter_(ptx, source_),
        result_register_(emitter_.result_register()) {}

  translation run();

 private:
  void emit_body();
  void write();
  void write_body(const std::vector<std::string>& inputs);
  std::vector<std::string> number_operands();
  [[nodiscard]] std::string table_name(std::size_t k) const { return name_ + "_table_" + std::to_string(k); }

  const request& asked_;
  module source_;
  const function& of_;
  emitter emitter_;
  std::string result_register_;
  signature signature_;
  std::vector<emitter::line> body_;
  writer writer_;
  std::string name_;
};

void translator::emit_body() {
  std::map<std::string, place, std::less<>> places;
  for (std::size_t k = 0; k < signature_.inputs.size(); ++k) {
    const input_operand& input = signature_.inputs[k];
    // \x01 and the number: which operands there are is known when the body is.
    const std::string text =
        input.is_number ? input.expression : std::string("\x01") + std::to_string(k) + "\x01";
    if (!places.emplace(input.parameter, place{text, input.bits, input.is_number}).second)
      throw error(of_.where, "two parameters are called " + input.parameter);
  }
  const place result{signature_.result_bits == 0 ? "" : result_register_, signature_.result_bits, false};
  emitter_.emit(of_, places, result, signature_.is_numba ? &signature_.pointer : nullptr);
  body_ = emitter_.lines();
}

// Gives the operands that the body uses their numbers, in the order of their first use, and returns them.
std::vector<std::string> translator::number_operands() {
  std::vector<std::string> operands;
  const std::size_t first = signature_.result_bits == 0 ? 0 : 1;
  for (std::size_t k = 0; k < emitter_.tables().size(); ++k)
    operands.push_back("\"l\"(" + table_name(k) + ")");
  for (emitter::line& line : body_) {
    const std::size_t begin = line.text.find('\x01');
    if (begin == std::string::npos) continue;
    const std::size_t end = line.text.find('\x01', begin + 1);
    const input_operand& input =
        signature_.inputs.at(std::stoul(line.text.substr(begin + 1, end - begin - 1)));
    const std::string operand = std::string("\"") + input.constraint + "\"(" + input.expression + ")";
    auto found = std::find(operands.begin(), operands.end(), operand);
    if (found == operands.end()) found = operands.insert(found, operand);
    const auto number = first + static_cast<std::size_t>(found - operands.begin());
    line.text.replace(begin, end + 1 - begin, "%" + std::to_string(number));
  }
  return operands;
}

void translator::write_body(const std::vector<std::string>& inputs) {
  const auto add = [&](const std::string& text, std::size_t origin = 0) {
    writer_.add("      \"" + quoted(text) + "\\n\"", origin);
  };
  const std::string bits = std::to_string(signature_.result_bits);
  writer_.add(emitter_.is_volatile() ? "  asm volatile(" : "  asm(");
  add("{");
  if (signature_.result_bits != 0) add("  .reg .b" + bits + " " + result_register_ + ";");
  const bool has_branches = std::any_of(of_.body.begin(), of_.body.end(), [](const statement& one) {
    return one.kind == statement_kind::label || !one.guard.empty();
  });
  // A path that stores nothing leaves a zero.
  if (signature_.result_bits != 0 && signature_.is_numba && has_branches)
    add("  mov.b" + bits + " " + result_register_ + ", 0;");
  for (std::size_t k = 0; k < emitter_.tables().size(); ++k) {
    const emitter::table& table = emitter_.tables()[k];
    const std::string space = table.source->space.substr(1);
    add("  .reg .b64 " + table.register_text + ";", table.source->where.line);
    add("  cvta.to." + space + ".u64 " + table.register_text + ", %" +
            std::to_string(k + (signature_.result_bits == 0 ? 0 : 1)) + ";",
        table.source->where.line);
  }
  for (const emitter::line& line : body_) add(line.text, line.origin);
  if (signature_.result_bits != 0) add("  mov.b" + bits + " %0, " + result_register_ + ";");
  add("}");
  std::string list;
  for (const std::string& input : inputs) list += (list.empty() ? "" : ", ") + input;
  const cpp_type written{"", signature_.result.kind, signature_.result_bits};
  const std::string output =
      signature_.result_bits == 0 ? "" : std::string("\"=") + constraint_of(written) + "\"(result)";
  writer_.add("      : " + output);
  writer_.add("      : " + list + (emitter_.is_volatile() ? "" : ");"));
  if (emitter_.is_volatile()) writer_.add("      : \"memory\");");
}

void translator::write() {
  const std::vector<std::string> inputs = number_operands();
  for (std::size_t k = 0; k < emitter_.tables().size(); ++k)
    writer_.add_table(*emitter_.tables()[k].source, table_name(k));
  std::string list;
  for (const parameter& one : signature_.parameters)
    list += (list.empty() ? "" : ", ") + one.type + " " + one.name;
  writer_.add("__device__ inline " + signature_.result.name + " " + name_ + "(" + list + ") {",
              of_.where.line);
  const std::string variable = result_variable_type(signature_.result, signature_.result_bits);
  if (signature_.result_bits != 0) writer_.add("  " + variable + " result;");
  write_body(inputs);
  if (signature_.result_bits != 0)
    writer_.add("  return " + return_expression(signature_.result, variable) + ";");
  writer_.add("}", of_.end.line);
}

translation translator::run() {
  name_ = cpp_name(of_, asked_.called);
  signature_ = find_signature(of_, asked_);
  emit_body();
  write();
  return {.name = name_,
          .text = std::move(writer_.text()),
          .lines = std::move(writer_.lines()),
          .parameters = signature_.parameters,
          .result_type = signature_.result.name,
          .source_name = of_.name,
          .how = signature_.is_numba ? convention::numba : convention::c,
          .version_major = source_.version_major,
          .version_minor = source_.version_minor,
          .target = source_.target};
}

}  // namespace

translation translate(std::string_view ptx, const request& asked) {
  return translator(ptx, asked).run();
}

}  // namespace lab::ptx
