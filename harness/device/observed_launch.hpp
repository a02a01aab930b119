// What only an observed kernel shows, as the failure of a check.
#pragma once

#include "common/emulator/observed/observation.hpp"
#include "harness/records.hpp"

namespace lab {

failure_record failure_of(const emulator::observed_fault& fault);

}  // namespace lab
