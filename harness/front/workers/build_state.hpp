// Programs that are built while others run already: the launcher builds one track after the other, and writes
// a line into the file LAB_BUILD_STATE when one is done ("built TRACK"), or when nothing more comes
// ("failed").
#pragma once

#include <string>

namespace lab::front {

// Whether somebody builds while this program runs.
[[nodiscard]] bool is_being_built();

// Returns when the track's programs are built; at once where nobody builds. Throws environment_error when
// they could not be, and `interrupted` on Ctrl-C.
void wait_until_built(const std::string& track);

}  // namespace lab::front
