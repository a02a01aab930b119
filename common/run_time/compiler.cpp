#include "common/run_time/compiler.hpp"

#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/run_time/compiler_log.hpp"
#include "common/run_time/source_text.hpp"

namespace lab::run_time {
namespace {

// NVRTC's functions, with the types of its header.
struct nvrtc_functions {
  explicit nvrtc_functions(const std::filesystem::path& path) : file(path) {}

  loaded_library file;
  LAB_LIBRARY_FUNCTION(version, nvrtcVersion);
  LAB_LIBRARY_FUNCTION(error_string, nvrtcGetErrorString);
  LAB_LIBRARY_FUNCTION(architecture_count, nvrtcGetNumSupportedArchs);
  LAB_LIBRARY_FUNCTION(architectures, nvrtcGetSupportedArchs);
  LAB_LIBRARY_FUNCTION(create, nvrtcCreateProgram);
  LAB_LIBRARY_FUNCTION(destroy, nvrtcDestroyProgram);
  LAB_LIBRARY_FUNCTION(compile, nvrtcCompileProgram);
  LAB_LIBRARY_FUNCTION(add_name, nvrtcAddNameExpression);
  LAB_LIBRARY_FUNCTION(lowered_name, nvrtcGetLoweredName);
  LAB_LIBRARY_FUNCTION(log_size, nvrtcGetProgramLogSize);
  LAB_LIBRARY_FUNCTION(log, nvrtcGetProgramLog);
  LAB_LIBRARY_FUNCTION(cubin_size, nvrtcGetCUBINSize);
  LAB_LIBRARY_FUNCTION(cubin, nvrtcGetCUBIN);
  LAB_LIBRARY_FUNCTION(ptx_size, nvrtcGetPTXSize);
  LAB_LIBRARY_FUNCTION(ptx, nvrtcGetPTX);
  LAB_LIBRARY_FUNCTION(lto_ir_size, nvrtcGetLTOIRSize);
  LAB_LIBRARY_FUNCTION(lto_ir, nvrtcGetLTOIR);
};

const nvrtc_functions& nvrtc(const library_search& search, double* seconds = nullptr) {
  return functions_of<nvrtc_functions>(library::nvrtc, search, seconds);
}

// Throws unless a call of NVRTC that no source is to blame for has succeeded.
void require(const nvrtc_functions& api, nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) throw library_error(std::string(call) + ": " + api.error_string(result));
}

// An NVRTC program. Move-only.
class program {
 public:
  program(const nvrtc_functions& api, const std::string& source, const std::string& file_name) : api_(&api) {
    require(api, api.create(&handle_, source.c_str(), file_name.c_str(), 0, nullptr, nullptr),
            "nvrtcCreateProgram");
  }
  program(program&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  program& operator=(program&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~program() {
    if (handle_ != nullptr) api_->destroy(&handle_);
  }

  void add_name(const std::string& expression) {
    require(*api_, api_->add_name(handle_, expression.c_str()), "nvrtcAddNameExpression");
  }

  [[nodiscard]] nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_->compile(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  [[nodiscard]] std::string lowered_name(const std::string& expression) const {
    const char* name = nullptr;
    require(*api_, api_->lowered_name(handle_, expression.c_str(), &name), "nvrtcGetLoweredName");
    return name;
  }

  [[nodiscard]] std::string log() const { return text(api_->log_size, api_->log, "nvrtcGetProgramLog"); }

  [[nodiscard]] std::string image(target wanted) const {
    switch (wanted) {
      case target::cubin:
        return text(api_->cubin_size, api_->cubin, "nvrtcGetCUBIN");
      case target::lto_ir:
        return text(api_->lto_ir_size, api_->lto_ir, "nvrtcGetLTOIR");
      case target::ptx:
        break;
    }
    std::string ptx = text(api_->ptx_size, api_->ptx, "nvrtcGetPTX");
    ptx.resize(std::min(ptx.size(), ptx.find('\0')));  // counted with its NUL
    return ptx;
  }

 private:
  template <class Size, class Get>
  std::string text(Size* size, Get* get, const char* call) const {
    std::size_t bytes = 0;
    require(*api_, size(handle_, &bytes), call);
    std::string result(bytes, '\0');
    if (bytes > 0) require(*api_, get(handle_, result.data()), call);
    return result;
  }

  const nvrtc_functions* api_;
  nvrtcProgram handle_ = nullptr;
};

version version_of(const nvrtc_functions& api) {
  version found;
  require(api, api.version(&found.major, &found.minor), "nvrtcVersion");
  return found;
}

std::vector<int> architectures_of(const nvrtc_functions& api) {
  int count = 0;
  require(api, api.architecture_count(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> found(static_cast<std::size_t>(count));
  if (count > 0) require(api, api.architectures(found.data()), "nvrtcGetSupportedArchs");
  std::sort(found.begin(), found.end());
  return found;
}

void require_architecture(const nvrtc_functions& api, int architecture) {
  const std::vector<int> known = architectures_of(api);
  if (std::find(known.begin(), known.end(), architecture) != known.end()) return;
  std::string list;
  for (const int one : known) list += (list.empty() ? "sm_" : ", sm_") + std::to_string(one);
  throw compile_error("sm_" + std::to_string(architecture) + ": NVRTC " + to_string(version_of(api)) +
                          " compiles for " + list,
                      {});
}

// Compiles text that was checked. `end_of_source` as in read_log; `wants_image` is false where the syntax
// alone is checked.
compiled compile_checked(const compile_request& request, const library_search& search,
                         const std::string& end_of_source, bool wants_image) {
  compiled result;
  const nvrtc_functions& api = nvrtc(search, &result.load_seconds);
  require_architecture(api, request.architecture);
  result.compiler = version_of(api);
  const auto begin = std::chrono::steady_clock::now();
  program compiling(api, request.source, request.file_name);
  for (const std::string& name : request.name_expressions) compiling.add_name(name);
  const nvrtcResult outcome = compiling.compile(all_options(request));
  compiler_log log = read_log(compiling.log(), end_of_source);
  if (outcome != NVRTC_SUCCESS) {
    if (log.text.empty()) log.text = api.error_string(outcome);
    throw compile_error(log.text, std::move(log.diagnostics));
  }
  result.log = std::move(log.text);
  for (const std::string& name : request.name_expressions)
    result.lowered_names.push_back(compiling.lowered_name(name));
  if (wants_image) result.image = compiling.image(request.wanted);
  result.compile_seconds = seconds_since(begin);
  return result;
}

}  // namespace

compiled compile(const compile_request& request, const library_search& search) {
  require_text(request.source, request.file_name);
  require_words(request.options, "an option of the compiler");
  require_words(request.name_expressions, "a name expression");
  return compile_checked(request, search, "", true);
}

std::string check_syntax(const syntax_request& request, const library_search& search) {
  require_text(request.text, request.file_name);
  require_text(request.declarations, "declarations");
  require_words(request.options, "an option of the compiler");
  if (is_blank(request.text))
    throw error_at(request.file_name, 1, 1, "the text is empty, and a function is wanted");
  compile_request alone;
  alone.source = "#line 1 \"declarations\"\n" + request.declarations + "\n#line 1 \"" +
                 in_string_literal(request.file_name) + "\"\n" + request.text + "\n";
  alone.file_name = request.file_name;
  alone.options = request.options;
  alone.options.emplace_back("-fdevice-syntax-only");
  alone.architecture = request.architecture;
  const std::string end = request.file_name + "(" + std::to_string(last_line(request.text)) + ")";
  return compile_checked(alone, search, end, false).log;
}

version nvrtc_version(const library_search& search) {
  return version_of(nvrtc(search));
}

std::vector<int> supported_architectures(const library_search& search) {
  return architectures_of(nvrtc(search));
}

version newest_ptx_version(const library_search& search) {
  compile_request empty;
  empty.wanted = target::ptx;
  empty.architecture = supported_architectures(search).back();
  const std::string ptx = compile(empty, search).image;
  const auto found = ptx_version(ptx);
  if (!found) throw library_error("NVRTC wrote PTX without a .version");
  return *found;
}

}  // namespace lab::run_time
