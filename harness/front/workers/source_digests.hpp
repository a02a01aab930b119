// What the stages were compiled from, as the build wrote it down beside the program
// (reports/source_digest.py).
#pragma once

#include <map>
#include <string>

namespace lab::front {

struct source_digests {
  std::string tree;                           // of all that is compiled; empty: the build wrote nothing down
  std::map<std::string, std::string> stages;  // by path
  std::map<std::string, std::string> proofs;  // of what a proof of the stage is about, by path
  std::string judges;                         // of the verifier and of the emulator
};

// Reads sources.json beside this program. A file that is missing or is none of ours leaves everything empty.
[[nodiscard]] source_digests read_source_digests();

// The stage's; empty where it is not known.
[[nodiscard]] std::string digest_of(const source_digests& digests, const std::string& stage);

}  // namespace lab::front
