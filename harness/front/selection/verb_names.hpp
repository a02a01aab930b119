// What the program can be asked to do, by name.
#pragma once

namespace lab::front {

inline constexpr const char* verb_names[] = {"list",    "run",       "verify", "bench",   "apply",
                                             "profile", "translate", "doctor", "new",     "check",
                                             "trace",   "compare",   "draw",   "emulate", "grade"};

}  // namespace lab::front
