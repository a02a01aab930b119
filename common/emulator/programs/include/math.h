// The host's <math.h> without std::lerp, which C++20 puts into the global namespace, where many programs have
// a lerp of their own.
#pragma once

#ifdef __cplusplus
#include <cmath>

namespace std {
void lab_no_lerp();
}
#pragma push_macro("lerp")
#undef lerp
#define lerp lab_no_lerp
#include_next <math.h>
#pragma pop_macro("lerp")
#else
#include_next <math.h>
#endif
