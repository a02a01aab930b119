// Calls of the program, and what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/front/process/child_process.hpp"

namespace lab::test {

struct call_result {
  int code;  // 1000 and the signal's number where one ended it
  std::string text;
};

inline call_result call_program(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  const auto result = lab::front::run_command(arguments, limit);
  return {result.ending.by_signal ? 1000 + result.ending.code : result.ending.code, result.output};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace lab::test
