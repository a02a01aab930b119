#include "harness/front/output/file_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "common/file.hpp"
#include "common/utf8.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

void check_finite(const nlohmann::json& value, const std::string& pointer) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw std::domain_error(
        fmt::format("{} is not a finite number", pointer.empty() ? "the document" : pointer));
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) check_finite(member, pointer + "/" + name);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) check_finite(value[i], fmt::format("{}/{}", pointer, i));
  }
}

void refuse_same(const named_file& one, const named_file& other) {
  if (one.path.empty() || other.path.empty() || !is_same_file(one.path, other.path)) return;
  throw usage_error(fmt::format("{} and {} are one file: {}", one.option, other.option, escaped(one.path)));
}

}  // namespace

void refuse_shared_files(const std::vector<named_file>& inputs, const std::vector<named_file>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const named_file& input : inputs) refuse_same(input, outputs[i]);
    for (std::size_t k = 0; k < i; ++k) refuse_same(outputs[k], outputs[i]);
  }
}

void check_files(const std::vector<named_file>& inputs, const std::vector<named_file>& outputs) {
  for (const named_file& input : inputs) {
    if (!input.path.empty()) open_to_read(input.path);
  }
  refuse_shared_files(inputs, outputs);
  for (const named_file& output : outputs) {
    if (!output.path.empty()) require_writable(output.path);
  }
}

std::string path_for_worker(const std::string& path) {
  const std::string absolute = std::filesystem::absolute(path).string();
  if (first_invalid_utf8(absolute))
    throw usage_error(fmt::format("{}: the name is not UTF-8; give the file another", escaped(absolute)));
  return absolute;
}

void write_file(const std::string& path, const std::string& content) {
  output_file file(path);
  file.write(std::as_bytes(std::span(content)));
  file.commit();
}

std::string json_text(const nlohmann::json& document) {
  check_finite(document, "");
  // File names from the command line need not be UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lab::front
