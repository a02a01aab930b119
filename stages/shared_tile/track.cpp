// What the stages of the shared_tile track are tried on, and how an image is drawn.
#include "common/colour_map.hpp"
#include "common/png.hpp"
#include "harness/device/array_track.hpp"
#include "stages/shared_tile/problem.hpp"

namespace lab::shared_tile {
cases_of<problem::parameters> problem::cases(std::int64_t /*tile*/, bool thorough, std::uint64_t seed) {
  cases_of<parameters> list;
  // So many blocks that a device, too, is not right by chance where a barrier is missing.
  if constexpr (!emulated) list.push_back({{.width = 4096, .height = 4096}});
  // Whole tiles, and tiles that hang over both edges.
  list.push_back({{.width = 96, .height = 64}});
  list.push_back({{.width = 200, .height = 137}});
  if (!thorough) return list;
  for (const std::int64_t width : {0, 1, 2, 15, 16, 17, 31, 33, 255}) {
    for (const std::int64_t height : {0, 1, 15, 16, 17, 33})
      list.push_back({.parameters = {width, height}, .brief = true});
  }
  list.push_back({{.width = 1000, .height = 700}});
  // Every pair of residues of a tile.
  for (std::uint64_t k = 0; k < 256; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    list.push_back({.parameters = {.width = static_cast<std::int64_t>(k % 16 + 16 * (bits % 6)),
                                   .height = static_cast<std::int64_t>(k / 16 + 16 * ((bits >> 32) % 6))},
                    .brief = true});
  }
  list.push_back({.parameters = {.width = 1'297, .height = 809}, .brief = true});
  list.push_back({{.width = 3, .height = 100'003}});
  list.push_back({{.width = 100'003, .height = 3}});
  // More pixels than 32 bits count, and a row in which a float no longer tells neighbours apart.
  if constexpr (!emulated) {
    list.push_back({{.width = 70'001, .height = 70'003}});
    list.push_back({{.width = (std::int64_t{1} << 30) + 5, .height = 2}});
  }
  return list;
}

namespace {

std::string why_invalid(const problem::parameters& p) {
  constexpr std::int64_t max_pixels = std::int64_t{1} << 48;
  if (p.height == 0 || p.width <= max_pixels / p.height) return "";
  return "an image of more than 2^48 pixels is beyond any device";
}

void write_image(const std::string& path, const problem::parameters& p, const std::vector<float>& values,
                 double lowest, double highest, const palette& colours) {
  std::vector<std::uint8_t> pixels(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    pixels[i] = colour_index(static_cast<double>(values[i]), lowest, highest);
  }
  write_png(path, p.width, p.height, pixels, colours);
}

// The amplitude from 0 to 4 in viridis.
void draw(const std::string& path, const problem::parameters& p, const std::vector<float>& image) {
  write_image(path, p, image, 0, 4, viridis());
}

// From -1 to 1 in blue, white and red.
void draw_difference(const std::string& path, const problem::parameters& p,
                     const std::vector<float>& difference) {
  write_image(path, p, difference, -1, 1, blue_white_red());
}

const array_track_registration<problem> registered{
    LAB_PATH, {.why_invalid = why_invalid, .draw = draw, .draw_difference = draw_difference}};

}  // namespace

}  // namespace lab::shared_tile
