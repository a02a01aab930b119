// What a stage over several GPUs says that can run as several processes, one for each GPU.
#pragma once

#include <string>

namespace lab {

// Says of the stage of this path (LAB_PATH) that its launch works on the GPUs of its own process alone
// (is_here(), common/nccl.hpp), and has sent what it needs of others. No stage runs as several processes that
// does not say so: it would use addresses that mean nothing in its own.
struct across_processes {
  explicit across_processes(std::string stage_path);
};

[[nodiscard]] bool runs_across_processes(const std::string& stage_path);

}  // namespace lab
