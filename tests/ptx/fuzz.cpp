// For libFuzzer: whatever the bytes, a translation or ptx::error. The first byte chooses the request.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/ptx/module.hpp"
#include "common/ptx/translate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view ptx(reinterpret_cast<const char*>(data) + 1, size - 1);
  lab::ptx::request asked;
  asked.how = static_cast<lab::ptx::convention>(data[0] % 3);
  if ((data[0] & 4) != 0) asked.parameters = {"double[]"};
  if ((data[0] & 8) != 0) asked.parameters = {"const float*", ""};
  if ((data[0] & 16) != 0) asked.result_type = "double";
  try {
    // What is printed is the same module.
    const std::string once = lab::ptx::print(lab::ptx::parse(ptx));
    if (lab::ptx::print(lab::ptx::parse(once)) != once) __builtin_trap();
    (void)lab::ptx::translate(ptx, asked);
  } catch (const lab::ptx::error&) {
  }
  return 0;
}
