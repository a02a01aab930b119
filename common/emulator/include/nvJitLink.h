// Refused by name.
#error "nvJitLink links for a GPU at run time and is not emulated: compile the kernels with the program"
