#include "common/emulator/observe/compiled_code.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/emulator/core/elf_file.hpp"
#include "common/emulator/core/program_symbols.hpp"

namespace lab::emulator {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The emulator's types by CUDA's names.
std::string with_names_of_cuda(std::string name) {
  for (const auto& [prefix, element] :
       {std::pair{"char", "signed char"}, std::pair{"uchar", "unsigned char"}, std::pair{"short", "short"},
        std::pair{"ushort", "unsigned short"}, std::pair{"int", "int"}, std::pair{"uint", "unsigned int"},
        std::pair{"long", "long"}, std::pair{"ulong", "unsigned long"}, std::pair{"longlong", "long long"},
        std::pair{"ulonglong", "unsigned long long"}, std::pair{"float", "float"},
        std::pair{"double", "double"}}) {
    for (const char* const count : {"2", "3", "4"})
      replace_all(name, std::string("emulated_vector") + count + "<" + element + ">",
                  std::string(prefix) + count);
  }
  for (const auto& [format, type] :
       {std::pair{"binary16", "__half"}, std::pair{"brain16", "__nv_bfloat16"}}) {
    for (const char* const scope : {"lab::emulator::", ""}) {
      const std::string argument = std::string("<lab::emulator::") + format + ">";
      replace_all(name, std::string(scope) + "emulated_half2" + argument, std::string(type) + "2");
      replace_all(name, std::string(scope) + "emulated_half" + argument, type);
    }
  }
  replace_all(name, " >", ">");
  return name;
}

// "void lab::(anonymous namespace)::copy<int>(int const*)" -> "copy"
std::string last_name(std::string name) {
  replace_all(name, "(anonymous namespace)::", "");
  name.resize(std::min(name.size(), name.find_first_of("<(")));
  return name.substr(name.find_last_of(": ") + 1);
}

// "void lab::copy<lab::pair>(int const*)" -> "copy<lab::pair>"
std::string without_scope(std::string name) {
  replace_all(name, "(anonymous namespace)::", "");
  std::size_t depth = 0, begin = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char letter = name[at];
    if (letter == '(' && depth == 0) {
      name.resize(at);
      break;
    }
    depth += letter == '<' || letter == '(';
    depth -= depth > 0 && (letter == '>' || letter == ')');
    if (depth == 0 && (letter == ':' || letter == ' ')) begin = at + 1;
  }
  return name.substr(std::min(begin, name.size()));
}

compiled_access::kind kind_of(const std::string& word) {
  if (word == "load") return compiled_access::kind::load;
  if (word == "store") return compiled_access::kind::store;
  return word == "copy" ? compiled_access::kind::copy : compiled_access::kind::barrier;
}

compiled_access::space space_of(const std::string& word) {
  if (word == "global") return compiled_access::space::global;
  if (word == "shared") return compiled_access::space::shared;
  if (word == "generic") return compiled_access::space::generic;
  if (word == "none") return compiled_access::space::none;
  throw std::invalid_argument(word);
}

}  // namespace

compiled_code::compiled_code(std::string_view listing) {
  std::istringstream lines{std::string(listing)};
  std::map<std::size_t, std::string> files;
  for (std::string text; std::getline(lines, text);) {
    std::istringstream words(text);
    std::string what;
    words >> what;
    const auto require = [&text](bool is_so) {
      if (!is_so) throw std::invalid_argument("not understood: " + text);
    };
    if (what == "file") {
      std::size_t number = 0;
      require(static_cast<bool>(words >> number) && words.get() == ' ');
      std::getline(words, files[number]);
    } else if (what == "kernel") {
      compiled_kernel kernel;
      require(static_cast<bool>(words >> kernel.symbol));
      kernel.name = with_names_of_cuda(demangled(kernel.symbol.c_str()));
      std::string more;
      kernel.has_unknown_branches = static_cast<bool>(words >> more);
      kernels_.push_back(std::move(kernel));
    } else if (what == "block") {
      require(!kernels_.empty());
      kernels_.back().blocks.emplace_back();
    } else if (what == "next") {
      require(!kernels_.empty() && !kernels_.back().blocks.empty());
      compiled_block& block = kernels_.back().blocks.back();
      for (std::string next; words >> next;) {
        if (next == "exit") {
          block.may_exit = true;
        } else {
          require(next.find_first_not_of("0123456789") == std::string::npos);
          block.next.push_back(std::stoul(next));
        }
      }
    } else if (what == "load" || what == "store" || what == "copy" || what == "barrier") {
      require(!kernels_.empty() && !kernels_.back().blocks.empty());
      compiled_access access;
      access.what = kind_of(what);
      std::string space, at;
      std::size_t file = 0;
      char colon = 0;
      require(static_cast<bool>(words >> space >> access.bytes >> at >> file >> colon >> access.line) &&
              at == "at" && colon == ':');
      access.where = space_of(space);
      if (std::string condition; words >> condition)
        require(condition == "if" && static_cast<bool>(words >> access.condition));
      access.file = files[file];
      kernels_.back().blocks.back().accesses.push_back(std::move(access));
    } else {
      require(text.empty());
    }
  }
  for (const compiled_kernel& kernel : kernels_) {
    for (const compiled_block& block : kernel.blocks) {
      for (const std::size_t next : block.next) {
        if (next >= kernel.blocks.size()) throw std::invalid_argument("a block that is not there follows");
      }
    }
  }
}

// What has no name outside of its file is called otherwise by each compiler.
const compiled_kernel* compiled_code::find(const std::string& symbol) const {
  if (const auto* const same = only([&](const compiled_kernel& one) { return one.symbol == symbol; }))
    return same;
  const std::string name = with_names_of_cuda(demangled(symbol.c_str()));
  const auto has_name = [&](const compiled_kernel& one) { return one.name == name; };
  if (const auto* const same = only(has_name)) return same;
  if (std::any_of(kernels_.begin(), kernels_.end(), has_name)) return nullptr;
  const std::string last = last_name(name);
  return only([&](const compiled_kernel& one) { return last_name(one.name) == last; });
}

// Of a function without a name outside of its file debug information has the name alone.
const compiled_kernel* compiled_code::find_function(const std::string& name) const {
  const std::string wanted = with_names_of_cuda(name);
  if (const auto* const same = only([&](const compiled_kernel& one) { return one.name == wanted; }))
    return same;
  return only([&](const compiled_kernel& one) { return without_scope(one.name) == without_scope(wanted); });
}

const compiled_kernel* compiled_code::only(
    const std::function<bool(const compiled_kernel&)>& is_meant) const {
  const compiled_kernel* found = nullptr;
  for (const compiled_kernel& one : kernels_) {
    if (!is_meant(one)) continue;
    if (found != nullptr && (found->name != one.name || found->blocks != one.blocks)) return nullptr;
    if (found == nullptr) found = &one;
  }
  return found;
}

bool is_same_file(const std::string& whole, const std::string& name) {
  namespace files = std::filesystem;
  if (whole == name) return true;
  std::error_code error;
  const files::path here = files::weakly_canonical(whole, error);
  if (!error && here == files::weakly_canonical(name, error) && !error) return true;
  const files::path part = files::path(name).lexically_normal();
  return !part.is_absolute() && whole.ends_with("/" + part.string());
}

}  // namespace lab::emulator
