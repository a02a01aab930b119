// The checked-in inputs, and what inputs.json says of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/ptx/translate.hpp"
#include "tests/files.hpp"

namespace lab::test {

struct ptx_input {
  std::string file;  // below tests/ptx/inputs
  std::string ptx;
  ptx::convention how;
  ptx::request asked;
};

inline std::vector<ptx_input> ptx_inputs() {
  const std::string directory = LAB_PTX_INPUTS;
  std::vector<ptx_input> all;
  for (const auto& entry : nlohmann::json::parse(get(directory + "/inputs.json"))) {
    ptx_input one{.file = entry["file"]};
    one.ptx = get(directory + "/" + one.file);
    one.how = entry["convention"] == "numba" ? ptx::convention::numba : ptx::convention::c;
    one.asked.result_type = entry["result"];
    one.asked.parameters = entry["parameters"].get<std::vector<std::string>>();
    if (one.file.rfind("nvcc/", 0) == 0) one.asked.name = entry["name"];
    all.push_back(std::move(one));
  }
  return all;
}

// settings_of reads a constant that others may change: the one input that is refused.
inline bool is_refused(const ptx_input& one) {
  return one.file.rfind("nvcc/settings_of", 0) == 0;
}

}  // namespace lab::test
