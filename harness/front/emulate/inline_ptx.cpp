#include "harness/front/emulate/inline_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace lab::front {
namespace {

constexpr std::string_view library = "::lab::emulator::ptx::";
constexpr std::string_view here = "::lab::emulator::place::here()";

struct unknown_instruction {};

// Special registers, and the same in C++.
std::string special_register(std::string_view name) {
  static const std::map<std::string_view, std::string_view> known{
      {"laneid", "::lab::emulator::lane()"},
      {"warpid", "(::lab::emulator::current_thread.number / 32u)"},
      {"nwarpid", "64u"},
      {"smid", "(blockIdx.x % 4u)"},
      {"nsmid", "4u"},
      {"gridid", "0ull"},
      {"lanemask_eq", "(1u << ::lab::emulator::lane())"},
      {"lanemask_lt", "((1u << ::lab::emulator::lane()) - 1u)"},
      {"lanemask_le", "((2u << ::lab::emulator::lane()) - 1u)"},
      {"lanemask_gt", "~((2u << ::lab::emulator::lane()) - 1u)"},
      {"lanemask_ge", "~((1u << ::lab::emulator::lane()) - 1u)"},
      {"clock", "static_cast<unsigned>(::lab::emulator::ticks())"},
      {"clock64", "static_cast<unsigned long long>(::lab::emulator::ticks())"},
      {"globaltimer", "static_cast<unsigned long long>(::lab::emulator::ticks())"},
      {"globaltimer_lo", "static_cast<unsigned>(::lab::emulator::ticks())"},
      {"dynamic_smem_size", "0u"},
      {"cluster_ctarank", "::lab::cluster_rank()"},
      {"cluster_nctarank", "::lab::cluster_blocks()"},
  };
  if (const auto found = known.find(name); found != known.end()) return std::string(found->second);
  for (const auto& [ptx, cpp] : {std::pair{"tid.", "threadIdx."}, std::pair{"ntid.", "blockDim."},
                                 std::pair{"ctaid.", "blockIdx."}, std::pair{"nctaid.", "gridDim."}}) {
    const std::string_view beginning = ptx;
    if (name.starts_with(beginning) && name.size() == beginning.size() + 1 &&
        std::string_view("xyz").find(name.back()) != std::string_view::npos)
      return fmt::format("{}{}", cpp, name.back());
  }
  for (const auto& [ptx, operation] :
       {std::pair{"cluster_ctaid.", "%"}, std::pair{"clusterid.", "/"}, std::pair{"cluster_nctaid.", ""}}) {
    const std::string_view beginning = ptx;
    if (!name.starts_with(beginning) || name.size() != beginning.size() + 1) continue;
    const std::string shape = fmt::format("::lab::emulator::cluster_shape().{}", name.back());
    return *operation == '\0' ? shape : fmt::format("(blockIdx.{} {} {})", name.back(), operation, shape);
  }
  throw unknown_instruction{};
}

std::string type_of(std::string_view modifier) {
  static const std::map<std::string_view, std::string_view> known{
      {"u8", "unsigned char"}, {"s8", "signed char"},
      {"b8", "unsigned char"}, {"u16", "unsigned short"},
      {"s16", "short"},        {"b16", "unsigned short"},
      {"u32", "unsigned"},     {"s32", "int"},
      {"b32", "unsigned"},     {"u64", "unsigned long long"},
      {"s64", "long long"},    {"b64", "unsigned long long"},
      {"f32", "float"},        {"f64", "double"},
      {"pred", "bool"}};
  const auto found = known.find(modifier);
  return found == known.end() ? "" : std::string(found->second);
}

bool is_whole(const std::string& type) {
  return type != "float" && type != "double" && type != "bool";
}
std::string unsigned_of(const std::string& type) {
  return fmt::format("std::make_unsigned_t<{}>", type);
}

// The modifiers that an instruction may have beside types. Those of caches say nothing here; what is not
// listed is refused, since nobody honours it.
bool is_known_modifier(std::string_view opcode, std::string_view modifier) {
  using words = std::vector<std::string_view>;
  static const words rounding{"rn", "rz", "rm", "rp", "ftz"};
  static const words scopes{"cta", "gpu", "sys", "cluster"};
  static const words caches{"ca",
                            "cg",
                            "cs",
                            "lu",
                            "cv",
                            "wb",
                            "wt",
                            "nc",
                            "v2",
                            "v4",
                            "global",
                            "shared",
                            "shared::cta",
                            "shared::cluster",
                            "local",
                            "const",
                            "volatile",
                            "relaxed",
                            "acquire",
                            "release",
                            "weak",
                            "mmio",
                            "L2::cache_hint",
                            "level::eviction_priority"};
  static const words atomics{"add",
                             "min",
                             "max",
                             "and",
                             "or",
                             "xor",
                             "exch",
                             "cas",
                             "inc",
                             "dec",
                             "global",
                             "shared",
                             "shared::cta",
                             "relaxed",
                             "acquire",
                             "release",
                             "acq_rel",
                             "noftz",
                             "shared::cluster"};
  static const std::map<std::string_view, words> more{
      {"add", {"sat", "cc"}},
      {"sub", {"sat", "cc"}},
      {"mul", {"sat", "lo", "hi", "wide"}},
      {"mad", {"sat", "cc", "lo", "hi", "wide"}},
      {"fma", {"sat"}},
      {"addc", {"cc"}},
      {"subc", {"cc"}},
      {"madc", {"cc", "lo", "hi"}},
      {"mul24", {"lo", "hi"}},
      {"mad24", {"lo", "hi"}},
      {"div", {"approx", "full"}},
      {"rcp", {"approx"}},
      {"sqrt", {"approx"}},
      {"rsqrt", {"approx", "ftz"}},
      {"sin", {"approx", "ftz"}},
      {"cos", {"approx", "ftz"}},
      {"ex2", {"approx", "ftz"}},
      {"lg2", {"approx", "ftz"}},
      {"tanh", {"approx"}},
      {"min", {"ftz"}},
      {"max", {"ftz"}},
      {"neg", {"ftz"}},
      {"abs", {"ftz"}},
      {"cvt", {"rna", "tf32", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat"}},
      {"shf", {"l", "r", "clamp", "wrap"}},
      {"bfind", {"shiftamt"}},
      {"vabsdiff4", {"add"}},
      {"cvta", {"to", "shared", "shared::cta", "global", "local", "const"}},
      {"vote", {"sync", "ballot", "any", "all"}},
      {"match", {"sync", "any", "all"}},
      {"shfl", {"sync", "idx", "up", "down", "bfly"}},
      {"redux", {"sync", "add", "min", "max", "and", "or", "xor"}},
      {"mma",
       {"sync", "aligned", "row", "col", "f16", "bf16", "tf32", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32",
        "s8"}},
      {"ldmatrix", {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"}},
      {"stmatrix", {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"}},
      {"bar", {"sync", "arrive", "warp"}},
      {"barrier", {"sync", "arrive", "aligned", "cta"}},
      {"cp",
       {"async", "ca", "cg", "shared", "shared::cta", "global", "commit_group", "wait_group", "wait_all",
        "L2::cache_hint", "mbarrier", "arrive", "noinc"}},
      {"bra", {"uni"}},
      {"brx", {"idx", "uni"}},
      {"setp", {"ftz", "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs",
                "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor"}}};
  static const std::array<std::string_view, 9> round{"add", "sub", "mul",  "mad", "fma",
                                                     "div", "rcp", "sqrt", ""};
  const auto has = [modifier](const words& list) {
    return std::find(list.begin(), list.end(), modifier) != list.end();
  };
  if (!type_of(modifier).empty()) return true;
  if (const auto found = more.find(opcode); found != more.end() && has(found->second)) return true;
  if (std::find(round.begin(), round.end(), opcode) != round.end()) return has(rounding);
  const bool is_access = opcode == "ld" || opcode == "ldu" || opcode == "st", is_copy = opcode == "cp";
  const bool is_atomic = opcode == "atom" || opcode == "red";
  // How long a cache may keep it.
  if ((is_access || is_copy) && (modifier.starts_with("L1::") || modifier.starts_with("L2::"))) return true;
  if (is_access) return has(caches) || has(scopes);
  return is_atomic && (has(atomics) || has(scopes));
}

enum class memory_space { generic, shared };

struct instruction {
  std::string guard;
  bool guard_negated = false;
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<std::string> operands;

  [[nodiscard]] bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
  [[nodiscard]] memory_space space() const {
    const bool is_shared = has("shared") || has("shared::cta") || has("shared::cluster");
    return is_shared ? memory_space::shared : memory_space::generic;
  }
};

std::string bare(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return std::string(text);
}

// At the commas that are in no bracket.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(bare(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!bare(part).empty() || !parts.empty()) parts.push_back(bare(part));
  return parts;
}

std::string without_comments(const std::string& ptx) {
  std::string text;
  for (std::size_t at = 0; at < ptx.size(); ++at) {
    if (ptx.compare(at, 2, "//") == 0) {
      at = std::min(ptx.find('\n', at), ptx.size());
      text += ' ';
    } else if (ptx.compare(at, 2, "/*") == 0) {
      const std::size_t end = ptx.find("*/", at + 2);
      at = end == std::string::npos ? ptx.size() : end + 1;
      text += ' ';
    } else {
      text += ptx[at];
    }
  }
  return text;
}

class translation {
 public:
  explicit translation(const std::vector<ptx_operand>& operands) : count_(operands.size()) {}

  // The statements of a text between semicolons; braces open scopes of registers and labels.
  std::string statements(const std::string& ptx) {
    const std::string rest = with_single_percent(without_comments(ptx));
    std::string one;
    scopes_.assign(1, {});
    const auto close = [&] {
      const scope closed = std::move(scopes_.back());
      scopes_.pop_back();
      return fmt::format("{{ {}{}{}}} ", closed.labels.empty() ? "" : "__label__ " + closed.labels + "; ",
                         closed.declarations, closed.statements);
    };
    const auto flush = [&] {
      current_ = bare(one);
      one.clear();
      if (current_.empty()) return;
      const std::string text = statement(current_);
      scopes_.back().statements += text;
    };
    for (std::size_t at = 0; at < rest.size(); ++at) {
      const char c = rest[at];
      // A brace where a statement begins is a scope; within one it is a vector.
      if (c == '{' && bare(one).empty()) {
        scopes_.emplace_back();
      } else if (c == '}' && bare(one).empty() && scopes_.size() > 1) {
        const std::string closed = close();
        scopes_.back().statements += closed;
      } else if (c == ':' && is_name(bare(one)) && rest.compare(at, 2, "::") != 0) {
        label_ = bare(one);
        one.clear();
        if (bare(rest.substr(at + 1, rest.find(';', at) - at - 1)).starts_with(".branchtargets")) continue;
        scopes_.back().labels += (scopes_.back().labels.empty() ? "" : ", ") + local(label_);
        scopes_.back().statements += local(label_) + ":; ";
        labels_.insert(label_);
      } else if (c == ';') {
        flush();
      } else {
        one += c;
      }
    }
    flush();
    if (scopes_.size() != 1) throw unknown_instruction{};
    for (const auto& [target, instruction] : jumps_) {
      current_ = instruction;
      if (labels_.count(target) == 0) throw unknown_instruction{};
    }
    return close();
  }

  [[nodiscard]] const std::string& current() const { return current_; }
  // Whether an operand is an output that the statement leaves alone: a product writes it later.
  [[nodiscard]] bool is_written_later(std::size_t number) const {
    return written_later_.count(fmt::format("lab_operand_{}", number)) != 0;
  }

 private:
  // One that is open. Labels and declarations stand at its beginning, so that jumps pass none.
  struct scope {
    std::string labels, declarations, statements;
  };

  // %%r1 of a statement with operands is the register %r1; %%1 stays, since %1 is an operand.
  static std::string with_single_percent(const std::string& ptx) {
    std::string text;
    for (std::size_t at = 0; at < ptx.size(); ++at) {
      const bool is_double = ptx.compare(at, 2, "%%") == 0 && at + 2 < ptx.size() &&
                             std::isdigit(static_cast<unsigned char>(ptx[at + 2])) == 0;
      if (is_double) ++at;
      text += ptx[at];
    }
    return text;
  }
  static bool is_name(const std::string& text) {
    return !text.empty() && text[0] != '@' && text.find_first_of(" \t\n.,[]{}()|") == std::string::npos;
  }

  std::string statement(const std::string& text) {
    if (text.starts_with(".reg")) {
      scopes_.back().declarations += declaration(text);
      return "";
    }
    if (text.starts_with(".local")) {
      scopes_.back().declarations += array(text);
      return "";
    }
    if (text.starts_with(".pragma")) return "";
    if (text.starts_with(".branchtargets")) {
      targets_[label_] = split(text.substr(std::string_view(".branchtargets").size()));
      return "";
    }
    return guarded(parsed(text));
  }

  // .local .align 8 .b8 name[24];
  std::string array(const std::string& text) {
    std::size_t alignment = 1, at = text.find_first_not_of(" \t\n", std::string_view(".local").size());
    if (text.compare(at, 6, ".align") == 0) {
      alignment = std::strtoul(text.c_str() + at + 6, nullptr, 10);
      at = text.find('.', at + 6);
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size()),
                      open = text.find('[', end);
    if (at == std::string::npos || open == std::string::npos) throw unknown_instruction{};
    const std::string type = type_of(text.substr(at + 1, end - at - 1)),
                      name = bare(text.substr(end, open - end));
    const unsigned long elements = std::strtoul(text.c_str() + open + 1, nullptr, 10);
    const bool is_one = text.find_first_of(",[", open + 1) == std::string::npos;
    if (type.empty() || !is_name(name) || elements == 0 || elements > 1'000'000 || alignment == 0 || !is_one)
      throw unknown_instruction{};
    locals_[name] = fmt::format("reinterpret_cast<unsigned long long>({})", local(name));
    return fmt::format("alignas({0}) alignas({1}) {1} {2}[{3}]; ", alignment, type, local(name), elements);
  }

  // .reg .b32 a, b<3>;
  std::string declaration(const std::string& text) {
    const std::size_t dot = text.find('.', 4), end = text.find_first_of(" \t\n", dot);
    if (dot == std::string::npos || end == std::string::npos) throw unknown_instruction{};
    const std::string type = type_of(text.substr(dot + 1, end - dot - 1));
    if (type.empty()) throw unknown_instruction{};
    const std::string storage = is_whole(type) ? unsigned_of(type) : type;
    std::string result;
    for (const std::string& name : split(text.substr(end))) {
      const std::size_t angle = name.find('<');
      int copies = 1;
      if (angle != std::string::npos) {
        copies = std::atoi(name.c_str() + angle + 1);
        if (copies < 1 || copies > 1000) throw unknown_instruction{};
      }
      for (int copy = 0; copy < copies; ++copy) {
        const std::string full =
            angle == std::string::npos ? name : name.substr(0, angle) + std::to_string(copy);
        result += fmt::format("{} {}{{}}; ", storage, local(full));
        locals_[full] = local(full);
      }
    }
    return result;
  }

  static std::string local(std::string_view name) {
    std::string text = "lab_register_";
    for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return text;
  }

  static instruction parsed(std::string text) {
    instruction one;
    if (text.starts_with('@')) {
      const std::size_t end = text.find_first_of(" \t\n");
      if (end == std::string::npos) throw unknown_instruction{};
      one.guard = text.substr(1, end - 1);
      if (one.guard.starts_with('!')) {
        one.guard_negated = true;
        one.guard.erase(0, 1);
      }
      text = bare(text.substr(end));
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    std::string word = text.substr(0, end);
    // L2::128B is no two modifiers.
    for (std::size_t dot = 0; dot != std::string::npos;) {
      const std::size_t next = word.find('.', dot + 1);
      const std::string part =
          word.substr(dot == 0 ? 0 : dot + 1,
                      (next == std::string::npos ? word.size() : next) - (dot == 0 ? 0 : dot + 1));
      if (dot == 0) {
        one.opcode = part;
      } else {
        one.modifiers.push_back(part);
      }
      dot = next;
    }
    one.operands = split(bare(text.substr(end)));
    return one;
  }

  std::string guarded(const instruction& one) {
    const std::string body = effect(one);
    if (one.guard.empty()) return body;
    return fmt::format("if ({}{}) {{ {}}} ", one.guard_negated ? "!" : "", value(one.guard, "bool"), body);
  }

  // ---- operands

  [[nodiscard]] std::string name_of(const std::string& operand) const {
    if (const auto found = locals_.find(operand); found != locals_.end()) return found->second;
    if (operand.size() > 1 && operand[0] == '%' &&
        operand.find_first_not_of("0123456789", 1) == std::string::npos) {
      const auto number = static_cast<std::size_t>(std::atoi(operand.c_str() + 1));
      if (operand.size() < 5 && number < count_) return fmt::format("lab_operand_{}", number);
    }
    throw unknown_instruction{};
  }

  [[nodiscard]] std::string raw(std::string operand) const {
    if (operand.empty()) throw unknown_instruction{};
    const bool is_number = std::isdigit(static_cast<unsigned char>(operand[0])) != 0 || operand[0] == '-';
    if (is_number) return number(std::move(operand));
    if (operand[0] == '%' && operand.size() > 1 &&
        std::isalpha(static_cast<unsigned char>(operand[1])) != 0 && locals_.count(operand) == 0)
      return special_register(std::string_view(operand).substr(1));
    return name_of(operand);
  }
  static std::string number(std::string text) {
    const bool is_hexadecimal_float = text.starts_with("0f") || text.starts_with("0F");
    const bool is_hexadecimal_double = text.starts_with("0d") || text.starts_with("0D");
    const auto digits_from = [&](std::size_t begin, std::string_view allowed) {
      return text.size() > begin && text.find_first_not_of(allowed, begin) == std::string::npos;
    };
    constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
    if (is_hexadecimal_float && text.size() == 10 && digits_from(2, hexadecimal))
      return fmt::format("__builtin_bit_cast(float, 0x{}u)", text.substr(2));
    if (is_hexadecimal_double && text.size() == 18 && digits_from(2, hexadecimal))
      return fmt::format("__builtin_bit_cast(double, 0x{}ull)", text.substr(2));
    if (text.ends_with('U')) text.pop_back();
    const std::size_t begin = text.starts_with('-') ? 1 : 0;
    const bool is_hexadecimal = text.compare(begin, 2, "0x") == 0 || text.compare(begin, 2, "0X") == 0;
    if (is_hexadecimal ? digits_from(begin + 2, hexadecimal) : digits_from(begin, "0123456789"))
      return text + "ll";
    if (digits_from(begin, "0123456789.e+-")) return text;  // a double
    throw unknown_instruction{};
  }
  [[nodiscard]] std::string value(const std::string& operand, const std::string& type) const {
    if (operand.starts_with('!')) return "!" + value(operand.substr(1), type);
    if (flushes_ && type == "float")
      return fmt::format("{0}flushed({0}as<{1}>({2}))", library, type, raw(operand));
    return fmt::format("{}as<{}>({})", library, type, raw(operand));
  }
  [[nodiscard]] std::string put(const std::string& operand, const std::string& text) const {
    if (operand == "_") return fmt::format("static_cast<void>({}); ", text);
    return fmt::format("{}put({}, {}); ", library, name_of(operand), text);
  }
  // A number that inline PTX has for an address of shared memory, as a pointer.
  static std::string of_shared(const std::string& number) {
    return fmt::format("::lab::emulator::shared_address(static_cast<std::uint32_t>({}), {})", number, here);
  }
  // [%1+8] as a pointer to `type`.
  [[nodiscard]] std::string memory(const std::string& operand, memory_space space,
                                   const std::string& type) const {
    if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') throw unknown_instruction{};
    std::string base = bare(std::string_view(operand).substr(1, operand.size() - 2)), offset;
    if (const std::size_t sign = base.find_first_of("+-", 1); sign != std::string::npos) {
      offset = fmt::format(" + {}", number(bare(base.substr(base[sign] == '+' ? sign + 1 : sign))));
      base = bare(base.substr(0, sign));
    }
    const std::string address = value(base, "unsigned long long") + offset;
    return fmt::format("reinterpret_cast<{}*>({})", type,
                       space == memory_space::shared ? of_shared(address) : address);
  }
  static std::vector<std::string> parts_of(const std::string& vector) {
    if (vector.size() < 2 || vector.front() != '{' || vector.back() != '}') throw unknown_instruction{};
    return split(std::string_view(vector).substr(1, vector.size() - 2));
  }

  // ---- instructions

  // The last type among the modifiers.
  static std::string type(const instruction& one) {
    for (auto word = one.modifiers.rbegin(); word != one.modifiers.rend(); ++word) {
      if (const std::string found = type_of(*word); !found.empty()) return found;
    }
    throw unknown_instruction{};
  }
  static void require(bool condition) {
    if (!condition) throw unknown_instruction{};
  }

  std::string effect(const instruction& one) {
    const std::size_t count = one.operands.size();
    flushes_ = one.has("ftz");
    if (const std::string halves = of_halves(one); !halves.empty()) return halves;
    if (one.opcode == "wgmma") return warpgroup_product(one);
    if (one.opcode == "wmma") return fragments(one);
    if (one.opcode == "griddepcontrol" || one.opcode == "setmaxnreg") return control(one);
    if (one.opcode == "mbarrier") return phase_barrier(one);
    if (one.opcode == "cp" && one.has("bulk")) return bulk_copy(one);
    if (one.opcode == "mapa" || (one.opcode == "barrier" && one.has("cluster"))) return of_cluster(one);
    if (one.opcode == "elect") return elect(one);
    if (one.opcode == "createpolicy") return put(first(one), "0ull");
    static const std::array<std::string_view, 10> any{"membar",        "fence",   "nanosleep", "prefetch",
                                                      "prefetchu",     "discard", "pmevent",   "brkpt",
                                                      "applypriority", "mov"};
    const bool takes_any = std::find(any.begin(), any.end(), one.opcode) != any.end();
    for (const std::string& modifier : one.modifiers)
      require(takes_any || one.opcode == "lop3" || one.opcode == "dp4a" ||
              is_known_modifier(one.opcode, modifier));
    if (one.opcode == "fence" && one.has("proxy")) {
      require(one.has("async"));
      return "::lab::fence_proxy_async(); ";
    }
    if (one.opcode == "fence" && one.has("mbarrier_init")) return "::lab::fence_mbarrier_init(); ";
    if (one.opcode == "membar" || one.opcode == "fence") return "::__threadfence(); ";
    if (takes_any && one.opcode != "mov") return "";
    if (one.opcode == "trap") return "::__trap(); ";
    if (one.opcode == "bra" || one.opcode == "brx") return branch(one);
    if (one.opcode == "bar" || one.opcode == "barrier") return barrier(one);
    if (one.opcode == "cp") return asynchronous_copy(one);
    if (one.opcode == "ld" || one.opcode == "ldu") return load(one);
    if (one.opcode == "st") return store(one);
    if (one.opcode == "atom" || one.opcode == "red") return atomic(one);
    require(count > 0);
    if (one.opcode == "mov") return move(one);
    if (one.opcode == "cvt") return convert(one);
    if (one.opcode == "cvta") return change_space(one);
    if (one.opcode == "setp") return compare(one);
    if (one.opcode == "shfl") return shuffle(one);
    if (one.opcode == "vote") return vote(one);
    if (one.opcode == "match") return match(one);
    if (one.opcode == "mma") return multiply_matrices(one);
    if (one.opcode == "ldmatrix" || one.opcode == "stmatrix") return carry_matrices(one);
    if (one.opcode == "activemask") return put(one.operands[0], "::__activemask()");
    const std::string result = arithmetic(one);
    return put(one.operands[0], flushes_ ? fmt::format("{}flushed({})", library, result) : result);
  }

  std::string jump(const std::string& target) {
    jumps_[target] = current_;
    return fmt::format("goto {}; ", local(target));
  }
  std::string branch(const instruction& one) {
    if (one.opcode == "bra") {
      require(one.operands.size() == 1);
      return jump(one.operands[0]);
    }
    require(one.has("idx") && one.operands.size() == 2);
    const auto targets = targets_.find(one.operands[1]);
    require(targets != targets_.end());
    std::string cases;
    for (std::size_t number = 0; number < targets->second.size(); ++number)
      cases += fmt::format("case {}: {}", number, jump(targets->second[number]));
    return fmt::format("switch ({}) {{ {}}} ", value(one.operands[0], "unsigned"), cases);
  }

  // An operand that must be there.
  [[nodiscard]] std::string given(const instruction& one, std::size_t number, const std::string& as) const {
    require(number < one.operands.size());
    return value(one.operands[number], as);
  }

  // A function of so many operands behind the result's.
  struct known_function {
    std::string_view name;
    std::size_t arguments;
    std::string_view from = library;
  };
  using known_functions = std::map<std::string_view, known_function>;
  [[nodiscard]] std::string call(const instruction& one, const known_function& function) const {
    std::string text = fmt::format("{}{}(", function.from, function.name);
    for (std::size_t number = 1; number <= function.arguments; ++number)
      text += (number == 1 ? "" : ", ") + given(one, number, type(one));
    return text + ")";
  }

  // Arithmetic that rounds towards zero, down or up; empty if it does not.
  [[nodiscard]] std::string rounded(const instruction& one) const {
    const std::string how = one.has("rz") ? "to_zero" : one.has("rm") ? "down" : one.has("rp") ? "up" : "";
    if (how.empty()) return "";
    const std::string t = type(one), name = one.opcode;
    require(!is_whole(t));
    const auto calls = [&](std::string_view function, const std::string& arguments) {
      return fmt::format("::lab::emulator::{}<::lab::emulator::rounding::{}, {}>({})", function, how, t,
                         arguments);
    };
    const std::string a = given(one, 1, t);
    if (name == "sqrt") return calls("square_root", a);
    if (name == "rcp") return calls("divide", fmt::format("{}(1), {}", t, a));
    const std::string b = given(one, 2, t);
    if (name == "add") return calls("add", a + ", " + b);
    if (name == "sub") return calls("add", fmt::format("{}, -{}", a, b));
    if (name == "mul") return calls("multiply", a + ", " + b);
    if (name == "div") return calls("divide", a + ", " + b);
    require(name == "fma" || name == "mad");
    return calls("multiply_add", fmt::format("{}, {}, {}", a, b, given(one, 3, t)));
  }

  // Of these four each gives an empty text for what is another's.
  [[nodiscard]] std::string of_numbers(const instruction& one) const {
    static const known_functions known{{"add", {"add", 2}},
                                       {"sub", {"subtract", 2}},
                                       {"div", {"divide", 2}},
                                       {"rem", {"remainder", 2}},
                                       {"min", {"min", 2, "::"}},
                                       {"max", {"max", 2, "::"}},
                                       {"sqrt", {"sqrt", 1, "std::"}},
                                       {"sin", {"sin", 1, "std::"}},
                                       {"cos", {"cos", 1, "std::"}},
                                       {"tanh", {"tanh", 1, "std::"}},
                                       {"ex2", {"exp2", 1, "std::"}},
                                       {"lg2", {"log2", 1, "std::"}}};
    const std::string& name = one.opcode;
    if (const std::string text = rounded(one); !text.empty()) return text;
    if (const auto found = known.find(name); found != known.end()) return call(one, found->second);
    const std::string t = type(one);
    if (name == "mul" || name == "mad" || name == "mul24" || name == "mad24" || name == "fma")
      return product(one);
    if (name == "neg") return fmt::format("{}subtract<{}>(0, {})", library, t, given(one, 1, t));
    if (name == "abs")
      return fmt::format("static_cast<{}>(std::{}({}))", t, is_whole(t) ? "abs" : "fabs", given(one, 1, t));
    if (name == "rcp") return fmt::format("{}(1) / {}", t, given(one, 1, t));
    if (name == "rsqrt") return fmt::format("{}(1) / std::sqrt({})", t, given(one, 1, t));
    if (name == "copysign") return fmt::format("std::copysign({}, {})", given(one, 2, t), given(one, 1, t));
    return "";
  }

  [[nodiscard]] std::string of_bits(const instruction& one) const {
    static const known_functions known{
        {"popc", {"ones", 1}}, {"clz", {"leading_zeros", 1}}, {"brev", {"reversed", 1}}};
    static const std::map<std::string_view, std::string_view> operators{
        {"and", "&"}, {"or", "|"}, {"xor", "^"}};
    const std::string& name = one.opcode;
    if (const auto found = known.find(name); found != known.end()) return call(one, found->second);
    const std::string t = type(one);
    if (const auto found = operators.find(name); found != operators.end()) {
      return fmt::format("static_cast<{}>({} {} {})", t, given(one, 1, t), found->second, given(one, 2, t));
    }
    if (name == "not")
      return t == "bool" ? "!" + given(one, 1, t) : fmt::format("static_cast<{}>(~{})", t, given(one, 1, t));
    if (name == "cnot") return fmt::format("static_cast<{}>({} == 0)", t, given(one, 1, t));
    if (name == "shl" || name == "shr") {
      return fmt::format("{}shift_{}<{}>({}, {})", library, name == "shl" ? "left" : "right", t,
                         given(one, 1, t), given(one, 2, "unsigned"));
    }
    return "";
  }

  [[nodiscard]] std::string of_bit_fields(const instruction& one) const {
    const std::string t = type(one);
    const std::string& name = one.opcode;
    if (name == "bfind") {
      require(!one.has("shiftamt"));
      return call(one, {"highest_bit", 1});
    }
    if (name == "bfe")
      return fmt::format("{}extract<{}>({}, {}, {})", library, t, given(one, 1, t), given(one, 2, "unsigned"),
                         given(one, 3, "unsigned"));
    if (name == "bfi")
      return fmt::format("{}inserted<{}>({}, {}, {}, {})", library, t, given(one, 1, t), given(one, 2, t),
                         given(one, 3, "unsigned"), given(one, 4, "unsigned"));
    if (name == "fns") return call(one, {"__fns", 3, "::"});
    if (name == "lop3" || name == "prmt") {
      require(one.modifiers.size() == 1);
      return name == "lop3" ? call(one, {"any_of_three", 4}) : call(one, {"__byte_perm", 3, "::"});
    }
    if (name == "shf") {
      const std::string way = one.has("l") ? "l" : "r";
      const std::string function = "__funnelshift_" + way + (one.has("clamp") ? "c" : "");
      return call(one, {function, 3, "::"});
    }
    return "";
  }

  [[nodiscard]] std::string of_choices_and_sums(const instruction& one) const {
    const std::string t = type(one);
    const std::string& name = one.opcode;
    if (name == "selp")
      return fmt::format("({} ? {} : {})", given(one, 3, "bool"), given(one, 1, t), given(one, 2, t));
    if (name == "sad")
      return fmt::format("{0}add<{1}>({2}, static_cast<{1}>({3} > {4} ? {3} - {4} : {4} - {3}))", library, t,
                         given(one, 3, t), given(one, 1, t), given(one, 2, t));
    if (name == "dp4a") {
      require(one.modifiers.size() == 2 && one.modifiers[0] == one.modifiers[1]);
      return call(one, {"__dp4a", 3, "::"});
    }
    if (name == "vabsdiff4") {
      require(one.modifiers == std::vector<std::string>{"u32", "u32", "u32", "add"});
      return call(one, {"differences_of_bytes", 3});
    }
    if (name == "redux") {
      const std::string operation =
          one.modifiers.size() == 3 && one.modifiers[0] == "sync" ? one.modifiers[1] : "";
      require(!operation.empty() && one.operands.size() == 3);
      return fmt::format("::__reduce_{}_sync({}, {})", operation, given(one, 2, "unsigned"),
                         given(one, 1, t));
    }
    return "";
  }

  [[nodiscard]] std::string arithmetic(const instruction& one) const {
    const std::string t = type(one);
    const std::string& name = one.opcode;
    if (one.has("cc") || name == "addc" || name == "subc" || name == "madc") return with_carry(one);
    if (const std::string text = of_numbers(one); !text.empty()) {
      if (!one.has("sat")) return text;
      require(!is_whole(t));
      return fmt::format("{}saturated<{}>({})", library, t, text);
    }
    if (const std::string text = of_bits(one); !text.empty()) return text;
    if (const std::string text = of_bit_fields(one); !text.empty()) return text;
    if (const std::string text = of_choices_and_sums(one); !text.empty()) return text;
    throw unknown_instruction{};
  }

  // mul, mad and fma; of whole numbers the lower half, the upper half or both.
  [[nodiscard]] std::string product(const instruction& one) const {
    const std::string t = type(one);
    const bool adds = one.opcode == "mad" || one.opcode == "fma" || one.opcode == "mad24";
    require(one.operands.size() == (adds ? 4u : 3u));
    const std::string a = value(one.operands[1], t), b = value(one.operands[2], t);
    if (!is_whole(t)) {
      if (adds) return fmt::format("std::fma({}, {}, {})", a, b, value(one.operands[3], t));
      return fmt::format("{}multiply({}, {})", library, a, b);
    }
    if (one.opcode.ends_with("24")) require(one.has("lo"));
    const std::string_view kind = one.has("hi")     ? "multiply_high"
                                  : one.has("wide") ? "multiply_wide"
                                                    : "multiply";
    require(one.has("hi") || one.has("wide") || one.has("lo"));
    const std::string whole = fmt::format("{}{}<{}>({}, {})", library, kind, t, a, b);
    if (!adds) return whole;
    const std::string sum = one.has("wide") ? fmt::format("{}doubled<{}>", library, t) : t;
    return fmt::format("{}add<{}>({}, {})", library, sum, whole, value(one.operands[3], sum));
  }

  [[nodiscard]] std::string with_carry(const instruction& one) const {
    const std::string t = type(one);
    require(is_whole(t));
    const bool writes = one.has("cc");
    if (one.opcode == "mad" || one.opcode == "madc") {
      require(one.operands.size() == 4 && (one.has("lo") || one.has("hi")));
      return fmt::format("{0}add_with_carry<{1}>({0}{2}<{1}>({3}, {4}), {5}, {6}, {7})", library, t,
                         one.has("hi") ? "multiply_high" : "multiply", value(one.operands[1], t),
                         value(one.operands[2], t), value(one.operands[3], t), one.opcode == "madc", writes);
    }
    const bool reads = one.opcode == "addc" || one.opcode == "subc";
    require((reads || one.opcode == "add" || one.opcode == "sub") && one.operands.size() == 3);
    return fmt::format("{}{}<{}>({}, {}, {}, {})", library,
                       one.opcode.starts_with("add") ? "add_with_carry" : "subtract_with_borrow", t,
                       value(one.operands[1], t), value(one.operands[2], t), reads, writes);
  }

  std::string move(const instruction& one) {
    require(one.operands.size() == 2);
    const std::string t = type(one);
    const std::string &to = one.operands[0], &from = one.operands[1];
    require(!to.empty() && !from.empty());
    const bool packs = from.front() == '{', unpacks = to.front() == '{';
    if (!packs && !unpacks) return put(to, value(from, t));
    require(packs != unpacks && (t == "unsigned" || t == "unsigned long long"));
    const std::vector<std::string> parts = parts_of(packs ? from : to);
    require(parts.size() == 2 || parts.size() == 4);
    const std::size_t bits = (t == "unsigned" ? 32 : 64) / parts.size();
    const std::string part = bits == 8 ? "unsigned char" : bits == 16 ? "unsigned short" : "unsigned";
    std::string text;
    for (std::size_t number = 0; number < parts.size(); ++number) {
      if (packs) {
        text += fmt::format("{}static_cast<{}>({}) << {}", number == 0 ? "" : " | ", t,
                            value(parts[number], part), number * bits);
      } else {
        text += put(parts[number], fmt::format("static_cast<{}>(lab_whole >> {})", part, number * bits));
      }
    }
    if (packs) return put(to, fmt::format("({})", text));
    return fmt::format("{{ const {} lab_whole = {}; {}}} ", t, value(from, t), text);
  }

  // add.f16x2 d, a, b; cvt.rn.bf16x2.f32 d, high, low; and the like, in float and rounded once. Empty if it
  // is none of them.
  std::string of_halves(const instruction& one) {
    static const std::map<std::string_view, std::pair<std::string_view, std::size_t>> known{
        {"add", {"a + b", 2}},
        {"sub", {"a - b", 2}},
        {"mul", {"a * b", 2}},
        {"fma", {"lab::emulator::fused(a, b, c)", 3}},
        {"min", {"std::fmin(a, b)", 2}},
        {"max", {"std::fmax(a, b)", 2}},
        {"neg", {"-a", 1}},
        {"abs", {"std::fabs(a)", 1}},
        {"ex2", {"std::exp2(a)", 1}},
        {"tanh", {"std::tanh(a)", 1}}};
    const auto is_half = [](const std::string& word) {
      return word == "f16" || word == "bf16" || word == "f16x2" || word == "bf16x2";
    };
    const auto found = known.find(one.opcode);
    const auto word = std::find_if(one.modifiers.begin(), one.modifiers.end(), is_half);
    if (word == one.modifiers.end() || (one.opcode != "cvt" && found == known.end())) return "";
    const std::string half = word->starts_with("b") ? "__nv_bfloat16" : "__half";
    const bool are_two = word->ends_with("x2");
    const std::string bits = are_two ? "unsigned" : "unsigned short";
    const std::vector<std::string> from_half{"f32", *word}, to_half{"rn", *word, "f32"};
    if (one.modifiers == from_half && !are_two)
      return put(first(one), fmt::format("static_cast<float>({}::of_bits({}))", half, given(one, 1, bits)));
    if (one.opcode == "cvt") {
      require(one.modifiers == to_half);
      return put(first(one), are_two ? fmt::format("{}two_halves<{}>({}, {})", library, half,
                                                   given(one, 1, "float"), given(one, 2, "float"))
                                     : fmt::format("{}({}).bits", half, given(one, 1, "float")));
    }
    require_words(one, {"rn", "approx", "f16", "bf16", "f16x2", "bf16x2"});
    const auto& [expression, operands] = found->second;
    require(one.operands.size() == operands + 1);
    static constexpr std::array<std::string_view, 4> parameters{"", "float a", "float a, float b",
                                                                "float a, float b, float c"};
    std::string text = fmt::format("{}each_half<{}>([]({}) {{ return {}; }}", library, half,
                                   parameters[operands], expression);
    for (std::size_t k = 1; k <= operands; ++k) text += ", " + given(one, k, bits);
    return put(first(one), text + ")");
  }

  std::string convert(const instruction& one) {
    if (one.modifiers == std::vector<std::string>{"rna", "tf32", "f32"})
      return put(first(one), fmt::format("nvcuda::wmma::__float_to_tf32({})", given(one, 1, "float")));
    require(one.operands.size() == 2 && one.modifiers.size() >= 2);
    const std::string to = type_of(one.modifiers[one.modifiers.size() - 2]),
                      from = type_of(one.modifiers.back());
    require(!to.empty() && !from.empty() && to != "bool" && from != "bool");
    const std::string source = value(one.operands[1], from);
    const auto rounding = [&]() -> std::string {
      if (one.has("rni") || one.has("rn")) return "nearest";
      if (one.has("rmi") || one.has("rm")) return "down";
      if (one.has("rpi") || one.has("rp")) return "up";
      return "to_zero";
    };
    const std::string how = "::lab::emulator::rounding::" + rounding();
    if (!is_whole(from) && is_whole(to))
      return put(one.operands[0], fmt::format("::lab::emulator::to_whole<{}, {}>({})", to, how, source));
    if (is_whole(from) && is_whole(to))
      return put(one.operands[0],
                 fmt::format("{}<{}>({})", one.has("sat") ? fmt::format("{}clamped", library) : "static_cast",
                             to, source));
    const bool to_integral = one.has("rni") || one.has("rzi") || one.has("rmi") || one.has("rpi");
    std::string text;
    if (to == from) {
      text = to_integral ? fmt::format("::lab::emulator::rounded_whole<{}>({})", how, source) : source;
    } else if (to == "double" && (from == "float" || from.find("long") == std::string::npos)) {
      text = fmt::format("static_cast<double>({})", source);
    } else {
      text = fmt::format("::lab::emulator::narrowed<{}, {}>({})", to, how, source);
    }
    if (one.has("sat")) text = fmt::format("{}saturated<{}>({})", library, to, text);
    return put(one.operands[0],
               flushes_ && to == "float" ? fmt::format("{}flushed({})", library, text) : text);
  }

  // Generic addresses are those of memory; shared ones are small numbers.
  std::string change_space(const instruction& one) {
    require(one.operands.size() == 2 && (one.has("u64") || one.has("u32")));
    const std::string source = value(one.operands[1], "unsigned long long");
    if (!one.has("shared")) return put(one.operands[0], source);
    return put(one.operands[0],
               one.has("to")
                   ? fmt::format("::lab::emulator::shared_number(reinterpret_cast<void*>({}))", source)
                   : fmt::format("reinterpret_cast<std::uintptr_t>({})", of_shared(source)));
  }

  std::string compare(const instruction& one) {
    static const std::map<std::string_view, std::pair<std::string_view, bool>> known{
        {"eq", {"==", false}}, {"ne", {"!=", false}}, {"lt", {"<", false}}, {"le", {"<=", false}},
        {"gt", {">", false}},  {"ge", {">=", false}}, {"lo", {"<", false}}, {"ls", {"<=", false}},
        {"hi", {">", false}},  {"hs", {">=", false}}};
    // setp.lt.and.f32 p, a, b, q;
    const auto combines =
        std::find_if(one.modifiers.begin(), one.modifiers.end(),
                     [](const std::string& word) { return word == "and" || word == "or" || word == "xor"; });
    const bool is_combined = combines != one.modifiers.end();
    require(one.modifiers.size() == (one.has("ftz") ? 3u : 2u) + is_combined &&
            one.operands.size() == 3u + is_combined);
    const std::string t = type(one);
    const std::string a = value(one.operands[1], t), b = value(one.operands[2], t);
    const std::string unordered = fmt::format("({0} != {0} || {1} != {1})", a, b);
    std::string word = one.modifiers[0], truth;
    if (word == "num" || word == "nan") {
      require(!is_whole(t));
      truth = (word == "num" ? "!" : "") + unordered;
    } else {
      // Of numbers with a fraction: a NaN compares as false, and as true with `u` behind the comparison.
      const bool is_unordered = word.size() == 3 && word.ends_with('u');
      if (is_unordered) word.pop_back();
      const auto found = known.find(word);
      require(found != known.end() && !(is_unordered && is_whole(t)));
      truth = fmt::format("({} {} {})", a, found->second.first, b);
      if (is_unordered) truth = fmt::format("({} || {})", truth, unordered);
      if (!is_unordered && word == "ne" && !is_whole(t) && t != "bool")
        truth = fmt::format("({} && !{})", truth, unordered);
    }
    const auto with_other = [&](const std::string& own) {
      if (!is_combined) return own;
      return fmt::format("({} {} {})", own,
                         *combines == "and"  ? "&&"
                         : *combines == "or" ? "||"
                                             : "!=",
                         value(one.operands[3], "bool"));
    };
    const std::size_t bar = one.operands[0].find('|');
    if (bar == std::string::npos) return put(one.operands[0], with_other(truth));
    return fmt::format("{{ const bool lab_truth = {}, lab_other = {}; {}{}}} ", with_other(truth),
                       with_other("!" + truth), put(bare(one.operands[0].substr(0, bar)), "lab_truth"),
                       put(bare(one.operands[0].substr(bar + 1)), "lab_other"));
  }

  std::string shuffle(const instruction& one) {
    static const std::map<std::string_view, std::string_view> known{{"idx", "__shfl_sync"},
                                                                    {"up", "__shfl_up_sync"},
                                                                    {"down", "__shfl_down_sync"},
                                                                    {"bfly", "__shfl_xor_sync"}};
    require(one.modifiers.size() == 3 && one.modifiers[0] == "sync" && one.operands.size() == 5);
    const auto found = known.find(one.modifiers[1]);
    require(found != known.end());
    const std::string width = fmt::format("{}width_of({})", library, value(one.operands[3], "unsigned"));
    const std::string distance = value(one.operands[2], "unsigned");
    const std::string text =
        fmt::format("::{}({}, {}, {}, {})", found->second, value(one.operands[4], "unsigned"),
                    value(one.operands[1], "unsigned"), distance, width);
    const std::size_t bar = one.operands[0].find('|');
    if (bar == std::string::npos) return put(one.operands[0], text);
    // The predicate: whether the lane that is asked for lies in the segment.
    const std::string lane = fmt::format("(::lab::emulator::lane() % static_cast<unsigned>({}))", width);
    const std::string inside =
        found->first == "up"     ? fmt::format("({} >= {})", lane, distance)
        : found->first == "down" ? fmt::format("({} + {} < static_cast<unsigned>({}))", lane, distance, width)
                                 : "true";
    return put(bare(one.operands[0].substr(bar + 1)), inside) +
           put(bare(one.operands[0].substr(0, bar)), text);
  }

  std::string vote(const instruction& one) {
    require(one.modifiers.size() == 3 && one.modifiers[0] == "sync" && one.operands.size() == 3);
    const std::string arguments =
        fmt::format("({}, {})", value(one.operands[2], "unsigned"), value(one.operands[1], "bool"));
    if (one.modifiers[1] == "ballot") return put(one.operands[0], "::__ballot_sync" + arguments);
    if (one.modifiers[1] == "any") return put(one.operands[0], "::__any_sync" + arguments + " != 0");
    if (one.modifiers[1] == "all") return put(one.operands[0], "::__all_sync" + arguments + " != 0");
    throw unknown_instruction{};
  }

  // match.any.sync.b32 lanes, value, mask; match.all.sync.b32 lanes|p, value, mask
  std::string match(const instruction& one) {
    require(one.modifiers.size() == 3 && one.modifiers[1] == "sync" && one.operands.size() == 3);
    const std::string arguments =
        fmt::format("({}, {}", value(one.operands[2], "unsigned"), value(one.operands[1], type(one)));
    if (one.modifiers[0] == "any") return put(one.operands[0], "::__match_any_sync" + arguments + ")");
    require(one.modifiers[0] == "all");
    const std::size_t bar = one.operands[0].find('|');
    return fmt::format("{{ int lab_equal; const unsigned lab_lanes = ::__match_all_sync{}, &lab_equal); ",
                       arguments) +
           put(bare(one.operands[0].substr(0, bar)), "lab_lanes") +
           (bar == std::string::npos ? "" : put(bare(one.operands[0].substr(bar + 1)), "lab_equal != 0")) +
           "} ";
  }

  // `{%0, %1}` as an array of registers.
  [[nodiscard]] std::string registers(const std::string& name, const std::string& of,
                                      const std::string& vector, std::size_t count) const {
    const std::vector<std::string> parts = parts_of(vector);
    require(parts.size() == count);
    std::string text = fmt::format("{} {}[{}] = {{", of, name, count);
    for (const std::string& part : parts) text += value(part, of) + ", ";
    return text + "}; ";
  }
  [[nodiscard]] std::string put_all(const std::string& vector, const std::string& name) const {
    std::string text;
    const std::vector<std::string> parts = parts_of(vector);
    for (std::size_t number = 0; number < parts.size(); ++number)
      text += put(parts[number], fmt::format("{}[{}]", name, number));
    return text;
  }

  // mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c;
  std::string multiply_matrices(const instruction& one) {
    const std::vector<std::string>& words = one.modifiers;
    require(words.size() == 9 && words[0] == "sync" && words[1] == "aligned" && words[3] == "row" &&
            words[4] == "col" && words[6] == words[7] && words[5] == words[8] && one.operands.size() == 4);
    static const std::map<std::string_view, std::pair<std::string_view, int>> factors{
        {"bf16", {"bf16", 2}}, {"f16", {"f16", 2}}, {"tf32", {"tf32", 4}}, {"s8", {"s8", 1}}};
    const auto factor = factors.find(words[6]);
    require(factor != factors.end() && words[2].starts_with("m16n8k"));
    const bool half_sums = words[5] == "f16";
    require(words[5] == (words[6] == "s8" ? "s32" : "f32") || (half_sums && words[6] == "f16"));
    // A register holds 4 bytes of the 16 x k numbers of A, which 32 lanes share.
    const auto a_registers =
        static_cast<std::size_t>(std::atoi(words[2].c_str() + 6) * factor->second.second / 8);
    require(a_registers == 2 || a_registers == 4);
    const std::string sum = half_sums ? "unsigned" : type_of(words[5]);
    return "{ " + registers("lab_d", sum, one.operands[3], half_sums ? 2 : 4) +
           registers("lab_a", "unsigned", one.operands[1], a_registers) +
           registers("lab_b", "unsigned", one.operands[2], a_registers / 2) +
           fmt::format("{}multiply(::lab::emulator::matrix_type::{}, {}, lab_d, lab_a, lab_b); ", library,
                       factor->second.first, half_sums) +
           put_all(one.operands[0], "lab_d") + "} ";
  }

  // wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 d, a, b, accumulates, sign of a, of b, is a not
  // k-major, b; `a` is a tile's descriptor, or four registers, of which the last operand but one says
  // nothing. The sums are where the program has them, since they are written later.
  std::string warpgroup_product(const instruction& one) {
    const std::vector<std::string>&words = one.modifiers, &operands = one.operands;
    require(words.size() >= 3 && words[1] == "sync" && words[2] == "aligned");
    if (words.size() == 3 && words[0] == "fence") return "::lab::wgmma_fence(); ";
    if (words.size() == 3 && words[0] == "commit_group") return "::lab::wgmma_commit(); ";
    if (words.size() == 3 && words[0] == "wait_group")
      return fmt::format("::lab::emulator::wait_for_products({}, ::lab::emulator::place::here()); ",
                         given(one, 0, "unsigned"));
    require(words.size() == 7 && words[0] == "mma_async" && words[3].starts_with("m64n") &&
            words[3].ends_with("k16") && words[4] == "f32" && (words[5] == "f16" || words[5] == "bf16") &&
            words[6] == words[5] && operands.size() >= 7);
    const auto n = static_cast<std::size_t>(std::atoi(words[3].c_str() + 4));
    const bool a_in_registers = operands[1].starts_with('{');
    require(n >= 8 && n <= 256 && n % 8 == 0 && operands.size() == (a_in_registers ? 7 : 8));
    const std::vector<std::string> sums = parts_of(operands[0]);
    require(sums.size() == n / 2);
    std::string text = fmt::format("{{ float* const lab_d[{}] = {{", n / 2);
    for (const std::string& sum : sums) {
      require(name_of(sum).starts_with("lab_operand_"));
      written_later_.insert(name_of(sum));
      text += "&lab_output_" + sum.substr(1) + ", ";
    }
    text += "}; " + (a_in_registers ? registers("lab_a", "unsigned", operands[1], 4)
                                    : fmt::format("const std::uint64_t lab_a = {}; ",
                                                  value(operands[1], "unsigned long long")));
    text += fmt::format("{}begin_product(::lab::emulator::matrix_type::{}, lab_d, lab_a, {}, {}", library,
                        words[5], value(operands[2], "unsigned long long"), value(operands[3], "bool"));
    for (std::size_t number = 4; number < operands.size(); ++number) {
      if (a_in_registers && number == 6) text += ", 0";
      text += ", " + value(operands[number], "int");
    }
    return text + "); } ";
  }

  // wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 d, [p], stride; wmma.store.d.sync.aligned.row.
  // m16n16k16.f32 [p], d, stride; wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c.
  std::string fragments(const instruction& one) {
    const std::vector<std::string>& words = one.modifiers;
    require(words.size() >= 7);
    if (words[0] == "mma") return multiply_fragments(one);
    const bool loads = words[0] == "load";
    require((loads || words[0] == "store") && words[2] == "sync" && words[3] == "aligned" &&
            words.size() - (one.has("shared") || one.has("shared::cta") || one.has("global")) == 7);
    const fragment_type type = fragment_of(words[1], words[4], words[5], words.back());
    require(loads == (words[1] != "d") && (one.operands.size() == 2 || one.operands.size() == 3));
    const std::string& vector = one.operands[loads ? 0 : 1];
    const std::string from = memory(one.operands[loads ? 1 : 0], one.space(), "void");
    const std::string stride = one.operands.size() == 3 ? value(one.operands[2], "unsigned") : type.extent;
    const std::string call = fmt::format("_fragment<{}>(", type.name);
    const bool is_across = type.is_sum && words[4] == "col";
    if (!loads)
      return "{ " + registers("lab_d", type.of, vector, type.registers) +
             fmt::format("{}store{}{}, lab_d, {}, {}); }} ", library, call, from, stride, is_across);
    require(parts_of(vector).size() == type.registers);
    return fmt::format("{{ {} lab_d[{}]{{}}; {}load{}lab_d, {}, {}, {}); ", type.of, type.registers, library,
                       call, from, stride, is_across) +
           put_all(vector, "lab_d") + "} ";
  }

  struct fragment_type {
    std::string name, of, extent;  // the registers' type; a line's elements
    std::size_t registers;
    bool is_sum;
  };
  static fragment_type fragment_of(const std::string& use, const std::string& layout,
                                   const std::string& shape, const std::string& element) {
    static const std::map<std::string_view, std::array<int, 3>> shapes{
        {"m16n16k16", {16, 16, 16}}, {"m32n8k16", {32, 8, 16}}, {"m8n32k16", {8, 32, 16}}};
    const auto found = shapes.find(shape);
    require(found != shapes.end() && (layout == "row" || layout == "col"));
    const auto [m, n, k] = found->second;
    const bool is_sum = use == "c" || use == "d";
    require(is_sum ? element == "f32" || element == "f16"
                   : (use == "a" || use == "b") && (element == "f16" || element == "bf16"));
    const int rows = use == "b" ? k : m, columns = use == "a" ? k : n;
    const std::size_t registers = element == "f32"   ? 8
                                  : is_sum           ? 4
                                  : element == "f16" ? 8
                                                     : rows * columns / 64;
    const std::string type = element == "f32" ? "float" : element == "f16" ? "__half" : "__nv_bfloat16";
    return {fmt::format("nvcuda::wmma::fragment<nvcuda::wmma::{}, {}, {}, {}, {}{}>",
                        is_sum ? "accumulator" : "matrix_" + use, m, n, k, type,
                        is_sum ? "" : ", nvcuda::wmma::" + layout + "_major"),
            element == "f32" ? "float" : "unsigned", std::to_string(layout == "row" ? columns : rows),
            registers, is_sum};
  }

  std::string multiply_fragments(const instruction& one) {
    const std::vector<std::string>& words = one.modifiers;
    const bool is_half = words.size() == 8;
    require((is_half || (words.size() == 10 && words[7] == "bf16" && words[8] == "bf16")) &&
            words[1] == "sync" && words[2] == "aligned" && one.operands.size() == 4);
    const std::string factor = is_half ? "f16" : "bf16";
    const std::array<fragment_type, 4> types{
        fragment_of("d", "row", words[5], words[6]), fragment_of("a", words[3], words[5], factor),
        fragment_of("b", words[4], words[5], factor), fragment_of("c", "row", words[5], words.back())};
    std::string text = "{ ", call;
    for (std::size_t number = 0; number < types.size(); ++number) {
      const std::string name = std::string("lab_") + "dabc"[number], registers_of = name + "_registers";
      text += fmt::format("{} {}; ", types[number].name, name);
      if (number == 0) {
        require(parts_of(one.operands[0]).size() == types[0].registers);
        text += fmt::format("{} {}[{}]; ", types[0].of, registers_of, types[0].registers);
      } else {
        text += registers(registers_of, types[number].of, one.operands[number], types[number].registers) +
                fmt::format("std::memcpy({0}.x, {1}, sizeof {0}.x); ", name, registers_of);
      }
      call += (number == 0 ? "" : ", ") + name;
    }
    return text +
           fmt::format("nvcuda::wmma::mma_sync({}); std::memcpy(lab_d_registers, lab_d.x, sizeof lab_d.x); ",
                       call) +
           put_all(one.operands[0], "lab_d_registers") + "} ";
  }

  // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 d, [row]; and stmatrix, with its operands in the other
  // order.
  std::string carry_matrices(const instruction& one) {
    const std::size_t count = one.has("x1") ? 1 : one.has("x2") ? 2 : 4;
    require(one.has("sync") && one.has("aligned") && one.has("m8n8") && one.has("b16") &&
            (one.has("x1") || one.has("x2") || one.has("x4")) && one.operands.size() == 2);
    const bool loads = one.opcode == "ldmatrix", is_transposed = one.has("trans");
    const std::string& vector = one.operands[loads ? 0 : 1];
    const std::string row = memory(one.operands[loads ? 1 : 0], one.space(), "void");
    if (!loads)
      return "{ " + registers("lab_s", "unsigned", vector, count) +
             fmt::format("{}store_rows<{}>({}, lab_s); }} ", library, is_transposed, row);
    require(parts_of(vector).size() == count);
    return fmt::format("{{ unsigned lab_d[{}]; {}load_rows<{}>(lab_d, {}); ", count, library, is_transposed,
                       row) +
           put_all(vector, "lab_d") + "} ";
  }

  std::string barrier(const instruction& one) {
    const std::size_t count = one.operands.size();
    if (one.has("warp")) {
      require(count == 1);
      return fmt::format("::__syncwarp({}); ", value(one.operands[0], "unsigned"));
    }
    if (one.has("arrive"))
      return fmt::format("::lab::emulator::arrive_at_named_barrier({}, {}, {}); ", given(one, 0, "int"),
                         given(one, 1, "int"), here);
    require(one.has("sync") && (count == 1 || count == 2));
    if (count == 1 && one.operands[0] == "0") return "::__syncthreads(); ";
    return fmt::format("::lab::emulator::wait_at_named_barrier({}, {}, false, {}); ",
                       value(one.operands[0], "int"), count == 2 ? value(one.operands[1], "int") : "{}",
                       here);
  }

  [[nodiscard]] std::string control(const instruction& one) const {
    const std::vector<std::string>& words = one.modifiers;
    if (one.opcode == "griddepcontrol" && one.has("wait")) return "::lab::grid_dependency_sync(); ";
    if (one.opcode == "griddepcontrol" && one.has("launch_dependents"))
      return "::lab::trigger_dependents(); ";
    require(one.opcode == "setmaxnreg" && words.size() == 4 && (words[0] == "inc" || words[0] == "dec") &&
            one.operands.size() == 1);
    return fmt::format("::lab::emulator::change_registers({}, {}, ::lab::emulator::place::here()); ",
                       value(one.operands[0], "int"), words[0] == "inc");
  }

  [[nodiscard]] static const std::string& first(const instruction& one) {
    require(!one.operands.empty());
    return one.operands[0];
  }
  // The operand of this number, an address in this space.
  [[nodiscard]] std::string address(const instruction& one, std::size_t number, memory_space space,
                                    const std::string& type) const {
    require(number < one.operands.size());
    return memory(one.operands[number], space, type);
  }
  static void require_words(const instruction& one, const std::set<std::string_view>& known) {
    for (const std::string& word : one.modifiers) require(known.count(word) != 0);
  }

  // mbarrier.init.shared::cta.b64 [a], count; mbarrier.arrive.expect_tx.shared::cta.b64 state, [a], bytes;
  // mbarrier.try_wait.parity.shared::cta.b64 p, [a], parity.
  std::string phase_barrier(const instruction& one) {
    require_words(
        one, {"init", "inval", "arrive", "expect_tx", "try_wait", "test_wait", "parity", "relaxed", "release",
              "acquire", "cta", "cluster", "shared", "b64", "shared::cta", "shared::cluster"});
    require(!one.modifiers.empty());
    const std::string& what = one.modifiers.front();
    const auto barrier = [&](std::size_t number) {
      return address(one, number, one.space(), "std::uint64_t");
    };
    if (what == "init")
      return fmt::format("::lab::emulator::initialise_phases({}, {}, {}); ", barrier(0), given(one, 1, "int"),
                         here);
    if (what == "inval") return "";
    if (what == "expect_tx")
      return fmt::format("::lab::emulator::arrive_in_phase({}, false, {}, {}); ", barrier(0),
                         given(one, 1, "int"), here);
    if (what == "arrive") {
      const std::string number = one.operands.size() > 2 ? given(one, 2, "int") : "";
      const bool expects = one.has("expect_tx");
      return put(first(one),
                 fmt::format("{}arrive({}, {}, {}, {})", library, barrier(1),
                             expects || number.empty() ? "1" : number, expects ? number : "0", here));
    }
    require(what == "try_wait" || what == "test_wait");
    return put(first(one), fmt::format("::lab::emulator::try_wait_for_phase({}, {} & 1, {})", barrier(1),
                                       given(one, 2, "unsigned"), here));
  }

  // The box of a tensor copy: [map, {x, y}].
  [[nodiscard]] std::string box(const instruction& one, std::size_t number) const {
    require(number < one.operands.size());
    const std::string& operand = one.operands[number];
    require(operand.size() > 2 && operand.front() == '[' && operand.back() == ']');
    const std::vector<std::string> parts = split(std::string_view(operand).substr(1, operand.size() - 2));
    require(parts.size() == 2);
    std::string text = fmt::format("{}box_of({}, {{", library, value(parts[0], "unsigned long long"));
    for (const std::string& one_coordinate : parts_of(parts[1])) text += value(one_coordinate, "int") + ", ";
    return text + "})";
  }

  // cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];
  // cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes; and the same of tensors.
  std::string bulk_copy(const instruction& one) {
    require_words(one, {"async",
                        "bulk",
                        "tensor",
                        "prefetch",
                        "L2",
                        "global",
                        "shared::cluster",
                        "shared::cta",
                        "mbarrier::complete_tx::bytes",
                        "bulk_group",
                        "1d",
                        "2d",
                        "3d",
                        "4d",
                        "5d",
                        "tile",
                        "multicast::cluster",
                        "L2::cache_hint",
                        "commit_group",
                        "wait_group",
                        "read"});
    if (one.has("commit_group")) return "::lab::commit_group(); ";
    if (one.has("wait_group"))
      return fmt::format("::lab::emulator::wait_for_copies_out({}, {}); ", given(one, 0, "unsigned"),
                         !one.has("read"));
    const bool is_tensor = one.has("tensor");
    const auto digit = std::find_if(one.modifiers.begin(), one.modifiers.end(), [](const std::string& word) {
      return word.size() == 2 && word[1] == 'd';
    });
    require(!is_tensor || digit != one.modifiers.end());
    const std::string dimensions = is_tensor ? digit->substr(0, 1) : "";
    if (one.has("prefetch"))
      return is_tensor ? ""
                       : fmt::format("::lab::emulator::check_prefetch({}, {}, {}); ",
                                     address(one, 0, memory_space::generic, "void"),
                                     given(one, 1, "unsigned"), here);
    if (one.has("bulk_group")) {
      const std::string from = address(one, 1, memory_space::shared, "void");
      if (is_tensor)
        return fmt::format("::lab::emulator::tensor_copy_out({}, {}, {}, {}); ", box(one, 0), dimensions,
                           from, here);
      return fmt::format("::lab::emulator::copy_out_in_bulk({}, {}, {}, {}); ",
                         address(one, 0, memory_space::generic, "void"), from, given(one, 2, "unsigned"),
                         here);
    }
    require(one.has("mbarrier::complete_tx::bytes"));
    const std::string to = address(one, 0, memory_space::shared, "void");
    const std::string barrier = address(one, is_tensor ? 2 : 3, memory_space::shared, "std::uint64_t");
    const std::string blocks =
        one.has("multicast::cluster") ? given(one, is_tensor ? 3 : 4, "unsigned") : "{}";
    if (is_tensor)
      return fmt::format("::lab::emulator::tensor_copy_in({}, {}, {}, {}, {}, {}); ", to, box(one, 1),
                         dimensions, barrier, blocks, here);
    const std::string bytes = given(one, 2, "unsigned");
    if (!one.has("global"))
      return fmt::format("::lab::emulator::copy_to_block({}, {}, {}, {}, {}); ", to,
                         address(one, 1, memory_space::shared, "void"), bytes, barrier, here);
    return fmt::format("::lab::emulator::copy_in_bulk({}, {}, {}, {}, {}, {}); ", to,
                       address(one, 1, memory_space::generic, "void"), bytes, barrier, blocks, here);
  }

  // mapa.shared::cluster.u32 there, own, rank; barrier.cluster.arrive and .wait.
  [[nodiscard]] std::string of_cluster(const instruction& one) const {
    require_words(one, {"cluster", "arrive", "wait", "release", "acquire", "relaxed", "aligned",
                        "shared::cluster", "u32", "u64"});
    if (one.opcode == "barrier") {
      require(one.has("arrive") != one.has("wait"));
      return one.has("arrive") ? "::lab::cluster_arrive(); " : "::lab::cluster_wait(); ";
    }
    const std::string own = given(one, 1, "unsigned long long");
    if (one.has("shared::cluster"))
      return put(first(one),
                 fmt::format("{}shared_of_block({}, {}, {})", library, own, given(one, 2, "unsigned"), here));
    return put(first(one), fmt::format("reinterpret_cast<std::uint64_t>(::lab::emulator::map_to_block("
                                       "reinterpret_cast<void*>({}), {}, {}))",
                                       own, given(one, 2, "unsigned"), here));
  }

  // elect.sync lane|p, mask
  [[nodiscard]] std::string elect(const instruction& one) const {
    require(one.modifiers.size() == 1 && one.modifiers[0] == "sync" && one.operands.size() == 2);
    const std::size_t bar = first(one).find('|');
    require(bar != std::string::npos);
    const std::string leader = fmt::format("std::countr_zero({})", given(one, 1, "unsigned"));
    return put(bare(first(one).substr(bar + 1)),
               fmt::format("::lab::emulator::lane() == static_cast<unsigned>({})", leader)) +
           put(bare(first(one).substr(0, bar)), fmt::format("static_cast<unsigned>({})", leader));
  }

  // Done again when it is waited for.
  std::string asynchronous_copy(const instruction& one) {
    require(!one.modifiers.empty() && one.modifiers[0] == "async");
    // Without noinc the phase waits for one arrival more, which is this one.
    if (one.has("mbarrier"))
      return fmt::format("::lab::emulator::arrive_behind_copies({}, {}, {}); ",
                         address(one, 0, memory_space::shared, "std::uint64_t"), !one.has("noinc"), here);
    if (one.has("commit_group")) return "::lab::emulator::commit_copies(); ";
    if (one.has("wait_group")) {
      require(one.operands.size() == 1);
      return fmt::format("::lab::emulator::wait_for_copies({}); ", value(one.operands[0], "unsigned"));
    }
    if (one.has("wait_all")) return "::lab::emulator::wait_for_copies(0, true); ";
    require(one.has("ca") || one.has("cg"));
    require(one.operands.size() == 3 || one.operands.size() == 4);
    const std::string bytes = value(one.operands[2], "unsigned");
    const std::string taken = one.operands.size() == 4 ? value(one.operands[3], "unsigned") : bytes;
    return fmt::format(
        "for (unsigned lab_byte = 0; lab_byte < {0}; ++lab_byte) {1}[lab_byte] = lab_byte < {2} ? "
        "{3}[lab_byte] "
        ": 0; ::lab::emulator::begin_copy({1}, {3}, {0}, {2}); ",
        bytes, memory(one.operands[0], one.space(), "unsigned char"), taken,
        memory(one.operands[1], memory_space::generic, "unsigned char"));
  }

  static std::size_t width(const instruction& one) { return one.has("v2") ? 2 : one.has("v4") ? 4 : 1; }
  std::string load(const instruction& one) {
    require(one.operands.size() == 2 || one.operands.size() == 3);  // the third is a cache's policy
    const std::string t = type(one);
    const std::string from = memory(one.operands[1], one.space(), "const volatile " + t);
    const std::string after = one.has("acquire") ? "::__threadfence(); " : "";
    if (width(one) == 1) return put(one.operands[0], "*" + from) + after;
    const std::vector<std::string> parts = parts_of(one.operands[0]);
    require(parts.size() == width(one));
    std::string text = fmt::format("{{ const volatile {}* const lab_from = {}; ", t, from);
    for (std::size_t number = 0; number < parts.size(); ++number)
      text += put(parts[number], fmt::format("lab_from[{}]", number));
    return text + "} " + after;
  }
  std::string store(const instruction& one) {
    require(one.operands.size() == 2 || one.operands.size() == 3);
    const std::string t = type(one);
    const std::string to = memory(one.operands[0], one.space(), "volatile " + t);
    const std::string before = one.has("release") ? "::__threadfence(); " : "";
    if (width(one) == 1) return fmt::format("{}*{} = {}; ", before, to, value(one.operands[1], t));
    const std::vector<std::string> parts = parts_of(one.operands[1]);
    require(parts.size() == width(one));
    std::string text = fmt::format("{}{{ volatile {}* const lab_to = {}; ", before, t, to);
    for (std::size_t number = 0; number < parts.size(); ++number)
      text += fmt::format("lab_to[{}] = {}; ", number, value(parts[number], t));
    return text + "} ";
  }

  std::string atomic(const instruction& one) {
    static const std::map<std::string_view, std::string_view> known{
        {"add", "atomicAdd"}, {"min", "atomicMin"}, {"max", "atomicMax"},   {"and", "atomicAnd"},
        {"or", "atomicOr"},   {"xor", "atomicXor"}, {"exch", "atomicExch"}, {"cas", "atomicCAS"},
        {"inc", "atomicInc"}, {"dec", "atomicDec"}};
    const bool gives = one.opcode == "atom";
    const std::size_t first = gives ? 1 : 0;
    std::string_view function;
    for (const std::string& word : one.modifiers) {
      if (const auto found = known.find(word); found != known.end()) function = found->second;
    }
    require(!function.empty() && width(one) == 1 &&
            one.operands.size() == first + (function == "atomicCAS" ? 3 : 2));
    std::string t = type(one);
    if (t == "long long" && function == "atomicAdd") t = "unsigned long long";
    std::string text = fmt::format("::{}({}", function, memory(one.operands[first], one.space(), t));
    for (std::size_t number = first + 1; number < one.operands.size(); ++number)
      text += ", " + value(one.operands[number], t);
    text += ")";
    const bool orders = one.has("acq_rel");
    return (orders || one.has("release") ? "::__threadfence(); " : "") +
           (gives ? put(one.operands[0], text) : fmt::format("static_cast<void>({}); ", text)) +
           (orders || one.has("acquire") ? "::__threadfence(); " : "");
  }

  std::size_t count_;
  bool flushes_ = false;  // the instruction makes zeros of subnormal numbers
  std::map<std::string, std::string> locals_;
  std::set<std::string> written_later_;
  std::map<std::string, std::vector<std::string>> targets_;  // of tables of branches
  std::vector<scope> scopes_;
  std::set<std::string> labels_;
  std::map<std::string, std::string> jumps_;  // by their label, an instruction that goes there
  std::string label_;                         // the last one
  std::string current_;
};

std::string register_type(char constraint) {
  switch (constraint) {
    case 'h':
      return "unsigned short";
    case 'r':
      return "unsigned";
    case 'l':
      return "unsigned long long";
    case 'f':
      return "float";
    case 'd':
      return "double";
    case 'n':
    case 'i':
      return "long long";
    default:
      throw unknown_instruction{};
  }
}

}  // namespace

translated_ptx translate_inline_ptx(const std::string& ptx, const std::vector<ptx_operand>& operands) {
  translation work(operands);
  try {
    const std::string body = work.statements(ptx);
    std::string before, after;
    for (std::size_t number = 0; number < operands.size(); ++number) {
      const ptx_operand& one = operands[number];
      const bool is_output = one.constraint.starts_with('=') || one.constraint.starts_with('+');
      const std::string type = register_type(one.constraint.empty() ? '\0' : one.constraint.back());
      // In order, with references to what is changed, so that an expression is evaluated once.
      if (is_output) {
        before += fmt::format("auto&& lab_output_{} = {}; ", number, one.expression);
        if (!work.is_written_later(number))
          after += fmt::format("{}leave(lab_output_{}, lab_operand_{}); ", library, number, number);
      }
      if (one.constraint.starts_with('=')) {
        before += fmt::format("{} lab_operand_{}{{}}; ", type, number);
      } else {
        before += fmt::format("{} lab_operand_{} = {}enter<{}>({}); ", type, number, library, type,
                              is_output ? fmt::format("lab_output_{}", number) : one.expression);
      }
    }
    return {fmt::format("({{ {}{}{}static_cast<void>(0); }})", before, body, after), ""};
  } catch (const unknown_instruction&) {
    return {"", work.current()};
  }
}

}  // namespace lab::front
