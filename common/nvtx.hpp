// NVTX ranges in the lab's own domain, "kernel_lab". The harness opens one around a launch; a stage only
// where its launch is several operations that a timeline should tell apart.
#pragma once

#include <string>

#if !LAB_EMULATED
#include <nvtx3/nvToolsExt.h>
#endif

namespace lab {

// A named range on this thread's timeline, for as long as the object lives. Nothing on the emulator.
class nvtx_range {
 public:
#if LAB_EMULATED
  explicit nvtx_range(const std::string& /*name*/) {}
#else
  explicit nvtx_range(const std::string& name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~nvtx_range() {
    nvtxDomainRangePop(domain());
  }
#endif
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;

#if !LAB_EMULATED
 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA("kernel_lab");
    return handle;
  }
#endif
};

}  // namespace lab
