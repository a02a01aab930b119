// The teacher's key: a folder with a seed, and with the aims where they are not the lab's own.
//
//   key.json                                  {"schema": "kernel-lab-key", "version": 1, "seed": "5f0c..."}
//   TRACK/STAGE/exercises.json                instead of stages/TRACK/STAGE/exercises.json; need not be
//   there
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "harness/front/exercises/exercise_file.hpp"

namespace lab::front {

struct grading_key {
  std::filesystem::path folder;
  std::string seed;
};

// Throws usage_error for a folder that is no key.
[[nodiscard]] grading_key read_key(const std::filesystem::path& folder);

// Makes the folder, with a seed of 128 random bits, for its owner alone. Throws usage_error where it is there
// already, and environment_error where it cannot be made.
void make_key(const std::filesystem::path& folder);

// The exercise with the key's aims, or the lab's. Throws usage_error where there is no such exercise.
[[nodiscard]] exercise exercise_of(const grading_key& key, const std::string& path);

// What the seed makes of a purpose ("trials"): the same number for each submission of the exercise, below
// 2^53.
[[nodiscard]] std::uint64_t number_of(const grading_key& key, const std::string& exercise,
                                      const std::string& purpose);

// One of the exercise's sizes for each parameter, by the seed: not the student's.
[[nodiscard]] std::map<std::string, std::string> hidden_sizes(const grading_key& key,
                                                              const exercise& exercise,
                                                              const std::string& path);

}  // namespace lab::front
