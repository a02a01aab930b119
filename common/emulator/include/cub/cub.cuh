// Refused by name.
#error "CUB is not emulated: write the block's part with __shared__ memory and shuffles"
