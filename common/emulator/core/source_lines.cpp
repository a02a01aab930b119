#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/core/elf_file.hpp"

#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>
#if defined(LAB_EMULATOR_BACKTRACE)
#include <backtrace.h>
#endif

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace lab::emulator {
namespace {

std::string relative(const std::string& file) {
  const std::string root = LAB_SOURCE_ROOT "/";
  return file.rfind(root, 0) == 0 ? file.substr(root.size()) : file;
}

// What a kernel's author did not write: the emulator's headers, and the system's.
bool is_shim(const std::string& file) {
  return file.rfind("common/emulator/", 0) == 0 || file.find("/common/emulator/") != std::string::npos ||
         file.rfind("/usr/", 0) == 0 || file.empty();
}

#if defined(LAB_EMULATOR_BACKTRACE)
source_line find_line(std::uintptr_t address) {
  static backtrace_state* const state = backtrace_create_state(
      nullptr, 0, [](void*, const char*, int) {}, nullptr);
  source_line found;
  if (state == nullptr) return found;
  // Called for each inlined frame, innermost first, until it returns other than 0.
  const auto take = [](void* result, std::uintptr_t, const char* file, int line, const char* function) {
    if (file == nullptr) return 0;
    const std::string name = relative(file);
    *static_cast<source_line*>(result) = {name, line, function != nullptr ? demangled(function) : "",
                                          is_shim(name)};
    return is_shim(name) ? 0 : 1;
  };
  backtrace_pcinfo(
      state, address, take, [](void*, const char*, int) {}, &found);
  return found;
}
#else
source_line find_line(std::uintptr_t) {
  return {};
}
#endif

// libbacktrace's functions do not look like the emulator's.
struct not_a_users_line {
  bool before = std::exchange(looks_up_line, true);
  ~not_a_users_line() { looks_up_line = before; }
};

}  // namespace

// libbacktrace asks which modules there are, and reads what a debugger would find of each: of the C library
// alone, where its debug information is installed, for longer than a small kernel is observed. Lines of the
// executable are all that is asked for.
extern "C" {
[[gnu::weak]] int __real_dl_iterate_phdr(int (*)(dl_phdr_info*, std::size_t, void*), void*);
int __wrap_dl_iterate_phdr(int (*take)(dl_phdr_info*, std::size_t, void*), void* data);
int __wrap_dl_iterate_phdr(int (*take)(dl_phdr_info*, std::size_t, void*), void* data) {
  if (!looks_up_line) return __real_dl_iterate_phdr(take, data);
  auto both = std::pair(take, data);
  return __real_dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t size, void* of) {
        const auto& [take, data] = *static_cast<decltype(both)*>(of);
        const int result = take(module, size, data);
        return result != 0 ? result : 1;  // the first module is the executable
      },
      &both);
}
}

const program_image& the_program() {
  static const program_image image = [] {
    program_image found{};
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* result) {
          std::size_t end = 0;
          for (int number = 0; number < module->dlpi_phnum; ++number) {
            const auto& segment = module->dlpi_phdr[number];
            if (segment.p_type == PT_LOAD)
              end = std::max<std::size_t>(end, segment.p_vaddr + segment.p_memsz);
          }
          *static_cast<program_image*>(result) = {module->dlpi_addr, end};
          return 1;  // the first module is the executable
        },
        &found);
    return found;
  }();
  return image;
}

const source_line& line_of(std::uint32_t offset) {
  const not_a_users_line lookup;
  static std::mutex mutex;
  static never_destroyed<std::map<std::uint32_t, source_line>> known;
  const std::lock_guard lock(mutex);
  const auto found = known->find(offset);
  if (found != known->end()) return found->second;
  // The call itself lies before the address that it returns to.
  return known->emplace(offset, find_line(the_program().begin + offset - 1)).first->second;
}

std::string text_of_line(std::uint32_t offset) {
  const source_line& line = line_of(offset);
  return line.line == 0 ? "(unknown line)" : format("%s:%d", line.file.c_str(), line.line);
}

std::string text_of_call() {
  if (!configuration().is_program || inside_kernel()) return "";
  constexpr int most_frames = 64;
  std::array<void*, most_frames> frames;
  const int count = backtrace(frames.data(), most_frames);
  for (int number = 0; number < count; ++number) {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(number)]) - the_program().begin;
    if (offset >= the_program().bytes) continue;
    const source_line& line = line_of(static_cast<std::uint32_t>(offset));
    if (line.line != 0 && !line.outside_of_kernel) return format("%s:%d: ", line.file.c_str(), line.line);
  }
  return "";
}

std::string text_of_instruction(const void* address) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - the_program().begin;
  if (offset >= the_program().bytes) return "";
  // line_of() takes the address that a call returns to.
  const source_line& line = line_of(static_cast<std::uint32_t>(offset + 1));
  return line.line == 0 || line.outside_of_kernel ? "" : format("%s:%d: ", line.file.c_str(), line.line);
}

}  // namespace lab::emulator
