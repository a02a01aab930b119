// Writes nothing, and specialises what the harness's own check of what is written compares with.
#include "harness/device/typed_problem.hpp"
#include "tests/hostile/elementwise/right.hpp"

template <>
void lab::typed_problem<lab::elementwise::problem, double, double>::exact_keys(
    const input_source& /*source*/, std::int64_t /*first*/, std::int64_t /*count*/,
    const take_keys& /*take*/) const {}

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t /*stream*/) {
  static_cast<void>(in);
  static_cast<void>(out);
}

const registration<problem> registered{LAB_PATH, {.idea = "specialises_check", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
