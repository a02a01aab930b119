// usage: run-time-once CACHE_FOLDER SOURCE
// Compiles SOURCE by way of the cache in a process that has done nothing else, and prints "compiled" or
// "disk", the seconds of the call, of loading NVRTC and of compiling, and whether NVRTC is in the process's
// memory.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "common/run_time/cached_compile.hpp"

namespace {

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    lab::run_time::image_cache cache({.folder = arguments[1]});
    lab::run_time::compile_request request;
    request.source = arguments[2];
    const auto answer = compile_cached(request, cache);
    std::printf("%s %.6f %.6f %.6f %s\n", answer.from == lab::run_time::origin::disk ? "disk" : "compiled",
                answer.seconds, answer.result.load_seconds, answer.result.compile_seconds,
                is_mapped("libnvrtc") ? "mapped" : "absent");
    if (!answer.warning.empty()) std::fprintf(stderr, "%s\n", answer.warning.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
