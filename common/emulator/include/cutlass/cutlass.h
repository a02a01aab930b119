// Refused by name.
#error "CUTLASS needs tensor cores and is not emulated: write the product with fused multiply-adds"
