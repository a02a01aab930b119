// The version of the verifier, which is part of every proof's digest (reports/source_digest.py): whoever
// makes it try or check more on a GPU raises it, and all proofs are made anew. Of what is tried on the
// emulator alone, reports/proofs.py counts the proofs that an earlier verifier made.
#pragma once

namespace lab {

inline constexpr int verifier_version = 1;

}  // namespace lab
