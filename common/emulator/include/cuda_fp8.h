// Numbers of 8 bits: a program that includes this and has none compiles; __nv_fp8_.. is refused with its
// line.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
