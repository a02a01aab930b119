// Refused by name.
#error "numbers of 6 bits (cuda_fp6.h) are not emulated: use half or bfloat16"
