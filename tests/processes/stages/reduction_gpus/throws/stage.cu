// Rank 1 fails before the others have what they wait for.
#include <stdexcept>

#include "tests/processes/reduction_gpus.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

void fail() {
  throw std::runtime_error("this rank has had enough");
}

const registration<problem> registered{LAB_PATH, as_stage("a rank that fails alone", prepare_hindered<fail>)};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::reduction_gpus::wrong
