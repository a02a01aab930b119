// Rank 1 is killed in the middle of a launch.
#include <csignal>

#include "tests/processes/reduction_gpus.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

void die() {
  std::raise(SIGKILL);
}

const registration<problem> registered{LAB_PATH, as_stage("a rank that is killed", prepare_hindered<die>)};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong
