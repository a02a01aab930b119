// Skips a test, in words, where NVRTC or nvJitLink is not installed.
#pragma once

#include <string>

#include "common/run_time/compiler.hpp"
#include "common/run_time/linker.hpp"
#include "tests/catch.hpp"

namespace lab::test {

// Why nothing can be compiled here; empty where it can.
inline std::string missing_toolkit() {
  try {
    (void)run_time::nvrtc_version();
    (void)run_time::linker_version();
    return "";
  } catch (const run_time::library_error& error) {
    return error.what();
  }
}

}  // namespace lab::test

#define LAB_NEEDS_TOOLKIT() \
  if (const std::string why = lab::test::missing_toolkit(); !why.empty()) LAB_SKIP(why)
