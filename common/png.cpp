#include "common/png.hpp"

#if LAB_WITH_PNG
#include <png.h>
#endif

#include <cstddef>
#include <string>
#include <vector>

#include "common/file.hpp"

namespace lab {

#if LAB_WITH_PNG

void write_png(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> pixels, const palette& colours) {
  constexpr std::int64_t longest = 1'000'000;  // libpng's own limit for a side
  if (width < 1 || height < 1 || width > longest || height > longest) {
    throw file_error(path, "a PNG has from 1 to " + std::to_string(longest) + " pixels a side, not " +
                               std::to_string(width) + " x " + std::to_string(height) +
                               "; a .npy file can hold any array");
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(colours.size());
  static_assert(sizeof(rgb) == 3, "libpng reads three bytes a colour");
  std::vector<std::byte> bytes;
  const auto encode = [&](png_alloc_size_t& size) {
    void* const into = bytes.empty() ? nullptr : bytes.data();
    return png_image_write_to_memory(&image, into, &size, 0, pixels.data(), 0, colours.data()) != 0;
  };
  // The first call asks how many bytes there will be.
  png_alloc_size_t size = 0;
  bool done = encode(size);
  if (done) {
    bytes.resize(size);
    done = encode(size);
  }
  const std::string problem = image.message;
  png_image_free(&image);
  if (!done) throw file_error(path, "cannot be made a PNG: " + problem);
  output_file file(path, size);
  file.write(std::span(bytes).first(size));
  file.commit();
}

#else

void write_png(const std::filesystem::path& path, std::int64_t /*width*/, std::int64_t /*height*/,
               std::span<const std::uint8_t> /*pixels*/, const palette& /*colours*/) {
  throw file_error(path, "this build writes no pictures (libpng was not found)");
}

#endif

}  // namespace lab
