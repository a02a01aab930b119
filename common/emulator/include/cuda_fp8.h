// Refused by name.
#error "numbers of 8 bits (cuda_fp8.h) are not emulated: use half or bfloat16"
