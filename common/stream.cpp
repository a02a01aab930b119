#include "common/stream.hpp"

namespace lab {

stream::stream() {
  CUDA_CHECK(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking));
}
stream::~stream() {
  if (handle_ != nullptr) CUDA_REPORT(cudaStreamDestroy(handle_));
}
void stream::synchronize() const {
  CUDA_CHECK(cudaStreamSynchronize(handle_));
}

event::event() {
  CUDA_CHECK(cudaEventCreate(&handle_));
}
event::~event() {
  if (handle_ != nullptr) CUDA_REPORT(cudaEventDestroy(handle_));
}
void event::record(cudaStream_t on) const {
  CUDA_CHECK(cudaEventRecord(handle_, on));
}
#if !LAB_EMULATED
void event::record_in_graph(cudaStream_t on) const {
  CUDA_CHECK(cudaEventRecordWithFlags(handle_, on, cudaEventRecordExternal));
}
#endif
void event::synchronize() const {
  CUDA_CHECK(cudaEventSynchronize(handle_));
}
double event::nanoseconds_since(const event& start) const {
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.handle_, handle_));
  return static_cast<double>(milliseconds) * 1e6;
}

#if !LAB_EMULATED
graph::graph(cudaStream_t on, const std::function<void()>& enqueue) {
  cudaGraph_t captured{};
  CUDA_CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal));
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(on, &captured);
    cudaGetLastError();  // the capture was given up: CUB would take its error, found later, for one of its
                         // own
    if (captured != nullptr) cudaGraphDestroy(captured);
    throw;
  }
  CUDA_CHECK(cudaStreamEndCapture(on, &captured));
  const cudaError_t instantiated = cudaGraphInstantiate(&handle_, captured, 0);
  CUDA_REPORT(cudaGraphDestroy(captured));
  CUDA_CHECK(instantiated);
}
graph::~graph() {
  if (handle_ != nullptr) CUDA_REPORT(cudaGraphExecDestroy(handle_));
}
void graph::replay(cudaStream_t on) const {
  CUDA_CHECK(cudaGraphLaunch(handle_, on));
}
#endif

}  // namespace lab
