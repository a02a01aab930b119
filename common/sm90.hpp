// LAB_SM90(...): inline PTX of compute capability 9.0. Code for older devices, where the kernels that hold it
// are never launched, stops in its place.
#pragma once

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define LAB_SM90(...) asm volatile(__VA_ARGS__)
#else
#define LAB_SM90(...) __trap()
#endif
