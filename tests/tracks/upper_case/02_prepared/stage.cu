// A launch that was prepared, with scratch memory that the plan settles: a stage of columns may have a plan,
// too.
#include "tests/tracks/upper_case/right.hpp"

namespace lab::upper_case {
namespace {

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {.launch = wrong::launch<wrong::right_body>, .workspace_bytes = wrong::scratch_bytes};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "prepared by a plan", .prepare = prepare, .tile = 16}};

}  // namespace
}  // namespace lab::upper_case
