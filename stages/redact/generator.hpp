// The inputs that stages are tried on and timed with: row i is a pure function of content, seed and i.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/column.hpp"

namespace lab::redact {

// The values of the parameter `content`.
enum class content : std::int64_t {
  people,       // names of 8 to 21 letters, half of them public
  all_private,  // the same names
  all_public,
  empty,        // no name has a character
  multibyte,    // characters of one to four bytes
  hostile,      // names that no person has, and visibilities that are almost "public"
  skewed,       // a few rows of 100 KB to 1 MB (on the emulator a tenth of that) among people
  huge_row,     // one row of 64 MiB (of 16 among fewer than 100 000; on the emulator 1) among people
  near_public,  // people, and visibilities that are "public" but for one byte, at any of its places or beside
                // them
  long_names,   // names of 60 to 190 letters
  any_text      // names of any characters and of every length up to 8192 of them, those around powers of two
                // more often, and visibilities that are "public" but for up to three changes, or look like
                // it; every second 1024 rows, from row 1024 on, are public and have no space, so that the
                // output is longer than the names
};

struct people {
  column names;
  column visibilities;
};

namespace generator {

// Some letters are more frequent than others; 32 of them, so that five bits choose one.
inline constexpr std::string_view letters = "aabcdeeefghiiijklmnnoopqrrsstuvz";
static_assert(letters.size() == 32);

// Two of them for ten bits, the first in the low byte.
inline constexpr auto letter_pairs = [] {
  std::array<std::uint16_t, 1024> pairs{};
  for (std::size_t k = 0; k < pairs.size(); ++k)
    pairs[k] = static_cast<std::uint16_t>(letters[k & 31] | letters[k >> 5] << 8);
  return pairs;
}();

// Texts here are of any of the kinds that make_column() gives (column.hpp).
template <class Text>
void append_letters(Text& text, row_bits& bits, std::int64_t count) {
  constexpr std::int64_t letters_per_word = 12;  // 60 of 64 bits
  if constexpr (std::is_same_v<Text, text_length>) {
    bits.skip((count + letters_per_word - 1) / letters_per_word);
    text.skip(count);
  } else {
    char* to = text.take(count);
    for (; count > 0; count -= letters_per_word, to += letters_per_word) {
      const std::uint64_t word = bits.all();
      const auto pair = [word](int k) { return std::uint64_t{letter_pairs[word >> 10 * k & 1023]}; };
      const std::array<std::uint64_t, 2> some = {pair(0) | pair(1) << 16 | pair(2) << 32 | pair(3) << 48,
                                                 pair(4) | pair(5) << 16};
      if (count >= letters_per_word) {
        std::memcpy(to, some.data(), letters_per_word);
      } else {
        std::memcpy(to, some.data(), static_cast<std::size_t>(count));
      }
    }
  }
}

// The byte at `place` becomes change(byte).
template <class Text, class Change>
void change_byte(Text& text, std::int64_t place, const Change& change) {
  if constexpr (!std::is_same_v<Text, text_length>) text[place] = change(text[place]);
}

// A capital and `count - 1` letters.
template <class Text>
void append_word(Text& text, row_bits& bits, std::int64_t count) {
  const std::int64_t begin = text.size();
  append_letters(text, bits, count);
  change_byte(text, begin, [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
}

// 14 bytes on average.
template <class Text>
void append_person(Text& text, row_bits& bits) {
  append_word(text, bits, 3 + bits.below(7));
  text += ' ';
  append_word(text, bits, 4 + bits.below(8));
}

template <class Text>
void append_character(Text& text, row_bits& bits) {
  constexpr std::array<std::string_view, 16> characters = {"a", "Z", "ø",  "é",  "ß", "Ж", "ÿ", "߿",
                                                           "ࠀ", "€", "李", "가", "�", "𐀀", "𝔸", "🦉"};
  text += characters[static_cast<std::size_t>(bits.below(16))];
}

template <class Text>
void append_multibyte(Text& text, row_bits& bits) {
  const std::int64_t first = bits.below(9);
  for (std::int64_t k = 0; k < first; ++k) append_character(text, bits);
  if (bits.below(8) == 0) return;
  text += ' ';
  const std::int64_t last = bits.below(9);
  for (std::int64_t k = 0; k < last; ++k) append_character(text, bits);
}

template <class Text>
void append_hostile_name(Text& text, row_bits& bits) {
  using namespace std::string_view_literals;
  constexpr std::array names = {""sv,
                                " "sv,
                                "  "sv,
                                "Madonna"sv,
                                "Mary Ann Smith"sv,
                                " Ann"sv,
                                "Ann "sv,
                                "Ann  Lee"sv,
                                " Ann Lee"sv,
                                "Ann Lee "sv,
                                "A"sv,
                                "A B"sv,
                                "é"sv,
                                "é é"sv,
                                "🦉"sv,
                                "🦉 🦉"sv,
                                " 🦉"sv,
                                "🦉 "sv,
                                "Ann 李四"sv,
                                "李 Ann"sv,
                                "Ann\tLee"sv,
                                "Ann\nLee"sv,
                                "Ann\u00a0Lee"sv,
                                "Ann\u3000Lee X"sv,
                                "a\0b c"sv,
                                "c \0"sv,
                                "\"A\", B"sv,
                                "X X"sv,
                                "public public"sv,
                                "      six spaces"sv};
  constexpr std::int64_t lengths[] = {7,  8,  9,  15,  16,  17,  31,  32,  33,
                                      63, 64, 65, 127, 128, 129, 255, 256, 257};
  if (bits.below(4) != 0) {
    text += names[static_cast<std::size_t>(bits.below(std::ssize(names)))];
    return;
  }
  // Lengths around everything that a thread, a warp or a block could take at once; the space anywhere.
  const std::int64_t length = lengths[bits.below(std::ssize(lengths))];
  const std::int64_t begin = text.size();
  append_letters(text, bits, length);
  if (bits.below(4) == 0) return;
  const std::int64_t place = begin + bits.below(length);
  change_byte(text, place, [](char) { return ' '; });
}

// Any character there is, of one to four bytes, each as often as the others.
template <class Text>
void append_any_character(Text& text, row_bits& bits) {
  constexpr std::array<std::uint32_t, 5> begins = {0, 0x80, 0x800, 0x10000, 0x110000};
  const auto bytes = static_cast<std::size_t>(1 + bits.below(4));
  std::uint32_t code =
      begins[bytes - 1] + static_cast<std::uint32_t>(bits.below(begins[bytes] - begins[bytes - 1]));
  if (code >= 0xd800 && code < 0xe000) code -= 0x800;  // no character, but half of one
  const auto rest = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  const auto lead = [code](unsigned mark, int shift) { return static_cast<char>(mark | code >> shift); };
  std::array<char, 4> encoded{};
  if (bytes == 1) encoded = {lead(0, 0)};
  if (bytes == 2) encoded = {lead(0xc0, 6), rest(0)};
  if (bytes == 3) encoded = {lead(0xe0, 12), rest(6), rest(0)};
  if (bytes == 4) encoded = {lead(0xf0, 18), rest(12), rest(6), rest(0)};
  text += std::string_view(encoded.data(), bytes);
}

// Of any number below a power of two, or that power, one more or one less.
inline std::int64_t any_length(row_bits& bits) {
  const std::int64_t power = std::int64_t{1} << bits.below(14);
  return bits.below(4) == 0 ? power - 1 + bits.below(3) : bits.below(power + 1);
}

// Letters or any characters, with up to three spaces anywhere.
template <class Text>
void append_any_name(Text& text, row_bits& bits) {
  const std::int64_t length = any_length(bits);
  const bool are_letters = bits.below(2) == 0;
  const std::int64_t spaces = bits.below(4);
  const std::int64_t begin = text.size();
  if (are_letters) {
    append_letters(text, bits, length);
    for (std::int64_t k = 0; k < spaces && length > 0; ++k)
      change_byte(text, begin + bits.below(length), [](char) { return ' '; });
    return;
  }
  // The last part may be a character alone, of any kind.
  for (std::int64_t part = 0; part <= spaces; ++part) {
    if (part > 0) text += ' ';
    const std::int64_t of_part = bits.below(length / (spaces + 1) + 2);
    for (std::int64_t k = 0; k < of_part; ++k) append_any_character(text, bits);
  }
}

// Whether a row of any_text is public and has no space: an output may need more room than the names did.
inline bool is_shown_whole(content kind, std::int64_t row) {
  return kind == content::any_text && row / 1024 % 2 == 1;
}

// Of as many bytes as "public", or that with blank characters behind it: capitals among them, or any letters.
inline std::string likely_visibility(row_bits& bits) {
  std::string text = "public";
  const std::int64_t way = bits.below(3);
  for (char& letter : text) {
    if (way == 0 && bits.below(2) == 0) letter = static_cast<char>(letter - 'a' + 'A');
    if (way == 1) letter = static_cast<char>('a' + bits.below(26));
  }
  if (way != 2) return text;
  constexpr std::string_view blanks("\r\n\t \0\v", 6);
  for (std::int64_t more = 1 + bits.below(3); more > 0; --more)
    text += blanks[static_cast<std::size_t>(bits.below(std::ssize(blanks)))];
  return text;
}

// Bytes are changed, put in, or left out; or there are many more of them.
inline std::string any_visibility(row_bits& bits) {
  std::string text = "public";
  if (bits.below(2) == 0) return text;
  if (bits.below(3) == 0) return likely_visibility(bits);
  for (std::int64_t changes = 1 + bits.below(3); changes > 0; --changes) {
    const auto place = static_cast<std::size_t>(bits.below(std::ssize(text) + 1));
    const auto byte = static_cast<char>(bits.below(128));
    switch (bits.below(4)) {
      case 0:
        text.insert(place, 1, byte);
        break;
      case 1:
        if (place < text.size()) text.erase(place, 1);
        break;
      case 2:
        text.append(static_cast<std::size_t>(bits.below(std::int64_t{1} << bits.below(12))), byte);
        break;
      default:
        if (place < text.size()) text[place] = byte;
    }
  }
  return text == "public" ? "publi" : text;
}

// "public" and more, of a length whose low 8 or 16 bits are those of "public"; the longer one rarely.
inline constexpr auto wrapped_lengths = [] {
  std::array<char, 6 + (1 << 16)> text{};
  for (std::size_t k = 0; k < text.size(); ++k) text[k] = "public"[k % 6];
  return text;
}();

inline std::string_view hostile_visibility(row_bits& bits) {
  if (bits.below(16) == 0)
    return {wrapped_lengths.data(),
            static_cast<std::size_t>(bits.below(64) == 0 ? 6 + (1 << 16) : 6 + (1 << 8))};
  constexpr std::array<std::string_view, 16> almost = {
      "Public",    "publi",   "publicx",     "",           "PUBLIC",
      " public",   "public ", "publi\u0441", "cilbup",     "publik",
      "private",   "pubLic",  "x",           "xxxxpublic", "publicpublicpublic",
      "öffentlich"};
  return bits.below(2) == 0 ? "public" : almost[static_cast<std::size_t>(bits.below(16))];
}

// The rows that are long, of which there are few.
class long_rows {
 public:
  long_rows(content kind, std::int64_t rows, std::uint64_t seed)
      : seed_(seed), rows_in_all_(static_cast<std::uint64_t>(rows)), kind_(kind) {
    if (rows == 0) return;
    const std::uint64_t wanted = kind == content::huge_row ? 1 : kind == content::skewed ? 5 : 0;
    for (std::uint64_t k = 0; k < wanted; ++k)
      rows_.push_back(static_cast<std::int64_t>(random_bits(~seed, k) % rows_in_all_));
  }

  [[nodiscard]] bool contains(std::int64_t row) const {
    return std::find(rows_.begin(), rows_.end(), row) != rows_.end();
  }

  // The space lies early, late or nowhere: nearly nothing of the name is shown, or nearly all. Of a huge row
  // the number of rows says which: what is timed looks the same with every seed.
  template <class Text>
  void append(Text& text, std::int64_t row) const {
    row_bits bits(seed_, row);
    const std::int64_t length =
        kind_ == content::huge_row ? huge_length() : (100'000 + bits.below(900'001)) / (emulated ? 10 : 1);
    constexpr std::int64_t short_part = 11;
    switch ((kind_ == content::huge_row ? rows_in_all_ : seed_ + static_cast<std::uint64_t>(row)) % 3) {
      case 0:
        append_word(text, bits, short_part);
        text += " €";
        append_letters(text, bits, length - short_part - 4);
        break;
      case 1:
        append_word(text, bits, length - short_part);
        text += " €";
        append_letters(text, bits, short_part - 4);
        break;
      default:
        append_word(text, bits, length);
    }
  }

 private:
  // Where it is a trial, one thread may have to walk through it: more than a float32 can count.
  [[nodiscard]] std::int64_t huge_length() const {
    if (emulated || rows_in_all_ < 1000) return std::int64_t{1} << 20;
    return rows_in_all_ < 100'000 ? (std::int64_t{1} << 24) + 3 : std::int64_t{1} << 26;
  }

  std::vector<std::int64_t> rows_;
  std::uint64_t seed_;
  std::uint64_t rows_in_all_;
  content kind_;
};

template <class Text>
void append_name(Text& text, content kind, row_bits& bits) {
  switch (kind) {
    case content::empty:
      break;
    case content::multibyte:
      append_multibyte(text, bits);
      break;
    case content::long_names:
      append_word(text, bits, 20 + bits.below(71));
      text += ' ';
      append_word(text, bits, 39 + bits.below(61));
      break;
    case content::hostile:
      append_hostile_name(text, bits);
      break;
    case content::any_text:
      append_any_name(text, bits);
      break;
    case content::people:
    case content::near_public:
    case content::all_private:
    case content::all_public:
    case content::skewed:
    case content::huge_row:
      append_person(text, bits);
  }
}

// Every second one is "public"; of the others one byte is another (a bit flipped, or any letter), or one is
// too many or too few, at either end.
inline std::string near_public_visibility(row_bits& bits) {
  std::string text = "public";
  if (bits.below(2) == 0) return text;
  if (bits.below(3) == 0) {
    constexpr std::string_view added("\0 cs", 4);
    const char byte = added[static_cast<std::size_t>(bits.below(std::ssize(added)))];
    const std::int64_t way = bits.below(4);
    if (way == 0) return text + byte;
    if (way == 1) return byte + text;
    return way == 2 ? text.substr(1) : text.substr(0, text.size() - 1);
  }
  char& changed = text[static_cast<std::size_t>(bits.below(std::ssize(text)))];
  const char before = changed;
  const std::int64_t bit = bits.below(16);
  changed = bit < 8 ? static_cast<char>(changed ^ (1 << bit)) : static_cast<char>('a' + bits.below(26));
  if (changed == before) changed = '\0';
  return text;
}

template <class Text>
void append_visibility(Text& text, content kind, row_bits& bits) {
  if (kind == content::near_public) {
    text += near_public_visibility(bits);
  } else if (kind == content::any_text) {
    text += any_visibility(bits);
  } else if (kind == content::hostile) {
    text += hostile_visibility(bits);
  } else if (kind == content::all_private || (kind != content::all_public && bits.below(2) != 0)) {
    text += "private";
  } else {
    text += "public";
  }
}

}  // namespace generator

inline people make_people(content kind, std::int64_t rows, std::uint64_t seed) {
  const generator::long_rows long_ones(kind, rows, seed);
  people made;
  made.names = make_column(rows, [&](auto& text, std::int64_t row) {
    if (long_ones.contains(row)) {
      long_ones.append(text, row);
    } else {
      row_bits bits(seed, row);
      if (generator::is_shown_whole(kind, row)) {
        generator::append_letters(text, bits, bits.below(800));
      } else {
        generator::append_name(text, kind, bits);
      }
    }
  });
  made.visibilities = make_column(rows, [&](auto& text, std::int64_t row) {
    row_bits bits(~seed, row);
    // A long row that is not public would be as short as any other in the output.
    if (long_ones.contains(row) || generator::is_shown_whole(kind, row)) {
      text += "public";
    } else {
      generator::append_visibility(text, kind, bits);
    }
  });
  return made;
}

}  // namespace lab::redact
