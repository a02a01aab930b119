// How several processes of a worker are started (docs/several-gpus.md).
#pragma once

#include <string>

#include "harness/front/workers/worker.hpp"

namespace lab::front {

// `command` is a launcher with its options, words with spaces between: "mpirun --hostfile hosts", "srun
// --mpi=pmix". It must take "-n N PROGRAM ARGUMENTS", and start rank 0 on this host. Of Open MPI's settings
// those that nobody has set get the values that processes with a GPU each need: more of them than processors,
// none bound to one, no ssh for a single host, root allowed where this program is root's. Throws
// environment_error where this build has no MPI, or there is no such launcher.
[[nodiscard]] process_launch launch_of(int processes, const std::string& command);

}  // namespace lab::front
