// NVTX 3 without names of streams.
#pragma once

#include <nvToolsExtCudaRt.h>
