// Several requests at a time, each with a worker of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/workers/worker.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// Asks one worker, and returns its answer; what the worker prints goes to `print`.
using errand = std::function<answer_record(const worker::line_sink& print)>;

// Runs all errands, `most` of them at a time and in their order, each in a copy of this process: none is in
// another's way, and what one leaves behind ends with it. `done` gets the number of each one as it ends, with
// its answer; with nothing where it ended otherwise, or where no copy could be made. Throws `interrupted` on
// Ctrl-C, when nothing of them is left.
void run_side_by_side(const std::vector<errand>& errands, std::size_t most, const worker::line_sink& print,
                      const std::function<void(std::size_t, std::optional<answer_record>)>& done);

}  // namespace lab::front
