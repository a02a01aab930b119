// cuda::std: kernels are the host's code here, and so is their standard library.
#pragma once

// CUDA's headers include these, so programs use what they declare.
#include <cassert>
#include <cfloat>
#include <iterator>
#include <utility>

namespace cuda::std {
using namespace ::std;
}
