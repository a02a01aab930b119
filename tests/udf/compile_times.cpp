// What compiling a function at run time costs, in a fresh process: from PTX and from source text (NVRTC), and
// by linking LTO-IR (nvJitLink). Prints JSON: seconds of loading the libraries, of the first function, of the
// next one, and of having the first from the cache on disk. No GPU is needed.
//
// usage: udf-compile-times ptx|source|link ARCHITECTURE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "common/ptx/translate.hpp"
#include "common/run_time/cached_compile.hpp"
#include "stages/udf/source.hpp"
#include "tests/temporary_directory.hpp"

namespace {

using namespace lab::udf;
namespace run_time = lab::run_time;

constexpr const char* functions =
#include "functions.inc"
    ;
constexpr const char* kernels =
#include "kernels.inc"
    ;
const std::map<std::string, std::string> ptx_texts = {
#include "ptx.inc"
};

std::string function_text(const std::string& way, const std::string& name, const signature& types) {
  if (way == "ptx") {
    return lab::ptx::translate(ptx_texts.at(name + ".int64.int64"), {.called = function_name,
                                                                     .result_type = "long long",
                                                                     .parameters = {"long long"},
                                                                     .how = lab::ptx::convention::numba})
        .text;
  }
  return functions + calling(types, name, way == "link" ? "extern \"C\" __device__" : "__device__ inline");
}

class stopwatch {
 public:
  // Since it was made, or since the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Machine code of a function in the track's kernel, and what of it was loading libraries.
double make(const std::string& way, const std::string& name, int architecture, run_time::image_cache& cache) {
  const signature types{value_type::int64, result_type::int64, false};
  const std::string heading = types_text(types);
  const std::string function = heading + function_text(way, name, types);
  if (way != "link") {
    const auto compiled = run_time::compile_cached(
        {.source = function + kernel_text(types, walk::elements, kernels), .architecture = architecture},
        cache);
    return compiled.result.load_seconds;
  }
  const auto part = [&](std::string source) {
    return run_time::compile_cached(
        {.source = std::move(source), .architecture = architecture, .wanted = run_time::target::lto_ir},
        cache);
  };
  auto compiling = std::async(std::launch::async, part, function);  // side by side, as the stage does it
  const auto kernel = part(heading + "extern \"C\" __device__ " + declaration(types) + ";\n" +
                           kernel_text(types, walk::elements, kernels));
  const auto its_function = compiling.get();
  const run_time::link_input parts[] = {
      {run_time::target::lto_ir, its_function.result.image, "function", its_function.result.compiler},
      {run_time::target::lto_ir, kernel.result.image, "kernel", kernel.result.compiler}};
  double loading = std::max(its_function.result.load_seconds, kernel.result.load_seconds);
  static_cast<void>(cache.cached(run_time::key_of(parts, architecture), [&] {
    const run_time::linked compiled = run_time::link(parts, architecture);
    loading += compiled.load_seconds;
    return compiled.cubin;
  }));
  return loading;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string way = argc > 1 ? argv[1] : "";
  if (argc != 3 || (way != "ptx" && way != "source" && way != "link")) {
    std::fprintf(stderr, "usage: %s ptx|source|link ARCHITECTURE\n", argv[0]);
    return 2;
  }
  const int architecture = std::stoi(argv[2]);
  const lab::test::temporary_directory folder;
  run_time::image_cache cache({.folder = folder.path() / "cache"});
  stopwatch watch;
  const double loading = make(way, "square", architecture, cache);
  const double first = watch.lap() - loading;
  make(way, "member20", architecture, cache);
  const double next = watch.lap();
  make(way, "square", architecture, cache);
  const double hit = watch.lap();
  std::printf("%s\n", nlohmann::json{{"way", way},
                                     {"architecture", architecture},
                                     {"load_seconds", loading},
                                     {"first_seconds", first},
                                     {"next_seconds", next},
                                     {"cached_seconds", hit}}
                          .dump()
                          .c_str());
  return 0;
} catch (const run_time::library_error& missing) {
  std::fprintf(stderr, "this test is skipped: %s\n", missing.what());
  return 77;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
