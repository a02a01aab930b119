// The version of the verifier, which is part of every proof's digest (reports/source_digest.py): whoever
// makes it try or check more raises it, and all proofs are made anew.
#pragma once

namespace lab {

inline constexpr int verifier_version = 1;

}  // namespace lab
