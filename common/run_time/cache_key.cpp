#include "common/run_time/cache_key.hpp"

#if LAB_WITH_BLAKE2
#include <blake2.h>
#endif

#include <cstdint>
#include <stdexcept>

namespace lab::run_time {

cache_key& cache_key::add(std::string_view name, std::string_view value) {
  text_.append(name).append(" ").append(std::to_string(value.size())).append("\n").append(value).append("\n");
  return *this;
}

bool has_digests() {
  return LAB_WITH_BLAKE2 != 0;
}

std::string cache_key::digest() const {
#if LAB_WITH_BLAKE2
  constexpr const char* digits = "0123456789abcdef";
  std::uint8_t bytes[32];
  if (blake2b(bytes, text_.data(), nullptr, sizeof bytes, text_.size(), 0) != 0)
    throw std::logic_error("BLAKE2b refuses its arguments");
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 0xf];
  }
  return text;
#else
  throw std::runtime_error(
      "this build is without libb2, which makes the digests of exercises: install the package libb2-dev, or "
      "call ./lab setup, and try again");
#endif
}

}  // namespace lab::run_time
