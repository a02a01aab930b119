// Refused by name.
#error "NVRTC compiles for a GPU and is not emulated: compile the kernel with the program"
