// The host's <math.h> without std::lerp, which C++20 puts into the global namespace, where many programs have
// a lerp of their own.
#pragma once

#include <cmath>

namespace std {
void lab_no_lerp();
}
#define lerp lab_no_lerp
#include_next <math.h>
#undef lerp
