// What `lab draw` asks of a worker whose kernels are observed, and its answer. Addresses are counted in bytes
// from the beginning of the array that they lie in, so that they are the same in every run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lab {

// Which access is wanted. -1 and "" leave the choice to the worker: the request that costs the most more
// than its minimum.
struct access_choice {
  std::int64_t block = 0;     // x + y * gridDim.x + ...
  std::string kernel;         // a part of its name
  std::string file;           // the end of its path
  std::int64_t line = -1;     // from 1
  std::string space;          // "global" or "shared"
  std::int64_t warp = -1;     // within the block
  std::int64_t request = -1;  // of those that the warp makes at the line, from 1
  bool phases = false;        // the whole block instead of one request
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(access_choice, block, kernel, file, line, space, warp, request, phases)

// A line of a kernel, and what it asked of one kind of memory by one operation.
struct access_line_record {
  std::string file;  // from the repository's root
  std::int64_t line = 0;
  std::string text;       // of the source; empty where it could not be read
  std::string space;      // "global", "shared"
  std::string operation;  // "load", "store", "atomic"
  std::int64_t requests = 0;
  std::int64_t units = 0;  // sectors of global memory, wavefronts of shared memory
  std::int64_t least = 0;  // that as many lanes need, whatever their addresses
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(access_line_record, file, line, text, space, operation, requests, units,
                                   least)

struct array_record {
  std::string name;  // of a __shared__ variable; empty for device memory
  std::int64_t bytes = 0;
  std::int64_t begin = 0;  // its address modulo 128: 32 banks of 4 bytes, 4 sectors
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(array_record, name, bytes, begin)

// One access of a warp.
struct request_record {
  access_line_record at;  // counts of the line in this block
  array_record array;
  std::int64_t warp = 0;
  std::int64_t phase = 0;     // block barriers passed before
  std::int64_t request = 0;   // among those of the warp at the line, from 1
  std::int64_t requests = 0;  // how many these are
  std::int64_t bytes = 0;     // of each lane
  std::int64_t parts = 1;     // of shared memory: in so many parts of equally many lanes it is served
  std::int64_t units = 0;
  std::int64_t least = 0;
  std::vector<std::int64_t> lanes;    // that take part
  std::vector<std::int64_t> offsets;  // of each of these, from the beginning of the array
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(request_record, at, array, warp, phase, request, requests, bytes, parts,
                                   units, least, lanes, offsets)

// What a line does between two barriers.
struct activity_record {
  access_line_record at;                                       // counts of the phase
  array_record array;                                          // of the first request
  std::int64_t lowest = 0;                                     // offset of the first byte
  std::int64_t end = 0;                                        // offset behind the last byte
  std::vector<std::pair<std::int64_t, std::int64_t>> threads;  // runs of threads that took part: first, last
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(activity_record, at, array, lowest, end, threads)

// The worker's answer. `request` holds the one that was chosen, `phases` the block's; one of them is empty,
// and both are where nothing is as it was asked for.
struct accesses_record {
  std::vector<std::string> kernels;  // that have such a block
  std::string kernel;                // of what follows
  std::int64_t blocks = 0;           // of its launch
  std::int64_t block = 0;
  std::int64_t threads = 0;               // of a block
  std::vector<access_line_record> lines;  // of the block, by file and line
  std::vector<request_record> request;
  std::vector<std::vector<activity_record>> phases;
  std::int64_t phase_count = 0;  // more than `phases` where not all were kept
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(accesses_record, kernels, kernel, blocks, block, threads, lines, request,
                                   phases, phase_count)

}  // namespace lab
