// CUDA C++ to machine code (cubin), PTX or LTO-IR at run time, with NVRTC. Sources are text without headers:
// NVRTC has no folder of its own to include from.
//
// Source: NVRTC documentation, https://docs.nvidia.com/cuda/nvrtc/.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "common/run_time/library.hpp"

namespace lab::run_time {

// What a source is compiled to. A driver runs any cubin of its own compute capability, and refuses PTX that
// is newer than itself (error 222), so a kernel that is launched is a cubin. LTO-IR is linked by link().
enum class target { cubin, ptx, lto_ir };

struct compile_request {
  std::string source;                   // UTF-8
  std::string file_name = "kernel.cu";  // names the source in messages
  std::vector<std::string> options;     // further ones for NVRTC, "-lineinfo"
  int architecture = 90;                // compute capability times 10
  target wanted = target::cubin;
  std::vector<std::string> name_expressions;  // "kernel<float>": their names in the image are wanted
};

struct compiled {
  std::string image;                       // cubin and LTO-IR: bytes. PTX: text
  std::string log;                         // warnings, cleaned; usually empty
  std::vector<std::string> lowered_names;  // of the name expressions, in their order
  version compiler;                        // NVRTC's
  double load_seconds = 0;                 // of loading NVRTC; 0 where an earlier call has done so
  double compile_seconds = 0;
};

enum class severity { error, warning, note };

// One message of the compiler.
struct diagnostic {
  std::string file;
  int line = 0;    // from 1; 0: not known
  int column = 0;  // from 1, where the compiler's caret stands; 0: not known
  severity weight = severity::error;
  std::string text;
};

// A source that is refused. what() is the compiler's log, cleaned: each message with its file and line, the
// line itself, and a caret.
class compile_error : public std::runtime_error {
 public:
  compile_error(const std::string& log, std::vector<diagnostic> diagnostics)
      : std::runtime_error(log), diagnostics_(std::move(diagnostics)) {}
  // In the compiler's order; empty where the request itself is at fault and not a line of its source.
  [[nodiscard]] const std::vector<diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<diagnostic> diagnostics_;
};

// What NVRTC is called with: the lab's own options, then the request's.
[[nodiscard]] std::vector<std::string> all_options(const compile_request& request);

// Compiles as C++20 with functions that have no execution space taken for __device__ ones. LTO-IR is
// relocatable; what it shares with other inputs of a link is declared extern "C" on both sides. May be called
// from several threads. Throws compile_error for a source, an option or an architecture that NVRTC refuses,
// and for a source that is not UTF-8 or holds a NUL (NVRTC would compile what stands before); library_error
// without NVRTC.
[[nodiscard]] compiled compile(const compile_request& request,
                               const library_search& search = standard_search());

// A function as a person wrote it, before it becomes a part of a kernel.
struct syntax_request {
  std::string text;                   // the person's own
  std::string file_name = "user.cu";  // names it in messages
  std::string declarations;           // types and functions that it may use; lines of their own in messages
  std::vector<std::string> options;
  int architecture = 90;
};

// Checks the syntax and types of `text` alone, as device code, so that an error shows its line and not one of
// the kernel that it becomes a part of. Returns the warnings, cleaned. Throws as compile() does, and
// compile_error for a text of white space alone.
std::string check_syntax(const syntax_request& request, const library_search& search = standard_search());

// NVRTC's release. Loads it. Throws library_error.
[[nodiscard]] version nvrtc_version(const library_search& search = standard_search());

// The architectures that NVRTC compiles for (75, 80, ...), ascending. Loads it. Throws library_error.
[[nodiscard]] std::vector<int> supported_architectures(const library_search& search = standard_search());

// The PTX ISA that NVRTC writes, which is the newest that nvJitLink of the same release reads (9.0 for
// CUDA 13.0). Compiles an empty source, which takes tens of milliseconds the first time. Throws
// library_error.
[[nodiscard]] version newest_ptx_version(const library_search& search = standard_search());

}  // namespace lab::run_time
