// Catch2 version 2 is a header, and one file must hold its definitions and main().
#define CATCH_CONFIG_MAIN
#include "tests/catch.hpp"
