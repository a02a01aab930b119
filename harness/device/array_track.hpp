// A track with any number of input arrays and one output array, made from its problem (array_problem.hpp) and
// what that may say beside (array_hooks.hpp).
#pragma once

#include <memory>
#include <string>

#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/case_inputs.hpp"
#include "harness/device/typed_problem.hpp"

namespace lab {

void register_array_track(std::string name, std::unique_ptr<any_array_problem> problem);

// Registers the track of `Problem` under its directory's name, which the build passes as LAB_PATH.
template <class Problem>
struct array_track_registration {
  explicit array_track_registration(const char* path, const array_hooks<Problem>& hooks = {}) {
    register_array_track(path, std::make_unique<typed_array_problem<Problem>>(hooks));
  }
};

}  // namespace lab
