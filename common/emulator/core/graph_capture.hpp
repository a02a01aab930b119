// What a stream is told while a graph is captured from it. Internal.
#pragma once

#include <functional>

#include "common/emulator/core/graph_api.hpp"
#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// Whether a graph is captured from the stream, in which case `work` has become a node of it and is not to be
// done now.
bool capture(cudaStream_t stream, std::function<cudaError_t()> work);
bool capture_launch(const cudaLaunchConfig_t& config, const kernel_call& call);
// The event belongs to what is captured from the stream; a stream that waits for it joins.
void capture_event(cudaEvent_t event, cudaStream_t stream);
void capture_wait(cudaStream_t stream, cudaEvent_t event);

// A new node of the graph that does `work`, once the nodes that it depends on have done theirs.
cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, std::function<cudaError_t()> work);

}  // namespace lab::emulator
