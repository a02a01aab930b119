// Damaged PTX: a translation or ptx::error, whatever the damage. The same damage in every run.
#include <string>

#include "common/ptx/translate.hpp"
#include "tests/catch.hpp"
#include "tests/damaged.hpp"
#include "tests/ptx/inputs.hpp"

TEST_CASE("damaged PTX is translated or refused, and never more") {
  std::mt19937 random(1);
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (const auto& input : lab::test::ptx_inputs()) {
    if (input.ptx.size() > 6000) continue;
    INFO(input.file);
    for (int k = 0; k < 80; ++k, ++tried) {
      const std::string ptx = lab::test::damaged(input.ptx, "{}[]();,.%@0", random);
      try {
        const auto translated = lab::ptx::translate(ptx, k % 2 == 0 ? input.asked : lab::ptx::request{});
        CHECK(translated.text.find("asm") != std::string::npos);
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
