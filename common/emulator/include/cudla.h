// Refused by name.
#error "cuDLA runs on an accelerator only and is not emulated: leave that part of the program out"
