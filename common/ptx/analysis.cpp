#include "common/ptx/analysis.hpp"

#include <algorithm>
#include <charconv>

namespace lab::ptx {
namespace {

bool has_modifier(const statement& instruction, std::string_view modifier) {
  return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
         instruction.modifiers.end();
}

bool moves(const statement& instruction) {
  return instruction.opcode == "mov" || instruction.opcode == "ld" || instruction.opcode == "st" ||
         instruction.opcode == "cvta";
}

// The types that the operands have, one for each; fewer where they are not told.
std::vector<ptx_type> operand_types(const statement& instruction) {
  const std::vector<ptx_type> types = types_of(instruction);
  if (types.empty()) return {};
  std::vector<ptx_type> all(instruction.operands.size(), types.back());
  if (types.size() > 1 && !all.empty()) all.front() = types.front();
  return all;
}

using evidence_map = std::map<std::string, evidence, std::less<>>;

void collect_evidence(const statement& one, evidence_map& found) {
  const std::vector<ptx_type> types = operand_types(one);
  const bool selects_number = one.opcode == "selp" && one.operands.size() > 2 &&
                              one.operands[1].kind == operand_kind::number &&
                              one.operands[2].kind == operand_kind::number;
  for (std::size_t k = 0; k < one.operands.size(); ++k) {
    if (one.operands[k].kind != operand_kind::name) continue;
    evidence& of = found[one.operands[k].text];
    const bool moves_number =
        one.opcode == "mov" && one.operands.size() == 2 && one.operands[1].kind == operand_kind::number;
    if (k == 0 && one.opcode != "st" && !moves_number) of.is_constant = false;
    if (k == 0 && moves_number) of.number = one.operands[1].text;
    if (k >= types.size()) continue;
    of.is_floating |= types[k].kind == 'f';
    const bool counts = types[k].kind == 's' || types[k].kind == 'u';
    of.is_integer |=
        (counts && !moves(one) && one.opcode != "selp") || (selects_number && types[k].kind != 'f');
  }
}

// Whether the first parameter, or a copy of it, becomes the destination's value.
bool copies_pointer(const statement& one, const function& of, const result_pointer& known) {
  if (one.operands.size() != 2 || one.operands[0].kind != operand_kind::name || !one.guard.empty())
    return false;
  const operand& source = one.operands[1];
  if (is_parameter_access(one, "ld"))
    return source.kind == operand_kind::address && source.text == of.parameters[0].name &&
           source.offset.empty();
  const bool is_copy = one.opcode == "mov" || (one.opcode == "cvta" && has_modifier(one, ".global"));
  return is_copy && source.kind == operand_kind::name && source.offset.empty() &&
         known.registers.count(source.text) != 0;
}

bool is_zero_offset(const std::string& offset) {
  return offset.empty() || offset == "0";
}

bool mentions(const operand& one, const std::set<std::string, std::less<>>& names) {
  return names.count(one.text) != 0 ||
         std::any_of(one.parts.begin(), one.parts.end(),
                     [&](const operand& part) { return mentions(part, names); });
}

// Whether the statement is a store of one value through the pointer.
bool stores_through(const statement& one, const result_pointer& known) {
  return one.opcode == "st" && one.operands.size() == 2 && one.operands[0].kind == operand_kind::address &&
         known.registers.count(one.operands[0].text) != 0 && is_zero_offset(one.operands[0].offset) &&
         one.operands[1].kind != operand_kind::vector && !mentions(one.operands[1], known.registers);
}

constexpr std::string_view pure_opcodes[] = {
    "abs",      "add",   "addc", "and",  "bfe",   "bfi",   "bfind", "bra",   "brev", "brx", "clz", "cnot",
    "copysign", "cos",   "cvt",  "cvta", "div",   "dp2a",  "dp4a",  "ex2",   "fma",  "fns", "lg2", "lop3",
    "mad",      "mad24", "madc", "max",  "min",   "mov",   "mul",   "mul24", "neg",  "not", "or",  "popc",
    "prmt",     "rcp",   "rem",  "ret",  "rsqrt", "sad",   "selp",  "set",   "setp", "shf", "shl", "shr",
    "sin",      "slct",  "sqrt", "sub",  "subc",  "szext", "tanh",  "testp", "xor"};

bool changes_by_itself(const operand& one) {
  for (const std::string_view name : {"%clock", "%globaltimer", "%pm", "%envreg", "%warpid", "%smid"}) {
    if (one.text.rfind(name, 0) == 0) return true;
  }
  return std::any_of(one.parts.begin(), one.parts.end(), changes_by_itself);
}

}  // namespace

void symbols::declare(const declaration& declared) {
  if (declared.space == ".reg" && !find_ptx_type(declared.type) && declared.type != ".b128" &&
      declared.type != ".f16x2")
    throw error(declared.where, "registers of type " + declared.type + " are not known");
  if (!scopes_.back().emplace(declared.name, declared).second)
    throw error(declared.where, declared.name + " is declared twice");
}

const declaration* symbols::find(std::string_view name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end() && found->second.count == 0)
      return &found->second;
    for (std::size_t split = digits; split < name.size(); ++split) {
      const auto found = scope->find(name.substr(0, split));
      const std::string_view number = name.substr(split);
      if (found == scope->end() || found->second.count == 0 || (number.size() > 1 && number[0] == '0'))
        continue;
      std::uint64_t index = 0;
      const auto read = std::from_chars(number.data(), number.data() + number.size(), index);
      if (read.ec == std::errc{} && index < found->second.count) return &found->second;
    }
  }
  return nullptr;
}

std::map<std::string, evidence, std::less<>> find_evidence(const function& of) {
  evidence_map found;
  for (const statement& one : of.body) {
    if (one.kind == statement_kind::instruction) collect_evidence(one, found);
  }
  return found;
}

result_pointer find_result_pointer(const function& of) {
  result_pointer found;
  if (of.parameters.empty()) return found;
  constexpr std::size_t most_copies = 100;
  for (std::size_t before = 1; before != found.registers.size();) {
    before = found.registers.size();
    if (before > most_copies) {
      found.other_use = &of.body.front();
      return found;
    }
    for (const statement& one : of.body) {
      if (one.kind == statement_kind::instruction && copies_pointer(one, of, found))
        found.registers.insert(one.operands[0].text);
    }
    if (found.registers.empty()) return found;
  }
  for (const statement& one : of.body) {
    if (one.kind != statement_kind::instruction) continue;
    const bool used = std::any_of(one.operands.begin(), one.operands.end(),
                                  [&](const operand& each) { return mentions(each, found.registers); });
    if (!used || copies_pointer(one, of, found)) continue;
    if (stores_through(one, found)) {
      found.is_stored_through = true;
    } else if (found.other_use == nullptr) {
      found.other_use = &one;
    }
  }
  return found;
}

bool is_parameter_access(const statement& instruction, std::string_view opcode) {
  return instruction.opcode == opcode &&
         (has_modifier(instruction, ".param") || has_modifier(instruction, ".param::func"));
}

bool is_pure(const statement& instruction) {
  if (std::any_of(instruction.operands.begin(), instruction.operands.end(), changes_by_itself)) return false;
  if (instruction.opcode == "ld" || instruction.opcode == "st") {
    if (has_modifier(instruction, ".volatile")) return false;
    const bool reads_constant = instruction.opcode == "ld" &&
                                (has_modifier(instruction, ".const") || has_modifier(instruction, ".nc"));
    return reads_constant || has_modifier(instruction, ".local") || is_parameter_access(instruction, "ld") ||
           is_parameter_access(instruction, "st");
  }
  return std::find(std::begin(pure_opcodes), std::end(pure_opcodes), instruction.opcode) !=
         std::end(pure_opcodes);
}

}  // namespace lab::ptx
