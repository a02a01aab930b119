#include "harness/device/measure/ceilings.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/measure/sampler.hpp"

namespace lab {
namespace {

// Below this many times the L2 cache's size, part of what a launch reads or writes never goes to memory.
constexpr std::int64_t min_cache_multiple = 4;

bool is_cached(const ceiling_need& need) {
  return need.bytes / need.gpus < min_cache_multiple * device_attribute(cudaDevAttrL2CacheSize);
}

// One of the plain operations that a ceiling is the fastest of.
struct plain_operation {
  std::string name;
  std::function<void()> enqueue;
};

// The fastest of them, or the one that is asked for. All are measured as a stage would be.
ceiling_record fastest_of(const ceiling_need& need, const std::vector<plain_operation>& operations,
                          const sampling_options& sampling, cudaStream_t stream) {
  ceiling_record best{.kind = need.kind, .bytes = need.bytes, .cached = is_cached(need)};
  const bool is_known = std::any_of(operations.begin(), operations.end(),
                                    [&](const auto& one) { return one.name == need.operation; });
  for (const plain_operation& one : operations) {
    if (is_known && one.name != need.operation) continue;
    timing_record timing =
        measure([&](std::int64_t) { one.enqueue(); }, sampling, stream, {.capturable = need.gpus == 1});
    if (!best.operation.empty() && timing.median >= best.timing.median) continue;
    best.operation = one.name;
    best.timing = std::move(timing);
  }
  return best;
}

// Whole 16-byte words, of which plain kernels move one or more at a time.
constexpr std::size_t word_bytes = 16;
std::size_t in_words(std::size_t bytes) {
  return (bytes + word_bytes - 1) / word_bytes * word_bytes;
}

std::string kernel_name(const std::string& does, int words) {
  return does + " kernel, " + std::to_string(words) + " x 16 bytes a thread";
}

void require_free(std::size_t bytes) {
  if (const std::size_t free_bytes = processes::smallest(memory::available()); bytes > free_bytes)
    throw memory_error(bytes, free_bytes);
}

// What plain operations read and write, in whole words.
struct plain_memory {
  plain_memory(std::size_t read, std::size_t written, cudaStream_t stream)
      : from(in_words(read) / sizeof(double), stream), to(in_words(written) / sizeof(double), stream) {
    generate({element_type::float64, from.data(), static_cast<std::int64_t>(from.size())}, pattern::random, 1,
             stream);
  }

  // Reads all of `from` and writes all of `to`.
  void move(int words, cudaStream_t stream) const {
    if (to.bytes() == 0) return read_all(from.data(), from.bytes(), words, stream);
    if (from.bytes() == 0) return write_all(to.data(), to.bytes(), words, stream);
    if (from.bytes() == to.bytes()) return copy_all(to.data(), from.data(), to.bytes(), words, stream);
    copy_uneven(to.data(), to.bytes(), from.data(), from.bytes(), words, stream);
  }

  device_buffer<double> from, to;
};

// One GPU. The runtime has an operation of its own for writing alone, and for copies of as many bytes.
ceiling_record measure_on_one(const ceiling_need& need, const sampling_options& sampling,
                              cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(need.bytes);
  const bool is_uneven = need.kind == "copy" && need.written_bytes && 2 * *need.written_bytes != need.bytes;
  std::size_t read = 0;
  std::size_t written = 0;
  if (need.kind == "read") {
    read = bytes;
  } else if (need.kind == "write") {
    written = bytes;
  } else {
    written = is_uneven ? static_cast<std::size_t>(*need.written_bytes) : bytes / 2;
    read = is_uneven ? bytes - written : written;
  }
  require_free(in_words(read) + in_words(written));
  const plain_memory arrays(read, written, stream);
  const std::size_t size = arrays.to.bytes();
  std::vector<plain_operation> operations;
  if (need.kind == "write") {
    operations.push_back({"memset", [&] {
                            if (size > 0) CUDA_CHECK(cudaMemsetAsync(arrays.to.data(), 0x5a, size, stream));
                          }});
  } else if (need.kind == "copy" && !is_uneven) {
    operations.push_back({"memcpy", [&] {
                            if (size == 0) return;
                            CUDA_CHECK(cudaMemcpyAsync(arrays.to.data(), arrays.from.data(), size,
                                                       cudaMemcpyDeviceToDevice, stream));
                          }});
  }
  const std::string does = is_uneven ? "uneven copy" : need.kind;
  for (const int words : plain_kernel_words)
    operations.push_back({kernel_name(does, words), [&, words] { arrays.move(words, stream); }});
  return fastest_of(need, operations, sampling, stream);
}

// What one GPU moves while the others do the same.
struct busy_gpu {
  busy_gpu(int its_device, cudaStream_t given, std::size_t read, std::size_t written)
      : device(its_device),
        work(given == nullptr ? own.emplace().get() : given),
        arrays(read, written, work) {}

  int device;
  std::optional<lab::stream> own;  // of all but the first, whose stream is the caller's
  cudaStream_t work;
  untimed_event begin, end;
  plain_memory arrays;
};

// What crosses from the second GPU of a group to the first, alone.
link_record measure_link(const std::vector<int>& devices, const sampling_options& sampling,
                         cudaStream_t stream) {
  constexpr std::size_t bytes = (emulated ? std::size_t{1} : std::size_t{256}) << 20;
  const std::vector<int> two(devices.begin(), devices.begin() + 2);
  share_memory(two);
  std::optional<busy_gpu> sender;
  {
    const gpu_scope scope(two[1]);
    require_free(bytes);
    sender.emplace(two[1], nullptr, bytes, 0);
    CUDA_CHECK(cudaStreamSynchronize(sender->work));
  }
  require_free(bytes);
  const device_buffer<unsigned char> to(bytes, stream);
  const auto time_of = [&](std::size_t count) {
    return measure(
        [&](std::int64_t) {
          CUDA_CHECK(
              cudaMemcpyPeerAsync(to.data(), two[0], sender->arrays.from.data(), two[1], count, stream));
        },
        sampling, stream, {.capturable = false});
  };
  link_record record{.direct = why_no_peer_access(two).empty(), .bytes = static_cast<std::int64_t>(bytes)};
  record.timing = time_of(bytes);
  record.of_8_bytes = time_of(8);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const gpu_scope scope(two[1]);
  sender.reset();
  return record;
}

// All GPUs of a group at once, from a common start to the last one's end.
ceiling_record measure_on_all(const ceiling_need& need, const sampling_options& sampling,
                              cudaStream_t stream) {
  const bool reads = need.kind != "write";
  const bool writes = need.kind != "read";
  const auto each_bytes = static_cast<std::size_t>(need.bytes / need.gpus);
  const std::size_t bytes = in_words(reads && writes ? each_bytes / 2 : each_bytes);
  require_free((reads ? bytes : 0) + (writes ? bytes : 0));
  std::vector<std::unique_ptr<busy_gpu>> gpus;
  for (const int device : group_devices(need.gpus)) {
    if (device < 0) continue;  // of another process
    const gpu_scope scope(device);
    gpus.push_back(std::make_unique<busy_gpu>(device, gpus.empty() ? stream : nullptr, reads ? bytes : 0,
                                              writes ? bytes : 0));
  }
  std::vector<plain_operation> operations;
  for (const int words : plain_kernel_words) {
    operations.push_back(
        {std::to_string(need.gpus) + " GPUs, each with a " + kernel_name(need.kind, words), [&, words] {
           CUDA_CHECK(cudaEventRecord(gpus.front()->begin.get(), stream));
           for (const auto& gpu : gpus) {
             const gpu_scope scope(gpu->device);
             CUDA_CHECK(cudaStreamWaitEvent(gpu->work, gpus.front()->begin.get(), 0));
             gpu->arrays.move(words, gpu->work);
             CUDA_CHECK(cudaEventRecord(gpu->end.get(), gpu->work));
             CUDA_CHECK(cudaStreamWaitEvent(stream, gpu->end.get(), 0));
           }
         }});
  }
  ceiling_record record = fastest_of(need, operations, sampling, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (auto& gpu : gpus) {
    const gpu_scope scope(gpu->device);
    CUDA_CHECK(cudaStreamSynchronize(gpu->work));
    gpu.reset();
  }
  // No process can name another's memory.
  if (!processes::are_several()) record.link = measure_link(group_devices(need.gpus), sampling, stream);
  return record;
}

}  // namespace

ceiling_record measure_ceiling(const ceiling_need& need, const sampling_options& sampling,
                               cudaStream_t stream) {
  if (need.gpus > 1) return measure_on_all(need, sampling, stream);
  if (need.kind == "copy" || need.kind == "read" || need.kind == "write")
    return measure_on_one(need, sampling, stream);
  throw usage_error("no ceiling is called " + need.kind);
}

std::optional<ceiling_record> measure_arithmetic(const ceiling_need& need, const sampling_options& sampling,
                                                 cudaStream_t stream) {
  if (need.operations <= 0) return std::nullopt;
  const bool is_tensor = need.unit == "tensor";
  if (!is_tensor && need.unit != "fp32") throw usage_error("no unit is called " + need.unit);
  ceiling_record record{
      .kind = need.unit,
      .operation = is_tensor ? "matrix products of bfloat16" : "fused multiply-adds in registers",
      .operations = need.operations};
  double done = 0;
  record.timing = measure(
      [&](std::int64_t) {
        done = (is_tensor ? multiply_matrices_all : multiply_add_all)(need.operations, stream);
      },
      sampling, stream);
  const double part = need.operations / done;
  for (double* const time :
       {&record.timing.median, &record.timing.minimum, &record.timing.maximum, &record.timing.lower_quartile,
        &record.timing.upper_quartile, &record.timing.interquartile_range})
    *time *= part;
  for (double& sample : record.timing.samples) sample *= part;
  return record;
}

}  // namespace lab
