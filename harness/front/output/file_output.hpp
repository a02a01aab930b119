// What the verbs write, and what they must not write over.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lab::front {

// A file that a person named, and how: "--json".
struct named_file {
  std::string option;
  std::string path;
};

// Throws usage_error where an output is an input as well, or two outputs are one file, under whatever names:
// the second would destroy the first. Files with an empty path were not asked for.
void refuse_shared_files(const std::vector<named_file>& inputs, const std::vector<named_file>& outputs);

// The same, and file_error for an input that is no readable regular file, and an output that cannot be
// written. Called before anything runs.
void check_files(const std::vector<named_file>& inputs, const std::vector<named_file>& outputs);

// The absolute name of a file that a worker is told of, in JSON. Throws usage_error where it is not UTF-8.
[[nodiscard]] std::string path_for_worker(const std::string& path);

// Writes a file whole or not at all (see output_file), so that a reader (or a crash) never sees half of it.
void write_file(const std::string& path, const std::string& content);

// The text of a JSON document. Throws std::domain_error, with the JSON pointer, if a number in it is not
// finite: JSON has no such numbers, and the serializer would write null without a word.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

}  // namespace lab::front
