// Refused by name.
#error "numbers of 4 bits (cuda_fp4.h) are not emulated: use half or bfloat16"
