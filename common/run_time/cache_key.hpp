// What an image was made from, as the name of the image in the cache.
#pragma once

#include <string>
#include <string_view>

namespace lab::run_time {

// All that an image depends on, as fields with names. Two keys are the same when they have the same fields
// with the same values in the same order.
class cache_key {
 public:
  // Values may hold any bytes: their length is a part of the text, so that no two lists of fields have one
  // text.
  cache_key& add(std::string_view name, std::string_view value);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // BLAKE2b-256 (RFC 7693) of the text, 64 hexadecimal digits. Throws std::runtime_error, which says what to
  // install, in a build without libb2.
  [[nodiscard]] std::string digest() const;

 private:
  std::string text_;
};

// Whether this build has libb2.
[[nodiscard]] bool has_digests();

}  // namespace lab::run_time
