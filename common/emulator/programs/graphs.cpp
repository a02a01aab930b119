#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/stream_listener.hpp"
#include "common/emulator/programs/graph_api.hpp"
#include "common/emulator/programs/program_api.hpp"

using namespace lab::emulator;

// A graph shares its nodes with what has been made of it.
struct CUgraphNode_st {
  std::function<cudaError_t()> work;
  std::vector<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  struct step {
    std::shared_ptr<CUgraphNode_st> node;
    std::function<cudaError_t()> work;
  };
  std::vector<step> steps;
};

namespace {

// Into which graph a stream is captured, and of each stream how many nodes there were when it captured its
// last one that comes before what this stream captures next.
struct stream_capture {
  CUgraph_st* graph = nullptr;
  cudaStream_t origin = nullptr;
  std::map<cudaStream_t, std::size_t> before{};

  void join(const stream_capture& other) {
    for (const auto& [stream, nodes] : other.before) before[stream] = std::max(before[stream], nodes);
  }
};

// Everything below is guarded by `mutex`.
struct graph_state {
  std::mutex mutex;
  std::set<CUgraph_st*> graphs;
  std::set<CUgraphExec_st*> executables;
  std::map<cudaStream_t, stream_capture> captures;  // by each of the streams that have joined
  std::map<cudaEvent_t, stream_capture> events;
};
graph_state& state() {
  static graph_state& one = *new graph_state;  // programs free their graphs in destructors of their own
  return one;
}

// The graph's nodes in an order that their dependencies allow; the one they were made in, where it does.
// Fewer than all of them if the dependencies go in a circle.
std::vector<CUgraphExec_st::step> ordered(const CUgraph_st& graph) {
  std::vector<CUgraphExec_st::step> steps;
  std::set<const CUgraphNode_st*> members, done;
  for (const auto& node : graph.nodes) members.insert(node.get());
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes) {
      const bool is_ready =
          !done.contains(node.get()) && std::all_of(node->after.begin(), node->after.end(), [&](auto* one) {
            return done.contains(one) || !members.contains(one);
          });
      if (!is_ready) continue;
      done.insert(node.get());
      steps.push_back({node, node->work});
      found = true;
    }
  }
  return steps;
}

cudaError_t run(const std::vector<std::function<cudaError_t()>>& work) {
  for (const auto& one : work) {
    if (!one) continue;
    if (const cudaError_t error = one(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
std::vector<std::function<cudaError_t()>> work_of(const std::vector<CUgraphExec_st::step>& steps) {
  std::vector<std::function<cudaError_t()>> work;
  for (const auto& step : steps) work.push_back(step.work);
  return work;
}

std::function<cudaError_t()> kernel_work(const cudaKernelNodeParams& what) {
  const auto launch = what.func.bind(what.kernelParams);
  if (!launch) return nullptr;
  const cudaLaunchConfig_t config{what.gridDim, what.blockDim, what.sharedMemBytes};
  return [launch, config] { return launch(config); };
}

// A new node of the graph that does `work`, once the nodes that it depends on have done theirs.
cudaError_t add_graph_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, std::function<cudaError_t()> work) {
  const std::lock_guard lock(state().mutex);
  if (node == nullptr || !state().graphs.contains(graph) || (dependencies == nullptr && count > 0))
    return finish(cudaErrorInvalidValue);
  graph->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{std::move(work), {}}));
  for (std::size_t i = 0; i < count; ++i) graph->nodes.back()->after.push_back(dependencies[i]);
  *node = graph->nodes.back().get();
  return finish(cudaSuccess);
}

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): its only object is destroyed by its own type
class capturing_graphs final : public graph_capture {
 public:
  bool is_capturing(cudaStream_t stream) override {
    const std::lock_guard lock(state().mutex);
    return state().captures.contains(stream);
  }

  bool capture(cudaStream_t stream, const std::function<cudaError_t()>& work) override {
    const std::lock_guard lock(state().mutex);
    const auto found = state().captures.find(stream);
    if (found == state().captures.end()) return false;
    auto& nodes = found->second.graph->nodes;
    nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{work, {}}));
    found->second.before[stream] = nodes.size();
    return true;
  }

  void note_event(cudaEvent_t event, cudaStream_t stream) override {
    const std::lock_guard lock(state().mutex);
    const auto found = state().captures.find(stream);
    if (found == state().captures.end()) {
      state().events.erase(event);
    } else {
      state().events[event] = found->second;
    }
  }

  void note_waiting_stream(cudaStream_t stream, cudaEvent_t event) override {
    const std::lock_guard lock(state().mutex);
    const auto found = state().events.find(event);
    if (found == state().events.end()) return;
    const auto [capture, is_new] = state().captures.insert({stream, found->second});
    if (!is_new && capture->second.graph == found->second.graph) capture->second.join(found->second);
  }
};
constinit capturing_graphs capturing;

// All work that this thread enqueues in this scope is the stream's.
class work_of_stream {
 public:
  explicit work_of_stream(cudaStream_t stream)
      : before_(stream_of_all), stream_(before_ != nullptr ? *before_ : stream) {
    stream_of_all = &stream_;
  }
  work_of_stream(const work_of_stream&) = delete;
  work_of_stream& operator=(const work_of_stream&) = delete;
  ~work_of_stream() { stream_of_all = before_; }

 private:
  const cudaStream_t* before_;
  cudaStream_t stream_;
};

}  // namespace

// ---- capture

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  // The default stream cannot be captured from.
  if (stream == nullptr || stream == cudaStreamLegacy || !is_stream(stream))
    return finish(cudaErrorNotSupported);
  const std::lock_guard lock(state().mutex);
  if (state().captures.contains(stream)) return finish(cudaErrorInvalidValue);
  active_graph_capture = &capturing;
  auto* const graph = new CUgraph_st;
  state().graphs.insert(graph);
  state().captures[stream] = {graph, stream};
  return finish(cudaSuccess);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().captures.find(stream);
  if (graph == nullptr || found == state().captures.end()) return finish(cudaErrorInvalidValue);
  const stream_capture whole = found->second;
  if (stream != whole.origin) return finish(cudaErrorStreamCaptureUnmatched);
  const auto belongs = [&](const auto& one) { return one.second.graph == whole.graph; };
  const bool is_joined = std::all_of(state().captures.begin(), state().captures.end(), [&](const auto& one) {
    const auto last = one.second.before.find(one.first), known = whole.before.find(one.first);
    return !belongs(one) || last == one.second.before.end() ||
           (known != whole.before.end() && known->second == last->second);
  });
  std::erase_if(state().captures, belongs);
  std::erase_if(state().events, belongs);
  *graph = is_joined ? whole.graph : nullptr;
  if (!is_joined) {
    state().graphs.erase(whole.graph);
    delete whole.graph;
  }
  return finish(is_joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(state().mutex);
  *status = state().captures.contains(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return finish(cudaSuccess);
}

// ---- graphs and their nodes

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  const std::lock_guard lock(state().mutex);
  *graph = new CUgraph_st;
  state().graphs.insert(*graph);
  return finish(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard lock(state().mutex);
  if (state().graphs.erase(graph) == 0) return finish(cudaErrorInvalidValue);
  const auto belongs = [&](const auto& one) { return one.second.graph == graph; };
  std::erase_if(state().captures, belongs);
  std::erase_if(state().events, belongs);
  delete graph;
  return finish(cudaSuccess);
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  const std::lock_guard lock(state().mutex);
  if (!state().graphs.contains(graph)) return finish(cudaErrorInvalidValue);
  *clone = new CUgraph_st(*graph);
  state().graphs.insert(*clone);
  return finish(cudaSuccess);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(state().mutex);
  if (!state().graphs.contains(graph)) return finish(cudaErrorInvalidValue);
  for (std::size_t i = 0; nodes != nullptr && i < std::min(*count, graph->nodes.size()); ++i)
    nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return finish(cudaSuccess);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  const std::lock_guard lock(state().mutex);
  if (!state().graphs.contains(graph)) return finish(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_member = [&](cudaGraphNode_t one) {
      return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                         [one](const auto& node) { return node.get() == one; });
    };
    if (!is_member(from[i]) || !is_member(to[i])) return finish(cudaErrorInvalidValue);
    to[i]->after.push_back(from[i]);
  }
  return finish(cudaSuccess);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add_graph_node(node, graph, dependencies, count, nullptr);
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* what) {
  auto work = kernel_work(*what);
  return work ? add_graph_node(node, graph, dependencies, count, std::move(work))
              : finish(cudaErrorInvalidValue);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* what) {
  return add_graph_node(node, graph, dependencies, count, [copy = *what] { return cudaMemcpy3D(&copy); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add_graph_node(node, graph, dependencies, count, [=] { return cudaMemcpy(to, from, bytes, kind); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* what) {
  const auto fill = [what = *what] {
    // Elements of several bytes are made on the host first.
    std::vector<unsigned char> row(what.width * what.elementSize);
    for (std::size_t i = 0; i < what.width; ++i)
      std::memcpy(row.data() + i * what.elementSize, &what.value, what.elementSize);
    for (std::size_t y = 0; y < std::max<std::size_t>(what.height, 1); ++y) {
      const cudaError_t error = cudaMemcpy(static_cast<char*>(what.dst) + y * what.pitch, row.data(),
                                           row.size(), cudaMemcpyDefault);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  };
  const bool is_size = what->elementSize == 1 || what->elementSize == 2 || what->elementSize == 4;
  return is_size ? add_graph_node(node, graph, dependencies, count, fill) : finish(cudaErrorInvalidValue);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* what) {
  return add_graph_node(node, graph, dependencies, count, [call = *what] {
    call.fn(call.userData);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  std::vector<std::function<cudaError_t()>> work;
  {
    const std::lock_guard lock(state().mutex);
    if (!state().graphs.contains(child)) return finish(cudaErrorInvalidValue);
    work = work_of(ordered(*child));
  }
  return add_graph_node(node, graph, dependencies, count, [work] { return run(work); });
}

// ---- what is launched

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const std::lock_guard lock(state().mutex);
  if (executable == nullptr || !state().graphs.contains(graph)) return finish(cudaErrorInvalidValue);
  auto steps = ordered(*graph);
  if (steps.size() != graph->nodes.size()) return finish(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{std::move(steps)};
  state().executables.insert(*executable);
  return finish(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                 char* log, std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return cudaGraphInstantiate(executable, graph, 0);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  const std::lock_guard lock(state().mutex);
  return finish(state().executables.contains(executable) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  std::vector<std::function<cudaError_t()>> work;
  {
    const std::lock_guard lock(state().mutex);
    if (!state().executables.contains(executable)) return finish(cudaErrorInvalidValue);
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    work = work_of(executable->steps);
  }
  if (capturing.capture(stream, [work] { return run(work); })) return finish(cudaSuccess);
  const work_of_stream on_one_stream(stream);
  return finish(run(work));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::lock_guard lock(state().mutex);
  if (state().executables.erase(executable) == 0) return finish(cudaErrorInvalidValue);
  delete executable;
  return finish(cudaSuccess);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  if (result != nullptr) *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  const std::lock_guard lock(state().mutex);
  if (!state().executables.contains(executable) || !state().graphs.contains(graph))
    return finish(cudaErrorInvalidValue);
  executable->steps = ordered(*graph);
  return finish(cudaSuccess);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result) {
  if (error_node != nullptr) *error_node = nullptr;
  if (result != nullptr) *result = cudaGraphExecUpdateSuccess;
  return cudaGraphExecUpdate(executable, graph, static_cast<cudaGraphExecUpdateResultInfo*>(nullptr));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* what) {
  auto work = kernel_work(*what);
  const std::lock_guard lock(state().mutex);
  if (!work || !state().executables.contains(executable)) return finish(cudaErrorInvalidValue);
  for (auto& step : executable->steps) {
    if (step.node.get() != node) continue;
    step.work = std::move(work);
    return finish(cudaSuccess);
  }
  return finish(cudaErrorInvalidValue);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* what) {
  auto work = kernel_work(*what);
  const std::lock_guard lock(state().mutex);
  for (CUgraph_st* const graph : state().graphs) {
    for (const auto& one : graph->nodes) {
      if (one.get() != node || !work) continue;
      one->work = std::move(work);
      return finish(cudaSuccess);
    }
  }
  return finish(cudaErrorInvalidValue);
}
