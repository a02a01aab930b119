// Files that are either whole or not there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lab {

// Throws environment_error unless a file can be written at `path`: its directory must exist and take new
// files, and what is there already must be a plain file. Called before anything is measured.
void check_writable(const std::string& path);

// Writes to a temporary name in the same directory, then renames, so that a reader (or a crash) never sees
// half a file. Throws environment_error.
void write_file(const std::string& path, const std::string& content);

// The text of a JSON document. Throws std::domain_error, naming the place, if a number in it is not finite:
// JSON has no such numbers, and the serializer would write null without a word.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

}  // namespace lab
