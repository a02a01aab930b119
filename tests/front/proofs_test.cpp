// Proofs by the digest of what was compiled: kept, found again, and refused where anything counts.
#include <filesystem>

#include "harness/front/run/proofs.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"

namespace {

namespace fs = std::filesystem;
using lab::front::proof_store;

const lab::verification_record passed{
    .passed = true, .cases = 3, .compared = 9, .seeds = {1, 7}, .trials = 3};

lab::front::source_digests digests_of(const std::string& digest) {
  return {.tree = "", .stages = {}, .proofs = {{"track/01_a", digest}}};
}

// The folder that this test program's proofs of a device nobody has lie in.
class kept_proofs {
 public:
  kept_proofs() { clear(); }
  ~kept_proofs() { clear(); }
  kept_proofs(const kept_proofs&) = delete;
  kept_proofs& operator=(const kept_proofs&) = delete;
  [[nodiscard]] fs::path file() const { return folder_ / "track" / "01_a.json"; }

 private:
  void clear() const { fs::remove_all(folder_); }
  fs::path folder_ = fs::read_symlink("/proc/self/exe").parent_path() / "proofs" / "sm_0";
};

}  // namespace

TEST_CASE("a proof is kept, and found by the same digest and the same flags alone") {
  const kept_proofs folder;
  const proof_store store("sm_0", "-O3 -DNDEBUG", digests_of("aaa"));
  CHECK_FALSE(store.find("track/01_a"));
  store.keep("track/01_a", "a compiler", passed);
  const auto found = store.find("track/01_a");
  REQUIRE(found);
  CHECK(found->found.seeds == passed.seeds);
  CHECK(found->compiler == "a compiler");
  CHECK_FALSE(found->is_recorded);
  CHECK_FALSE(proof_store("sm_0", "-O3 -DNDEBUG", digests_of("bbb")).find("track/01_a"));  // an edited kernel
  CHECK_FALSE(proof_store("sm_0", "-O0 -DNDEBUG", digests_of("aaa")).find("track/01_a"));
  CHECK_FALSE(proof_store("sm_1", "-O3 -DNDEBUG", digests_of("aaa")).find("track/01_a"));
  // Warnings, versions and architectures change no kernel that was proved.
  CHECK(proof_store("sm_0", "-O3 -Werror -DNDEBUG", digests_of("aaa")).find("track/01_a"));
  CHECK(proof_store("sm_0", "-O3 -DNDEBUG, architectures 90", digests_of("aaa")).find("track/01_a"));
}

TEST_CASE("what failed, what has no digest, and a file that is none of ours is no proof") {
  const kept_proofs folder;
  const proof_store store("sm_0", "-O3", digests_of("aaa"));
  lab::verification_record failed = passed;
  failed.passed = false;
  store.keep("track/01_a", "", failed);
  CHECK_FALSE(store.find("track/01_a"));
  store.keep("track/02_b", "", passed);
  CHECK_FALSE(store.find("track/02_b"));
  store.keep("track/01_a", "", passed);
  REQUIRE(store.find("track/01_a"));
  for (const char* text : {"", "{", "[]", R"({"schema": "kernel-lab-proof"})"}) {
    lab::test::put(folder.file(), text);
    INFO(text);
    CHECK_FALSE(store.find("track/01_a"));
  }
}

TEST_CASE("a GPU's proofs go by its compute capability") {
  CHECK(lab::front::proof_backend({.id = "emulator"}) == "emulator");
  CHECK(lab::front::proof_backend({.id = "cuda:0", .name = "H200", .compute_capability = "9.0"}) == "sm_90");
}
