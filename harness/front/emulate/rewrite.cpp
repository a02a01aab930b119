#include "harness/front/emulate/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "harness/front/emulate/inline_ptx.hpp"
#include "harness/front/emulate/tokens.hpp"

namespace lab::front {
namespace {

constexpr std::string_view chevron_launch = "::lab::emulator::chevrons(";
constexpr std::string_view launch_bounds = "__lab_launch_bounds__";  // within __attribute__(( ))
constexpr std::string_view lambda_argument = "lab_arguments";
constexpr std::string_view dynamic_shared = "::lab::emulator::dynamic_shared_memory{}";

// Words that only what is not emulated has, and what to do instead. A name with `*` is a beginning.
struct refused_word {
  std::string_view word;
  std::string_view message;
};
constexpr std::string_view clusters =
    "of thread block clusters cooperative_groups::this_cluster() and PTX are emulated, and no other function";
constexpr std::string_view matrix_instructions =
    "this matrix instruction is not emulated; use mma.sync, wmma, ldmatrix or wgmma of bfloat16 or half";
constexpr std::string_view narrow_numbers =
    "numbers of 8 bits and fewer are not emulated; use half or bfloat16";
constexpr std::string_view between_processes =
    "memory shared between processes is not emulated; use one process";
constexpr std::string_view mipmaps =
    "textures with levels (mipmaps) are not emulated; make a texture of each level's array";
constexpr std::string_view run_time_modules =
    "kernels that are loaded at run time as PTX or as a cubin need a GPU; compile them with the program and "
    "launch "
    "them with <<<>>>";
constexpr std::string_view virtual_memory =
    "the driver's virtual memory management is not emulated; allocate with cudaMalloc()";
constexpr std::string_view conditional_graphs =
    "conditional nodes of graphs are not emulated; decide on the host between two launches";
constexpr std::string_view graph_memory =
    "nodes that allocate memory are not emulated; allocate it with cudaMalloc() before the graph is launched";
constexpr std::array refused_words{
    refused_word{"cuModule*", run_time_modules},
    refused_word{"cuLibrary*", run_time_modules},
    refused_word{"cuLaunchKernel*", run_time_modules},
    refused_word{"CUmoduleLoadingMode", run_time_modules},
    refused_word{"cuMemCreate", virtual_memory},
    refused_word{"cuMemMap", virtual_memory},
    refused_word{"cuMemAddressReserve", virtual_memory},
    refused_word{"cudaGraphConditionalHandle*", conditional_graphs},
    refused_word{"cudaGraphAddMemAllocNode", graph_memory},
    refused_word{"cudaGraphAddMemFreeNode", graph_memory},
    refused_word{"tex2Dgather", "gathers of textures are not emulated; fetch the four elements with tex2D()"},
    refused_word{"cudaMipmappedArray_t", mipmaps},
    refused_word{"cudaMallocMipmappedArray", mipmaps},
    refused_word{"__nv_fp8*", narrow_numbers},
    refused_word{"__nv_fp6*", narrow_numbers},
    refused_word{"__nv_fp4*", narrow_numbers},
    refused_word{"__cluster_barrier_*", clusters},
    refused_word{"__cluster_map_*", clusters},
    refused_word{"__cluster_query_*", clusters},
    refused_word{"__clusterDim*", clusters},
    refused_word{"__clusterGridDim*", clusters},
    refused_word{"__clusterIdx", clusters},
    refused_word{"__clusterRelative*", clusters},
    refused_word{"__clusterSize*", clusters},
    refused_word{"__threadfence_cluster", clusters},
    refused_word{"cudaLaunchAttributeClusterSchedulingPolicyPreference", clusters},
    refused_word{"cudaOccupancyMaxPotentialClusterSize", clusters},
    refused_word{"__u128Atomic*", "atomic functions of 128 bits are not emulated; use two words, or a lock"},
    refused_word{"__nv_memcpy_async_*", "write it with cuda::memcpy_async() or __pipeline_memcpy_async()"},
    refused_word{"__nv_associate_access_property*", "hints to a cache that is not there; leave them out"},
    refused_word{"__nv_aligned_device_malloc*", "aligned memory of the device's heap is not emulated"},
    refused_word{"__isConstant", "constant memory has no addresses of its own in the emulator"},
    refused_word{"__isGridConstant", "a kernel's parameters have no addresses of their own in the emulator"},
    refused_word{"cudaIpcMemHandle_t", between_processes},
};

class rewriter {
 public:
  rewriter(std::string_view source, bool launches_by_address, bool lets_pass)
      : source_(source),
        list_(tokens_of(source)),
        tokens_(list_.tokens),
        launches_by_address_(launches_by_address),
        lets_pass_(lets_pass) {}

  rewritten_source run() {
    match_brackets();
    find_scopes();
    collect_names();
    qualify_own_names();
    note_types();
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const token& one = tokens_[at];
      if (one.kind == token_kind::identifier) {
        word(at);
      } else if (one.text == "<" && !one.is_system && is_chevron(at, "<")) {
        launch(at);
      } else if ((one.text == "<" || one.text == ">") && !one.is_system && in_device_code_[at]) {
        shift(at);
      } else if (one.text == "\\" && source_.substr(end_of(at)).starts_with('\n')) {
        // It joined lines while a comment stood behind it, which nvcc's second look at the line lets it do.
        replace(at, " ");
      }
    }
    synchronise_volatile_stores();
    register_kernels();
    result_.text = apply_edits();
    return std::move(result_);
  }

 private:
  static constexpr std::size_t no_token = static_cast<std::size_t>(-1);

  struct edit {
    std::size_t begin, end;
    std::string text;
  };

  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text;
  }
  [[nodiscard]] bool is_identifier(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == token_kind::identifier;
  }
  [[nodiscard]] std::size_t end_of(std::size_t at) const {
    return tokens_[at].offset + tokens_[at].text.size();
  }

  // ---- structure

  // The partner of each bracket; no_token for one that has none.
  void match_brackets() {
    partner_.assign(tokens_.size(), no_token);
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == "(" || text == "[" || text == "{") {
        open.push_back(at);
      } else if (text == ")" || text == "]" || text == "}") {
        const std::string_view wanted = text == ")" ? "(" : text == "]" ? "[" : "{";
        // An unclosed bracket in between is the program's mistake; a brace closes it.
        while (!open.empty() && tokens_[open.back()].text != wanted && text == "}") open.pop_back();
        if (open.empty() || tokens_[open.back()].text != wanted) continue;
        partner_[at] = open.back();
        partner_[open.back()] = at;
        open.pop_back();
      }
    }
  }

  // For each token: whether it is in a block of statements, and within which kind of function.
  void find_scopes() {
    in_block_.assign(tokens_.size(), false);
    is_of_file_.assign(tokens_.size(), false);
    in_device_code_.assign(tokens_.size(), false);
    function_.assign(tokens_.size(), no_token);
    std::vector<bool> blocks;  // for each open brace: is it a block of statements?
    std::size_t statement = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      in_block_[at] = !blocks.empty() && blocks.back();
      is_of_file_[at] = blocks.empty();
      if (text == "{") {
        const bool is_within = !blocks.empty() && blocks.back();
        blocks.push_back(is_within || !is_declarative(statement, at));
        if (!is_within && blocks.back()) return_at_the_end(statement, at);
        statement = at + 1;
      } else if (text == "}") {
        if (!blocks.empty()) blocks.pop_back();
        statement = at + 1;
      } else if (text == ";") {
        statement = at + 1;
      } else if (text == "__lab_global__" || text == "__lab_device__") {
        mark_device_code(statement, at);
      }
    }
  }

  // Whether the brace at `brace` opens a namespace, a class, or `extern "C"`.
  [[nodiscard]] bool is_declarative(std::size_t statement, std::size_t brace) const {
    bool has_parameters = false;
    for (std::size_t at = statement; at < brace; ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == "(") {
        const bool is_attribute =
            at > 0 && (is(at - 1, "__attribute__") || is(at - 1, "alignas") || is(at - 1, "decltype"));
        if (!is_attribute || partner_[at] == no_token) has_parameters = true;
        if (is_attribute && partner_[at] != no_token) at = partner_[at];
      }
      if (text == "namespace") return true;
      if (text == "extern" && at + 2 == brace && tokens_[at + 1].kind == token_kind::literal) return true;
    }
    if (has_parameters) return false;
    for (std::size_t at = statement; at < brace; ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == "class" || text == "struct" || text == "union" || text == "enum") return true;
      if (text == "=") return false;
    }
    return false;
  }

  // A function that ends without its `return` gives its caller some value where nvcc compiles the host's
  // code, which it does not optimise; where it is optimised, what follows in the program would be executed.
  void return_at_the_end(std::size_t statement, std::size_t brace) {
    if (partner_[brace] == no_token || tokens_[brace].is_system || brace == 0) return;
    if (!is(brace - 1, ")") && !is(brace - 1, "const") && !is(brace - 1, "noexcept")) return;
    std::size_t parameters = statement;
    while (parameters < brace && (!is(parameters, "(") || is(parameters - 1, "__attribute__"))) {
      if (is(parameters, "(") && partner_[parameters] != no_token) parameters = partner_[parameters];
      ++parameters;
    }
    if (parameters >= brace || parameters <= statement + 1 || !is_identifier(parameters - 1)) return;
    const std::size_t name = parameters - 1;
    if (is(name, "main") || !has_simple_value(statement, name)) return;
    // `return x;` is the end already.
    const std::size_t end = partner_[brace];
    std::size_t last = end - 1;
    while (last > brace && !is(last - 1, ";") && !is(last - 1, "{") && !is(last - 1, "}")) --last;
    if (!is(last, "return")) insert(tokens_[end].offset, " return {}; ");
  }

  // Whether the words before a function's name are those of a number, of a pointer or of CUDA's errors.
  [[nodiscard]] bool has_simple_value(std::size_t begin, std::size_t end) const {
    static const std::set<std::string_view> words = words_in(
        "static inline extern const __inline__ __inline unsigned signed char short int long float "
        "double bool size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
        "uint uchar ushort ulong cudaError_t cudaError clock_t time_t");
    static const std::set<std::string_view> others = words_in("void auto operator template using friend");
    const bool is_pointer = is(end - 1, "*");
    bool has_type = false;
    for (std::size_t at = begin; at < end; ++at) {
      const token& one = tokens_[at];
      if (one.text == "__attribute__" && is(at + 1, "(") && partner_[at + 1] != no_token) {
        at = partner_[at + 1];
        continue;
      }
      if (one.text.starts_with("__lab_") || one.kind == token_kind::literal) continue;
      const bool is_known = words.contains(one.text);
      const bool is_other = others.contains(one.text);
      if (is_other && !(is_pointer && one.text == "void")) return false;
      if (!is_known && !is_pointer) return false;
      has_type = has_type || is_pointer || (is_known && one.text != "static" && one.text != "inline");
    }
    return has_type;
  }

  // The body of the function whose declaration has the keyword at `keyword`.
  void mark_device_code(std::size_t statement, std::size_t keyword) {
    bool has_parameters = false;
    std::size_t at = statement;
    for (; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == "(") {
        has_parameters = has_parameters || (at > keyword && !is(at - 1, "__attribute__"));
        if (partner_[at] == no_token) return;
        at = partner_[at];
        continue;
      }
      if (text == ";" || text == "}") return;
      if (text == "=" && !has_parameters && !(at < keyword && is(statement, "template"))) return;
      if (text == "{") {
        if (has_parameters) break;
        if (partner_[at] == no_token) return;
        at = partner_[at];
      }
    }
    if (at >= tokens_.size() || partner_[at] == no_token) return;
    if (is(keyword, "__lab_global__") && !tokens_[keyword].is_system) note_kernel(statement, at);
    note_result(statement, at);
    bool is_host = false;
    for (std::size_t word = statement; word < at; ++word) is_host = is_host || is(word, "__lab_host__");
    if (!is_host) device_bodies_.insert(at);
    for (std::size_t inner = at; inner < partner_[at]; ++inner) {
      in_device_code_[inner] = true;
      function_[inner] = at;
    }
  }

  // ---- what exists on the host alone

  enum class name_kind {
    host_function,
    host_member,  // a function of a class
    device_function,
    other_function,  // of both sides, or a kernel
    host_variable,
    constant_array,
    other
  };

  // The names that the program declares in namespaces and classes, and what each of them is.
  void collect_names() {
    struct open_brace {
      bool is_class;
      std::size_t statement;  // that has it
    };
    std::size_t statement = 0;
    bool has_class = false;  // the statement, before its variables
    std::vector<open_brace> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      const bool within_class = !open.empty() && open.back().is_class;
      if (text == "(" || text == "[") {
        if (partner_[at] != no_token) at = partner_[at];
      } else if (text == ";") {
        collect_declaration(statement, at, within_class);
        statement = at + 1;
        has_class = false;
      } else if (text == "}") {
        has_class = within_class && has_variables(at);
        statement = has_class ? open.back().statement : at + 1;
        if (!open.empty()) open.pop_back();
      } else if (text == ":" && at > statement &&
                 (is(at - 1, "public") || is(at - 1, "private") || is(at - 1, "protected"))) {
        statement = at + 1;
      } else if (text == "{" && partner_[at] != no_token) {
        if (has_class) {  // a value
          at = partner_[at];
          continue;
        }
        if (is_declarative(statement, at)) {
          bool makes_class = false, makes_enumeration = false;
          for (std::size_t word = statement; word < at; ++word) {
            makes_class = makes_class || is(word, "class") || is(word, "struct") || is(word, "union");
            makes_enumeration = makes_enumeration || is(word, "enum");
          }
          if (makes_enumeration) {
            for (std::size_t word = at; word < partner_[at]; ++word) note_name(word, name_kind::other);
            at = partner_[at];
            has_class = has_variables(at);
            if (!has_class) statement = at + 1;
            continue;
          }
          open.push_back({makes_class, statement});
          statement = at + 1;
          continue;
        }
        const std::size_t name = function_name(statement, at);
        const bool is_initializer =
            at > 0 && (is(at - 1, "=") || (is_identifier(at - 1) && name == no_token) ||
                       (is(at - 1, "]") && name == no_token));
        const bool begins_member = is_identifier(at - 1) && (is(at - 2, ":") || is(at - 2, ","));
        at = partner_[at];
        if (is_initializer || begins_member) continue;
        collect_declaration(statement, at, within_class);
        statement = at + 1;
      }
    }
  }

  // Whether the definition of a class or an enumeration that ends at `brace` declares variables as well.
  [[nodiscard]] bool has_variables(std::size_t brace) const {
    std::size_t next = brace + 1;
    while (is(next, "*") || is(next, "&") || is(next, "const")) ++next;
    return is_identifier(next) && !is(next + 1, "(") && !is(next + 1, "::");
  }

  // Of a declaration with parameters; no_token if it has none.
  [[nodiscard]] std::size_t function_name(std::size_t statement, std::size_t end) const {
    for (std::size_t at = statement; at < end; ++at) {
      if (is(at, "=") || is(at, "{")) return no_token;
      if (is(at, "template") && is(at + 1, "<")) {
        int open = 0;
        for (++at; at < end; ++at) {
          if (is(at, "<")) ++open;
          if (is(at, ">") && --open == 0) break;
          if (is(at, "(") && partner_[at] != no_token) at = partner_[at];
        }
        continue;
      }
      if (!is(at, "(")) continue;
      if (at > statement && is_identifier(at - 1) && !is(at - 1, "__attribute__") &&
          !is(at - 1, "decltype") && !is(at - 1, "alignas") && !is(at - 1, "requires") &&
          !is(at - 1, "explicit") && !is(at - 1, "noexcept"))
        return is(at - 2, "operator") ? no_token : at - 1;
      if (partner_[at] == no_token) return no_token;
      at = partner_[at];
    }
    return no_token;
  }

  void collect_declaration(std::size_t statement, std::size_t end, bool within_class) {
    if (statement >= end) return;
    static const std::set<std::string_view> no_variables =
        words_in("using typedef friend static_assert namespace goto");
    bool is_device = false, is_host = false, is_kernel = false, is_constexpr = false, is_const = false,
         is_static = false, is_template = false;
    const std::size_t name = function_name(statement, end);
    const std::size_t head = name == no_token ? end : name;
    for (std::size_t at = statement; at < head; ++at) {
      const std::string_view text = tokens_[at].text;
      if (no_variables.contains(text)) return;
      if (name == no_token && (text == "=" || text == "{")) break;
      is_device = is_device || text == "__lab_device__" || text == "__lab_constant__" ||
                  text == "__lab_managed__" || text == "__lab_shared__" ||
                  (name == no_token && (text == "texture" || text == "surface"));
      is_host = is_host || text == "__lab_host__";
      is_kernel = is_kernel || text == "__lab_global__";
      is_constexpr = is_constexpr || text == "constexpr" || text == "consteval";
      is_const = is_const || text == "const";
      is_static = is_static || text == "static";
      is_template = is_template || text == "template";
    }
    if (name != no_token) {
      if (tokens_[name].is_system) {
        system_functions_.insert(tokens_[name].text);
        return;
      }
      // A constructor, or a member that is defined outside its class, says too little.
      const bool is_plain = name > statement && !is(name - 1, "::") && !is(name - 1, "~");
      note_name(name, is_kernel || (is_device && is_host) || is_constexpr ? name_kind::other_function
                      : is_device                                         ? name_kind::device_function
                      : is_plain && within_class                          ? name_kind::host_member
                      : is_plain                                          ? name_kind::host_function
                                                                          : name_kind::other);
      return;
    }
    if (tokens_[statement].is_system) return;
    for (const std::size_t variable : declared_names(statement, end)) {
      const bool is_array = is(variable + 1, "[");
      const bool is_pointer = is(variable - 1, "*");
      const bool is_value = (is_const || is_constexpr) && !(is_pointer && !is_constexpr);
      const bool is_hosts = !is_device && !is_template && (!within_class || is_static);
      note_name(variable, !is_hosts                  ? name_kind::other
                          : is_array && is_constexpr ? name_kind::constant_array
                          : is_value && !is_array    ? name_kind::other
                                                     : name_kind::host_variable);
    }
  }

  // T a[3] = {..}, *b; the tokens that are the names.
  [[nodiscard]] std::vector<std::size_t> declared_names(std::size_t statement, std::size_t end) const {
    std::vector<std::size_t> names;
    int angles = 0;
    bool in_value = false;
    for (std::size_t at = statement; at <= end && at < tokens_.size(); ++at) {
      if (!in_value) at = end_of_class(at);
      const std::string_view text = tokens_[at].text;
      if (!in_value && text == "<") ++angles;
      if (!in_value && text == ">") --angles;
      if (angles <= 0 && !in_value && at > statement + 1 &&
          (text == "[" || text == "=" || text == "{" || text == "," || text == ";")) {
        const bool is_typed = is_identifier(at - 2) || is(at - 2, "*") || is(at - 2, "&") ||
                              is(at - 2, ">") || is(at - 2, ",") || is(at - 2, ")") || is(at - 2, "}");
        if (is_identifier(at - 1) && is_typed) names.push_back(at - 1);
      }
      if (angles <= 0 && text == ",") in_value = false;
      if (text == "=") in_value = true;
      if ((text == "(" || text == "[" || text == "{") && partner_[at] != no_token) at = partner_[at];
    }
    return names;
  }

  // The closing brace of the class or the enumeration that is defined at `at`; `at` where none is.
  [[nodiscard]] std::size_t end_of_class(std::size_t at) const {
    if (!is(at, "struct") && !is(at, "class") && !is(at, "union") && !is(at, "enum")) return at;
    std::size_t next = at + 1;
    while (is_identifier(next) || is(next, "::") || is(next, "(") || is(next, "[")) {
      if ((is(next, "(") || is(next, "[")) && partner_[next] == no_token) return at;
      next = (is_identifier(next) || is(next, "::") ? next : partner_[next]) + 1;
    }
    const bool has_bases = is(next, ":");
    // struct S s{1}; has a name and a variable
    const bool has_variable = !has_bases && next > at + 2 && is_identifier(next - 1) &&
                              is_identifier(next - 2) && !is(next - 1, "final") && !is(next - 2, "class") &&
                              !is(next - 2, "struct");
    while (has_bases && next < tokens_.size() && !is(next, "{") && !is(next, ";")) ++next;
    return !has_variable && is(next, "{") && partner_[next] != no_token ? partner_[next] : at;
  }

  void note_name(std::size_t at, name_kind kind) {
    if (!is_identifier(at) || tokens_[at].is_system) return;
    const auto [known, is_new] = names_.insert({tokens_[at].text, kind});
    if (!is_new && known->second != kind) known->second = name_kind::other;
  }

  // The emulator's headers include more of the standard library than CUDA's. So `using namespace std;` would
  // make a program's own count or array ambiguous, which it is not for nvcc: such names become ::count.
  void qualify_own_names() {
    static const std::set<std::string_view> of_library = words_in(
        "apply array bind bit_width chrono clamp copy_n count endian erase find_if for_each function "
        "generate "
        "identity invoke is_sorted lerp mem_fn merge nth_element numbers optional partition popcount ranges "
        "ratio reduce replace rotate sample search shuffle sort ssize strong_order transform unique vector");
    bool uses_library = false;
    std::map<std::string_view, std::vector<std::size_t>> own;  // where each is declared
    std::set<std::string_view> types, members;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      if ((text == "{" || text == "(") && partner_[at] != no_token) open.push_back(partner_[at]);
      while (!open.empty() && open.back() <= at) open.pop_back();
      if (tokens_[at].is_system || !is_identifier(at)) continue;
      if (text == "using" && is(at + 1, "namespace") && is(at + 2, "std") && is_of_file_[at])
        uses_library = true;
      if (!of_library.contains(text) || in_block_[at]) continue;
      const bool is_class = is(at - 1, "struct") || is(at - 1, "class") || is(at - 1, "union");
      const bool is_named = is_class || is_identifier(at - 1) || is(at - 1, "*") || is(at - 1, ">") ||
                            is(at - 1, ",") || is(at - 1, "}");
      const bool ends = is(at + 1, ";") || is(at + 1, "=") || is(at + 1, "[") || is(at + 1, "{") ||
                        (is_class && is(at + 1, ":"));
      if (!is_named || !ends) continue;
      if (!open.empty()) {
        if (!is(open.back(), ")")) members.insert(text);
        continue;
      }
      own[text].push_back(at);
      if (is_class || is(at - 1, "}")) types.insert(text);
    }
    if (!uses_library) return;
    for (std::size_t at = 1; at < tokens_.size(); ++at) {
      const auto known = own.find(tokens_[at].text);
      if (known == own.end() || tokens_[at].is_system || members.count(known->first) != 0) continue;
      if (is(at - 1, ".") || is(at - 1, "->") || is(at - 1, "::") || is(at - 1, "~") || is(at + 1, "::"))
        continue;
      const bool is_declared =
          std::any_of(known->second.begin(), known->second.end(), [&](std::size_t declared) {
            const bool has_body = is(declared + 1, "{") || is(declared + 1, ":");
            std::size_t brace = declared;
            while (has_body && !is(brace, "{")) ++brace;
            return at == declared || (has_body && at > declared && at < partner_[brace]);
          });
      const bool is_parameter =
          !in_block_[at] && (is_identifier(at - 1) || is(at - 1, "*") || is(at - 1, "&") || is(at - 1, ">"));
      if (is_declared || (types.count(known->first) == 0 && (is_parameter || is_local(at)))) continue;
      own_names_.insert(at);
      innermost_.push_back({tokens_[at].offset, tokens_[at].offset, " ::"});
    }
  }

  // The program's own type parameters, and its aliases of integer types.
  void note_types() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].is_system) continue;
      if ((is(at, "typename") || is(at, "class")) && is_identifier(at + 1) &&
          (is(at + 2, ",") || is(at + 2, ">") || is(at + 2, "="))) {
        types_.insert(tokens_[at + 1].text);
      } else if (is(at, "using") && is_identifier(at + 1) && is(at + 2, "=")) {
        const std::size_t end = end_of_integer_type(at + 3);
        if (end != at + 3 && is(end, ";")) types_.insert(tokens_[at + 1].text);
      } else if (is(at, "typedef")) {
        const std::size_t end = end_of_integer_type(at + 1);
        if (end != at + 1 && is_identifier(end) && is(end + 1, ";")) types_.insert(tokens_[end].text);
      }
    }
  }

  // Whether the function around `at`, and what that lies in, declares the name itself.
  [[nodiscard]] bool is_local(std::size_t at) const {
    const std::string_view name = tokens_[at].text;
    std::size_t first = at, last = at;
    while (first > 0 && in_block_[first]) --first;
    while (first > 0 && !is(first - 1, ";") && !is(first - 1, "}") && !is(first - 1, "{")) --first;
    while (last < tokens_.size() && in_block_[last]) ++last;
    for (std::size_t k = first; k < last; ++k) {
      if (tokens_[k].text != name || k == 0) continue;
      const token& before = tokens_[k - 1];
      const bool is_word = before.kind == token_kind::identifier && !is_statement_word(k - 1);
      const bool is_sign =
          (before.text == "*" || before.text == "&" || before.text == ">" || before.text == "&&") &&
          begins_declaration(k - 1);
      if (is(k + 1, "(") ? is_word || begins_statement(k - 1) : is_word || (is_sign && !is(k + 1, "[")))
        return true;
      // int a, name = 3; and a structured binding
      if (before.text == "," && (is(k + 1, "=") || is(k + 1, ";") || is(k + 1, "]"))) return true;
      if (before.text == "," && (is(k + 1, ",") || is(k + 1, "[")) && is_in_declaration(k - 1)) return true;
    }
    return false;
  }

  // Whether `ns::T<U>` with the `>` at `sign` begins a statement: T<U> variable(1);
  [[nodiscard]] bool begins_statement(std::size_t sign) const {
    if (!is(sign, ">")) return false;
    int angles = 0;
    for (; sign > 0 && !is(sign, ";") && !is(sign, "{") && !is(sign, "}"); --sign) {
      if (is(sign, ")") && partner_[sign] != no_token) sign = partner_[sign];
      angles += is(sign, ">") ? 1 : is(sign, "<") ? -1 : 0;
      if (angles > 0) continue;
      do --sign;
      while (sign > 0 && (is_identifier(sign) || is(sign, "::")) && !is_statement_word(sign));
      return is(sign, ";") || is(sign, "{") || is(sign, "}");
    }
    return false;
  }

  // Whether the comma is between two variables: int a, b[2], c; and not between arguments.
  [[nodiscard]] bool is_in_declaration(std::size_t comma) const {
    std::size_t first = comma;
    for (; first > 0 && !is(first - 1, ";") && !is(first - 1, "{"); --first) {
      const bool closes = is(first - 1, ")") || is(first - 1, "]") || (is(first - 1, "}") && is(first, ","));
      if (is(first - 1, "(") || is(first - 1, "[")) return false;
      if (is(first - 1, "}") && !closes) break;
      if (closes && partner_[first - 1] != no_token) first = partner_[first - 1] + 1;
    }
    return is_identifier(first) && !is_statement_word(first) &&
           (is_identifier(first + 1) || is(first + 1, "*") || is(first + 1, "<") || is(first + 1, "::"));
  }

  // Whether `const ns::T<U>* const&`, say, stands up to `sign`, and no operand.
  [[nodiscard]] bool begins_declaration(std::size_t sign) const {
    if (is(sign, ">")) return true;
    while (sign > 0 && (is(sign, "*") || is(sign, "&") || is(sign, "&&") || is(sign, "const"))) --sign;
    if (is(sign, ">")) return true;
    if (!is_identifier(sign) || is_statement_word(sign)) return false;
    while (sign > 0 && (is_identifier(sign) || is(sign, "::")) && !is_statement_word(sign)) --sign;
    return is(sign, ";") || is(sign, "{") || is(sign, "}") || is(sign, "(") || is(sign, ",") || is(sign, "<");
  }

  [[nodiscard]] bool is_unevaluated(std::size_t at) const {
    while (at > 0 && (is(at - 1, "::") || (is(at, "::") && is_identifier(at - 1)))) --at;
    const std::size_t word = is(at - 1, "(") ? at - 2 : at - 1;
    return at > 1 && (is(word, "sizeof") || is(word, "decltype") || is(word, "alignof") ||
                      is(word, "__typeof__") || is(word, "typeof") || is(word, "noexcept"));
  }

  // A name in a function that is the device's alone.
  void check_host_name(std::size_t at) {
    const std::string_view text = tokens_[at].text;
    const bool is_member = is(at - 1, ".") || is(at - 1, "->");
    const bool is_call = is(at + 1, "(");
    const auto known = names_.find(text);
    if (is_member && is_call && known != names_.end() && known->second == name_kind::host_member &&
        system_functions_.count(text) == 0)
      refuse_host_function(at);
    if (is_member || is_unevaluated(at)) return;
    const bool is_of_std = is(at - 1, "::") && is(at - 2, "std");
    const bool is_qualified =
        is(at - 1, "::") && at > 1 && is_identifier(at - 2) && !is_statement_word(at - 2);
    if (known == names_.end() || is_of_std) {
      if (is_qualified && !is_of_std) return;
      static const std::set<std::string_view> functions = words_in(
          "rand srand rand_r random drand48 fopen fclose fprintf fputs fgets fread fwrite fflush "
          "scanf sscanf fscanf sprintf snprintf getenv exit _exit atoi atol atof strtol strtod strlen "
          "strcpy strncpy strcmp strncmp strcat strchr strstr memmove memcmp time system usleep sleep "
          "getpid puts putchar perror qsort bsearch calloc realloc atexit to_string gettimeofday "
          "strdup getchar omp_get_thread_num omp_get_num_threads cudaMemcpy cudaMallocManaged "
          "cudaHostAlloc");
      static const std::set<std::string_view> classes = words_in(
          "vector string map set unordered_map unordered_set list deque queue stack cout cerr endl "
          "cin thread mutex function shared_ptr unique_ptr make_shared make_unique mt19937 "
          "random_device ostringstream stringstream ofstream ifstream lock_guard");
      if (is_call && functions.contains(text) && !is_local(at)) {
        refuse_host_function(at);
      } else if (is_of_std && classes.contains(text)) {
        refuse(at, fmt::format("std::{} is of the host alone: nvcc refuses its functions in a __device__ or "
                               "__global__ function",
                               text));
      }
      return;
    }
    switch (known->second) {
      case name_kind::host_function:
        if (is_call && system_functions_.count(text) == 0 && !is_local(at)) refuse_host_function(at);
        break;
      case name_kind::host_variable:
        if (!is_local(at) && !is(at + 1, "(") && !is(at + 1, "::"))
          refuse(at,
                 fmt::format("identifier \"{}\" is undefined in device code: it is a variable of the host; "
                             "make it a __device__ or __constant__ variable, or a parameter",
                             text));
        break;
      case name_kind::constant_array:
        if (!is(at + 1, "[") || tokens_[at + 2].kind != token_kind::number || !is(at + 3, "]")) {
          if (!is_local(at))
            refuse(at,
                   fmt::format("identifier \"{}\" is undefined in device code: a constexpr array has no "
                               "address there, only elements whose number is known to the compiler; make it "
                               "__device__ or __constant__",
                               text));
        }
        break;
      default:
        break;
    }
  }
  void refuse_host_function(std::size_t at) {
    refuse(at, fmt::format("calling a __host__ function(\"{0}\") from a __device__ or __global__ function is "
                           "not allowed; declare {0}() __host__ __device__, or do that part on the host",
                           tokens_[at].text));
  }

  // Whether `at` stands in the parentheses of kernel<<<grid, block>>>( ).
  [[nodiscard]] bool is_launch_argument(std::size_t at) const {
    for (; at > 0 && !is(at, ";") && !is(at, "{"); --at) {
      if (is(at, ")") && partner_[at] != no_token)
        at = partner_[at];
      else if (is(at, "("))
        return at > 2 && is_chevron(at - 3, ">");
    }
    return false;
  }

  // Of a name of a function that the device alone has. The caller is the host's where nothing in its head
  // says otherwise; a lambda within may be the device's.
  void check_device_call(std::size_t at) {
    if (is(at - 1, ".") || is(at - 1, "->") || is(at - 1, "::") || !in_block_[at] || is_unevaluated(at) ||
        system_functions_.count(tokens_[at].text) != 0 || is_local(at))
      return;
    std::size_t first = at;
    for (; first > 0 && in_block_[first]; --first) {
      if (is(first, "__lab_device__")) return;
    }
    if (is(first, "{")) --first;
    if (!is(first, ")")) return;
    for (; first > 0 && !is(first, ";") && !is(first, "{") && !is(first, "}"); --first) {
      if (tokens_[first].text.starts_with("__lab_") || is(first, ":")) return;
    }
    if (is(first + 1, ",")) return;  // members of a constructor
    refuse(at, fmt::format("calling a __device__ function(\"{0}\") from a __host__ function is not allowed; "
                           "declare {0}() __host__ __device__, or call it in a kernel",
                           tokens_[at].text));
  }

  // In the host's code: `= function`, `&function`, `(function`, the host's address of what the device has,
  // and the address of what the host has as a kernel's argument; and calls of what the device has.
  void check_device_name(std::size_t at) {
    const auto known = names_.find(tokens_[at].text);
    if (known == names_.end()) return;
    const bool is_hosts = known->second == name_kind::host_function;
    if (!is_hosts && known->second != name_kind::device_function) return;
    if (!is_hosts && is(at + 1, "(")) return check_device_call(at);
    const std::size_t first = is(at - 1, "&") ? at - 1 : at;
    const bool begins = is(first - 1, "=") || is(first - 1, "return") || is(first - 1, "(") ||
                        is(first - 1, "{") || is(first - 1, ",");
    const bool ends = is(at + 1, ";") || is(at + 1, ")") || is(at + 1, "}") || is(at + 1, ",");
    if (!begins || !ends || is_unevaluated(at) || is_local(at)) return;
    if (is_hosts) {
      if (is_launch_argument(first - 1)) {
        refuse(at,
               fmt::format("the address of the __host__ function {} that a kernel gets is none on the device",
                           tokens_[at].text));
      }
      return;
    }
    std::size_t statement = beginning_of_declaration(at);
    while (statement > 1 && is(statement - 1, "{") && (is(statement - 2, "=") || is(statement - 2, "]")))
      statement = beginning_of_declaration(statement - 1);
    int angles = 0;
    for (std::size_t word = statement; word < at; ++word) {
      if (tokens_[word].text.starts_with("__lab_") || is(word, "using")) return;
      angles += is(word, "<") ? 1 : is(word, ">") ? -1 : 0;
    }
    if (angles > 0) return;
    refuse(at, fmt::format(
                   "the address of the __device__ function {0} that host code takes is none on the device; "
                   "take it in a kernel, or copy it from a __device__ variable that holds it "
                   "(cudaMemcpyFromSymbol)",
                   tokens_[at].text));
  }

  // __constant__ T a[3], b; leaves the sizes in the object.
  void note_constants(std::size_t at) {
    if (in_block_[at] || tokens_[at].is_system) return;
    std::size_t end = at;
    while (end < tokens_.size() && !is(end, ";")) {
      if ((is(end, "(") || is(end, "[") || is(end, "{")) && partner_[end] != no_token) end = partner_[end];
      ++end;
    }
    const std::size_t first = beginning_of_declaration(at);
    for (std::size_t word = first; word < end; ++word) {
      if (is(word, "extern") || is(word, "template")) return;
    }
    if (end >= tokens_.size()) return;
    std::string sizes;
    for (const std::size_t name : declared_names(at, end)) {
      const std::size_t number = result_.constants.size();
      result_.constants.push_back(
          {list_.files[tokens_[name].file], tokens_[name].line, std::string(tokens_[name].text)});
      sizes += fmt::format(
          " [[gnu::used]] static constexpr unsigned long long lab_size_{}[] = {{{}ull, {}ull, {}ull, "
          "sizeof({})}};",
          number, constant_mark[0], constant_mark[1], number, tokens_[name].text);
    }
    if (!sizes.empty()) insert(end_of(end), sizes);
  }

  // Where the body begins of a kernel that is no template, in a namespace.
  void note_kernel(std::size_t statement, std::size_t brace) {
    if (is(statement, "template") || in_block_[brace]) return;
    std::size_t parameters = brace;
    while (parameters > statement && !is(parameters, ")")) --parameters;
    if (!is(parameters, ")") || partner_[parameters] == no_token || partner_[parameters] < 1) return;
    const std::size_t name = partner_[parameters] - 1;
    if (!is_identifier(name) || is(name - 1, "::") || partner_[brace] == no_token) return;
    kernels_[tokens_[name].text].push_back(partner_[brace]);
    for (std::size_t word = statement; word < name; ++word) {
      if (is(word, launch_bounds) && is(word + 1, "(") && partner_[word + 1] != no_token)
        register_bound(name, word + 1, partner_[brace]);
    }
  }

  // Tells the most threads that a kernel's __launch_bounds__(threads, ..) allows, behind its body.
  void register_bound(std::size_t name, std::size_t open, std::size_t end_of_body) {
    std::size_t end = open + 1;
    for (; end < partner_[open] && !is(end, ","); ++end) {
      if (is(end, "(") && partner_[end] != no_token) end = partner_[end];
      if (is(end, "<")) return;  // may hold a comma
    }
    if (end == open + 1) return;
    insert(end_of(end_of_body),
           fmt::format(" [[maybe_unused]] static const bool lab_bound_{0} = ::lab::emulator::bound_kernel("
                       "[](const auto& use) -> decltype(use({1})) {{ return use({1}); }}, {2});",
                       name, tokens_[name].text, text_of(open + 1, end)));
  }

  // cudaLaunchKernel() may be given an address that has lost its type on the way.
  void register_kernels() {
    if (!launches_by_address_) return;
    for (const auto& [name, ends] : kernels_) {
      if (ends.size() != 1) continue;  // the name does not say which
      insert(end_of(ends.front()), fmt::format(" [[maybe_unused]] static const bool lab_knows_{0} = "
                                               "::lab::emulator::know_kernel(&{0});",
                                               name));
    }
  }

  // ---- words

  void word(std::size_t at) {
    const token& one = tokens_[at];
    const std::string_view text = one.text;
    if (text.starts_with("__lab_")) return marker(at);
    if (one.is_system) {
      // The lab's own headers hold instructions, and others some that nobody calls.
      if (is_asm(text) && in_device_code_[at]) inline_ptx(at);
      return;
    }
    // A keyword of nvcc's, which others have within __attribute__(( )).
    if (text == "__noinline__" && !is(at - 1, "(") && !is(at - 1, ","))
      return replace(at, "__attribute__((noinline))");
    // A host file need not include the emulator's headers.
    if (text == "__assert_fail" && one.offset > emulator_at_)
      return replace(at, "::lab::emulator::assertion_failed");
    if (is_asm(text) && in_device_code_[at]) return inline_ptx(at);
    if (text == "cudaLaunchKernel" || text == "cudaLaunchCooperativeKernel") {
      launches_by_address_ = true;
      return drop_cast(at);
    }
    // nvcc inlines what it can of functions that call each other.
    if (lets_pass_ && text == "always_inline" && !tokens_[at].is_system) return replace(at, "unused");
    // nvcc lets a program define the constant that it has built in.
    if (text == "warpSize" && is(at + 1, "=") && is_of_file_[at]) return replace(at, "lab_warp_size");
    // CUDA's cudaError is an enumeration's tag, beside which a function may have the name.
    if (text == "cudaError" && is(at + 1, "(") && names_.count(text) != 0)
      return replace(at, "lab_cuda_error");
    if (text == "volatile" && in_device_code_at_or_before(at)) return note_volatile(at);
    if (is(at + 1, "[") && in_device_code_[at]) {
      if (volatiles_.count(text) != 0) {
        volatile_exchange(at);
      } else if (shared_names_.count(text) != 0) {
        shared_move(at);
      }
    }
    if (in_device_code_[at]) {
      if (device_bodies_.count(function_[at]) != 0) check_host_name(at);
      if (lets_pass_ && is(at + 1, "<")) name_template(at);
      if (lets_pass_ && text == "switch") enclose_cases(at);
      conversion(at);
      if (is(at + 1, "[") && shared_names_.count(text) != 0) check_bounds(at);
    } else {
      check_device_name(at);
    }
    const bool takes_name =
        (text.starts_with("cudaMemcpyToSymbol") && is_literal(at + 2)) ||
        ((text.starts_with("cudaMemcpyFromSymbol") || text.starts_with("cudaGetSymbol")) &&
         has_literal_behind_comma(at));
    if (is(at + 1, "(") && takes_name) {
      refuse(at, fmt::format(
                     "{}: a symbol is given as the variable itself, not by its name as a string, which CUDA "
                     "has not had since version 5",
                     text));
    }
    if (text == "texture" && is(at + 1, "<") && !is(at - 1, "::"))
      return replace(at, "::lab::emulator::texture_reference");
    if (text == "func" && is(at + 1, "=") && is(at - 1, ".")) return drop_cast(at);
    if (text == "cudaKernelNodeParams" && is_identifier(at + 1))  // node = {(void*)kernel, ..}
      return drop_cast(is(at + 2, "=") ? at + 2 : at + 1);
    const bool is_member = at > 0 && (is(at - 1, ".") || is(at - 1, "->"));
    if (is_member) return;
    const auto* const found =
        std::find_if(refused_words.begin(), refused_words.end(), [&](const refused_word& known) {
          return known.word.ends_with('*') ? text.starts_with(known.word.substr(0, known.word.size() - 1))
                                           : known.word == text;
        });
    if (found != refused_words.end()) refuse(at, fmt::format("{}: {}", text, found->message));
  }

  // Of a class or an object that depends on a parameter, C++ takes `name<` for a comparison unless it stands
  // behind `template`; nvcc compiles `T<U>::name<3>(x)`, `U::name<3>(x)` and `a.name<3>(x)` in device code.
  void name_template(std::size_t at) {
    const bool of_object = is(at - 1, ".") || is(at - 1, "->");
    const bool of_class =
        is(at - 1, "::") && (is(at - 2, ">") || (at > 1 && types_.count(tokens_[at - 2].text) != 0));
    if (!of_object && !of_class) return;
    int depth = 0;
    for (std::size_t k = at + 1; k < tokens_.size(); ++k) {
      const std::string_view text = tokens_[k].text;
      if (text == "<") ++depth;
      if (text == ">" && --depth == 0) {
        if (is(k + 1, "(")) insert(tokens_[at].offset, "template ");
        return;
      }
      if (text == "(" && partner_[k] != no_token) k = partner_[k];
      // f(a.x < b, c > (d)) compares.
      const bool compares = of_object && text == "," && depth == 1 && !is_type(at + 2);
      const bool is_in_list = tokens_[k].kind != token_kind::punctuator || text == "<" || text == ">" ||
                              text == "(" || text == "," || text == "::" || text == "*" || text == "&";
      if (compares || !is_in_list) return;
    }
  }

  // In device code nvcc lets a switch jump over `case 1: int x = f();`, which C++ does not: what stands
  // behind a label where variables are declared gets braces, unless a later label's code uses one of them.
  void enclose_cases(std::size_t at) {
    if (!is(at + 1, "(") || partner_[at + 1] == no_token) return;
    const std::size_t open = partner_[at + 1] + 1;
    if (!is(open, "{") || partner_[open] == no_token) return;
    const std::size_t end = partner_[open];
    std::size_t begin = no_token;  // of the code behind the last label
    std::set<std::string_view> declared;
    for (std::size_t k = open + 1; k < end; ++k) {
      if (is(k, "case") || (is(k, "default") && is(k + 1, ":"))) {
        if (!declared.empty() && !is_one_used(declared, k, end)) {
          insert(tokens_[begin].offset, "{ ");
          insert(tokens_[k].offset, "} ");
        }
        declared.clear();
        k = colon_of_label(k);
        if (k == no_token) return;
        begin = k + 1;
      } else if ((is(k, "(") || is(k, "[") || is(k, "{")) && partner_[k] != no_token) {
        k = partner_[k];
      } else if (begin != no_token && k > begin && is_declared(k)) {
        declared.insert(tokens_[k].text);
      }
    }
  }

  // Whether one of the variables is used before its name is declared again.
  [[nodiscard]] bool is_one_used(std::set<std::string_view> names, std::size_t at, std::size_t end) const {
    for (; at < end; ++at) {
      if (names.count(tokens_[at].text) == 0 || is(at - 1, ".") || is(at - 1, "->") || is(at - 1, "::"))
        continue;
      if (!is_declared(at)) return true;
      names.erase(tokens_[at].text);
    }
    return false;
  }

  [[nodiscard]] std::size_t colon_of_label(std::size_t at) const {
    for (int conditions = 0; at < tokens_.size(); ++at) {
      if (is(at, "(") && partner_[at] != no_token) at = partner_[at];
      if (is(at, "?")) ++conditions;
      if (is(at, ":") && conditions-- == 0) return at;
    }
    return no_token;
  }

  // The name in `T name = ..`, `T* name = ..`, `T name(..)`, `T name{..}`, `T name[..]` and `T name;`.
  [[nodiscard]] bool is_declared(std::size_t at) const {
    static const std::set<std::string_view> others =
        words_in("delete typename operator volatile constexpr __volatile__");
    const auto is_name = [&](std::size_t k) {
      const std::string_view text = tokens_[k].text;
      return is_identifier(k) && !is_statement_word(k) && !is_asm(text) && !others.contains(text);
    };
    if (!is_name(at)) return false;
    const bool is_pointer = (is(at - 1, "*") || is(at - 1, "&")) && (is_name(at - 2) || is(at - 2, ">"));
    if (is_pointer || is(at - 1, ">")) return is(at + 1, "=") || is(at + 1, ";");
    return is_name(at - 1) && (is(at + 1, "=") || is(at + 1, ";") || is(at + 1, ",") || is(at + 1, "(") ||
                               is(at + 1, "{") || is(at + 1, "["));
  }

  [[nodiscard]] bool is_type(std::size_t at) const {
    const std::string_view text = tokens_[at].text;
    return types_.count(text) != 0 || end_of_integer_type(at) != at || text == "float" || text == "double" ||
           text == "bool" || text == "typename";
  }

  [[nodiscard]] bool is_literal(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == token_kind::literal;
  }
  // f(a, "name")
  [[nodiscard]] bool has_literal_behind_comma(std::size_t at) const {
    if (!is(at + 1, "(") || partner_[at + 1] == no_token) return false;
    for (std::size_t k = at + 2; k < partner_[at + 1]; ++k) {
      if (is(k, ",") && is_literal(k + 1)) return true;
    }
    return false;
  }

  // Parameters stand before the body whose code is the device's.
  [[nodiscard]] bool in_device_code_at_or_before(std::size_t at) const {
    for (std::size_t ahead = at; ahead < std::min(at + 200, tokens_.size()); ++ahead) {
      if (in_device_code_[ahead]) return true;
      if (is(ahead, ";")) return false;
    }
    return false;
  }

  // `volatile T* name` and `volatile __shared__ T name[..]`: the name.
  void note_volatile(std::size_t at) {
    for (std::size_t next = at + 1; next < tokens_.size(); ++next) {
      if (is(next, ",") || is(next, ")") || is(next, "=") || is(next, "[") || is(next, ";")) {
        if (is_identifier(next - 1)) volatiles_.insert(tokens_[next - 1].text);
        return;
      }
    }
  }

  // name[i] += name[j]; and name[i] = ..; of a warp's lanes that go together: all of them read before one
  // of them writes, and nobody goes on before all have written. A plain store counts where the same function
  // reads the array as well, and says nothing of synchronisation within a warp or between blocks.
  void volatile_exchange(std::size_t at) {
    const std::size_t close = partner_[at + 1];
    if (close == no_token) return;
    volatile_use& used = volatile_uses_[{function_[at], tokens_[at].text}];
    const bool begins =
        is(at - 1, ";") || is(at - 1, "{") || is(at - 1, "}") || is(at - 1, ")") || is(at - 1, "else");
    const std::string_view operation = close + 1 < tokens_.size() ? tokens_[close + 1].text : "";
    const bool is_store =
        operation == "=" || (operation.size() == 2 && operation[1] == '=' && operation != "==");
    if (!begins || !is_store) {
      used.reads = true;
      return;
    }
    std::size_t end = close + 1;
    for (; end < tokens_.size() && !is(end, ";") && !is(end, "{") && !is(end, "}"); ++end) {
      if (is(end, ",") || is(end, ")")) return;
      if (is(end, "(") && partner_[end] != no_token) end = partner_[end];
    }
    if (is(end, ";") && close + 2 < end) used.stores.push_back({close + 2, end});
  }

  // shared[permutation[i]] = shared[i]; by one instruction for each half, which is what a GPU does with it:
  // the lanes of a warp have all read before one of them writes.
  void shared_move(std::size_t at) {
    const std::size_t close = partner_[at + 1];
    const bool begins =
        is(at - 1, ";") || is(at - 1, "{") || is(at - 1, "}") || is(at - 1, ")") || is(at - 1, "else");
    if (close == no_token || !begins || !is(close + 1, "=") || !is(close + 3, "[")) return;
    if (tokens_[close + 2].text != tokens_[at].text || partner_[close + 3] == no_token) return;
    const std::size_t end = partner_[close + 3] + 1;
    if (!is(end, ";")) return;
    insert(tokens_[close + 2].offset, "::lab::emulator::after_lockstep(");
    insert(tokens_[end].offset, ")");
  }

  // name[i][j] of a shared array becomes within("name", name, name[i][j]), but for where it declares another
  // variable of that name, or is a member, and for an address that is only taken.
  void check_bounds(std::size_t at) {
    if (at == 0 || shared_declarations_.count(at) != 0 || !is_used(at)) return;
    std::size_t last = at + 1;
    while (is(last, "[") && partner_[last] != no_token) last = partner_[last] + 1;
    if (last == at + 1) return;  // unclosed
    outermost_.push_back({end_of(last - 1), end_of(last - 1), ")"});
    innermost_.push_back({tokens_[at].offset, tokens_[at].offset,
                          fmt::format("::lab::emulator::within(\"{0}\", {0}, ", tokens_[at].text)});
  }

  // Whether the name is read as a value of an expression.
  [[nodiscard]] bool is_used(std::size_t at) const {
    const std::string_view before = tokens_[at - 1].text;
    const auto is_value = [this](std::size_t token) {
      return is_identifier(token) || is(token, ")") || is(token, "]") ||
             tokens_[token].kind == token_kind::literal;
    };
    if (before == "." || before == "->" || before == "::" || before == ">" || before == "~") return false;
    if (is_identifier(at - 1))
      return before == "return" || before == "else" || before == "case" || before == "throw";
    if (before == "&" && !is_value(at - 2)) {
      // atomicAdd(&name[i], ..) touches it.
      return is(at - 2, "(") && tokens_[at - 3].text.starts_with("atomic");
    }
    // T* name[3]; and T a[2], name[3]; declare it.
    if (before == "*" && is_identifier(at - 2) &&
        (is(at - 3, ";") || is(at - 3, "{") || is(at - 3, "}") || is_identifier(at - 3)))
      return false;
    const std::size_t comma = before == "*" ? at - 2 : at - 1;
    if (!is(comma, ",")) return true;
    for (std::size_t back = comma; back > 0; --back) {
      if (is(back, ";") || is(back, "{") || is(back, "}")) return false;
      if (is(back, "(") || is(back, "[")) return true;
      if ((is(back, ")") || is(back, "]")) && partner_[back] != no_token && partner_[back] < back)
        back = partner_[back];
    }
    return false;
  }

  // Whether the function with this body uses volatile for a protocol between blocks.
  [[nodiscard]] bool orders_blocks(std::size_t body) const {
    for (std::size_t at = body; at < partner_[body]; ++at) {
      if (tokens_[at].text.starts_with("__threadfence") || tokens_[at].text.starts_with("atomic"))
        return true;
    }
    return false;
  }

  void synchronise_volatile_stores() {
    for (const auto& [key, used] : volatile_uses_) {
      if (!used.reads || orders_blocks(key.first)) continue;
      for (const auto& [value, end] : used.stores) {
        insert(tokens_[value].offset, "::lab::emulator::after_lockstep(");
        insert(tokens_[end].offset, "), ::lab::emulator::lockstep()");
      }
    }
  }

  void marker(std::size_t at) {
    if (is(at, launch_bounds) && at >= 3 && is(at - 3, "__attribute__") && partner_[at - 2] != no_token)
      return replace_range(at - 3, partner_[at - 2], "");
    if (tokens_[at].text == "__lab_constant__") note_constants(at);
    if (tokens_[at].text != "__lab_shared__") return replace(at, "");
    // common/cuda.hpp declares once more what the emulator has.
    if (tokens_[at].is_system) return replace(at, is(at - 1, "extern") ? "constinit thread_local" : "");
    const std::size_t first = beginning_of_declaration(at);
    std::size_t external = no_token;
    std::size_t end = first;
    for (; end < tokens_.size() && !is(end, ";") && !is(end, "{"); ++end) {
      if (is(end, "extern")) external = end;
    }
    for (std::size_t position = at; position < end; ++position) {
      if (!is(position, "[") || !is_identifier(position - 1)) continue;
      shared_names_.insert(tokens_[position - 1].text);
      shared_declarations_.insert(position - 1);
    }
    for (std::size_t position = first; position < end; ++position) {
      if (is(position, "alignas")) move_alignment(position, first, external != no_token && in_block_[at]);
    }
    if (external == no_token || end == tokens_.size()) {
      // Aligned as a GPU's compiler has arrays that it reads 16 bytes at a time; g++ does not align what is a
      // thread's own beyond its type. Tiles of whole swizzle patterns follow each other from the beginning of
      // a GPU's shared memory, so they are aligned to these, whatever they say.
      const bool has_tiles = source_.find("CUtensorMap") != std::string_view::npos;
#if defined(__clang__)
      const std::string word = "thread_local";
#else
      const std::string word = "constinit thread_local";
#endif
      return replace(at, word + fmt::format(" __attribute__((aligned({})))", has_tiles ? 1024 : 16));
    }
    if (!in_block_[at]) {
      replace(at, "constinit thread_local");
      for (std::size_t position = at; position < end; ++position) {
        if (is(position, "]") && (is(position + 1, ",") || is(position + 1, ";")))
          insert(end_of(position), " __asm__(\"lab_dynamic_shared\")");
      }
      for (const std::size_t name : plain_names(at, end))
        insert(end_of(name), " __asm__(\"lab_dynamic_shared\")");
      return;
    }
    // T name[], other[][4]; becomes references: T (&name)[] = .., (&other)[][4] = ..; and T name, other;
    // becomes T &name = .., &other = ..;
    replace(at, "");
    replace(external, "");
    for (const std::size_t name : plain_names(at, end)) {
      insert(tokens_[name].offset, "&");
      insert(end_of(name), fmt::format(" = {}", dynamic_shared));
    }
    for (std::size_t position = at; position < end; ++position) {
      if (!is(position, "[") || !is_identifier(position - 1)) continue;
      std::size_t last = position;
      while (is(last, "[") && partner_[last] != no_token) last = partner_[last] + 1;
      if (last == position) continue;  // unclosed
      insert(tokens_[position - 1].offset, "(&");
      insert(end_of(position - 1), ")");
      insert(end_of(last - 1), fmt::format(" = {}", dynamic_shared));
      position = last - 1;
    }
  }

  // Those of a declaration's names that are no arrays: a and c of T<int, 3> a, b[2], c;
  [[nodiscard]] std::vector<std::size_t> plain_names(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> names;
    int angles = 0;
    for (std::size_t at = begin; at < end; ++at) {
      if ((is(at, "(") || is(at, "[")) && partner_[at] != no_token) at = partner_[at];
      if (is(at, "<")) ++angles;
      if (is(at, ">")) --angles;
      if (angles == 0 && is_identifier(at) && (at + 1 == end || is(at + 1, ","))) names.push_back(at);
    }
    return names;
  }

  // nvcc takes `__shared__ alignas(16) T a[3];`, where C++ needs alignas to be the declaration's first word.
  void move_alignment(std::size_t at, std::size_t first, bool is_reference) {
    const std::size_t open = at + 1;
    if (at == first || !is(open, "(") || partner_[open] == no_token) return;
    const std::size_t last = partner_[open];
    if (!is_reference) {
      std::string text;
      for (std::size_t position = at; position <= last; ++position)
        text += std::string(tokens_[position].text) + " ";
      insert(tokens_[first].offset, text);
    }
    replace_range(at, last, "");
  }

  [[nodiscard]] std::size_t beginning_of_declaration(std::size_t at) const {
    while (at > 0 && !is(at - 1, ";") && !is(at - 1, "{") && !is(at - 1, "}") && !is(at - 1, ":") &&
           !is(at - 1, ")"))
      --at;
    return at;
  }

  static bool is_asm(std::string_view word) {
    return word == "asm" || word == "__asm__" || word == "__asm";
  }

  // asm("mov.u32 %0, %%laneid;" : "=r"(x)) is what inline_ptx.hpp makes of it.
  void inline_ptx(std::size_t at) {
    std::size_t open = at + 1;
    while (is(open, "volatile") || is(open, "__volatile__") || is(open, "__inline__")) ++open;
    if (!is(open, "(") || partner_[open] == no_token) return;
    const std::size_t close = partner_[open];
    std::string ptx;
    std::size_t position = open + 1;
    for (; position < close && tokens_[position].kind == token_kind::literal; ++position)
      ptx += contents_of(tokens_[position].text);
    if (ptx.find_first_not_of(" \t\n") == std::string::npos)
      return replace_range(at, close, "((void)0)");  // a fence for the compiler alone
    std::vector<ptx_operand> operands;
    if (operands_of_asm(position, close, operands)) {
      const translated_ptx found = translate_inline_ptx(ptx, operands);
      if (!found.text.empty()) return replace_range(at, close, found.text);
      ptx = found.unknown.empty() ? ptx : found.unknown;
    }
    if (tokens_[at].is_system) return;
    const std::string_view begin = std::string_view(ptx).substr(0, ptx.find_first_of(". \t\n;"));
    const bool is_matrix = begin == "mma" || begin == "wmma" || begin == "ldmatrix" || begin == "stmatrix" ||
                           begin == "wgmma" || begin == "tcgen05";
    refuse(at, is_matrix
                   ? fmt::format("{} (\"{}\")", matrix_instructions, ptx.substr(0, 60))
                   : fmt::format("this inline PTX is not emulated (\"{}\"); write it in CUDA C++, or put it "
                                 "behind #ifndef LAB_EMULATED",
                                 ptx.substr(0, 60)));
    replace_range(at, close, "((void)0)");
  }

  // What a string literal stands for, as far as PTX needs it.
  static std::string contents_of(std::string_view literal) {
    std::string text;
    if (literal.size() < 2 || literal.front() != '"') return std::string(literal);
    literal = literal.substr(1, literal.size() - 2);
    for (std::size_t at = 0; at < literal.size(); ++at) {
      if (literal[at] != '\\' || at + 1 == literal.size()) {
        text += literal[at];
        continue;
      }
      ++at;
      text += literal[at] == 'n' ? '\n' : literal[at] == 't' ? '\t' : literal[at];
    }
    return text;
  }

  // `: "=r"(a), "+l"(b) : "f"(c) : "memory"` from `position` on.
  bool operands_of_asm(std::size_t position, std::size_t close, std::vector<ptx_operand>& operands) const {
    int colons = 0;
    std::string constraint;  // may be several literals
    while (position < close) {
      if (is(position, ":") || is(position, "::")) {
        colons += is(position, "::") ? 2 : 1;
        ++position;
      } else if (colons >= 3 || is(position, ",")) {
        ++position;  // what is clobbered
      } else if (tokens_[position].kind == token_kind::literal &&
                 tokens_[position + 1].kind == token_kind::literal) {
        constraint += contents_of(tokens_[position].text);
        ++position;
      } else if (tokens_[position].kind == token_kind::literal && is(position + 1, "(") &&
                 partner_[position + 1] != no_token) {
        const std::size_t last = partner_[position + 1];
        std::string expression(
            source_.substr(tokens_[position + 1].offset, end_of(last) - tokens_[position + 1].offset));
        std::replace(expression.begin(), expression.end(), '\n', ' ');  // replace_range() keeps the lines
        operands.push_back({constraint + contents_of(tokens_[position].text), expression});
        constraint.clear();
        position = last + 1;
      } else {
        return false;
      }
    }
    return true;
  }

  // cudaLaunchKernel((void*)kernel, ...), node.func = (void*)kernel and node = {(void*)kernel, ...} take the
  // kernel as it is: its type tells its parameters.
  void drop_cast(std::size_t at) {
    const std::size_t open = at + 1;
    if (!is(open, "(") && !is(open, "=") && !is(open, "{")) return;
    if (!is(open + 1, "(")) {
      if ((is(open + 1, "reinterpret_cast") || is(open + 1, "static_cast")) && is(open + 2, "<")) {
        std::size_t close = open + 3;
        while (close < tokens_.size() && !is(close, ">") && !is(close, ";")) ++close;
        if (is(close, ">")) replace_range(open + 1, close, "");
      }
      return;
    }
    const std::size_t close = partner_[open + 1];
    if (close == no_token) return;
    bool has_void = false, has_pointer = false, others = false;
    for (std::size_t position = open + 2; position < close; ++position) {
      if (is(position, "void")) {
        has_void = true;
      } else if (is(position, "*")) {
        has_pointer = true;
      } else if (!is(position, "const")) {
        others = true;
      }
    }
    if (has_void && has_pointer && !others) replace_range(open + 1, close, "");
  }

  // ---- arithmetic

  // Behind the words of an integer type that begin at `at`; the same if none do.
  [[nodiscard]] std::size_t end_of_integer_type(std::size_t at) const {
    static const std::set<std::string_view> words = words_in(
        "unsigned signed char short int long size_t ssize_t uint uchar ushort ulong int8_t int16_t "
        "int32_t int64_t uint8_t uint16_t uint32_t uint64_t __int64_t __uint64_t __int32_t __uint32_t "
        "ptrdiff_t uintptr_t intptr_t clock_t __uint8_t");
    if (is(at, "std") && is(at + 1, "::") && is_identifier(at + 2)) {
      const std::size_t end = end_of_integer_type(at + 2);
      return end == at + 2 ? at : end;
    }
    while (is_identifier(at) && words.contains(tokens_[at].text)) ++at;
    return at;
  }
  [[nodiscard]] std::string text_of(std::size_t first, std::size_t end) const {
    std::string text;
    for (std::size_t at = first; at < end; ++at) {
      if (at > first && end_of(at - 1) != tokens_[at].offset) text += ' ';  // `<<` is two tokens
      if (own_names_.count(at) != 0) text += " ::";
      text += tokens_[at].text;
    }
    return text;
  }

  void conversion(std::size_t at) {
    if (function_[at] != function_of_integers_) {
      function_of_integers_ = function_[at];
      integers_.clear();
    }
    const std::size_t end = end_of_integer_type(at);
    // half and bfloat16, which nvcc converts to each other; half is a usual name of a variable as well.
    const std::string_view name = tokens_[at].text;
    const bool is_narrow = ((name == "half" && !is_local(at)) || name == "__half" || name == "nv_bfloat16" ||
                            name == "__nv_bfloat16") &&
                           !is(at - 1, "::");
    if (is_narrow && is(at + 1, "(") && partner_[at + 1] != no_token && is_behind_operator(at) &&
        !is(at + 2, ")") && !is(at + 2, "*")) {
      replace_range(at, at, conversion_to(std::string(name)));
      return;
    }
    if (is_narrow || types_.count(name) != 0) {
      const std::string type(tokens_[at].text);
      if (is(at - 1, "(") && is(at + 1, ")")) {
        cast(at - 1, at + 1, type);
      } else if (is(at - 1, "<") && is(at + 1, ">") && is(at - 2, "static_cast")) {
        replace_range(at - 2, at + 1, conversion_to(type));
      }
      return;
    }
    if (end != at) {
      if (end_of_integer_type(at - 1) != at - 1 || (is(at - 1, "::") && is(at - 2, "std"))) return;
      const std::string type = text_of(at, end);
      if (is(at - 1, "(") && is(end, ")")) {
        cast(at - 1, end, type);
      } else if (is(at - 1, "<") && is(end, ">") && is(end + 1, "(") && is(at - 2, "static_cast")) {
        replace_range(at - 2, end, conversion_to(type));
      } else if (is(end, "(") && partner_[end] != no_token && is_behind_operator(at) && !is(end + 1, ")") &&
                 !is(end + 1, "*") && !is(end + 1, "float") && !is(end + 1, "double") &&
                 !is(end + 1, "const") && end_of_integer_type(end + 1) == end + 1) {
        replace_range(at, end - 1, conversion_to(type));
      } else if (is_identifier(end) && is(end + 1, "=")) {
        declarations(end, type);
      } else if (is_identifier(end) && (is(end + 1, ";") || is(end + 1, "{"))) {
        integers_.insert(tokens_[end].text);
      }
      return;
    }
    if (is(at, "return")) {
      const auto result = integer_results_.find(function_[at]);
      if (result != integer_results_.end()) wrap(at + 1, conversion_to(result->second), ";");
      return;
    }
    assignment(at);
  }

  static std::string conversion_to(const std::string& type) {
    return fmt::format("::lab::emulator::converted<{}>", type);
  }

  // Where an operand begins, and neither a declaration nor a list of types.
  [[nodiscard]] bool is_behind_operator(std::size_t at) const {
    static const std::set<std::string_view> operators =
        words_in("= + - * / % & | ^ ! ~ ? : [ += -= *= /= == && || return ( , {");
    return operators.contains(tokens_[at - 1].text);
  }

  // (int)operand
  void cast(std::size_t open, std::size_t close, const std::string& type) {
    // `sizeof(int)`, a parameter list.
    const bool is_call = open > 0 && ((is_identifier(open - 1) && !is_statement_word(open - 1)) ||
                                      is(open - 1, "sizeof") || is(open - 1, ">") || is(open - 1, "]"));
    if (is_call) return;
    const std::size_t last = end_of_operand(close + 1);
    if (last == no_token) return;
    replace_range(open, close, conversion_to(type) + "(");
    insert(end_of(last - 1), ")");
  }

  // Behind the operand of a cast that begins at `at`: signs, a name, number or bracket, and what is behind
  // it.
  [[nodiscard]] std::size_t end_of_operand(std::size_t at) const {
    static const std::set<std::string_view> signs = words_in("- + ! ~ * & ++ --");
    while (at < tokens_.size() && signs.contains(tokens_[at].text)) ++at;
    if (at >= tokens_.size()) return no_token;
    if (is(at, "(")) {
      if (partner_[at] == no_token) return no_token;
      const std::size_t close = partner_[at];
      // Another cast.
      bool is_type = close > at + 1;
      for (std::size_t inner = at + 1; inner < close; ++inner)
        is_type = is_type && (is(inner, "float") || is(inner, "double") || is(inner, "*") ||
                              is(inner, "const") || end_of_integer_type(inner) != inner);
      if (is_type) return end_of_operand(close + 1);
      at = close + 1;
      if (is_identifier(at) || (at < tokens_.size() && tokens_[at].kind == token_kind::number))
        return end_of_operand(at);
    } else if (is_identifier(at) || tokens_[at].kind == token_kind::number ||
               tokens_[at].kind == token_kind::literal) {
      if (is(at, "sizeof") || is(at, "new")) return no_token;
      ++at;
    } else if (!is(at, "::")) {
      return no_token;
    }
    for (;;) {
      if ((is(at, "(") || is(at, "[") || is(at, "{")) && partner_[at] != no_token) {
        at = partner_[at] + 1;
      } else if ((is(at, ".") || is(at, "->") || is(at, "::")) && is_identifier(at + 1)) {
        at += 2;
      } else if (is(at, "++") || is(at, "--")) {
        ++at;
      } else if (is(at, "<") && is_identifier(at - 1)) {
        // f<float>(x), and no comparison.
        std::size_t close = at + 1;
        while (is_identifier(close) || is(close, ",") || is(close, "::") || is(close, "*") ||
               (close < tokens_.size() && tokens_[close].kind == token_kind::number))
          ++close;
        if (!is(close, ">") || !(is(close + 1, "(") || is(close + 1, "{"))) return at;
        at = close + 1;
      } else {
        return at;
      }
    }
  }

  // int a = .., b = ..; from the first name.
  void declarations(std::size_t name, const std::string& type) {
    while (is_identifier(name) && is(name + 1, "=")) {
      const std::size_t end = wrap(name + 2, conversion_to(type), ";,");
      integers_.insert(tokens_[name].text);
      if (!is(end, ",")) return;
      name = end + 1;
    }
  }

  // name[..].member = ..; at the beginning of a statement, and name += ..; of an integer.
  void assignment(std::size_t at) {
    if (is(at, "auto")) return;  // auto [a, b] = ..;
    const bool is_pointer = is(at - 1, "*");
    const std::size_t first = is_pointer ? at - 1 : at;
    if (!is(first - 1, ";") && !is(first - 1, "{") && !is(first - 1, "}") && !is(first - 1, ")") &&
        !is(first - 1, "else"))
      return;
    if (is_pointer && is(first - 1, ")")) return;  // a product, or a cast
    std::size_t end = at + 1;
    for (;;) {
      if (is(end, "[") && partner_[end] != no_token) {
        end = partner_[end] + 1;
      } else if ((is(end, ".") || is(end, "->")) && is_identifier(end + 1)) {
        end += 2;
      } else {
        break;
      }
    }
    const bool is_compound = is(end, "+=") || is(end, "-=") || is(end, "*=") || is(end, "/=");
    if (is_compound && end == at + 1 && !is_pointer && integers_.count(tokens_[at].text) != 0) {
      std::size_t last = end + 1;
      while (last < tokens_.size() && !is(last, ";")) ++last;
      if (has_floating(end + 1, last))
        replace_range(at, at, fmt::format("::lab::emulator::changed({})", tokens_[at].text));
      return;
    }
    if (!is(end, "=")) return;
    wrap(end + 1, fmt::format("::lab::emulator::assigned<decltype({})>", text_of(first, end)), ";");
  }

  // Gives the expression at `begin`, which one of `ends` is behind, to the function. Where it ends.
  std::size_t wrap(std::size_t begin, const std::string& function, std::string_view ends) {
    bool may_be_floating = false, has_angle = false;
    std::size_t end = begin;
    for (; end < tokens_.size(); ++end) {
      const token& one = tokens_[end];
      if (one.text.size() == 1 && ends.find(one.text) != std::string_view::npos) break;
      if (one.text == "," || one.text == "}" || one.text == ")" || one.text == "]") return end;
      if (one.text == "<") has_angle = true;
      if (is_chevron(end, "<")) return end;
      if ((one.text == "(" || one.text == "[" || one.text == "{") && partner_[end] != no_token) {
        may_be_floating = may_be_floating || has_floating(end + 1, partner_[end]);
        end = partner_[end];
      } else {
        may_be_floating = may_be_floating || has_floating(end, end + 1);
      }
    }
    const bool is_one_number = end == begin + 1 && !is_identifier(begin);
    if (end >= tokens_.size() || end == begin || is_one_number || !may_be_floating || is(begin, "{") ||
        is(begin, "throw") || is(begin, "default") || is(begin, "delete") || is(begin, "__null") ||
        is(begin, "nullptr") || (has_angle && is(end, ",")))
      return end;
    insert(tokens_[begin].offset, function + "(");
    insert(tokens_[end].offset, ")");
    return end;
  }

  // Whether a token of these may belong to a number with a fraction.
  [[nodiscard]] bool has_floating(std::size_t begin, std::size_t end) const {
    static const std::set<std::string_view> whole =
        words_in("threadIdx blockIdx blockDim gridDim warpSize x y z sizeof");
    for (std::size_t at = begin; at < end; ++at) {
      const token& one = tokens_[at];
      if (one.kind == token_kind::number) {
        const bool is_hexadecimal = one.text.starts_with("0x") || one.text.starts_with("0X");
        if (!is_hexadecimal && one.text.find_first_of(".eEfF") != std::string_view::npos) return true;
      } else if (one.kind == token_kind::identifier) {
        const bool is_member = at > 0 && (is(at - 1, ".") || is(at - 1, "->"));
        const bool is_known = whole.contains(one.text);
        if (integers_.count(one.text) != 0 && !is_member) continue;
        if (is_known && (at == begin || is_member || one.text.size() > 1)) continue;
        return true;
      }
    }
    return false;
  }

  // A function whose result is an integer, as far as its words say, and that has no function within.
  void note_result(std::size_t statement, std::size_t brace) {
    std::size_t close = brace - 1;
    while (close > statement && !is(close, ")")) --close;
    if (partner_[close] == no_token || partner_[close] <= statement + 1) return;
    const std::size_t name = partner_[close] - 1;
    std::size_t first = name;
    while (first > statement && end_of_integer_type(first - 1) != first - 1) --first;
    if (first == name || !is_identifier(name)) return;
    for (std::size_t at = brace; at < partner_[brace]; ++at) {
      if (is(at, "]") && (is(at + 1, "(") || is(at + 1, "{"))) return;
    }
    integer_results_[brace] = text_of(first, name);
  }

  // `a << b` is a << shift << b; so are `>>`, `<<=` and `>>=`.
  void shift(std::size_t at) {
    const std::string_view angle = tokens_[at].text;
    if (!is(at + 1, angle) || end_of(at) != tokens_[at + 1].offset || is(at + 2, angle) ||
        is(at - 1, angle) || is(at - 1, "operator"))
      return;
    const bool is_operand = is_identifier(at - 1) || is(at - 1, ")") || is(at - 1, "]") ||
                            tokens_[at - 1].kind == token_kind::number ||
                            tokens_[at - 1].kind == token_kind::literal;
    if (!is_operand) return;
    const bool assigns = is(at + 2, "=") && end_of(at + 1) == tokens_[at + 2].offset;
    const std::size_t amount = at + (assigns ? 3 : 2);
    if (is_small_number(amount)) return;
    // Streams, and two lists of template arguments that end.
    std::size_t first = at;
    int open = 0;
    for (; first > 0; --first) {
      const std::string_view text = tokens_[first - 1].text;
      if (text == ";" || text == "{" || text == "}" || text == "(" || text == "[") break;
      if (text == "cout" || text == "cerr" || tokens_[first - 1].kind == token_kind::literal) return;
      if (text == ")" || text == "]") {
        if (partner_[first - 1] == no_token) return;
        first = partner_[first - 1] + 1;
      } else if (text == "<" && !is(first - 2, "<") && !is(first, "<")) {
        ++open;
      }
    }
    if (angle == ">" && open > 0) return;
    if (assigns && is_identifier(at - 1) && (is(at - 2, ".") || is(at - 2, "->")))
      return shift_member(at, angle);
    if (assigns && !is(at - 1, "]") && !is_identifier(at - 1)) return;
    insert(tokens_[amount].offset,
           fmt::format("::lab::emulator::shift {0}{0}{1} ", angle, assigns ? "=" : ""));
  }

  // a.b <<= c; may change a bit-field, to which no reference binds: a.b = a.b << shift << (c);
  void shift_member(std::size_t at, std::string_view angle) {
    std::size_t first = at - 1;
    while (is(first - 1, ".") || is(first - 1, "->")) {
      first -= 2;
      while (is(first, "]") && partner_[first] != no_token) first = partner_[first] - 1;
      if (!is_identifier(first)) return;
    }
    std::size_t end = at + 3;
    for (; end < tokens_.size() && !is(end, ";"); ++end) {
      if (is(end, ")") || is(end, "}") || is(end, ",")) return;
      if ((is(end, "(") || is(end, "[") || is(end, "{")) && partner_[end] != no_token) end = partner_[end];
    }
    for (std::size_t inner = first; inner < at; ++inner) {
      if (is(inner, "++") || is(inner, "--") || is(inner, "(") || is(inner, "=")) return;
    }
    replace_range(at, at + 2,
                  fmt::format("= {0} {1}{1} ::lab::emulator::shift {1}{1} (", text_of(first, at), angle));
    insert(tokens_[end].offset, ")");
  }

  // Less than 32, and all of the operand.
  [[nodiscard]] bool is_small_number(std::size_t at) const {
    if (at >= tokens_.size() || tokens_[at].kind != token_kind::number) return false;
    const std::string_view digits = tokens_[at].text;
    const std::size_t end = digits.find_first_not_of("0123456789");
    if (end == 0 || end > 2 || (end == std::string_view::npos && digits.size() > 2)) return false;
    if (digits.find_first_of("xX.'") != std::string_view::npos || std::atoi(std::string(digits).c_str()) > 31)
      return false;
    return !is(at + 1, "+") && !is(at + 1, "-") && !is(at + 1, "*") && !is(at + 1, "/") && !is(at + 1, "%");
  }

  // ---- launches

  // Three angle brackets with nothing between them, but for what `operator<<` is followed by.
  [[nodiscard]] bool is_chevron(std::size_t at, std::string_view angle) const {
    if (!is(at, angle) || !is(at + 1, angle) || !is(at + 2, angle)) return false;
    if (end_of(at) != tokens_[at + 1].offset && end_of(at + 1) != tokens_[at + 2].offset) return false;
    return !(at > 0 && is(at - 1, "operator"));
  }

  // For a string literal: "ns :: k < unsigned int >" as ns::k<unsigned int>.
  static std::string as_literal(const std::string& tokens) {
    const auto is_of_word = [&](std::size_t at) {
      return std::isalnum(static_cast<unsigned char>(tokens[at])) != 0 || tokens[at] == '_';
    };
    std::string literal;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (tokens[at] == ' ' && !(is_of_word(at - 1) && is_of_word(at + 1))) continue;
      if (tokens[at] == '"' || tokens[at] == '\\') literal += '\\';
      literal += tokens[at];
    }
    return literal;
  }

  void launch(std::size_t at) {
    const std::size_t first = beginning_of_kernel(at);
    const std::size_t closing = closing_chevron(at + 3);
    if (first == no_token || closing == no_token) return;  // no launch; the compiler will complain
    if (!is(closing + 3, "(")) {
      refuse(at, "a launch needs its arguments in parentheses behind >>>, also when there are none");
      return;
    }
    std::string kernel;
    const std::size_t begin = tokens_[first].offset, end = tokens_[at].offset;
    for (std::size_t token_number = first; token_number < at; ++token_number) {
      // What touches stays so: a shift is two brackets.
      if (token_number > first && end_of(token_number - 1) != tokens_[token_number].offset) kernel += ' ';
      kernel += tokens_[token_number].text;
    }
    replace_bytes(begin, end, std::string(chevron_launch) + newlines(begin, end));
    replace_range(at, at + 2, "");
    replace_range(
        closing, closing + 2,
        fmt::format(")([&](auto... {0}) -> decltype(({1})({0}...)) {{ return ({1})({0}...); }}, "
                    "[&](auto lab_use) -> decltype(lab_use({1})) {{ return lab_use({1}); }}, \"{2}\")",
                    lambda_argument, kernel, as_literal(kernel)));
    ++result_.launches;
  }

  // The kernel's name before the chevrons: name, ns::name<T, 3>, object.member, table[i], (expression).
  [[nodiscard]] std::size_t beginning_of_kernel(std::size_t chevrons) const {
    std::size_t at = chevrons;
    for (;;) {
      if (at == 0) return no_token;
      --at;
      if (is(at, "]")) {
        at = partner_[at];
        if (at == no_token) return no_token;
        continue;
      }
      if (is(at, ")")) {
        at = partner_[at];
        if (at == no_token) return no_token;
        if (at == 0 || !is_identifier(at - 1) || is_statement_word(at - 1)) return at;
        continue;
      }
      if (is(at, ">")) {
        at = opening_angle(at);
        if (at == no_token) return no_token;
        continue;
      }
      if (!is_identifier(at) || is_statement_word(at)) return no_token;
      if (at > 0 && is(at - 1, "template")) --at;
      if (at == 0) return at;
      if (is(at - 1, ".") || is(at - 1, "->")) {
        --at;
        continue;
      }
      if (!is(at - 1, "::")) return at;
      --at;
      const bool is_qualified =
          at > 0 && ((is_identifier(at - 1) && !is_statement_word(at - 1)) || is(at - 1, ">"));
      if (!is_qualified) return at;
    }
  }

  [[nodiscard]] bool is_statement_word(std::size_t at) const {
    static const std::set<std::string_view> words =
        words_in("if while for switch return else do sizeof case goto throw co_await default new");
    return words.contains(tokens_[at].text);
  }

  // Whether this `<` or `>` compares or shifts: template arguments stand behind a name, or a lambda's [].
  [[nodiscard]] bool is_operator(std::size_t at) const {
    const auto touches = [&](std::string_view text) {
      return is(at + 1, text) && end_of(at) == tokens_[at + 1].offset;
    };
    if (touches("=")) return true;
    return is(at, "<") && (at == 0 || !(is_identifier(at - 1) || is(at - 1, "]")) || touches("<"));
  }

  // The `<` of the template arguments that end at `at`.
  [[nodiscard]] std::size_t opening_angle(std::size_t at) const {
    int depth = 0;
    for (;; --at) {
      const std::string_view text = tokens_[at].text;
      if (text == ">" && !is_operator(at)) ++depth;
      if (text == "<" && !is_operator(at) && --depth == 0) return at;
      if (text == ";" || text == "{") return no_token;
      if (text == ")" || text == "]" || text == "}") {
        if (partner_[at] == no_token) return no_token;
        at = partner_[at];
      }
      if (at == 0) return no_token;
    }
  }

  // The first `>` of the three that end the launch's configuration.
  [[nodiscard]] std::size_t closing_chevron(std::size_t at) const {
    for (; at < tokens_.size(); ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == ";" || text == "}" || text == ")" || text == "]") return no_token;
      if (text == "(" || text == "[" || text == "{") {
        if (partner_[at] == no_token) return no_token;
        at = partner_[at];
        continue;
      }
      if (!is_chevron(at, ">")) continue;
      // Of `f<g>>>>(` the last three are the launch's.
      while (is_chevron(at + 1, ">")) ++at;
      return at;
    }
    return no_token;
  }

  // ---- edits

  void refuse(std::size_t at, std::string message) {
    const token& one = tokens_[at];
    if (!refused_.insert({{one.file, one.line}, message}).second) return;
    result_.refused.push_back({list_.files[one.file], one.line, std::move(message)});
  }

  void replace(std::size_t at, std::string_view text) {
    replace_range(at, at, text);
  }
  void replace_range(std::size_t first, std::size_t last, std::string_view text) {
    const std::size_t begin = tokens_[first].offset, end = end_of(last);
    replace_bytes(begin, end, std::string(text) + newlines(begin, end));
  }
  void replace_bytes(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }
  void insert(std::size_t offset, std::string text) {
    edits_.push_back({offset, offset, std::move(text)});
  }

  [[nodiscard]] std::string newlines(std::size_t begin, std::size_t end) const {
    return std::string(
        static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(begin),
                                            source_.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
        '\n');
  }

  // Of edits that overlap the first one counts: a keyword within a kernel's name, say.
  std::string apply_edits() {
    edits_.insert(edits_.begin(), outermost_.begin(), outermost_.end());
    edits_.insert(edits_.end(), innermost_.begin(), innermost_.end());
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const edit& a, const edit& b) { return a.begin < b.begin; });
    std::string text;
    text.reserve(source_.size() + edits_.size() * 64);
    std::size_t done = 0;
    for (const edit& one : edits_) {
      if (one.begin < done) continue;
      text += source_.substr(done, one.begin - done);
      text += one.text;
      done = one.end;
    }
    text += source_.substr(done);
    return text;
  }

  std::string_view source_;
  // Where the emulator's headers are included, as text or precompiled; npos: nowhere.
  std::size_t emulator_at_ = std::min(source_.find("namespace lab::emulator"), source_.find(prelude_mark));
  token_list list_;
  const std::vector<token>& tokens_;
  std::vector<std::size_t> partner_;
  std::vector<bool> in_block_, is_of_file_ /* no brace is open */, in_device_code_;
  std::vector<edit> edits_;
  std::set<std::size_t> device_bodies_;  // the braces that open functions of the device alone
  std::map<std::string_view, name_kind> names_;
  std::set<std::string_view> system_functions_;
  std::set<std::string_view> types_;
  std::set<std::size_t> own_names_;    // that get a :: in front
  std::vector<std::size_t> function_;  // of the device's code: the brace that opens the function's body
  std::map<std::string_view, std::vector<std::size_t>> kernels_;  // the braces that end their bodies
  bool launches_by_address_, lets_pass_;
  std::map<std::size_t, std::string> integer_results_;  // by the brace that opens the function's body
  std::set<std::string_view> integers_;                 // what the function that is read has declared so
  std::size_t function_of_integers_ = no_token;
  std::set<std::string_view> volatiles_;     // names that the device's code has declared so
  std::set<std::string_view> shared_names_;  // of arrays
  std::set<std::size_t> shared_declarations_;
  // Insertions that enclose nothing but what they stand beside, and those that end these.
  std::vector<edit> innermost_, outermost_;
  // How a function uses one of them: whether it reads the array, and the values of its stores, each with the
  // semicolon behind it.
  struct volatile_use {
    bool reads = false;
    std::vector<std::pair<std::size_t, std::size_t>> stores;
  };
  std::map<std::pair<std::size_t, std::string_view>, volatile_use> volatile_uses_;
  std::set<std::pair<std::pair<unsigned, int>, std::string>> refused_;
  rewritten_source result_;
};

}  // namespace

rewritten_source rewrite_cuda(std::string_view preprocessed, bool launches_by_address, bool lets_pass) {
  return rewriter(preprocessed, launches_by_address, lets_pass).run();
}

bool launches_by_address(std::string_view preprocessed) {
  const token_list list = tokens_of(preprocessed);
  return std::any_of(list.tokens.begin(), list.tokens.end(), [](const token& one) {
    return !one.is_system && (one.text == "cudaLaunchKernel" || one.text == "cudaLaunchCooperativeKernel" ||
                              one.text == "cudaLaunchKernelExC" || one.text == "cudaKernelNodeParams");
  });
}

}  // namespace lab::front
