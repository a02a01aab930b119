// What stands for compiler.cpp and linker.cpp where the toolkit's headers were not found when the build was
// configured.
#include "common/run_time/compiler.hpp"
#include "common/run_time/linker.hpp"

namespace lab::run_time {
namespace {

[[noreturn]] void refuse() {
  throw library_error(
      "this program was built without run-time compilation: nvrtc.h and nvJitLink.h were not found. Install "
      "the CUDA "
      "Toolkit (of it at least cuda-nvrtc-dev-13-0 and libnvjitlink-dev-13-0) and configure again");
}

}  // namespace

compiled compile(const compile_request&, const library_search&) {
  refuse();
}

std::string check_syntax(const syntax_request&, const library_search&) {
  refuse();
}

version nvrtc_version(const library_search&) {
  refuse();
}

std::vector<int> supported_architectures(const library_search&) {
  refuse();
}

version newest_ptx_version(const library_search&) {
  refuse();
}

linked link(std::span<const link_input>, int, const std::vector<std::string>&, const library_search&) {
  refuse();
}

version linker_version(const library_search&) {
  refuse();
}

void require_linkable(version, version, const std::string&) {
  refuse();
}

}  // namespace lab::run_time
