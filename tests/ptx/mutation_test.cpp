// Damaged PTX: a translation or ptx::error, whatever the damage. The same damage in every run.
#include <random>
#include <string>

#include "common/ptx/translate.hpp"
#include "tests/catch.hpp"
#include "tests/ptx/inputs.hpp"

namespace {

// Changes, removes, doubles or moves a few bytes.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (std::size_t k = 1 + below(3); k > 0 && !text.empty(); --k) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(30);
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 3:
        text[at] = "{}[]();,.%@0"[below(12)];
        break;
      default:
        text.resize(at + 1);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("damaged PTX is translated or refused, and never more") {
  std::mt19937 random(1);
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (const auto& input : lab::test::ptx_inputs()) {
    if (input.ptx.size() > 6000) continue;
    INFO(input.file);
    for (int k = 0; k < 80; ++k, ++tried) {
      const std::string ptx = damaged(input.ptx, random);
      try {
        const auto made = lab::ptx::translate(ptx, k % 2 == 0 ? input.asked : lab::ptx::request{});
        CHECK(made.text.find("asm") != std::string::npos);
      } catch (const lab::ptx::error& error) {
        CHECK(error.line() >= 1);
        CHECK(error.column() >= 1);
        CHECK_FALSE(error.message().empty());
        ++refused;
      }
    }
  }
  CHECK(tried > 3000);
  CHECK(refused > tried / 4);
  CHECK(refused < tried);
}
