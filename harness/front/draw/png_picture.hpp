// A picture as PNG, by a program of the system's that draws SVG.
#pragma once

#include <string>

namespace lab::front {

// The program that would draw: rsvg-convert, Inkscape or Chromium, whichever is there first. Throws
// environment_error where none is, which says what to install.
[[nodiscard]] std::string svg_program();

// Draws an SVG text with that program, two pixels for each of its units, and returns the PNG file's bytes.
// Throws environment_error where the program makes none.
[[nodiscard]] std::string png_of(const std::string& svg, const std::string& program);

}  // namespace lab::front
