// Refused by name.
#error "textures are not emulated: read the memory through a const __restrict__ pointer"
