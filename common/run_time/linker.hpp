// Links cubins, PTX and LTO-IR to one cubin at run time, with nvJitLink. What comes as LTO-IR is optimised as
// one program, across its inputs; a function that comes as PTX or in a cubin stays a call.
//
// Source: nvJitLink documentation, https://docs.nvidia.com/cuda/nvjitlink/.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/run_time/compiler.hpp"
#include "common/run_time/library.hpp"

namespace lab::run_time {

struct link_input {
  target kind = target::cubin;
  std::string bytes;
  std::string name;                 // in messages
  std::optional<version> compiler;  // that made it, where it is known: compiled::compiler
};

struct linked {
  std::string cubin;
  std::string log;          // warnings; usually empty
  double load_seconds = 0;  // of loading nvJitLink; 0 where an earlier call has done so
  double link_seconds = 0;
};

// A link that is refused. what() is nvJitLink's log, or the reason in words, with the input's name.
class link_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Links for one architecture (compute capability times 10). LTO-IR must come from a compiler of the linker's
// major version that is no newer than the linker, which is checked where the input says what made it; where
// it does not, nvJitLink judges. Throws link_error; library_error without nvJitLink. Cubins and LTO-IR must
// be as a compiler wrote them: nvJitLink trusts their insides, and may end the process on bytes that have
// changed. A part of one is refused.
[[nodiscard]] linked link(std::span<const link_input> inputs, int architecture,
                          const std::vector<std::string>& options = {},
                          const library_search& search = standard_search());

// nvJitLink's release. Loads it. Throws library_error.
[[nodiscard]] version linker_version(const library_search& search = standard_search());

// Throws link_error unless a linker takes LTO-IR of this compiler.
void require_linkable(version compiler, version linker, const std::string& input_name);

}  // namespace lab::run_time
