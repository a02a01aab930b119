#include "common/ptx/module.hpp"

namespace lab::ptx {
namespace {

template <class Items, class Text>
std::string joined(const Items& items, Text&& text) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "" : ", ") + text(item);
  return result;
}

std::string printed_all(const std::vector<operand>& operands) {
  return joined(operands, [](const operand& one) { return print(one); });
}

std::string with_offset(const operand& printed) {
  return printed.offset.empty() ? printed.text : printed.text + "+" + printed.offset;
}

std::string header(const function& printed) {
  const auto list = [](const std::vector<declaration>& all) {
    return "(" + joined(all, [](const declaration& one) { return print(one); }) + ")";
  };
  std::string text = printed.linkage.empty() ? "" : printed.linkage + " ";
  text += printed.is_kernel ? ".entry " : ".func ";
  if (!printed.results.empty()) text += list(printed.results) + " ";
  return text + printed.name + list(printed.parameters);
}

}  // namespace

std::string print(const operand& printed) {
  const std::string sign = printed.negated ? "!" : "";
  switch (printed.kind) {
    case operand_kind::name:
    case operand_kind::number:
      return sign + with_offset(printed);
    case operand_kind::address:
      return "[" + with_offset(printed) + "]";
    case operand_kind::vector:
      return "{" + printed_all(printed.parts) + "}";
    case operand_kind::list:
      return "(" + printed_all(printed.parts) + ")";
    case operand_kind::pair:
      return print(printed.parts.at(0)) + "|" + print(printed.parts.at(1));
  }
  return {};
}

std::string print(const declaration& printed) {
  const bool is_managed = printed.linkage == ".managed";
  std::string text = printed.linkage.empty() || is_managed ? "" : printed.linkage + " ";
  text += printed.space + (is_managed ? " .attribute(.managed)" : "");
  if (printed.alignment != 0) text += " .align " + std::to_string(printed.alignment);
  if (!printed.vector.empty()) text += " " + printed.vector;
  text += " " + printed.type + " " + printed.name;
  if (printed.count != 0) text += "<" + std::to_string(printed.count) + ">";
  if (printed.is_array) text += printed.elements == 0 ? "[]" : "[" + std::to_string(printed.elements) + "]";
  if (printed.has_values) {
    const std::string values = joined(printed.values, [](const std::string& value) { return value; });
    text += printed.is_array ? " = {" + values + "}" : " = " + values;
  }
  return text;
}

std::string print(const statement& printed) {
  switch (printed.kind) {
    case statement_kind::label:
      return printed.opcode + ":";
    case statement_kind::block_begin:
      return "{";
    case statement_kind::block_end:
      return "}";
    case statement_kind::declaration:
      return print(printed.declared) + ";";
    case statement_kind::pragma:
      return ".pragma " + printed.opcode + ";";
    case statement_kind::branch_targets:
      return printed.opcode + ": .branchtargets " + printed_all(printed.operands) + ";";
    case statement_kind::instruction:
      break;
  }
  std::string text;
  if (!printed.guard.empty()) text = (printed.guard_negated ? "@!" : "@") + printed.guard + " ";
  text += printed.opcode;
  for (const std::string& modifier : printed.modifiers) text += modifier;
  if (!printed.operands.empty()) text += " " + printed_all(printed.operands);
  return text + ";";
}

std::string print(const module& printed) {
  std::string text;
  if (printed.version_major != 0 || printed.version_minor != 0) {
    text = ".version " + std::to_string(printed.version_major) + "." + std::to_string(printed.version_minor) +
           "\n";
  }
  if (!printed.target.empty()) text += ".target " + printed.target + "\n";
  for (const declaration& variable : printed.variables) text += print(variable) + ";\n";
  for (const function& one : printed.functions) {
    text += header(one);
    if (!one.has_body || one.unread) {
      text += ";\n";
      continue;
    }
    text += "\n{\n";
    for (const statement& line : one.body) text += print(line) + "\n";
    text += "}\n";
  }
  return text;
}

}  // namespace lab::ptx
