// The bytes of one file of the cache: magic, checksum, lengths, the key's text, the image. Internal.
#pragma once

#include <string>
#include <string_view>

#include "common/run_time/cache_key.hpp"

namespace lab::run_time {

// The fewest bytes that an entry can have.
inline constexpr std::size_t least_entry_bytes = 16 + 32 + 2 * 8;

[[nodiscard]] std::string encode_entry(const cache_key& key, std::string_view image);

// Whether `bytes` are an entry of this key, whole and unchanged; `image` becomes its image if so. An entry of
// another key, of whatever digest, is none.
[[nodiscard]] bool decode_entry(std::string_view bytes, const cache_key& key, std::string& image);

}  // namespace lab::run_time
