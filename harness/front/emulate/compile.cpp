#include "harness/front/emulate/compile.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "common/utf8.hpp"
#include "harness/front/emulate/rewrite.hpp"
#include "harness/front/emulate/tokens.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

// What a compiler may take, so that templates without an end cost an error message and not the machine.
constexpr rlim_t compiler_memory = rlim_t{6} << 30;
constexpr std::size_t most_source = std::size_t{256} << 20;  // preprocessed
constexpr std::size_t most_shown_lines = 60;                 // of what a compiler says
constexpr std::string_view default_standard = "-std=gnu++20";

bool begins_with_one_of(const std::string& word, const std::set<std::string_view>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto one) { return word.starts_with(one); });
}

// Options that say nothing to a CPU's compiler, and with which nvcc is called where its code is read: they
// change it, or are needed for it to be made. Some have their value behind them.
bool is_for_device(const std::string& word) {
  static const std::set<std::string_view> names = words_in(
      "-G --device-debug -use_fast_math --use_fast_math -extended-lambda --extended-lambda "
      "-expt-extended-lambda --expt-extended-lambda -expt-relaxed-constexpr --expt-relaxed-constexpr "
      "-restrict --restrict -allow-unsupported-compiler --allow-unsupported-compiler -maxrregcount "
      "--maxrregcount -Xptxas --ptxas-options -ccbin --compiler-bindir");
  static const std::set<std::string_view> beginnings = words_in(
      "-rdc= --relocatable-device-code= -maxrregcount= --maxrregcount= -Xptxas= --ptxas-options= "
      "-ccbin= --compiler-bindir= -ftz= --ftz= -fmad= --fmad= -prec- --prec-");
  return names.contains(word) || begins_with_one_of(word, beginnings);
}

// Options of nvcc that say nothing to a CPU's compiler.
bool is_forgotten(const std::string& word) {
  static const std::set<std::string_view> names = words_in(
      "-lineinfo --generate-line-info -m64 -w -v --verbose -keep --keep -pg -dlto -MD -MMD -MP "
      "--resource-usage");
  static const std::set<std::string_view> beginnings = words_in(
      "-O --optimize -g -W -cudart= --cudart= --threads= -diag-suppress --diag-suppress "
      "--default-stream=");
  return is_for_device(word) || names.contains(word) || begins_with_one_of(word, beginnings);
}

// The emulator has CUDA's libraries in its headers, those that it has.
bool is_own_library(const std::string& word) {
  static const std::set<std::string_view> names = words_in(
      "-lcuda -lcublas -lcufft -lcurand -lcusparse -lcusolver -lnppi -lnppc -lnvrtc -lnvToolsExt "
      "-lnvidia-ml -lculibos");
  return begins_with_one_of(word, names);
}

// Those of nvcc that have a value behind them, and say nothing either.
bool is_forgotten_with_value(const std::string& word) {
  static const std::set<std::string_view> known = words_in(
      "-Xptxas --ptxas-options -ccbin --compiler-bindir -maxrregcount --maxrregcount -gencode "
      "--generate-code -code -Xlinker -Xnvlink -Xcudafe -t --threads -odir -cudart --default-stream "
      "-MF");
  return known.contains(word);
}

// "sm_80", "compute_80" or "80" is 800.
std::string architecture_of(const std::string& text) {
  const std::size_t begin = text.find_first_of("0123456789");
  const std::size_t end = text.find_first_not_of("0123456789", begin);
  if (begin == std::string::npos) return "900";  // "native", "all"
  const std::string digits = text.substr(begin, end == std::string::npos ? end : end - begin);
  if (digits.size() < 2 || digits.size() > 3)
    throw usage_error(fmt::format("-arch needs an architecture such as sm_90, not '{}'", text));
  return digits + "0";
}

// The emulator's headers need C++20; a later standard is taken.
std::string standard_of(const std::string& text) {
  const std::string name = text.starts_with("gnu++") ? text.substr(5)
                           : text.starts_with("c++") ? text.substr(3)
                                                     : "";
  if (name == "23" || name == "2b" || name == "26" || name == "2c") return "-std=gnu++" + name;
  static const std::set<std::string_view> older = words_in("98 03 0x 11 1y 14 1z 17 2a 20");
  const bool is_c = text == "c99" || text == "c11" || text == "gnu99" || text == "gnu11";
  if (!is_c && !older.contains(name)) throw usage_error(fmt::format("-std={} is no standard of C++", text));
  return std::string(default_standard);
}

std::string first_lines(const std::string& text) {
  std::string shown;
  std::istringstream stream(text);
  std::string line;
  std::size_t count = 0;
  while (std::getline(stream, line)) {
    if (++count > most_shown_lines) {
      shown += "... and more\n";
      break;
    }
    shown += escaped(line, true) + "\n";
  }
  if (shown.ends_with('\n')) shown.pop_back();
  return shown;
}

// The parts of CUDA's libraries that the compiler has looked for in vain, each with a line to be shown.
std::string missing_parts(const std::string& output) {
  const std::string library = "((?:cub|thrust|cuda|cooperative_groups|nvcuda)(?:::\\w+)*)";
  const std::string of_namespace =
      ".* error: '(\\w+)[^']*' (?:in namespace|is not a member of) '" + library + "'.*";
  const std::string undeclared = ".* error: '" + library + "::(\\w+)' has not been declared.*";
  const std::string function =
      ".* error: '((?:cu|cuda|cublas|cufft|curand|nvtx)[A-Z]\\w*)' was not declared in this scope.*";
  const std::string header = ".* error: ((?:cub|thrust|cuda|cooperative_groups)/[\\w/.]+): No such file.*";
  std::set<std::string> names;
  std::istringstream stream(replaced(output, "\u2018|\u2019", "'"));
  for (std::string line; std::getline(stream, line);) {
    constexpr std::size_t longest = 1000;
    if (line.size() > longest || line.find(" error: ") == std::string::npos) continue;
    if (const auto found = matched_groups(line, of_namespace); !found.empty())
      names.insert(found[2] + "::" + found[1]);
    if (const auto found = matched_groups(line, undeclared); !found.empty())
      names.insert(found[1] + "::" + found[2]);
    for (const std::string& pattern : {function, header}) {
      if (const auto found = matched_groups(line, pattern); !found.empty()) names.insert(found[1]);
    }
  }
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("\nthe emulator does not know {}: it is misspelled, or not in docs/emulate.md", name);
  return text;
}

// The memory that the processes which are started in this scope may have.
class memory_limit {
 public:
  memory_limit() {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limited = before_;
    limited.rlim_cur = std::min(compiler_memory, before_.rlim_cur);
    setrlimit(RLIMIT_AS, &limited);
  }
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;
  ~memory_limit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

void run_compiler(const std::vector<std::string>& command, std::chrono::seconds time_limit,
                  const std::string& what) {
  const memory_limit limit;
  const command_result result = run_command(command, time_limit);
  if (!result.ending.is_success()) {
    throw usage_error(fmt::format(
        "{}:\n{}{}", what,
        result.output.empty() ? "the compiler " + result.ending.description() : first_lines(result.output),
        missing_parts(result.output)));
  }
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file && text.empty()) throw environment_error(fmt::format("{} cannot be read", path));
  if (text.size() > most_source)
    throw usage_error(
        fmt::format("with all that it includes the program is larger than {} MiB", most_source >> 20));
  return text;
}

enum class source_kind { cuda, cplusplus, c, object };

source_kind kind_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".cu" || extension == ".cuh") return source_kind::cuda;
  if (extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".C" ||
      extension == ".c++")
    return source_kind::cplusplus;
  if (extension == ".c") return source_kind::c;
  if (extension == ".o" || extension == ".a" || extension == ".so" || extension == ".obj")
    return source_kind::object;
  throw usage_error(
      fmt::format("{}: is no source that is known by its name (.cu, .cpp, .cc, .cxx, .c, .o, .a)", path));
}

class compilation {
 public:
  compilation(const compile_request& request, emulation_toolchain tools)
      : request_(request), tools_(std::move(tools)) {}

  // To be called for all sources before the first is compiled.
  void preprocess(const std::string& source, std::size_t number) {
    const source_kind kind = kind_of_source(source);
    if (kind == source_kind::object || kind == source_kind::c) return;
    const std::string text = preprocessed(source, number, true);
    // An object's other files are not known.
    launches_by_address_ = launches_by_address_ || request_.words.only_objects || launches_by_address(text);
  }

  // The object of one source.
  std::string compile(const std::string& source, std::size_t number) {
    const source_kind kind = kind_of_source(source);
    if (kind == source_kind::object) return source;
    const std::string stem = stem_of(number);
    const std::string object = request_.words.only_objects ? request_.program : stem + ".o";
    std::vector<std::string> command{tools_.compiler};
    if (kind == source_kind::c) {
      append(command, {"-x", "c", "-w", "-O2", "-I" + std::string(".")});
      append(command, folders_of_headers());
      append(command, without_standard());
      append(command, {"-c", source, "-o", object});
      run_compiler(command, request_.time_limit, source + " does not compile");
      return object;
    }
    std::string text = text_of_file(stem + ".i");
    // A program that includes OpenMP's header means its pragmas, whether or not -Xcompiler -fopenmp is given.
    const bool has_openmp = text.find("/omp.h\"") != std::string::npos;
    uses_openmp_ = uses_openmp_ || has_openmp;
    rewritten_source rewritten = rewrite_cuda(text, launches_by_address_);
    bool is_precompiled = text.find(prelude_mark) != std::string::npos;
    if (is_precompiled && (has_openmp || !rewritten.refused.empty())) {
      // It needs another option than the headers were precompiled with, or their names.
      text = preprocessed(source, number, false);
      rewritten = rewrite_cuda(text, launches_by_address_);
      is_precompiled = false;
    }
    if (!rewritten.refused.empty()) refuse(source, rewritten.refused);
    command = {tools_.compiler, "-x", "c++", "-fpreprocessed"};
    append(command, options());
    if (is_precompiled) command.emplace_back("-fpch-preprocess");
    if (has_openmp) command.emplace_back("-fopenmp");
    append(command, {"-c", stem + ".ii", "-o", object});
    const auto compile_text = [&](const std::string& all) {
      std::ofstream(stem + ".ii", std::ios::binary) << all;
      run_compiler(command, request_.time_limit, source + " does not compile");
    };
    try {
      compile_text(rewritten.text);
    } catch (const usage_error&) {
      const std::string as_nvcc = rewrite_cuda(text, launches_by_address_, true).text;
      bool passes = as_nvcc != rewritten.text;
      try {
        if (passes) compile_text(as_nvcc);
      } catch (const usage_error&) {
        passes = false;
      }
      if (!passes) throw;
    }
    check_constants(object, rewritten.constants);
    return object;
  }

  // The device's code is linked with the host's: what nvcc makes of -dlink is an object without contents
  // here.
  void make_empty_object() {
    run_compiler({tools_.compiler, "-x", "c++", "-c", "/dev/null", "-o", request_.program},
                 request_.time_limit, "no object can be made");
  }

  void link(const std::vector<std::string>& objects) {
    std::vector<std::string> command{tools_.compiler};
    append(command, objects);
    append(command, {"-o", request_.program});
    // Constants and device variables of a header that several files include are each file's own for nvcc.
    append(command, {"-Wl,--allow-multiple-definition", "-Wl,--whole-archive"});
    // A shared array may be aligned to more than a page; ld would then protect a gap, which the loader
    // refuses.
    append(command, {"-Wl,-z,norelro"});
    // What a kernel calls that leaves more behind than its memory (programs/side_effects.cpp).
    static const std::set<std::string_view> wrapped = words_in(
        "malloc calloc realloc aligned_alloc _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t "
        "_ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t "
        "_ZnamSt11align_val_tRKSt9nothrow_t free _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm printf __printf_chk "
        "vprintf __vprintf_chk puts putchar _ZNSt6chrono3_V212steady_clock3nowEv "
        "_ZNSt6chrono3_V212system_clock3nowEv dl_iterate_phdr");
    for (const std::string_view name : wrapped) command.push_back(fmt::format("-Wl,--wrap={}", name));
    append(command, tools_.observing);
    append(command, {"-Wl,--no-whole-archive"});
    append(command, tools_.libraries);
    append(command, request_.words.link);
    for (const std::string& word : request_.words.compile) {
      if (word == "-fopenmp") command.push_back(word);
    }
    if (uses_openmp_) command.emplace_back("-fopenmp");
    append(command, {"-lpthread", "-lm", "-ldl"});
    run_compiler(command, request_.time_limit, "the program does not link");
  }

 private:
  static void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  [[nodiscard]] source_kind kind_of_source(const std::string& source) const {
    const source_kind kind = kind_of(source);
    return request_.words.is_cuda && kind != source_kind::object ? source_kind::cuda : kind;
  }
  [[nodiscard]] std::string stem_of(std::size_t number) const {
    return fmt::format("{}/{}", request_.folder, number);
  }
  [[nodiscard]] std::string standard() const {
    std::string chosen(default_standard);
    for (const std::string& word : request_.words.compile) {
      if (word.starts_with("-std=")) chosen = standard_of(word.substr(5));
    }
    return chosen;
  }
  // For the preprocessor, too: GCC takes only headers that were precompiled with the same ones.
  [[nodiscard]] std::vector<std::string> options() const {
    std::vector<std::string> words{standard()};
    append(words, tools_.flags);
    for (const std::string& word : request_.words.compile) {
      if (word.starts_with("-f")) words.push_back(word);
    }
    return words;
  }
  // What the preprocessor makes of one source.
  [[nodiscard]] std::string preprocessed(const std::string& source, std::size_t number,
                                         bool may_be_precompiled) const {
    const std::string file = stem_of(number) + ".i";
    std::vector<std::string> command{tools_.compiler, "-E", "-x", "c++"};
    append(command, options());
    const source_kind kind = kind_of_source(source);
    if (may_be_precompiled && kind == source_kind::cuda && !tools_.precompiled.empty())
      append(command, {"-fpch-preprocess", "-isystem", tools_.precompiled});
    append(command, words_for_preprocessor(kind));
    append(command, {source, "-o", file});
    run_compiler(command, request_.time_limit, source + " does not compile");
    return text_of_file(file);
  }
  [[nodiscard]] std::vector<std::string> without_standard() const {
    std::vector<std::string> words;
    for (const std::string& word : request_.words.compile) {
      if (!word.starts_with("-std=")) words.push_back(word);
    }
    return words;
  }
  [[nodiscard]] std::vector<std::string> folders_of_headers() const {
    std::vector<std::string> words;
    for (const std::string& folder : tools_.headers) append(words, {"-isystem", folder});
    return words;
  }
  [[nodiscard]] std::vector<std::string> words_for_preprocessor(source_kind kind) const {
    std::vector<std::string> words;
    if (kind == source_kind::cuda) {
      words = tools_.definitions;
      append(words, {"-D__CUDA_ARCH__=" + request_.words.architecture,
                     "-D__CUDA_ARCH_LIST__=" + request_.words.architecture, "-include", "lab_prelude.h"});
    } else {
      words = {"-DLAB_EMULATED=1"};
      if (request_.observe) words.emplace_back("-DLAB_EMULATOR_OBSERVED=1");
    }
    append(words, without_standard());
    append(words, folders_of_headers());
    append(words, {"-isystem", tools_.root});
    return words;
  }

  [[noreturn]] static void refuse(const std::string& source, const std::vector<refused_use>& uses) {
    std::string text;
    constexpr std::size_t most = 20;
    for (std::size_t number = 0; number < std::min(uses.size(), most); ++number) {
      const refused_use& one = uses[number];
      text += fmt::format("\n{}:{}: {}", escaped(one.file), one.line, escaped(one.message));
    }
    if (uses.size() > most) text += fmt::format("\n... and {} more", uses.size() - most);
    throw usage_error(fmt::format("{} uses what is not emulated:{}", source, text));
  }

  // Of one source, as nvcc makes one module of it.
  static void check_constants(const std::string& object, const std::vector<constant_variable>& variables) {
    constexpr std::uint64_t most = 64 * 1024;
    if (variables.empty()) return;
    const std::string bytes = text_of_file(object);
    const std::string mark(reinterpret_cast<const char*>(constant_mark.data()), sizeof constant_mark);
    std::map<std::uint64_t, std::uint64_t> sizes;
    for (std::size_t at = bytes.find(mark); at != std::string::npos; at = bytes.find(mark, at + 1)) {
      std::array<std::uint64_t, 2> found{};
      if (bytes.size() - at < sizeof constant_mark + sizeof found) break;
      std::memcpy(found.data(), bytes.data() + at + sizeof constant_mark, sizeof found);
      if (found[0] < variables.size()) sizes[found[0]] = found[1];
    }
    std::uint64_t all = 0;
    std::string text;
    for (const auto& [number, size] : sizes) {
      const constant_variable& one = variables[number];
      all += size;
      text += fmt::format("\n{}:{}: {}: {} bytes", escaped(one.file), one.line, one.name, size);
    }
    if (all > most)
      throw usage_error(fmt::format("too much __constant__ memory: {} bytes ({:#x}), {} possible ({:#x}):{}",
                                    all, all, most, most, text));
  }

  const compile_request& request_;
  emulation_toolchain tools_;
  bool uses_openmp_ = false;
  bool launches_by_address_ = false;
};

// The words of a call, one after another, up to "--".
class word_reader {
 public:
  explicit word_reader(const std::vector<std::string>& words) : words_(words) {}

  [[nodiscard]] bool has_word() const { return at_ < words_.size() && words_[at_] != "--"; }
  [[nodiscard]] const std::string& word() const { return words_[at_]; }
  // Of an option that is two words.
  std::string value() {
    const std::string& option = words_[at_++];
    if (!has_word()) throw usage_error(option + " needs a value");
    return words_[at_];
  }
  // Behind the sign of equality.
  [[nodiscard]] std::string assigned() const { return word().substr(word().find('=') + 1); }
  void go_on() { ++at_; }
  // "--" and what is behind it.
  [[nodiscard]] std::vector<std::string> rest() const {
    return {words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()};
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

// Of the options that nvcc hands on.
void take_for_host(const std::string& list, compiler_words& words) {
  std::istringstream stream(list);
  for (std::string one; std::getline(stream, one, ',');) {
    if (one.starts_with("-f") || one.starts_with("-D") || one.starts_with("-I")) words.compile.push_back(one);
  }
}

// These three take a word that is theirs, and say whether it is.
bool take_for_compiler(word_reader& from, compiler_words& words) {
  const std::string& word = from.word();
  if (word == "-I" || word == "-D" || word == "-U") {
    words.compile.push_back(word + from.value());
  } else if (word == "-include" || word == "-isystem") {
    words.compile.push_back(word);
    words.compile.push_back(from.value());
  } else if (word == "-std" || word == "--std") {
    words.compile.push_back("-std=" + from.value());
  } else if (word.starts_with("--std=")) {
    words.compile.push_back(word.substr(1));
  } else if (word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-U") ||
             word.starts_with("-std=") || word == "-fopenmp") {
    words.compile.push_back(word);
  } else if (word == "-Xcompiler" || word == "--compiler-options") {
    take_for_host(from.value(), words);
  } else if (word.starts_with("-Xcompiler=") || word.starts_with("--compiler-options=")) {
    take_for_host(from.assigned(), words);
  } else {
    return false;
  }
  return true;
}

bool take_target(word_reader& from, compiler_words& words) {
  const std::string& word = from.word();
  if (word == "-arch" || word == "--gpu-architecture") {
    words.architecture = architecture_of(from.value());
  } else if (word.starts_with("-arch=") || word.starts_with("--gpu-architecture=")) {
    words.architecture = architecture_of(from.assigned());
  } else if (word == "-o") {
    words.output = from.value();
  } else if (word == "-c" || word == "--compile" || word == "-dc" || word == "--device-c") {
    words.only_objects = true;
  } else if (word == "-dlink" || word == "--device-link") {
    words.only_links_device = true;
  } else if (word == "-x" || word == "--x") {
    words.is_cuda = from.value() == "cu" || words.is_cuda;
  } else if (word == "-x=cu" || word == "--x=cu") {
    words.is_cuda = true;
  } else {
    return false;
  }
  return true;
}

// And what is forgotten, of the libraries those that the emulator has.
bool take_for_linker(word_reader& from, compiler_words& words) {
  const std::string& word = from.word();
  if (is_forgotten_with_value(word)) {
    const std::string option = word;
    const std::string value = from.value();
    if (is_for_device(option)) words.device.insert(words.device.end(), {option, value});
  } else if (is_forgotten(word) || is_own_library(word) || word.starts_with("-gencode=") ||
             word.starts_with("-code=") || word.starts_with("--generate-code=")) {
    if (is_for_device(word)) words.device.push_back(word);
    return true;
  } else if (word == "-L" || word == "-l") {
    words.link.push_back(word + from.value());
  } else if (word.starts_with("-L") || word.starts_with("-l")) {
    words.link.push_back(word);
  } else {
    return false;
  }
  return true;
}

}  // namespace

compiler_words take_compiler_words(std::vector<std::string>& arguments) {
  compiler_words words;
  std::vector<std::string> others;
  word_reader from(arguments);
  for (; from.has_word(); from.go_on()) {
    if (!take_for_compiler(from, words) && !take_target(from, words) && !take_for_linker(from, words))
      others.push_back(from.word());
  }
  const std::vector<std::string> rest = from.rest();
  others.insert(others.end(), rest.begin(), rest.end());
  arguments = std::move(others);
  return words;
}

void compile_program(const compile_request& request) {
  for (const std::string& source : request.sources) {
    std::error_code error;
    static_cast<void>(kind_of(source));
    if (!std::filesystem::exists(source, error))
      throw usage_error(fmt::format("{}: there is no such file", source));
    if (!std::filesystem::is_regular_file(source, error))
      throw usage_error(fmt::format("{}: is no regular file", source));
  }
  if (request.words.only_objects && request.sources.size() != 1)
    throw usage_error("-c compiles one source at a time");
  compilation work(request, find_toolchain(request.observe));
  if (request.words.only_links_device) return work.make_empty_object();
  std::vector<std::string> objects;
  for (std::size_t number = 0; number < request.sources.size(); ++number)
    work.preprocess(request.sources[number], number);
  for (const std::string& source : request.sources) objects.push_back(work.compile(source, objects.size()));
  if (!request.words.only_objects) work.link(objects);
}

}  // namespace lab::front
