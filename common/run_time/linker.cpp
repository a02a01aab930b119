#include "common/run_time/linker.hpp"

#include <nvJitLink.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "common/emulator/core/elf_file.hpp"
#include "common/run_time/compiler_log.hpp"
#include "common/run_time/source_text.hpp"
#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

// nvJitLink's functions. The header's own names are inline functions that call one release's symbols; the
// library has them under the plain names, too, for any release.
struct linker_functions {
  explicit linker_functions(const std::filesystem::path& path) : file(path) {}

  loaded_library file;
  LAB_LIBRARY_FUNCTION(version, nvJitLinkVersion);
  LAB_LIBRARY_FUNCTION(create, nvJitLinkCreate);
  LAB_LIBRARY_FUNCTION(destroy, nvJitLinkDestroy);
  LAB_LIBRARY_FUNCTION(add_data, nvJitLinkAddData);
  LAB_LIBRARY_FUNCTION(complete, nvJitLinkComplete);
  LAB_LIBRARY_FUNCTION(cubin_size, nvJitLinkGetLinkedCubinSize);
  LAB_LIBRARY_FUNCTION(cubin, nvJitLinkGetLinkedCubin);
  LAB_LIBRARY_FUNCTION(error_log_size, nvJitLinkGetErrorLogSize);
  LAB_LIBRARY_FUNCTION(error_log, nvJitLinkGetErrorLog);
  LAB_LIBRARY_FUNCTION(info_log_size, nvJitLinkGetInfoLogSize);
  LAB_LIBRARY_FUNCTION(info_log, nvJitLinkGetInfoLog);
};

const linker_functions& nvjitlink(const library_search& search, double* seconds = nullptr) {
  return functions_of<linker_functions>(library::nvjitlink, search, seconds);
}

version version_of(const linker_functions& api) {
  unsigned major = 0;
  unsigned minor = 0;
  if (api.version(&major, &minor) != NVJITLINK_SUCCESS) throw library_error("nvJitLinkVersion failed");
  return {static_cast<int>(major), static_cast<int>(minor)};
}

nvJitLinkInputType type_of(target kind) {
  switch (kind) {
    case target::cubin:
      return NVJITLINK_INPUT_CUBIN;
    case target::ptx:
      return NVJITLINK_INPUT_PTX;
    case target::lto_ir:
      break;
  }
  return NVJITLINK_INPUT_LTOIR;
}

const char* name_of(target kind) {
  return kind == target::cubin ? "a cubin" : kind == target::ptx ? "PTX" : "LTO-IR";
}

// nvJitLink has no function that names its codes.
std::string code_text(nvJitLinkResult result) {
  switch (result) {
    case NVJITLINK_ERROR_UNRECOGNIZED_OPTION:
      return "unrecognized option";
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
    case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
      return "an architecture that it does not link for";
    case NVJITLINK_ERROR_ARCH_MISMATCH:
      return "compiled for another architecture";
    case NVJITLINK_ERROR_OUTDATED_LIBRARY:
      return "made by a compiler that is newer than nvJitLink";
    default:
      return "nvJitLink error " + std::to_string(static_cast<int>(result));
  }
}

// A link in progress. Move-only.
class link_job {
 public:
  link_job(const linker_functions& api, const std::vector<std::string>& options) : api_(&api) {
    std::vector<const char*> pointers;
    std::string list;
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
      list += " " + escaped(option);
    }
    const nvJitLinkResult result =
        api.create(&handle_, static_cast<std::uint32_t>(pointers.size()), pointers.data());
    if (result != NVJITLINK_SUCCESS)
      throw link_error("nvJitLink " + to_string(version_of(api)) +
                       " refuses its options: " + code_text(result) + ":" + list);
  }
  link_job(link_job&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  link_job& operator=(link_job&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~link_job() {
    if (handle_ != nullptr) api_->destroy(&handle_);
  }

  // A link completes without an error where an input was refused, so each answer counts.
  void add(const link_input& input) {
    const nvJitLinkResult result = api_->add_data(handle_, type_of(input.kind), input.bytes.data(),
                                                  input.bytes.size(), input.name.c_str());
    if (result == NVJITLINK_SUCCESS) return;
    const std::string log = error_log();
    const bool alien = result == NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    throw link_error(escaped(input.name) + ": " +
                     (alien         ? std::string("is not ") + name_of(input.kind)
                      : log.empty() ? code_text(result)
                                    : log));
  }

  void complete() {
    const nvJitLinkResult result = api_->complete(handle_);
    if (result == NVJITLINK_SUCCESS) return;
    const std::string log = error_log();
    throw link_error(log.empty() ? code_text(result) : log);
  }

  [[nodiscard]] std::string cubin() const {
    std::size_t bytes = 0;
    nvJitLinkResult result = api_->cubin_size(handle_, &bytes);
    std::string image(bytes, '\0');
    if (result == NVJITLINK_SUCCESS && bytes > 0) result = api_->cubin(handle_, image.data());
    if (result != NVJITLINK_SUCCESS || image.empty())
      throw link_error("nvJitLink made no cubin: " + code_text(result));
    return image;
  }

  [[nodiscard]] std::string info_log() const { return log_of(api_->info_log_size, api_->info_log); }

 private:
  [[nodiscard]] std::string error_log() const { return log_of(api_->error_log_size, api_->error_log); }

  template <class Size, class Get>
  std::string log_of(Size* size, Get* get) const {
    std::size_t bytes = 0;
    if (size(handle_, &bytes) != NVJITLINK_SUCCESS || bytes == 0) return "";
    std::string log(bytes, '\0');
    if (get(handle_, log.data()) != NVJITLINK_SUCCESS) return "";
    return read_log(log).text;
  }

  const linker_functions* api_;
  nvJitLinkHandle handle_ = nullptr;
};

// Whether a cubin, which is an ELF file, has all of its sections. nvJitLink reads a cut one beyond its end.
bool is_whole_cubin(std::string_view bytes) {
  try {
    const Elf64_Ehdr header = elf_file(bytes).header();
    return header.e_shentsize == sizeof(Elf64_Shdr) && header.e_phoff <= bytes.size() &&
           header.e_phnum * sizeof(Elf64_Phdr) <= bytes.size() - header.e_phoff;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void require_input(const link_input& input, version linker) {
  const std::string name = escaped(input.name);
  if (input.name.find('\0') != std::string::npos) throw link_error(name + ": the input's name holds a NUL");
  if (input.bytes.empty()) throw link_error(name + ": is empty, and " + name_of(input.kind) + " is wanted");
  if (input.kind == target::ptx && input.bytes.find('\0') != std::string::npos)
    throw link_error(name + ": holds a NUL, which no PTX does");
  if (input.kind == target::cubin && !is_whole_cubin(input.bytes))
    throw link_error(name + ": is not a cubin, or a part of one");
  if (input.kind == target::lto_ir && input.compiler) require_linkable(*input.compiler, linker, name);
}

}  // namespace

void require_linkable(version compiler, version linker, const std::string& input_name) {
  if (compiler.major == linker.major && compiler.minor <= linker.minor) return;
  throw link_error(input_name + ": LTO-IR of NVRTC " + to_string(compiler) +
                   " cannot be linked by nvJitLink " + to_string(linker) + ", which takes that of " +
                   std::to_string(linker.major) + ".0 to " + to_string(linker) +
                   ": install both libraries of one toolkit");
}

linked link(std::span<const link_input> inputs, int architecture, const std::vector<std::string>& options,
            const library_search& search) {
  linked result;
  const linker_functions& api = nvjitlink(search, &result.load_seconds);
  if (inputs.empty()) throw link_error("there is nothing to link");
  const version linker = version_of(api);
  std::vector<std::string> all = {"-arch=sm_" + std::to_string(architecture)};
  for (const link_input& input : inputs) {
    require_input(input, linker);
    if (input.kind == target::lto_ir && all.back() != "-lto") all.emplace_back("-lto");
  }
  for (const std::string& option : options) {
    if (option.empty() || option.find('\0') != std::string::npos)
      throw link_error("an option of the linker is empty or holds a NUL: " + escaped(option));
    all.push_back(option);
  }
  const auto begin = std::chrono::steady_clock::now();
  link_job job(api, all);
  for (const link_input& input : inputs) job.add(input);
  job.complete();
  result.cubin = job.cubin();
  result.log = job.info_log();
  result.link_seconds = seconds_since(begin);
  return result;
}

version linker_version(const library_search& search) {
  return version_of(nvjitlink(search));
}

}  // namespace lab::run_time
