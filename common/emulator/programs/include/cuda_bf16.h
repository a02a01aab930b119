// __nv_bfloat16: the upper half of a float.
#pragma once

#include <cuda_runtime.h>

#include "common/emulator/programs/narrow_functions.hpp"

LAB_EMULATOR_NARROW_CONVERSIONS(bfloat16, __nv_bfloat16, __nv_bfloat162)
