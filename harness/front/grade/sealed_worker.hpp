// The worker of a submission: every line of its answer carries a seal (harness/grade).
#pragma once

#include <string>
#include <vector>

#include "harness/front/workers/worker.hpp"

namespace lab::front {

// `arguments` start a program of harness/grade's. An answer whose seal is missing or another's is `failed`.
worker sealed_worker(std::vector<std::string> arguments);

}  // namespace lab::front
