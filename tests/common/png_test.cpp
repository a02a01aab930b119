// Colour maps and PNG files.
#include "common/png.hpp"

#include <png.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/colour_map.hpp"
#include "common/file.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

namespace {

double lightness(lab::rgb colour) {
  const auto linear = [](std::uint8_t channel) { return std::pow(channel / 255.0, 2.2); };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

}  // namespace

TEST_CASE("viridis rises in lightness from end to end, and the difference map is white at zero") {
  const lab::palette& map = lab::viridis();
  // Eight bits a channel leave neighbours a little uneven.
  for (std::size_t i = 8; i < lab::not_a_number; ++i) CHECK(lightness(map[i]) > lightness(map[i - 8]));
  const lab::rgb zero = lab::blue_white_red()[lab::colour_index(0, -1, 1)];
  CHECK(static_cast<int>(zero.red) + zero.green + zero.blue == 3 * 255);
  CHECK(lab::colour_index(-5, 0, 4) == 0);
  CHECK(lab::colour_index(5, 0, 4) == lab::not_a_number - 1);
  CHECK(lab::colour_index(std::numeric_limits<double>::quiet_NaN(), 0, 4) == lab::not_a_number);
}

TEST_CASE("a PNG holds the pixels that were written") {
  const lab::test::temporary_directory directory;
  const auto path = directory / "image.png";
  const std::vector<std::uint8_t> pixels{0, 100, 254, 255, 1, 2};
  lab::write_png(path, 3, 2, pixels, lab::viridis());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
  CHECK(image.width == 3);
  CHECK(image.height == 2);
  image.format = PNG_FORMAT_RGB;
  std::vector<lab::rgb> found(6);
  REQUIRE(png_image_finish_read(&image, nullptr, found.data(), 0, nullptr) != 0);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const lab::rgb expected = lab::viridis()[pixels[i]];
    CHECK(found[i].red == expected.red);
    CHECK(found[i].green == expected.green);
    CHECK(found[i].blue == expected.blue);
  }
  CHECK_THROWS_AS(lab::write_png(directory / "none.png", 0, 5, {}, lab::viridis()), lab::file_error);
  CHECK_FALSE(std::filesystem::exists(directory / "none.png"));
}
