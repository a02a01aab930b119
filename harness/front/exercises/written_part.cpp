#include "harness/front/exercises/written_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "harness/front/emulate/tokens.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"

namespace lab::front {
namespace {

// clang-format off
// C++'s own words. Left out is what reaches beyond a function (static, extern, namespace), what CUDA's device
// code does not have (throw, typeid), what makes pointers of anything (union, decltype), and asm and goto.
const word_set& language() {
  static const word_set words{
      "alignas", "alignof", "and", "and_eq", "auto", "bitand", "bitor", "bool", "break", "case", "char",
      "char16_t", "char32_t", "char8_t", "class", "compl", "const", "const_cast", "constexpr", "continue",
      "default", "do", "double", "else", "enum", "explicit", "false", "final", "float", "for", "if", "inline",
      "int", "long", "mutable", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "override",
      "private", "protected", "public", "return", "short", "signed", "sizeof", "static_assert", "static_cast",
      "struct", "switch", "template", "this", "true", "typename", "unsigned", "void", "volatile", "wchar_t",
      "while", "xor", "xor_eq"};
  return words;
}

// C++'s words that are refused unless the exercise's own solution needs them.
const word_set& refused_words() {
  static const word_set words{
      "asm", "catch", "co_await", "co_return", "co_yield", "concept", "consteval", "constinit", "decltype",
      "delete", "dynamic_cast", "export", "extern", "friend", "goto", "namespace", "new", "register",
      "reinterpret_cast", "requires", "static", "thread_local", "throw", "try", "typedef", "typeid", "union",
      "using", "virtual"};
  return words;
}

// What a kernel has from CUDA and from the standard library without effects.
const word_set& device_words() {
  static const word_set words{
      "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "uint3", "x", "y", "z", "w",
      "__device__", "__host__", "__shared__", "__restrict__", "__forceinline__", "__noinline__",
      "__syncthreads", "__syncthreads_and", "__syncthreads_or", "__syncthreads_count", "__syncwarp",
      "__threadfence", "__threadfence_block", "__threadfence_system", "__activemask", "__all_sync",
      "__any_sync", "__ballot_sync", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
      "__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync", "__ldg", "__ldca", "__ldcg", "__ldcs",
      "__ldcv", "__ldlu", "__stcg", "__stcs", "__stwb", "__stwt", "__clz", "__clzll", "__popc", "__popcll",
      "__ffs", "__ffsll", "__brev", "__brevll", "__byte_perm", "__funnelshift_l", "__funnelshift_r",
      "__funnelshift_lc", "__funnelshift_rc", "__mulhi", "__umulhi", "__mul64hi", "__umul64hi", "__dp4a",
      "__float_as_int", "__float_as_uint", "__int_as_float", "__uint_as_float", "__double_as_longlong",
      "__longlong_as_double", "__double2hiint", "__double2loint", "__fadd_rn", "__fsub_rn", "__fmul_rn",
      "__fdiv_rn", "__fmaf_rn", "__frcp_rn", "__fsqrt_rn", "__dadd_rn", "__dsub_rn", "__dmul_rn",
      "__ddiv_rn", "__dsqrt_rn", "__fma_rn", "__fdividef", "__saturatef", "__expf", "__exp10f", "__logf",
      "__log2f", "__log10f", "__sinf", "__cosf", "__tanf", "__powf", "__nanosleep", "__trap", "clock64",
      "atomicAdd", "atomicSub", "atomicExch", "atomicMin", "atomicMax", "atomicInc", "atomicDec",
      "atomicCAS", "atomicAnd", "atomicOr", "atomicXor", "min", "max", "abs", "llabs", "fabs", "fabsf",
      "fmin", "fminf", "fmax", "fmaxf", "fma", "fmaf", "sqrt", "sqrtf", "rsqrt", "rsqrtf", "cbrt", "cbrtf",
      "exp", "expf", "exp2", "exp2f", "expm1", "expm1f", "log", "logf", "log2", "log2f", "log10", "log10f",
      "log1p", "log1pf", "pow", "powf", "sin", "sinf", "cos", "cosf", "tan", "tanf", "asin", "asinf", "acos",
      "acosf", "atan", "atanf", "atan2", "atan2f", "sinh", "cosh", "tanh", "tanhf", "floor", "floorf",
      "ceil", "ceilf", "round", "roundf", "rint", "rintf", "trunc", "truncf", "fmod", "fmodf", "copysign",
      "copysignf", "signbit", "isnan", "isinf", "isfinite", "hypot", "hypotf", "printf", "assert",
      "std", "size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
      "uint32_t", "uint64_t", "uintptr_t", "numeric_limits", "infinity", "quiet_NaN", "epsilon", "lowest", "clamp",
      "is_same_v", "conditional_t", "NAN", "INFINITY", "INT_MAX", "INT_MIN", "UINT_MAX", "FLT_MAX",
      "DBL_MAX"};
  return words;
}
// clang-format on

// int4, uchar2, longlong2, make_float4: CUDA's vectors, up to four values.
bool is_vector_word(const std::string& word) {
  return is_match(word, "(make_)?(u?(char|short|int|long|longlong)|float|double)[1-4]");
}

// What a stage's host code is made of. A part that called it would launch kernels of its own, copy where
// nobody counts, or register another stage.
bool is_for_hosts(const std::string& word) {
  static const word_set words{"lab",          "launch",     "launch_one", "launch_early",
                              "registration", "registered", "nvtx_range", "prepare",
                              "problem",      "cub",        "thrust",     "emulator",
                              "harness",      "main",       "free",       "malloc"};
  return words.contains(word) || word.rfind("cuda", 0) == 0 || word.rfind("CUDA_", 0) == 0 ||
         word.rfind("LAB_", 0) == 0;
}

bool is_reserved(std::string_view word) {
  if (word.find("__") != std::string_view::npos) return true;
  return word.size() > 1 && word[0] == '_' && std::isupper(static_cast<unsigned char>(word[1])) != 0;
}

void add_identifiers(const std::string& text, word_set& words, bool hosts_too) {
  const token_list found = tokens_of(text);
  for (const token& one : found.tokens) {
    const std::string word(one.text);
    if (one.kind != token_kind::identifier) continue;
    if (hosts_too || (!is_for_hosts(word) && !is_reserved(word) && !refused_words().contains(word)))
      words.insert(word);
  }
}

class part_reader {
 public:
  part_reader(const std::string& text, std::size_t first, const std::string& name, const word_set& words)
      : text_(text), first_(first), name_(name), words_(words) {}

  std::string run() {
    check_characters();
    const token_list found = tokens_of(text_);
    tokens_ = found.tokens;
    std::size_t end = 0;
    for (const token& one : tokens_) {
      check_gap(end, one.offset);
      end = one.offset + one.text.size();
    }
    check_gap(end, text_.size());
    if (tokens_.empty())
      refuse(0, fmt::format("nothing is written yet between '// exercise: {}' and '// end'", name_));
    for (at_ = 0; at_ < tokens_.size(); ++at_) check_token();
    check_braces();
    return renamed();
  }

 private:
  [[noreturn]] void refuse(std::size_t offset, const std::string& why) const {
    const auto begin = text_.begin();
    const auto lines =
        std::count(begin, begin + static_cast<std::ptrdiff_t>(std::min(offset, text_.size())), '\n');
    throw source_error(first_ + static_cast<std::size_t>(lines), why);
  }
  [[nodiscard]] std::string_view near(std::ptrdiff_t away) const {
    const auto index = static_cast<std::ptrdiff_t>(at_) + away;
    if (index < 0 || index >= std::ssize(tokens_)) return "";
    return tokens_[static_cast<std::size_t>(index)].text;
  }

  // What a compiler may take for something else than it looks like, wherever it stands.
  void check_characters() const {
    for (std::size_t k = 0; k < text_.size(); ++k) {
      const auto c = static_cast<unsigned char>(text_[k]);
      if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
        refuse(k, "a control character has no place in an exercise");
      // g++ joins the lines with spaces behind the backslash as well.
      if (c == '\\') {
        const std::size_t next = text_.find_first_not_of(" \t", k + 1);
        if (next == std::string::npos || text_[next] == '\n')
          refuse(k, "a backslash at a line's end has no place in an exercise: it joins the next line");
      }
      if (c == '?' && text_.compare(k, 2, "??") == 0 && k + 2 < text_.size() &&
          std::string_view("=/'()!<>-").find(text_[k + 2]) != std::string_view::npos)
        refuse(k, "a trigraph has no place in an exercise");
    }
  }

  // Between two tokens stand spaces, comments that end, and #pragma unroll.
  void check_gap(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end;) {
      if (std::isspace(static_cast<unsigned char>(text_[k])) != 0) {
        ++k;
      } else if (text_.compare(k, 2, "//") == 0) {
        k = std::min(text_.find('\n', k), end);
      } else if (text_.compare(k, 2, "/*") == 0) {
        const std::size_t close = text_.find("*/", k + 2);
        if (close == std::string::npos || close + 2 > end) refuse(k, "a comment does not end");
        k = close + 2;
      } else if (text_[k] == '#') {
        const std::size_t line = std::min(text_.find('\n', k), end);
        constexpr const char* unroll = "#[ \t]*pragma[ \t]+(no)?unroll([ \t(][A-Za-z0-9_ \t()]*)?(//.*)?";
        if (!is_match(text_.substr(k, line - k), unroll))
          refuse(k, "a preprocessor's line other than #pragma unroll has no place in an exercise");
        k = line;
      } else {
        refuse(k, text_[k] == '"' || text_[k] == '\'' ? "a text or a character does not end on its line"
                                                      : "a character that C++ has no use for");
      }
    }
  }

  void check_token() const {
    const token& one = tokens_[at_];
    switch (one.kind) {
      case token_kind::identifier:
        return check_word(one);
      case token_kind::literal:
        // It may hold line ends, which whoever looks for markers takes for the source's own.
        for (const std::string_view prefix : {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""}) {
          if (one.text.substr(0, prefix.size()) == prefix)
            refuse(one.offset, "a raw string has no place in a kernel");
        }
        return;
      case token_kind::number:
        if (one.text.find('_') != std::string_view::npos)
          refuse(one.offset, "a number with a name behind it has no place in a kernel");
        return;
      case token_kind::punctuator:
        return check_punctuator(one);
    }
  }

  void check_word(const token& one) const {
    const std::string word(one.text);
    const auto quoted = [&] { return cleaned(word, 60); };
    if (std::any_of(word.begin(), word.end(), [](char c) { return c == '$' || (c & 0x80) != 0; }))
      refuse(one.offset, "a name has letters, digits and _ alone");
    if (words_.contains(word) || language().contains(word) || device_words().contains(word)) {
      const bool is_untyped = near(1) == "*" || (near(1) == "const" && near(2) == "*");
      if (word == "void" && is_untyped && !words_.contains("void*"))
        refuse(one.offset, "void* has no place in this part: pointers keep their type");
      return;
    }
    if (word == "static" && near(1) == "constexpr") return;
    if (word == "extern" && near(1) == "__shared__") return;
    if (refused_words().contains(word))
      refuse(one.offset, fmt::format("'{}' has no place in this part of a kernel", quoted()));
    if (is_reserved(word))
      refuse(one.offset, fmt::format("'{}' is no function or word that a part of a kernel may use: what may "
                                     "be used is C++, CUDA's device functions, and what stage.cu names",
                                     quoted()));
  }

  void check_punctuator(const token& one) const {
    const std::string_view next = near(1);
    const bool adjacent = at_ + 1 < tokens_.size() && tokens_[at_ + 1].offset == one.offset + one.text.size();
    const auto pair = [&](std::string_view first, std::string_view second) {
      return one.text == first && next.substr(0, second.size()) == second && adjacent;
    };
    if (pair("<", "%") || pair("%", ">") || pair("<", ":") || pair(":", ">") || pair("%", ":"))
      refuse(one.offset, "a digraph has no place in an exercise: write the bracket or brace itself");
    if (one.text == "#" || one.text == "##" || one.text == "\\" || one.text == "@" || one.text == "`") {
      refuse(one.offset, one.text[0] == '#'
                             ? "a preprocessor's line other than #pragma unroll has no place in an exercise"
                             : "a character that C++ has no use for");
    }
    if (one.text == "[" && next == "[") {
      static const word_set harmless{"maybe_unused", "likely", "unlikely", "fallthrough"};
      if (!harmless.contains(near(2)) || near(3) != "]" || near(4) != "]")
        refuse(one.offset, "an attribute has no place in a part of a kernel");
    }
    if (one.text == "(" && (next == "*" || next == "&")) check_function_pointer(one);
    if (one.text == ")" && near(-1) == "*") check_pointer_cast(one);
  }

  // "(*name)(" declares a pointer to a function, and calls through one.
  void check_function_pointer(const token& one) const {
    std::ptrdiff_t away = 1;
    while (near(away) == "*" || near(away) == "&" || near(away) == "const") ++away;
    const bool has_name = at_ + static_cast<std::size_t>(away) < tokens_.size() &&
                          tokens_[at_ + static_cast<std::size_t>(away)].kind == token_kind::identifier;
    if (has_name) ++away;
    const bool is_condition = near(-1) == "if" || near(-1) == "while";
    if (near(away) == ")" && near(away + 1) == "(" && !is_condition)
      refuse(one.offset, "a pointer to a function has no place in a part of a kernel");
  }

  // "(double*)x": a pointer of anything.
  void check_pointer_cast(const token& one) const {
    std::ptrdiff_t away = -1;
    for (int depth = 1; depth > 0 && near(away) != ""; --away) {
      if (near(away) == ")") ++depth;
      if (near(away) == "(") --depth;
    }
    const std::string_view before = near(away);
    if (before == "]" || before == "sizeof" || before == "alignof") return;
    refuse(one.offset, "a cast to a pointer in parentheses has no place in a kernel: name the cast");
  }

  // All brackets close where they opened: nothing after the part means anything else than before.
  void check_braces() const {
    std::vector<const token*> open;
    for (const token& one : tokens_) {
      if (one.kind != token_kind::punctuator) continue;
      if (one.text == "{" || one.text == "(" || one.text == "[") open.push_back(&one);
      if (one.text != "}" && one.text != ")" && one.text != "]") continue;
      const char wanted = one.text == "}" ? '{' : one.text == ")" ? '(' : '[';
      if (open.empty() || open.back()->text[0] != wanted) {
        refuse(one.offset,
               fmt::format("a closing {} has no opening one in this part", wanted == '{'   ? "brace"
                                                                           : wanted == '(' ? "parenthesis"
                                                                                           : "bracket"));
      }
      open.pop_back();
    }
    if (!open.empty()) {
      refuse(open.back()->offset, fmt::format("a {} that opens in this part does not close in it",
                                              open.back()->text == "{"   ? "brace"
                                              : open.back()->text == "(" ? "parenthesis"
                                                                         : "bracket"));
    }
  }

  [[nodiscard]] std::string renamed() const {
    std::string result;
    std::size_t kept = 0;
    for (const token& one : tokens_) {
      const bool is_known = one.kind != token_kind::identifier || words_.contains(one.text) ||
                            language().contains(one.text) || device_words().contains(one.text) ||
                            one.text == "static" || one.text == "extern" ||
                            is_vector_word(std::string(one.text));
      const bool is_attribute = one.text == "maybe_unused" || one.text == "likely" ||
                                one.text == "unlikely" || one.text == "fallthrough";
      if (is_known || is_attribute) continue;
      result += text_.substr(kept, one.offset - kept);
      result += own_prefix;
      kept = one.offset;
    }
    return result + text_.substr(kept);
  }

  const std::string& text_;
  std::size_t first_;
  const std::string& name_;
  const word_set& words_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

word_set words_for(const exercise& exercise, const std::string& stage_source) {
  word_set words(exercise.words.begin(), exercise.words.end());
  add_identifiers(stage_source, words, false);
  const std::vector<std::string> lines = lines_of(stage_source);
  for (const marked_region& region : find_regions(lines)) {
    const bool is_own = std::any_of(exercise.regions.begin(), exercise.regions.end(),
                                    [&](const exercise_region& one) { return one.name == region.name; });
    if (!is_own) continue;
    std::string text;
    for (std::size_t line = region.first; line < region.end; ++line) text += lines[line - 1] + "\n";
    add_identifiers(text, words, true);
    if (text.find("void*") != std::string::npos) words.insert("void*");
  }
  for (const exercise_region& region : exercise.regions) {
    for (const std::string& line : region.start) add_identifiers(line, words, true);
  }
  return words;
}

std::string admitted_part(const std::string& text, std::size_t first, const std::string& name,
                          const word_set& words) {
  return part_reader(text, first, name, words).run();
}

std::string without_own_prefix(std::string message) {
  // The compiler's suggestion would be the name as the student has written it.
  if (message.find(own_prefix) != std::string::npos)
    message.erase(std::min(message.find("; did you mean"), message.size()));
  for (std::size_t at = message.find(own_prefix); at != std::string::npos; at = message.find(own_prefix, at))
    message.erase(at, own_prefix.size());
  return message;
}

}  // namespace lab::front
