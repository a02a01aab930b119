#include "harness/failure_message.hpp"

namespace lab {
namespace {

std::string followed_by(const std::string& words, const std::string& found) {
  return found.empty() ? words : words + ": " + found;
}

std::string what_is_wrong(const failure_record& failure) {
  const std::string index = failure.index ? std::to_string(*failure.index) : "?";
  switch (failure.kind) {
    case failure_kind::wrong: {
      const std::string figures = failure.expected.empty()
                                      ? failure.found
                                      : "expected " + failure.expected + ", found " + failure.found;
      if (failure.index) return followed_by("wrong at index " + index, figures);
      return figures.empty() ? "wrong" : figures;
    }
    case failure_kind::unwritten:
      return "output " + index + " was never written" + failure.found;
    case failure_kind::out_of_bounds:
      return followed_by("out of bounds", failure.found) + (failure.index ? ", index " + index : "");
    case failure_kind::input_changed:
      if (!failure.index) return followed_by("changed its input", failure.found);
      return "changed its input " + (failure.found.empty() ? "" : failure.found + " ") + "at index " + index;
    case failure_kind::launch:
      return followed_by("the launch was refused", failure.found);
    case failure_kind::crash:
      return followed_by("crashed", failure.found);
    case failure_kind::race:
    case failure_kind::uninitialised:
    case failure_kind::unsupported:
    case failure_kind::hang:
      break;
  }
  return followed_by(to_string(failure.kind), failure.found);
}

// Coordinates of two dimensions, as a stage names them, in the three of everywhere else: "1,0" is "(1,0,0)".
std::string in_three_dimensions(const std::string& coordinates) {
  return coordinates.find(',') == std::string::npos || coordinates.front() == '(' ? coordinates
                                                                                  : "(" + coordinates + ",0)";
}

}  // namespace

std::string failure_message(const failure_record& failure) {
  std::string text = what_is_wrong(failure);
  if (!failure.block.empty()) text += ", block " + failure.block;
  if (!failure.thread.empty()) text += ", thread " + in_three_dimensions(failure.thread);
  if (!failure.test_case.empty()) text += " (" + failure.test_case + ")";
  return text;
}

}  // namespace lab
