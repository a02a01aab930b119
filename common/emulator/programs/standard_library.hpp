// cuda::std: kernels are the host's code here, and so is their standard library.
#pragma once

#include <utility>

namespace cuda::std {
using namespace ::std;
}
