// Kernels that the verifier must refuse, each registered with what it must say of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/stage.hpp"

namespace lab {

struct refusal {
  std::string path;
  std::optional<failure_kind> kind;  // none: more than one may be
  std::vector<std::string> words;    // that its message holds
};

inline std::vector<refusal>& refusals() {
  static std::vector<refusal> all;
  return all;
}

// Of what shows on one of the devices alone, or is chance on the other.
constexpr const char* on_emulator(const char* words) {
  return emulated ? words : nullptr;
}
constexpr const char* on_gpu(const char* words) {
  return emulated ? nullptr : words;
}

// `words`: parted by " ... ", where they stand apart; nullptr: the stage is not tried.
inline bool refuse(const char* path, std::optional<failure_kind> kind, const char* words) {
  if (words == nullptr) return false;
  const std::string gap = " ... ";
  refusal added{path, kind, {}};
  std::string rest = words;
  for (std::size_t end; (end = rest.find(gap)) != std::string::npos; rest.erase(0, end + gap.size()))
    added.words.push_back(rest.substr(0, end));
  added.words.push_back(rest);
  refusals().push_back(added);
  return true;
}

}  // namespace lab

// STAGE(name, description) registers the stage TRACK/NAME, a right twin or one with a test of its own;
// LAB_PATH is the track. WRONG(name, kind, words, description): one that is refused with a failure of this
// kind.
#define STAGE(name, ...)                     \
  const registration<problem> name##_stage { \
    LAB_PATH "/" #name, __VA_ARGS__          \
  }
#define WRONG(name, kind, words, ...) \
  STAGE(name, __VA_ARGS__);           \
  [[maybe_unused]] const bool name##_refused = refuse(LAB_PATH "/" #name, kind, words)
// The stage with this mistake, of a track whose wrong_stage<mistake>(idea) has one.
#define MISTAKE(name, kind, words, idea) WRONG(name, kind, words, wrong_stage<mistake::name>(idea))
