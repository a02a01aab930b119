// NVTX of CUDA: its ranges and names are nvToolsExt.h's.
#pragma once

#include <nvToolsExtCudaRt.h>
