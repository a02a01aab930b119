// Refused by name.
#error "Thrust is not emulated: allocate with cudaMalloc and write the algorithm as a kernel, or use the standard library on the host"
