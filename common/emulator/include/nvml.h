// Refused by name.
#error "NVML asks a GPU about itself and is not emulated: leave that part of the program out"
