// Catch2, whichever of its two generations the system has: Debian 12 packages version 2, Ubuntu 24.04
// version 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

// Ends a test that this machine cannot run; CTest then counts it as skipped. Version 2 has no SKIP, and the
// exit code that version 3 gives to skipped tests (4) is also the code of four failed assertions, so CTest
// looks for these words.
#define LAB_SKIP(reason)                        \
  do {                                          \
    WARN("this test is skipped: " << (reason)); \
    return;                                     \
  } while (false)
