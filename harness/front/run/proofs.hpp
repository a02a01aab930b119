// Proofs: that a stage, as it was compiled, passed everything that `lab verify` tries. One is made once: by
// verify, or by the first `run` of a stage whose sources have changed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "harness/front/workers/source_digests.hpp"
#include "harness/records.hpp"

namespace lab::front {

struct proof {
  std::string stage;     // its path
  std::string digest;    // of the tokens of the stage and of its track, and of the verifier's version
  std::string judges;    // of the sources of the verifier and of the emulator: what the tests ask for
  std::string backend;   // "emulator" or "sm_90"
  std::string flags;     // of the compiler, without what only warns
  std::string compiler;  // for a person: another compiler's proof holds as well
  std::string date;      // UTC, ISO 8601
  verification_record found;
  bool is_recorded = false;  // comes with the sources; otherwise it was made by this build
};

// "emulator", or "sm_90" for a GPU of compute capability 9.0.
[[nodiscard]] std::string proof_backend(const device_record& device);

// The proofs of one backend: those in reports/proofs/BACKEND.json, and those that this build has made, which
// lie in the folder `proofs` beside this program. Files that are none of ours count for nothing.
class proof_store {
 public:
  proof_store() = default;
  // `flags` are those that the kernels were compiled with.
  proof_store(std::string backend, const std::string& flags, source_digests digests);

  // The proof of the stage as it stands; nothing where there is none. A stage whose digest the build did not
  // write down, as that of a test, has none.
  [[nodiscard]] std::optional<proof> find(const std::string& stage) const;

  // Keeps what verifying the stage has found, for later calls. Does nothing where there is no digest, or no
  // folder to write to: the stage is then proved again.
  void keep(const std::string& stage, const std::string& compiler, const verification_record& found) const;

 private:
  [[nodiscard]] std::string digest(const std::string& stage) const;
  [[nodiscard]] std::string kept_path(const std::string& stage) const;
  [[nodiscard]] bool fits(const proof& one) const;

  std::string backend_;
  std::string flags_;
  source_digests digests_;
  std::map<std::string, proof> recorded_;
};

}  // namespace lab::front
