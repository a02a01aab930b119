// What a GPU's compiler made of a program's kernels: which accesses there are, of which lines, how wide.
// Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

struct compiled_access {
  enum class kind : std::uint8_t { load, store, copy, barrier };
  enum class space : std::uint8_t { none, global, shared, generic };

  kind what{};
  space where{};
  unsigned bytes = 0;  // of a thread
  std::string file;
  int line = 0;  // 0: unknown
  // 0: always made; those of a block with the same number are made together or not at all.
  unsigned condition = 0;

  bool operator==(const compiled_access&) const = default;
};

struct compiled_block {
  std::vector<compiled_access> accesses;
  std::vector<std::size_t> next;
  bool may_exit = false;

  bool operator==(const compiled_block&) const = default;
};

struct compiled_kernel {
  std::string name;  // with its signature
  std::string symbol;
  std::vector<compiled_block> blocks;
  bool has_unknown_branches = false;
};

class compiled_code {
 public:
  // A listing, a line for each thing: "file NUMBER PATH", "kernel SYMBOL [has-unknown-branches]", "block
  // NUMBER", "load|store|copy|barrier SPACE BYTES at FILE:LINE [if CONDITION]", "next BLOCK... [exit]".
  // Throws std::invalid_argument with a line that is none of these.
  explicit compiled_code(std::string_view listing);

  // Null: it has no such kernel, or several that may be meant.
  [[nodiscard]] const compiled_kernel* find(const std::string& symbol) const;
  // By the name and signature that debug information has.
  [[nodiscard]] const compiled_kernel* find_function(const std::string& name) const;

 private:
  // The one that is meant; null where there are several that differ. What stands in a header is compiled with
  // each file that includes it.
  [[nodiscard]] const compiled_kernel* only(
      const std::function<bool(const compiled_kernel&)>& is_meant) const;

  std::vector<compiled_kernel> kernels_;
};

// Whether a name that one compiler gives to a file is that of another's, which has the whole path.
[[nodiscard]] bool is_same_file(const std::string& whole, const std::string& name);

}  // namespace lab::emulator
