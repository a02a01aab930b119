// What nearly every stage and track includes, precompiled for the emulator (stages/CMakeLists.txt). Nothing
// includes this file: each source still includes what it needs.
#pragma once

#include <map>
#include <memory>

#include "common/cuda.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/column_problem.hpp"
#include "harness/device/stage.hpp"
