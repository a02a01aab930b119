// Prepares a plan that launches nothing.
#include "tests/wrong/axpy/wrong.hpp"

namespace lab::axpy::wrong {
namespace {

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {};
}

const registration<problem> registered{LAB_PATH, {.idea = "plans nothing", .prepare = prepare}};

}  // namespace
}  // namespace lab::axpy::wrong
