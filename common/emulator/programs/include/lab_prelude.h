// What a .cu includes of its own accord; the build compiles it beforehand (harness/front/CMakeLists.txt).
#pragma once

#include <cuda_runtime.h>
