// Whether there is an NVRTC to test with.
#pragma once

#include "common/run_time/compiler.hpp"
#include "tests/catch.hpp"

namespace lab::test {

// False, with a warning that says why, where it cannot be loaded.
inline bool has_compiler() {
  try {
    static_cast<void>(run_time::nvrtc_version());
    return true;
  } catch (const run_time::library_error& missing) {
    WARN("this test is skipped: " << missing.what());
    return false;
  }
}

}  // namespace lab::test
