// Rank 1 never comes back from a launch.
#include <unistd.h>

#include "tests/processes/reduction_gpus.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

void hang() {
  for (;;) pause();
}

const registration<problem> registered{LAB_PATH, as_stage("a rank that never ends", prepare_hindered<hang>)};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong
