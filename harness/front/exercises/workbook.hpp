// A student's folder, exercises/TRACK/NAME: what `lab new` puts there, and what `lab check` reads and keeps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"

namespace lab::front {

// The directory that LAB_EXERCISES names, or exercises/ beside the lab's stages.
[[nodiscard]] std::filesystem::path exercises_directory();

// A path as people read it: from the lab's own directory where it lies there, else as it is.
[[nodiscard]] std::string shown_path(const std::filesystem::path& path);

// "TRACK/NAME" of what a person calls an exercise: that itself, its folder, or a beginning that no other
// shares. Throws usage_error for a text that cannot be one, or is the beginning of several.
[[nodiscard]] std::string exercise_path(const std::string& text);

// Throws usage_error unless it is up to 64 letters, digits and . _ - @, the first a letter or a digit.
void check_student(const std::string& student);

using file_texts = std::map<std::string, std::string>;  // by name

// Makes the folder with these files, whole or not at all. Throws usage_error where it is there already, and
// environment_error where it cannot be made.
void make_folder(const std::filesystem::path& folder, const file_texts& files);

// What `lab new` writes for an exercise.
[[nodiscard]] file_texts exercise_files(const std::string& path, const exercise& exercise,
                                        const std::string& student);

// A stage's page without what it tells of the outcome: its head, the problem, the bottleneck and the idea.
// Links lead where they led, though the page lies in exercises/TRACK/NAME.
[[nodiscard]] std::string page_without_figures(const std::string& page, const std::string& track);

// What a student answers to one question; nothing yet where the answer is null.
struct given_prediction {
  std::optional<double> number;
  std::string choice;
  std::string why;
};
using given_predictions = std::map<std::string, given_prediction>;  // by the question's name

// Reads predictions.json. Throws usage_error for what is no such file: no JSON, a name that nobody asks for,
// an answer of the wrong kind.
[[nodiscard]] given_predictions read_predictions(const std::filesystem::path& file, const exercise& exercise);

// The first question that has no answer, or no reason, in words; empty when all have.
[[nodiscard]] std::string missing_prediction(const given_predictions& given, const exercise& exercise,
                                             const expression_values& sizes);

// The predictions as they are kept, and a digest of them (BLAKE2b-256, 64 hexadecimal digits) by which a
// teacher knows them again.
[[nodiscard]] nlohmann::json predictions_json(const given_predictions& given);
[[nodiscard]] std::string digest_of(const given_predictions& given, const std::string& path,
                                    const std::string& student);

// exercise.json: whose folder it is, and what was kept at the first check.
struct workbook_record {
  std::string exercise;
  std::string student;
  nlohmann::json predictions;  // as they were kept; null before the first check
  std::string digest;
  std::string kept_at;      // UTC: "2026-11-22T17:40:12Z"
  std::int64_t checks = 0;  // that came as far as the student's code
  std::int64_t hints = 0;   // the most that were asked for
};
// Throws usage_error for a file that is not as `lab new` wrote it.
[[nodiscard]] workbook_record read_record(const std::filesystem::path& folder);
void write_record(const std::filesystem::path& folder, const workbook_record& record);

}  // namespace lab::front
