// What `lab translate` writes runs in `lab emulate`, and so does a program that includes the lab's own
// headers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/ptx/translate.hpp"
#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::test::emulate;
using lab::test::expect;
using lab::test::get;
using lab::test::put;
using lab::test::temporary_directory;

const std::string inputs = std::string(LAB_SOURCE_ROOT) + "/tests/ptx";

// Arguments, and a comparison that allows for the rounding of other instructions.
constexpr const char* before = R"cuda(
#include <cmath>
#include <cstdio>
#include <type_traits>
__device__ double numbers[64];
template <class T> __device__ T argument(int i) {
  const double reals[] = {0.5, -3, 7.25, 0, 123456.75, 1e15, -2.5e9, 1e-3, -1e5, 3.1415926535897931, 1e300, NAN};
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(numbers);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(reals[i % 12]);
  else return static_cast<T>(i % 13 - 4);
}
__device__ bool agree(double a, double b, double error) {
  return (a != a && b != b) || a == b || fabs(a - b) <= error * fabs(b);
}
)cuda";

// Both with the same arguments; of `type` is the result.
std::string comparison(const std::string& translated, const std::string& original, const std::string& type,
                       const std::vector<lab::ptx::parameter>& parameters) {
  std::string arguments;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    arguments += fmt::format("{}argument<{}>(i{})", k == 0 ? "" : ", ", parameters[k].type,
                             k == 0 ? "" : fmt::format(" / {} + {}", k + 1, k));
  return fmt::format(
      "__global__ void compare_{0}() {{\n  for (int i = 0; i < 48; ++i) {{\n    const {2} found = {0}({3}), "
      "expected = {1}({3});\n    if (!agree(found, expected, {4})) printf(\"{0} %d: %.17g instead of "
      "%.17g\\n\", i, double(found), double(expected));\n  }}\n}}\n",
      translated, original, type, arguments, type == "float" ? "1e-5" : "1e-11");
}

}  // namespace

TEST_CASE("functions that lab translate writes have their values in lab emulate") {
  const temporary_directory directory;
  const std::string source = (directory / "translated.cu").string();
  // The functions themselves, and the one of Numba's convention as one that returns its result.
  std::string text = before + get(inputs + "/functions.cu") +
                     "__device__ double add_scaled_of(double x, double y) { double z; add_scaled(&z, x, y); "
                     "return z; }\n";
  std::string launches;
  std::size_t count = 0;
  for (const auto& entry : nlohmann::json::parse(get(inputs + "/inputs/inputs.json"))) {
    const std::string file = entry["file"], name = entry["name"];
    if (file.rfind("nvcc/", 0) != 0 || name == "settings_of") continue;
    const auto translation = lab::ptx::translate(
        get(inputs + "/inputs/" + file), {.name = name,
                                          .called = "translated_" + std::to_string(++count),
                                          .result_type = entry["result"],
                                          .parameters = entry["parameters"].get<std::vector<std::string>>()});
    text += translation.text + comparison(translation.name, name == "add_scaled" ? "add_scaled_of" : name,
                                          translation.result_type, translation.parameters);
    launches += fmt::format("  compare_{}<<<1, 1>>>();\n", translation.name);
  }
  CHECK(count == 24);
  put(source, text + "int main() {\n" + launches +
                  "  printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n}\n");
  const auto result = emulate({source});
  expect(result, 0, {"no error"});
  CHECK(result.text.find("instead of") == std::string::npos);
  // Of Numba, compiled alone.
  text.clear();
  for (const auto& entry : nlohmann::json::parse(get(inputs + "/inputs/inputs.json"))) {
    const std::string file = entry["file"];
    if (file.rfind("numba/", 0) != 0) continue;
    text += lab::ptx::translate(get(inputs + "/inputs/" + file),
                                {.called = "f" + std::to_string(++count),
                                 .result_type = entry["result"],
                                 .parameters = entry["parameters"].get<std::vector<std::string>>()})
                .text;
  }
  put(source, text + "int main() {}\n");
  expect(emulate({source}), 0, {});
}

TEST_CASE("jumps of inline PTX go within their statement, and tables and local arrays are its own") {
  const temporary_directory directory;
  const std::string source = (directory / "jumps.cu").string();
  put(source, R"cuda(
#include <cstdio>
__device__ int steps(long long x) {
  int count;
  asm("{ .reg .pred %%even, p; .reg .b64 a, b<2>; .local .align 8 .b8 kept[16]; .reg .b64 at;\n"
      "  mov.u32 %0, 0; mov.u64 at, kept; st.local.u64 [at+8], %1; ld.local.u64 a, [kept+8];\n"
      "  AGAIN: setp.leu.f32 p, 0f3F800000, 0f7FC00000; @!p bra END; setp.le.s64 p, a, 1; @p bra END;\n"
      "  add.s32 %0, %0, 1; and.b64 b0, a, 1; setp.eq.s64 %%even, b0, 0; @%%even bra HALF;\n"
      "  mad.lo.s64 a, a, 3, 1; bra.uni AGAIN; HALF: shr.s64 a, a, 1; bra AGAIN; END: }" : "=r"(count) : "l"(x));
  return count;
}
__device__ int table(int x) {
  asm("{ .reg .b32 r; $targets: .branchtargets A, B, C; brx.idx %1, $targets; A: mov.u32 r, 30; bra D;\n"
      "  B: mov.u32 r, 40; bra D; C: mov.u32 r, 50; D: add.u32 %0, r, %1; }" : "=r"(x) : "r"(x));
  return x;
}
__global__ void k() {
  printf("%d %d %d, %d %d %d\n", steps(1), steps(6), steps(27), table(0), table(1), table(2));
}
int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }
)cuda");
  expect(emulate({source}), 0, {"0 8 111, 30 41 52"});
  put(source, "__device__ void f() { asm(\"{ L: } bra M;\"); }\nint main() {}\n");
  expect(emulate({source}), 2, {"jumps.cu:1: this inline PTX is not emulated (\"bra M\")"});
}

TEST_CASE("a program that includes the lab's window functions runs in lab emulate") {
  const temporary_directory directory;
  const std::string source = (directory / "windows.cu").string();
  put(source, get(std::string(LAB_SOURCE_ROOT) + "/tests/windows/rolling_example.cu"));
  const lab::test::strings results{"sum inf inf 50 77 110\n", "std inf inf 8.02081 10.0167 12.0139\n",
                                   "largest step inf 7 9 11 13\n"};
  expect(emulate({source}), 0, results);
  if (LAB_WITH_OBSERVED) {
    const auto observed = emulate({"--observe", source});
    expect(observed, 0, results);
    CHECK(observed.text.find("lab: fault") == std::string::npos);
  }
}
