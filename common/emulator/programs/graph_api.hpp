// CUDA graphs: captured from a stream, or made of nodes. A graph that is launched does its nodes' work one
// after the other, in an order that their dependencies allow.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "common/emulator/core/runtime_api.hpp"

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;

enum cudaStreamCaptureMode : int {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};
enum cudaStreamCaptureStatus : int {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2,
};
enum cudaGraphExecUpdateResult : int { cudaGraphExecUpdateSuccess = 0, cudaGraphExecUpdateError = 1 };
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};

namespace lab::emulator {

// A kernel whose parameters' types are known, where CUDA has a pointer to void: the rewriter takes the cast
// away.
class kernel_of_node {
 public:
  using launcher = std::function<cudaError_t(const cudaLaunchConfig_t&)>;
  kernel_of_node() = default;
  kernel_of_node(std::nullptr_t) {}
  template <class... Parameters>
  kernel_of_node(void (*kernel)(Parameters...))
      : bind_([kernel](void** arguments) {
          return bound(kernel, arguments, std::index_sequence_for<Parameters...>());
        }) {}
  // With copies of the arguments as they are now.
  [[nodiscard]] launcher bind(void** arguments) const { return bind_ ? bind_(arguments) : launcher(); }

 private:
  template <class... Parameters, std::size_t... Numbers>
  static launcher bound(void (*kernel)(Parameters...), void** arguments, std::index_sequence<Numbers...>) {
    auto copies = std::make_shared<std::tuple<std::remove_cvref_t<Parameters>...>>(
        *static_cast<std::remove_cvref_t<Parameters>*>(arguments[Numbers])...);
    return [kernel, copies](const cudaLaunchConfig_t& config) {
      return std::apply([&](const auto&... each) { return cudaLaunchKernelEx(&config, kernel, each...); },
                        *copies);
    };
  }
  std::function<launcher(void**)> bind_;
};

}  // namespace lab::emulator

struct cudaKernelNodeParams {
  lab::emulator::kernel_of_node func;
  dim3 gridDim;
  dim3 blockDim;
  unsigned sharedMemBytes = 0;
  void** kernelParams = nullptr;
  void** extra = nullptr;
};
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value;
  unsigned elementSize;
  std::size_t width;
  std::size_t height;
};
struct cudaHostNodeParams {
  void (*fn)(void* data);
  void* userData;
};
struct cudaMemcpy3DParms;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags = 0);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* what);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* what);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* what);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* what);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                 char* log, std::size_t log_bytes);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags = 0);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
// The executable becomes one of the graph, whatever it was before.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* what);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* what);
