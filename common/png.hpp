// Images in the PNG format, 256 colours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "common/colour_map.hpp"

namespace lab {

// Writes width x height pixels, row after row from the top, each an index into `colours`. The file appears
// whole or not at all; throws file_error, also for an image without pixels, which the format does not have.
void write_png(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> pixels, const palette& colours);

}  // namespace lab
