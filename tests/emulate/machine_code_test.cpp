// Machine code as nvcc writes it, read from a file that is kept here (nvcc is not needed), and `lab emulate
// --ptx`, which calls nvcc.
#include "harness/front/emulate/machine_code.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/front/emulate/compile.hpp"
#include "harness/front/emulate/cubin.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::front::listing_of;
using lab::front::machine_kernel;
using lab::front::read_cubin;

const std::vector<std::string> no_programs{"/usr"};  // where CUDA's headers are

std::string kept_file(const char* name) {
  return lab::test::get(std::filesystem::path(LAB_SOURCE_ROOT) / "tests/emulate/machine_code" / name);
}

std::string reading_error(const std::string& cubin, unsigned capability = 90) {
  return lab::test::message_of<std::runtime_error>(
      [&] { static_cast<void>(read_cubin(cubin, capability, no_programs)); });
}

bool has_nvcc() {
  return !lab::front::find_program("nvcc", {"/usr/local/cuda/bin"}).empty();
}

// Counters of each kernel and line, from the JSON of a run.
class counted_program {
 public:
  counted_program(const std::string& option, const std::vector<std::string>& words) {
    const lab::test::temporary_directory directory;
    const std::string json = (directory / "counters.json").string();
    lab::test::strings all{option, "--json", json};
    all.insert(all.end(), words.begin(), words.end());
    said = lab::test::emulate(all);
    INFO(said.text);
    REQUIRE(said.code == 0);
    const auto document = nlohmann::json::parse(lab::test::get(json));
    for (const auto& kernel : document.at("kernels")) {
      std::string name = kernel.at("name");
      name.resize(std::min(name.size(), name.find('<')));
      kernels[name] = kernel;
    }
  }

  [[nodiscard]] double metric(const std::string& kernel, const std::string& name) const {
    return kernels.at(kernel).at("metrics").at(name);
  }
  [[nodiscard]] std::string accesses(const std::string& kernel) const {
    return kernels.at(kernel).at("accesses");
  }
  // The metrics of a kernel and of its lines.
  [[nodiscard]] nlohmann::json figures(const std::string& kernel) const {
    nlohmann::json all{kernels.at(kernel).at("metrics")};
    for (const auto& line : kernels.at(kernel).at("lines")) all.push_back(line.at("metrics"));
    return all;
  }

  lab::test::outcome said;
  std::map<std::string, nlohmann::json> kernels;
};

constexpr const char* shared_loads = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr const char* global_loads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";

constexpr const char* many_kernels = R"cuda(
#include <helper_cuda.h>
#include "product.cuh"
// Each thread has 4 x 4 elements: columns of one tile and rows of the other, 16 bytes at a time.
__global__ void registers(const float* a, const float* b, float* c) {
  __shared__ float as[64][8], bs[8][64];
  const int t = threadIdx.x, row = t / 16 * 4, col = t % 16 * 4;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < N; k0 += 8) {
    for (int i = t; i < 512; i += 256) {
      as[i / 8][i % 8] = a[(blockIdx.y * 64 + i / 8) * N + k0 + i % 8];
      bs[i / 64][i % 64] = b[(k0 + i / 64) * N + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[row + i][k] * bs[k][col + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(blockIdx.y * 64 + row + i) * N + blockIdx.x * 64 + col + j] = sum[i][j];
}
__global__ void saxpy(float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}
__global__ void strided(const float* x, float* y) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += x[threadIdx.x + 2 * k * 256];
  y[threadIdx.x] = sum;
}
// Nobody promises that x is aligned.
__global__ void neighbours(const float* x, float* y) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += x[4 * threadIdx.x + k];
  y[threadIdx.x] = sum;
}
__global__ void in_memory(const float* a, const float* b, float* c, int n) {
  c[threadIdx.x] = 0;
  for (int k = 0; k < n; ++k) c[threadIdx.x] += a[k] * b[k * 256 + threadIdx.x];
}
// The store may change what is loaded.
__global__ void in_either(const float* a, float* b, float* c, int n) {
  for (int k = 0; k < n; ++k) c[threadIdx.x] = a[threadIdx.x] + b[k * 256];
}
__global__ void over_barrier(const float* x, float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float v = s[255 - threadIdx.x];
  __syncthreads();
  v += s[255 - threadIdx.x];
  y[threadIdx.x] = v;
}
__global__ void vectors(const float4* x, float4* y) {
  float4 v = x[threadIdx.x];
  v.x += 1;
  y[threadIdx.x] = v;
}
namespace {
template <class T> __global__ void hidden(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x]; }
}
__global__ void either(float* y, int which) {
  __shared__ float s[256];
  float* p = which ? s : y;
  p[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x ^ 1];
}
int main() {
  float *a, *b, *c;
  for (float** one : {&a, &b, &c}) {
    cudaMalloc(one, N * N * 4);
    cudaMemset(*one, 0, N * N * 4);
  }
  multiply(a, b, c);
  product<16><<<dim3(N / 16, N / 16), dim3(16, 16)>>>(a, b, c, N);
  registers<<<dim3(N / 64, N / 64), 256>>>(a, b, c);
  saxpy<<<4, 256>>>(2, a, c);
  strided<<<1, 256>>>(a, c);
  neighbours<<<1, 256>>>(a, c);
  in_memory<<<1, 256>>>(a, b, c, 37);
  in_either<<<1, 256>>>(a, b, c, 37);
  over_barrier<<<1, 256>>>(a, c);
  vectors<<<1, 256>>>((float4*)a, (float4*)c);
  hidden<<<1, 256>>>((float4*)a, (float4*)c);
  hidden<<<1, 256>>>(a, c);
  either<<<1, 256>>>(c, 1);
  checkCudaErrors(cudaDeviceSynchronize());
}
)cuda";

constexpr const char* product_header = R"cuda(
#include <cuda_runtime.h>
void multiply(const float* a, const float* b, float* c);
template <int tile> __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
  float sum = 0;
  for (int t = 0; t < n / tile; ++t) {
    as[y][x] = a[row * n + t * tile + x];
    bs[y][x] = b[(t * tile + y) * n + col];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
)cuda";

}  // namespace

TEST_CASE("machine code: a cubin's accesses are read with width, memory, line and condition") {
  const auto kernels = read_cubin(kept_file("kernels.cubin"), 90, no_programs);
  CHECK(kernels.size() == 4);
  CHECK(listing_of(kernels) == kept_file("kernels.txt"));
  // Lines of CUDA's headers are those of who calls them; where they are not known to be such, they are their
  // own.
  const auto with_headers = read_cubin(kept_file("kernels.cubin"), 90, {"/nowhere"});
  CHECK(listing_of(with_headers).find("sm_32_intrinsics.hpp") != std::string::npos);
  CHECK(listing_of(kernels).find("sm_32_intrinsics.hpp") == std::string::npos);
}

TEST_CASE("machine code: what is no cubin, or half of one, is refused in words") {
  const std::string whole = kept_file("kernels.cubin");
  CHECK(reading_error("") == "it ends early");
  CHECK(reading_error(std::string(4096, 'x')).find("no ELF file") != std::string::npos);
  CHECK(reading_error(whole, 100).find("the machine code of sm_100 is not read") != std::string::npos);
  std::string other = whole;
  other[18] = 62;  // x86-64
  CHECK(reading_error(other).find("no code for a GPU") != std::string::npos);
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    CAPTURE(length);
    // What is behind the last section is not looked at.
    const std::string said = reading_error(whole.substr(0, length));
    CHECK((said != "nothing was thrown") == (length < whole.size() - 5 * 56));
  }
  // Any byte may be wrong: it is read, or refused, and nothing else.
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0xff);
    try {
      static_cast<void>(listing_of(read_cubin(broken, 90, no_programs)));
    } catch (const std::runtime_error&) {
    } catch (const std::logic_error&) {
    }
  }
}

TEST_CASE(
    "machine code: nvcc is called with the words that change its code, and with none that it does not know") {
  lab::test::strings words{
      "-Iinclude", "-D",  "N=4",           "-std=gnu++17", "-use_fast_math", "-Xcompiler",
      "-fopenmp",  "-O3", "-maxrregcount", "32",           "-arch=sm_80",    "-lineinfo",
      "-Xptxas",   "-v",  "--fmad=false",  "-rdc=true",    "-lcublas",       "a.cu"};
  const lab::front::compiler_words taken = lab::front::take_compiler_words(words);
  CHECK(words == lab::test::strings{"a.cu"});
  CHECK(lab::front::words_for_nvcc(taken) ==
        lab::test::strings{"-arch=sm_80", "-Iinclude", "-DN=4", "-std=c++17", "-Xcompiler=-fopenmp",
                           "-use_fast_math", "-maxrregcount", "32", "-Xptxas", "-v", "--fmad=false",
                           "-rdc=true"});
  lab::test::strings old{"-std=c++98"};
  CHECK(lab::front::words_for_nvcc(lab::front::take_compiler_words(old)) ==
        lab::test::strings{"-arch=sm_90"});
}

TEST_CASE(
    "emulate --ptx: products are counted as nvcc has merged their loads, and what it has not merged as "
    "before") {
  if (!LAB_WITH_OBSERVED) return;
  if (!has_nvcc()) LAB_SKIP("it needs nvcc");
  const lab::test::temporary_directory directory;
  const std::string main_file = (directory / "kernels.cu").string(),
                    header = (directory / "product.cuh").string(),
                    second = (directory / "product.cu").string();
  lab::test::put(main_file, many_kernels);
  lab::test::put(header, product_header);
  lab::test::put(second,
                 "#include \"product.cuh\"\nvoid multiply(const float* a, const float* b, float* c) {\n"
                 "  product<16><<<dim3(N / 16, N / 16), dim3(16, 16)>>>(a, b, c, N);\n}\n");
  const std::vector<std::string> words{main_file, second, "-DN=256", "-std=c++17"};
  const counted_program written("--observe", words), compiled("--ptx", words);
  CHECK(written.said.text.find("counters, modelled, accesses as written:") != std::string::npos);
  CHECK(compiled.said.text.find("product<16> (2 launches, as compiled)") != std::string::npos);
  CHECK(compiled.said.text.find("either (partly as compiled)") == std::string::npos);
  CHECK(compiled.said.text.find("either (as written)") != std::string::npos);
  for (const auto& [name, kernel] : written.kernels) CHECK(kernel.at("accesses") == "as written");
  for (const auto& [name, kernel] : compiled.kernels) {
    CAPTURE(name);
    CHECK(kernel.at("accesses") == (name == "either" ? "as written" : "as compiled"));
  }
  // Counted on an H200: 786 432, here twice, by both files.
  CHECK(written.metric("product", shared_loads) == 2 * 1048576);
  CHECK(compiled.metric("product", shared_loads) == 2 * 786432);
  CHECK(compiled.metric("product", global_loads) == written.metric("product", global_loads));
  // 16 elements of each tile for 4 steps, where 4 x 4 pairs were asked for.
  CHECK(compiled.metric("registers", "lab__requests_mem_shared_op_ld.sum") <
        written.metric("registers", "lab__requests_mem_shared_op_ld.sum") / 4);
  // A sum in memory: c is not loaded in any of 37 turns of 8 warps, which load a and b.
  CHECK(written.metric("in_memory", global_loads) == 3 * 37 * 8);
  CHECK(compiled.metric("in_memory", global_loads) == 2 * 37 * 8);
  for (const char* const name :
       {"saxpy", "strided", "neighbours", "in_either", "over_barrier", "vectors", "either"}) {
    CAPTURE(name);
    CHECK(compiled.figures(name) == written.figures(name));
  }
}

TEST_CASE("emulate --ptx: without nvcc it says so, and what nvcc refuses is counted as it is written") {
  if (!LAB_WITH_OBSERVED) return;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "one.cu").string();
  lab::test::put(
      source,
      "#ifndef LAB_EMULATED\n#error not for nvcc\n#endif\n__global__ void one(int* a) {\n  a[threadIdx.x] = "
      "1;\n}\nint main() {\n  int* a;\n  cudaMalloc(&a, 128);\n  one<<<1, 32>>>(a);\n  return "
      "cudaDeviceSynchronize();\n}\n");
  lab::test::expect(lab::test::emulate({"--ptx", source, "-c"}), 2,
                    {"--ptx", "does not go with -o, -c or -dc"});
  if (has_nvcc()) {
    lab::test::expect(lab::test::emulate({"--ptx", source}), 1,
                      {"lab: accesses are counted as they are written: nvcc does not compile", "not for nvcc",
                       "one (as written)"});
  } else {
    lab::test::expect(lab::test::emulate({"--ptx", source}), 2, {"--ptx needs nvcc"});
  }
  // An nvcc that is too old, and one whose code is none.
  const std::filesystem::path nvcc = directory / "nvcc";
  const auto with = [&](const std::string& script) {
    lab::test::put(nvcc, "#!/bin/sh\n" + script);
    std::filesystem::permissions(nvcc, std::filesystem::perms::owner_all);
    return lab::test::call_program({"PATH=" + directory.path().string() + ":/usr/bin:/bin"}, LAB_PROGRAM,
                                   {"emulate"}, {"--ptx", source}, std::chrono::seconds(600));
  };
  lab::test::expect(
      with("echo one\necho \"nvcc fatal   : Unsupported gpu architecture 'sm_90'\" >&2\nexit 1\n"), 1,
      {"one.cu: nvcc fatal   : Unsupported gpu architecture 'sm_90'", "one (as written)"});
  lab::test::expect(with("for word in \"$@\"; do last=$word; done\necho nothing > \"$last\"\n"), 0,
                    {"what nvcc has made of", "is not understood: it ends early", "one (as written)"});
}
