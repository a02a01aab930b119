// Refused by name.
#error "cufftXt.h: the callbacks and the plans over several GPUs of cuFFT are not emulated: use the plans of cufft.h"
