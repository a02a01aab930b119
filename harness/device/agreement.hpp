// What several processes make of what each has found (common/process_group.hpp): one answer, the same in all,
// so that all go on alike. A process alone keeps its own.
#pragma once

#include "harness/device/track.hpp"
#include "harness/protocol.hpp"

namespace lab {

// Of one launch, of which each has looked at its own part: what all have compared, the largest errors, and
// the earliest failure, which says of which rank it is.
check_result agreed(check_result own);

// The closing answer: that of rank 0 where all are well, else the first that is not. References that the
// others have worked out come with it.
answer_record agreed(const answer_record& own);

}  // namespace lab
