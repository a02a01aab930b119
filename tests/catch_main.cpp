// The main function of a test program with Catch2 v2; v3 has it in a library.
#define CATCH_CONFIG_MAIN
#include "tests/catch.hpp"
