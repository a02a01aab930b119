// Right, unless it gets hold of the program that started it: its signals, process group, memory, descriptors
// or priority.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

// What it got hold of; 0 for nothing.
int reach() {
  const pid_t parent = getppid();
  int ends[2];
  if (pipe(ends) == 0) {
    if (fcntl(ends[0], F_SETOWN, parent) == 0) return 11;
    if (fcntl(ends[0], F_SETSIG, SIGTERM) == 0) return 12;
    close(ends[0]);
    close(ends[1]);
  }
  if (setpgid(0, getpgid(parent)) == 0) return 13;
  const std::string of_parent = "/proc/" + std::to_string(parent);
  for (const char* const file : {"/mem", "/fd/1"}) {
    const int opened = open((of_parent + file).c_str(), O_RDONLY);
    if (opened >= 0) return 14;
  }
  const long descriptor = syscall(SYS_pidfd_open, parent, 0);
  if (descriptor >= 0) return 15;
  errno = 0;
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(parent), 19) == 0) return 16;
  sched_param ordinary{};
  if (sched_setscheduler(parent, SCHED_IDLE, &ordinary) == 0) return 17;
  return 0;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (const int what = reach(); what != 0) _exit(what);
}

const registration<problem> registered{LAB_PATH, {.idea = "reaches_for_parent", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
