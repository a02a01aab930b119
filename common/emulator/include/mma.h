// Refused by name.
#error "tensor cores (nvcuda::wmma) are not emulated: write the product with fused multiply-adds"
