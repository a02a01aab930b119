#include "common/ptx/translate.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/ptx/emitter.hpp"

namespace lab::ptx {
namespace {

constexpr std::size_t words_of_array = 7;  // meminfo, parent, items, item size, data, shape, stride

// ---- which function
// ----------------------------------------------------------------------------------------

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

// ---- convention and result
// ---------------------------------------------------------------------------------

// The stores that make the result: through the pointer, or to func_retval0.
std::vector<const statement*> result_stores(const function& of, const result_pointer* pointer) {
  std::vector<const statement*> stores;
  for (const statement& one : of.body) {
    if (one.kind != statement_kind::instruction || one.operands.size() != 2) continue;
    const operand& address = one.operands[0];
    if (address.kind != operand_kind::address) continue;
    const bool through =
        pointer != nullptr && one.opcode == "st" && pointer->registers.count(address.text) != 0;
    const bool direct = pointer == nullptr && is_parameter_access(one, "st") && !of.results.empty() &&
                        address.text == of.results[0].name;
    if (through || direct) stores.push_back(&one);
  }
  return stores;
}

using evidence_map = std::map<std::string, evidence, std::less<>>;

bool is_constant(const operand& value, const evidence_map& known) {
  const auto found = known.find(value.text);
  return value.kind == operand_kind::number || (found != known.end() && found->second.is_constant);
}

bool looks_like_numba(const function& of, const result_pointer& pointer, const evidence_map& known) {
  if (of.results.size() != 1 || of.results[0].type != ".b32") return false;
  if (!pointer.is_stored_through || pointer.other_use != nullptr) return false;
  const auto statuses = result_stores(of, nullptr);
  return std::all_of(statuses.begin(), statuses.end(),
                     [&](const statement* one) { return is_constant(one->operands[1], known); });
}

void require_numba(const function& of, const result_pointer& pointer) {
  if (of.parameters.empty() || of.parameters[0].type != ".b64")
    throw error(of.where,
                "Numba's convention begins with a pointer to the result, and this function has none");
  if (pointer.other_use != nullptr)
    refuse(pointer.other_use->where, "the pointer to the result is used for more than to store one value");
  if (!pointer.is_stored_through)
    throw error(of.where,
                "nothing is stored through the first parameter, where Numba's convention has the result");
}

struct result_facts {
  int bits = 0;  // of what is stored; 0: no result
  bool is_floating = false;
  bool is_integer = false;
  position where;  // of the first store
};

result_facts facts_of_result(const function& of, const std::vector<const statement*>& stores, bool is_numba,
                             const evidence_map& known) {
  result_facts facts{.where = of.where};
  if (!is_numba && of.results.empty()) return facts;
  if (stores.empty()) throw error(of.where, "the function stores no result");
  facts.where = stores.front()->where;
  for (const statement* store : stores) {
    const std::vector<ptx_type> types = types_of(*store);
    if (types.size() != 1 || store->operands[1].kind == operand_kind::vector)
      refuse(store->where, "the result is a structure");
    if (is_numba && facts.bits != 0 && facts.bits != types[0].bits)
      refuse(store->where, "results of different widths are stored");
    facts.bits = types[0].bits;
    const auto value = known.find(store->operands[1].text);
    const bool is_known = value != known.end();
    facts.is_floating |= types[0].kind == 'f' || (is_known && value->second.is_floating);
    facts.is_integer |= is_known && value->second.is_integer;
  }
  if (!is_numba) {
    const auto type = find_ptx_type(of.results[0].type);
    if (!type || of.results[0].is_array)
      refuse(of.results[0].where, "the result is a structure passed by value");
    facts.bits = type->bits;
  }
  return facts;
}

cpp_type deduced_result(const result_facts& facts) {
  if (facts.is_floating && facts.is_integer)
    throw error(facts.where, "the type of the result is not evident and has to be named");
  if (facts.is_floating && facts.bits >= 32) return *find_cpp_type(facts.bits == 64 ? "double" : "float");
  return type_of_load({'s', facts.bits}, false);
}

cpp_type result_type_of(const result_facts& facts, const std::string& asked, bool is_numba) {
  if (facts.bits == 0) {
    if (!asked.empty() && asked != "void")
      throw error(facts.where, "the function has no result, and " + asked + " is asked for");
    return {"void", 'v', 0};
  }
  if (asked.empty()) return deduced_result(facts);
  const auto type = find_cpp_type(asked);
  if (!type) throw error(facts.where, "'" + asked + "' is no arithmetic type that a result can have");
  const bool promoted = !is_numba && facts.bits == 32 && type->bits < 32;
  if (type->bits != facts.bits && !promoted)
    throw error(facts.where, "the function stores " + std::to_string(facts.bits) + " bits, and " +
                                 type->name + " has " + std::to_string(type->bits));
  if (type->kind == 'f' && facts.is_integer && !facts.is_floating)
    throw error(facts.where, "the function stores an integer, and the result is said to be " + type->name);
  if (type->kind != 'f' && facts.is_floating && !facts.is_integer)
    throw error(facts.where,
                "the function stores a floating-point value, and the result is said to be " + type->name);
  return *type;
}

// ---- parameters
// --------------------------------------------------------------------------------------------

struct load_facts {
  bool is_loaded = false;
  ptx_type type;  // of the widest load
  bool is_widened = false;
  bool is_floating = false;
  bool is_integer = false;
  position where;
};

load_facts facts_of_loads(const function& of, const declaration& input, const evidence_map& known) {
  load_facts facts{.where = input.where};
  symbols names;
  for (const statement& one : of.body) {
    if (one.kind == statement_kind::declaration && one.declared.space == ".reg" &&
        names.find(one.declared.name) == nullptr)
      names.declare(one.declared);
    if (one.kind != statement_kind::instruction || !is_parameter_access(one, "ld") ||
        one.operands.size() != 2)
      continue;
    if (one.operands[1].text != input.name) continue;
    const std::vector<ptx_type> types = types_of(one);
    if (types.size() != 1 || one.operands[0].kind == operand_kind::vector)
      refuse(one.where, "the parameter " + input.name + " is a structure passed by value");
    if (!facts.is_loaded || types[0].bits > facts.type.bits) facts.type = types[0];
    if (!facts.is_loaded) facts.where = one.where;
    facts.is_loaded = true;
    const declaration* const into = names.find(one.operands[0].text);
    const auto width = into == nullptr ? std::nullopt : find_ptx_type(into->type);
    facts.is_widened |= width && width->bits > types[0].bits;
    const auto uses = known.find(one.operands[0].text);
    facts.is_floating |= types[0].kind == 'f' || (uses != known.end() && uses->second.is_floating);
    facts.is_integer |= uses != known.end() && uses->second.is_integer;
  }
  return facts;
}

cpp_type deduced_parameter(const load_facts& facts, int declared_bits) {
  if (!facts.is_loaded) return type_of_load({'s', declared_bits}, false);
  if (declared_bits == 64 && facts.type.bits < 64) return type_of_load({'s', 64}, false);
  if (facts.type.kind == 'b' && facts.type.bits >= 32) {
    if (facts.is_floating == facts.is_integer)
      throw error(facts.where, "the type of this parameter is not evident and has to be named");
    if (facts.is_floating) return type_of_load({'f', facts.type.bits}, false);
  }
  return type_of_load(facts.type, facts.is_widened);
}

void check_parameter(const load_facts& facts, const cpp_type& type, int declared_bits) {
  const bool promoted = declared_bits == 32 && type.bits < 32;
  if (type.bits != declared_bits && !promoted)
    throw error(facts.where, "the parameter has " + std::to_string(declared_bits) + " bits, and " +
                                 type.name + " has " + std::to_string(type.bits));
  if (facts.is_loaded && facts.type.bits > std::max(type.bits, 8))
    throw error(facts.where, "the parameter is loaded with " + std::to_string(facts.type.bits) +
                                 " bits, and " + type.name + " has " + std::to_string(type.bits));
  const bool is_floating = facts.is_floating && !facts.is_integer;
  const bool is_integer = facts.is_integer && !facts.is_floating;
  if (type.kind == 'f' ? is_integer : is_floating)
    throw error(facts.where, std::string("the parameter is used as ") +
                                 (is_floating ? "a floating-point value" : "an integer") +
                                 ", and is said to be " + type.name);
}

// An input operand of the asm statement that is there once its place has been used.
struct input_operand {
  std::string parameter;   // of PTX
  std::string expression;  // of C++
  char constraint = 'l';
  int bits = 64;
  bool is_number = false;  // no operand, but this number
};

char constraint_of(const cpp_type& type) {
  if (type.kind == 'f') return type.bits == 64 ? 'd' : 'f';
  return type.bits == 64 ? 'l' : type.bits == 32 ? 'r' : 'h';
}

std::string expression_of(const cpp_type& type, const std::string& name) {
  return type.bits == 8 ? "static_cast<short>(" + name + ")" : name;
}

struct signature {
  std::vector<parameter> parameters;
  std::vector<input_operand> inputs;
};

// The parameters of PTX from `first` on, as C++ has them.
class signature_reader {
 public:
  signature_reader(const function& of, std::size_t first, const evidence_map& known)
      : of_(of), known_(known), at_(first) {}

  signature read(const std::vector<std::string>& asked) {
    for (std::size_t k = 0; k < asked.size(); ++k) {
      parameter_type type;
      if (!asked[k].empty()) type = read_parameter_type(asked[k], of_.where);
      if (type.kind == parameter_kind::array) {
        read_array(type);
      } else {
        read_one(type, !asked[k].empty());
      }
    }
    if (!asked.empty() && at_ != of_.parameters.size())
      throw error(of_.where, "the function has " + std::to_string(of_.parameters.size()) +
                                 " parameters in PTX, and " + std::to_string(at_) + " are accounted for");
    while (at_ < of_.parameters.size()) read_one({}, false);
    return std::move(result_);
  }

 private:
  const declaration& next() {
    if (at_ == of_.parameters.size())
      throw error(of_.where, "the function has no more than " + std::to_string(at_) + " parameters in PTX");
    return of_.parameters[at_++];
  }

  std::string next_name() { return "x" + std::to_string(result_.parameters.size()); }

  void read_one(const parameter_type& asked, bool is_asked) {
    const declaration& input = next();
    const auto declared = find_ptx_type(input.type);
    if (!declared || declared->kind == 'p' || input.is_array || !input.vector.empty())
      refuse(input.where, "the parameter " + input.name + " is a structure passed by value");
    const load_facts facts = facts_of_loads(of_, input, known_);
    const std::string name = next_name();
    if (asked.kind == parameter_kind::pointer) {
      if (declared->bits != 64)
        throw error(facts.where, "a pointer has 64 bits, and this parameter has fewer");
      if (facts.is_floating)
        throw error(facts.where,
                    "the parameter is used as a floating-point value, and is said to be a pointer");
      result_.parameters.push_back({asked.text, name});
      result_.inputs.push_back({input.name, name});
      return;
    }
    const cpp_type type = is_asked ? asked.element : deduced_parameter(facts, declared->bits);
    check_parameter(facts, type, declared->bits);
    result_.parameters.push_back({type.name, name});
    result_.inputs.push_back(
        {input.name, expression_of(type, name), constraint_of(type), std::max(type.bits, 16)});
  }

  void read_array(const parameter_type& asked) {
    const std::string name = next_name();
    const std::string items = name + "_items";
    const std::string size = std::to_string(asked.element.bits / 8);
    const std::array<input_operand, words_of_array> words{{{"", "0", 'l', 64, true},
                                                           {"", "0", 'l', 64, true},
                                                           {"", items},
                                                           {"", size, 'l', 64, true},
                                                           {"", name},
                                                           {"", items},
                                                           {"", size, 'l', 64, true}}};
    for (input_operand word : words) {
      const declaration& input = next();
      if (input.type != ".b64" || input.is_array)
        throw error(input.where,
                    "an array of Numba is seven words of 64 bits, and this parameter is none of them");
      word.parameter = input.name;
      result_.inputs.push_back(std::move(word));
    }
    result_.parameters.push_back({asked.text, name});
    result_.parameters.push_back({"long long", items});
  }

  const function& of_;
  const evidence_map& known_;
  std::size_t at_;
  signature result_;
};

// ---- the text
// ----------------------------------------------------------------------------------------------

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
        result_register_("%" + emitter_.unique("%result")) {}

  translation run();

 private:
  void find_convention();
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
  bool is_numba_ = false;
  result_pointer pointer_;
  evidence_map known_;
  cpp_type result_;
  int result_bits_ = 0;  // of the register that holds it
  signature signature_;
  std::vector<emitter::line> body_;
  writer writer_;
  std::string name_;
};

void translator::find_convention() {
  known_ = find_evidence(of_);
  pointer_ = find_result_pointer(of_);
  is_numba_ = asked_.how == convention::numba ||
              (asked_.how == convention::automatic && looks_like_numba(of_, pointer_, known_));
  if (is_numba_) require_numba(of_, pointer_);
  const auto stores = result_stores(of_, is_numba_ ? &pointer_ : nullptr);
  const result_facts facts = facts_of_result(of_, stores, is_numba_, known_);
  result_ = result_type_of(facts, asked_.result_type, is_numba_);
  result_bits_ = facts.bits == 0 ? 0 : std::max(facts.bits, 16);
  signature_ = signature_reader(of_, is_numba_ ? 1 : 0, known_).read(asked_.parameters);
}

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
  const place result{result_bits_ == 0 ? "" : result_register_, result_bits_, false};
  emitter_.emit(of_, places, result, is_numba_ ? &pointer_ : nullptr);
  body_ = emitter_.lines();
}

// Gives the operands that the body uses their numbers, in the order of their first use, and returns them.
std::vector<std::string> translator::number_operands() {
  std::vector<std::string> operands;
  const std::size_t first = result_bits_ == 0 ? 0 : 1;
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
  const std::string bits = std::to_string(result_bits_);
  writer_.add(emitter_.is_volatile() ? "  asm volatile(" : "  asm(");
  add("{");
  if (result_bits_ != 0) add("  .reg .b" + bits + " " + result_register_ + ";");
  const bool has_branches = std::any_of(of_.body.begin(), of_.body.end(), [](const statement& one) {
    return one.kind == statement_kind::label || !one.guard.empty();
  });
  // A path that stores nothing leaves a zero.
  if (result_bits_ != 0 && is_numba_ && has_branches) add("  mov.b" + bits + " " + result_register_ + ", 0;");
  for (std::size_t k = 0; k < emitter_.tables().size(); ++k) {
    const emitter::table& table = emitter_.tables()[k];
    const std::string space = table.source->space.substr(1);
    add("  .reg .b64 %" + table.register_text + ";", table.source->where.line);
    add("  cvta.to." + space + ".u64 %" + table.register_text + ", %" +
            std::to_string(k + (result_bits_ == 0 ? 0 : 1)) + ";",
        table.source->where.line);
  }
  for (const emitter::line& line : body_) add(line.text, line.origin);
  if (result_bits_ != 0) add("  mov.b" + bits + " %0, " + result_register_ + ";");
  add("}");
  std::string list;
  for (const std::string& input : inputs) list += (list.empty() ? "" : ", ") + input;
  const cpp_type written{"", result_.kind, result_bits_};
  const std::string output =
      result_bits_ == 0 ? "" : std::string("\"=") + constraint_of(written) + "\"(result)";
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
  writer_.add("__device__ inline " + result_.name + " " + name_ + "(" + list + ") {", of_.where.line);
  const std::string variable = result_variable_type(result_, result_bits_);
  if (result_bits_ != 0) writer_.add("  " + variable + " result;");
  write_body(inputs);
  if (result_bits_ != 0) writer_.add("  return " + return_expression(result_, variable) + ";");
  writer_.add("}", of_.end.line);
}

translation translator::run() {
  name_ = cpp_name(of_, asked_.called);
  find_convention();
  emit_body();
  write();
  return {.name = name_,
          .text = std::move(writer_.text()),
          .lines = std::move(writer_.lines()),
          .parameters = signature_.parameters,
          .result_type = result_.name,
          .source_name = of_.name,
          .how = is_numba_ ? convention::numba : convention::c,
          .version_major = source_.version_major,
          .version_minor = source_.version_minor,
          .target = source_.target};
}

}  // namespace

translation translate(std::string_view ptx, const request& asked) {
  return translator(ptx, asked).run();
}

}  // namespace lab::ptx
