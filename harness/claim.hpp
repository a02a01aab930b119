// What a stage's page promises, as data that the program can test.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace lab {

enum class relation { equal, at_most, at_least };
inline constexpr const char* relation_names[] = {"equal", "at_most", "at_least"};

// The metric of a claim about time: how many times as fast as the previous stage.
inline constexpr const char* speed_up_metric = "speedup";

struct claim {
  std::string metric;          // a counter by Nsight Compute's name, or speed_up_metric
  std::string per;             // when not empty, the claim is about metric / per
  bool over_previous = false;  // the claim is about this stage's figure over the previous stage's
  relation holds = relation::equal;
  double value = 0;
  std::map<std::string, std::int64_t> at;  // parameters for which it holds; the defaults of the others
  std::string device;                      // part of the names of the devices on which a speed-up holds
};

}  // namespace lab
