// A problem without anything, which the compiler refuses: the test looks for the sentences.
#include "harness/device/array_track.hpp"

struct problem {};
template class lab::typed_array_problem<problem>;
