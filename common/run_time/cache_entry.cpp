#include "common/run_time/cache_entry.hpp"

#if LAB_WITH_BLAKE2
#include <blake2.h>
#endif

#include <array>
#include <cstdint>
#include <stdexcept>

namespace lab::run_time {
namespace {

constexpr std::string_view magic =
    "kernel lab  1\r\n\x1a";  // "\r\n" shows a copy that changed the ends of lines
constexpr std::size_t checksum_bytes = 32;
constexpr std::size_t length_bytes = 8;
static_assert(magic.size() + checksum_bytes + 2 * length_bytes == least_entry_bytes);

#if LAB_WITH_BLAKE2
std::string blake2(std::string_view bytes) {
  std::string digest(checksum_bytes, '\0');
  if (blake2b(reinterpret_cast<std::uint8_t*>(digest.data()), bytes.data(), nullptr, digest.size(),
              bytes.size(), 0) != 0)
    throw std::logic_error("BLAKE2b refuses its arguments");
  return digest;
}
#else
std::string blake2(std::string_view /*bytes*/) {
  throw std::runtime_error(
      "this build is without libb2, which makes the digests of exercises: install the package libb2-dev, or "
      "call ./lab setup, and try again");
}
#endif

// 64 bits, the lowest byte first.
std::string encoded_length(std::uint64_t length) {
  std::string bytes;
  for (std::size_t k = 0; k < length_bytes; ++k) bytes += static_cast<char>(length >> (8 * k) & 0xff);
  return bytes;
}

std::uint64_t decoded_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t k = 0; k < length_bytes; ++k)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
  return length;
}

}  // namespace

cache_key& cache_key::add(std::string_view name, std::string_view value) {
  text_.append(name).append(" ").append(std::to_string(value.size())).append("\n").append(value).append("\n");
  return *this;
}

bool has_digests() {
  return LAB_WITH_BLAKE2 != 0;
}

std::string cache_key::digest() const {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const char byte : blake2(text_)) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 0xf];
  }
  return text;
}

std::string encode_entry(const cache_key& key, std::string_view image) {
  std::string checked = encoded_length(key.text().size()) + encoded_length(image.size());
  checked.append(key.text()).append(image);
  return std::string(magic).append(blake2(checked)).append(checked);
}

bool decode_entry(std::string_view bytes, const cache_key& key, std::string& image) {
  if (bytes.size() < least_entry_bytes || bytes.substr(0, magic.size()) != magic) return false;
  const std::string_view checksum = bytes.substr(magic.size(), checksum_bytes);
  const std::string_view checked = bytes.substr(magic.size() + checksum_bytes);
  const std::uint64_t key_length = decoded_length(checked);
  const std::uint64_t image_length = decoded_length(checked.substr(length_bytes));
  const std::string_view body = checked.substr(2 * length_bytes);
  if (key_length > body.size() || image_length != body.size() - key_length) return false;
  if (body.substr(0, key_length) != key.text() || blake2(checked) != checksum) return false;
  image = body.substr(key_length);
  return true;
}

}  // namespace lab::run_time
