#include "harness/front/workers/launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

constexpr const char* packages = "libopenmpi-dev and openmpi-bin on Debian and Ubuntu";

void set_where_unset(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 0);
}

}  // namespace

process_launch launch_of(int processes, const std::string& command) {
  if (!LAB_WITH_MPI) {
    throw environment_error(
        fmt::format("--processes needs MPI, which this build was made without ({})", packages));
  }
  process_launch launch{.processes = processes};
  std::istringstream words(command);
  for (std::string word; words >> word;) launch.launcher.push_back(word);
  if (launch.launcher.empty()) throw usage_error("--mpirun needs a command");
  const std::string& program = launch.launcher.front();
  const bool is_path = program.find('/') != std::string::npos;
  if (is_path ? access(program.c_str(), X_OK) != 0 : find_program(program, {}).empty()) {
    throw environment_error(
        fmt::format("{} is not here, and --processes needs it or another (--mpirun): {}", program, packages));
  }

  if (geteuid() == 0) {
    set_where_unset("OMPI_ALLOW_RUN_AS_ROOT", "1");
    set_where_unset("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  // Whose options say where the processes go, knows how many go there, and how to reach it.
  if (launch.launcher.size() == 1) {
    set_where_unset("OMPI_MCA_rmaps_base_oversubscribe", "1");
    // Open MPI looks for ssh even where nothing is started elsewhere.
    if (find_program("ssh", {}).empty() && find_program("rsh", {}).empty())
      set_where_unset("OMPI_MCA_plm", "isolated");
  }
  set_where_unset("OMPI_MCA_hwloc_base_binding_policy", "none");
  // A host that cannot be reached is lost after 10 + 5 * 2 s on both sides of the cut, which end what they
  // have started; Open MPI's own settings take eight minutes.
  set_where_unset("OMPI_MCA_oob_tcp_keepalive_time", "10");
  set_where_unset("OMPI_MCA_oob_tcp_keepalive_intvl", "2");
  set_where_unset("OMPI_MCA_oob_tcp_keepalive_probes", "5");
  // Emulated devices are processors: those of this host are shared, and not waited on.
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  set_where_unset("OMPI_MCA_mpi_yield_when_idle", "1");
  set_where_unset("LAB_EMULATOR_THREADS",
                  std::to_string(std::max(1U, processors / static_cast<unsigned>(processes))));
  return launch;
}

}  // namespace lab::front
