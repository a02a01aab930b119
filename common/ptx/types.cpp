#include "common/ptx/types.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace lab::ptx {
namespace {

struct alias {
  std::string_view name;
  char kind;
  int bits;
};

constexpr std::array aliases{alias{"bool", 'b', 8},
                             alias{"char", 'i', 8},
                             alias{"signed char", 'i', 8},
                             alias{"unsigned char", 'i', 8},
                             alias{"short", 'i', 16},
                             alias{"unsigned short", 'i', 16},
                             alias{"int", 'i', 32},
                             alias{"unsigned", 'i', 32},
                             alias{"unsigned int", 'i', 32},
                             alias{"long", 'i', 64},
                             alias{"unsigned long", 'i', 64},
                             alias{"long long", 'i', 64},
                             alias{"unsigned long long", 'i', 64},
                             alias{"std::int8_t", 'i', 8},
                             alias{"std::uint8_t", 'i', 8},
                             alias{"std::int16_t", 'i', 16},
                             alias{"std::uint16_t", 'i', 16},
                             alias{"std::int32_t", 'i', 32},
                             alias{"std::uint32_t", 'i', 32},
                             alias{"std::int64_t", 'i', 64},
                             alias{"std::uint64_t", 'i', 64},
                             alias{"float", 'f', 32},
                             alias{"double", 'f', 64}};

// Without spaces at either end.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// One or more words of letters, digits, '_' and "::", which is what a type is called here.
bool is_name_of_type(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == ' ';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

[[noreturn]] void refuse_type(std::string_view text, position where) {
  throw error(where,
              "'" + std::string(text) +
                  "' is no type that a parameter can have: arithmetic types (double, long long), pointers "
                  "(const double*) and arrays of Numba (double[]) are");
}

}  // namespace

std::optional<ptx_type> find_ptx_type(std::string_view text) {
  if (text == ".pred") return ptx_type{'p', 1};
  constexpr std::string_view kinds = "usbf";
  if (text.size() < 3 || text[0] != '.' || kinds.find(text[1]) == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(2);
  const int bits = digits == "8" ? 8 : digits == "16" ? 16 : digits == "32" ? 32 : digits == "64" ? 64 : 0;
  if (bits == 0 || (text[1] == 'f' && bits == 8)) return std::nullopt;
  return ptx_type{text[1], bits};
}

std::vector<ptx_type> types_of(const statement& instruction) {
  std::vector<ptx_type> types;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto type = find_ptx_type(modifier)) types.push_back(*type);
  }
  return types;
}

std::optional<cpp_type> find_cpp_type(std::string_view name) {
  const std::string_view wanted = trimmed(name);
  const auto* const found =
      std::find_if(aliases.begin(), aliases.end(), [&](const alias& one) { return one.name == wanted; });
  if (found == aliases.end()) return std::nullopt;
  return cpp_type{std::string(found->name), found->kind, found->bits};
}

parameter_type read_parameter_type(std::string_view text, position where) {
  const std::string_view whole = trimmed(text);
  parameter_type read;
  if (const auto value = find_cpp_type(whole)) {
    read.text = value->name;
    read.element = *value;
  } else if (whole.size() > 2 && whole.substr(whole.size() - 2) == "[]") {
    const auto element = find_cpp_type(whole.substr(0, whole.size() - 2));
    if (!element) refuse_type(whole, where);
    read = {parameter_kind::array, "const " + element->name + "*", *element};
  } else if (!whole.empty() && whole.back() == '*') {
    const std::string_view pointed = trimmed(whole.substr(0, whole.size() - 1));
    if (!is_name_of_type(pointed)) refuse_type(whole, where);
    read = {parameter_kind::pointer, std::string(pointed) + "*", cpp_type{"", 'i', 64}};
  } else {
    refuse_type(whole, where);
  }
  return read;
}

cpp_type type_of_load(ptx_type loaded, bool is_widened) {
  if (loaded.kind == 'f') return *find_cpp_type(loaded.bits == 64 ? "double" : "float");
  const bool has_sign = loaded.kind == 's' || (loaded.bits >= 32 && !is_widened);
  switch (loaded.bits) {
    case 8:
      return *find_cpp_type(has_sign ? "signed char" : "unsigned char");
    case 16:
      return *find_cpp_type(has_sign ? "short" : "unsigned short");
    case 32:
      return *find_cpp_type(has_sign ? "int" : "unsigned int");
    default:
      return *find_cpp_type("long long");
  }
}

}  // namespace lab::ptx
