// A picture as SVG text: a few shapes, and one set of colours that follows the reader's choice of light or
// dark.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lab::front {

// What a shape stands for; the picture's style sheet gives it its colours.
enum class paint {
  frame,       // an outline
  idle,        // a lane or thread that takes no part
  lane,        // one that does
  used,        // bytes that were asked for
  vain,        // bytes that are moved for nobody; hatched
  served,      // what is served at once
  serialised,  // what has to wait for its turn; hatched
  empty,       // room for something
  global_load,
  global_store,
  shared_load,
  shared_store,
  atomic
};

enum class ink { title, code, note, small, cell, warning, costly };
enum class anchor { start, middle, end };

// Of every picture, in pixels.
inline constexpr double picture_width = 960, picture_left = 32;

class svg {
 public:
  // `label` is what the picture shows, for who cannot see it.
  explicit svg(std::string label) : label_(std::move(label)) {}

  void rect(double x, double y, double width, double height, paint with, double radius = 0);
  void wire(double x, double y, double to_x, double to_y);
  void rule(double x, double y, double to_x, double to_y);
  // (x, y) is on the baseline. The text may hold anything; what XML would take for markup is escaped, and
  // control characters are replaced. One that would reach over the picture's edge is moved, and cut where it
  // is longer than the picture is wide.
  void text(double x, double y, const std::string& words, ink with, anchor at = anchor::start);

  // A title, and on its line what it holds for, up to `right` and as much of it as there is room.
  void headline(double y, double right, const std::string& title, const std::string& aside);

  // What the paints mean, in one line.
  void legend(double x, double y, const std::vector<std::pair<paint, std::string>>& entries);

  [[nodiscard]] std::string document(double height) const;

 private:
  std::string label_;
  std::string body_;
};

}  // namespace lab::front
