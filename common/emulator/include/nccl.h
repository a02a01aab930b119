// Refused by name.
#error "NCCL needs several GPUs and is not emulated"
