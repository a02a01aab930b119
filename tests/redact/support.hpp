// What must become of generated people.
#pragma once

#include "stages/redact/generator.hpp"
#include "stages/redact/reference.hpp"

namespace lab::redact {

inline column redacted(const people& data) {
  return make_column(data.names.rows(), [&](std::string& text, std::int64_t row) {
    append_redacted(text, data.names[row], data.visibilities[row]);
  });
}

}  // namespace lab::redact
