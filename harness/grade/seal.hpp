// How the answer of a submission's worker is told from what its stage writes to the same pipe: every line
// carries a keyed digest of itself. The key comes with the request; the worker takes it from the pipe before
// any of the stage's code has run.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace lab {

struct seal_key {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// SipHash-2-4 (Aumasson and Bernstein, 2012).
inline std::uint64_t siphash(const seal_key& key, std::string_view text) {
  std::uint64_t v0 = key.low ^ 0x736f6d6570736575;
  std::uint64_t v1 = key.high ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.low ^ 0x6c7967656e657261;
  std::uint64_t v3 = key.high ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v3 = std::rotl(v3, 21) ^ v0;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto absorb = [&](std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    absorb(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  for (std::size_t i = 0; at + i < text.size(); ++i)
    last |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  absorb(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

inline std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

// What hexadecimal() wrote; nothing for any other text.
inline std::optional<std::uint64_t> from_hexadecimal(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : text) {
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && !(digit >= 'a' && digit <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

// The digest counts the lines of an answer, so that none can be sent twice, left out, or put elsewhere.
inline std::string seal_of(const seal_key& key, std::uint64_t line_number, std::string_view text) {
  return hexadecimal(siphash({key.low ^ line_number, key.high}, text));
}

// "<digest> <text>": a line of an answer, without its end.
inline std::string sealed(const seal_key& key, std::uint64_t line_number, std::string_view text) {
  return seal_of(key, line_number, text) + " " + std::string(text);
}

// The text of a sealed line; nothing where the digest is another's.
inline std::optional<std::string> unsealed(const seal_key& key, std::uint64_t line_number,
                                           const std::string& line) {
  if (line.size() < 17 || line[16] != ' ') return std::nullopt;
  std::string text = line.substr(17);
  if (seal_of(key, line_number, text) != line.substr(0, 16)) return std::nullopt;
  return text;
}

}  // namespace lab
