// Exceptions with a place, as NVIDIA's samples throw them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

template <class Base>
class Exception : public Base {
 public:
  explicit Exception(const std::string& text) : Base(text) {}
  static void throw_it(const char* file, const int line, const char* text = "unknown") {
    throw Exception(std::string(file) + ":" + std::to_string(line) + ": " + text);
  }
};
#define RUNTIME_EXCEPTION(text) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, text)
#define LOGIC_EXCEPTION(text) Exception<std::logic_error>::throw_it(__FILE__, __LINE__, text)
#define RANGE_EXCEPTION(text) Exception<std::range_error>::throw_it(__FILE__, __LINE__, text)

template <class T>
void handleException(const T& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::exit(EXIT_FAILURE);
}
