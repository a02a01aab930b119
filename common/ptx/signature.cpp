#include "common/ptx/signature.hpp"

#include <algorithm>
#include <array>

#include "common/ptx/emitter.hpp"

namespace lab::ptx {
namespace {

constexpr std::size_t words_of_array = 7;  // meminfo, parent, items, item size, data, shape, stride

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

// Whether the number is an integer other than 0 whose bits no floating-point value is likely to have: it
// would be subnormal, or for small negative ones a NaN.
bool is_small_integer(const std::string& number) {
  constexpr std::size_t most_digits = 6;
  const std::string digits = number.substr(!number.empty() && number[0] == '-' ? 1 : 0);
  return !digits.empty() && digits.size() <= most_digits && digits != "0" &&
         digits.find_first_not_of("0123456789") == std::string::npos;
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
    const bool moves_number = is_known && value->second.is_constant;
    facts.is_integer |= is_small_integer(moves_number ? value->second.number : store->operands[1].text);
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

std::string expression_of(const cpp_type& type, const std::string& name) {
  return type.bits == 8 ? "static_cast<short>(" + name + ")" : name;
}

struct inputs_read {
  std::vector<parameter> parameters;
  std::vector<input_operand> inputs;
};

// The parameters of PTX from `first` on, as C++ has them.
class signature_reader {
 public:
  signature_reader(const function& of, std::size_t first, const evidence_map& known)
      : of_(of), known_(known), at_(first) {}

  inputs_read read(const std::vector<std::string>& asked) {
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
  inputs_read result_;
};

}  // namespace

char constraint_of(const cpp_type& type) {
  if (type.kind == 'f') return type.bits == 64 ? 'd' : 'f';
  return type.bits == 64 ? 'l' : type.bits == 32 ? 'r' : 'h';
}

signature find_signature(const function& of, const request& asked) {
  require_read(of);
  const evidence_map known = find_evidence(of);
  constexpr std::size_t most_parameters = 1000;
  if (of.parameters.size() > most_parameters)
    throw error(of.where, "more than " + std::to_string(most_parameters) + " parameters are too many");
  signature found{.pointer = find_result_pointer(of)};
  found.is_numba = asked.how == convention::numba ||
                   (asked.how == convention::automatic && looks_like_numba(of, found.pointer, known));
  if (found.is_numba) require_numba(of, found.pointer);
  const auto stores = result_stores(of, found.is_numba ? &found.pointer : nullptr);
  const result_facts facts = facts_of_result(of, stores, found.is_numba, known);
  found.result = result_type_of(facts, asked.result_type, found.is_numba);
  found.result_bits = facts.bits == 0 ? 0 : std::max(facts.bits, 16);
  inputs_read inputs = signature_reader(of, found.is_numba ? 1 : 0, known).read(asked.parameters);
  found.parameters = std::move(inputs.parameters);
  found.inputs = std::move(inputs.inputs);
  return found;
}

}  // namespace lab::ptx
