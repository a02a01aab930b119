// __half: numbers of IEEE 754's binary16.
#pragma once

#include <cuda_runtime.h>

#include "common/emulator/programs/narrow_functions.hpp"

LAB_EMULATOR_NARROW_CONVERSIONS(half, __half, __half2)
