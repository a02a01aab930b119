// Refused by name.
#error "the driver's API loads kernels for a GPU and is not emulated: launch them with <<<>>>"
