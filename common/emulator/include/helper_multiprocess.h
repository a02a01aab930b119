// Refused by name.
#error "memory shared between processes is not emulated: use one process"
