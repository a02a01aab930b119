// A worker: answers the one request of the front that started it (--serve; with --connect it takes its device
// before it is asked), or one from its command line, for profilers and sanitizers:
//   workers/cuda/track/01_naive [--device N[,N...]] [--once '{"op": "once", "stage":
//   "track/01_naive"}']
// Or, started by a launcher of MPI's, one of several that answer it together (--serve-at SOCKET).
#include "harness/device/worker_main.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/process_group.hpp"
#include "harness/device/agreement.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/worker.hpp"
#include "harness/protocol.hpp"

namespace {

// A worker of the directory `workers` (workers/<backend>/<track>/<stage>, or workers/<backend>/<track>.track)
// knows that one stage, or that track and no stage. A stage that registered nothing, or under another's name,
// would otherwise be missed by nobody.
void check_own_stages(std::optional<std::size_t> stages) {
  if (stages) {
    if (lab::stage_count() == *stages) return;
    throw std::logic_error("this worker knows " + std::to_string(lab::stage_count()) + " stages, and " +
                           std::to_string(*stages) + " directories hold one");
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string name = self.filename();
  if (self.extension() == ".track") {
    if (lab::stage_count() > 0) throw std::logic_error("the worker of a track has stages");
    lab::find_track(self.stem());
    return;
  }
  if (lab::stage_count() != 1)
    throw std::logic_error("this stage registered " + std::to_string(lab::stage_count()) +
                           " stages, and not one");
  lab::find_stage(self.parent_path().filename().string() + "/" + name);
}

struct call {
  std::vector<int> devices{0};
  bool serve = false;
  bool connect = false;
  std::string socket;
  std::string once;
};

// "0", or "0,2" where a group of GPUs is named.
std::vector<int> numbers(const std::string& list) {
  std::vector<int> all;
  std::istringstream text(list);
  for (std::string one; std::getline(text, one, ',');) all.push_back(std::stoi(one));
  if (all.empty()) throw std::invalid_argument("--device needs a number");
  return all;
}

call parse(int argc, char** argv) {
  call result;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool has_value = i + 1 < argc;
    if (option == "--serve") {
      result.serve = true;
    } else if (option == "--connect") {
      result.connect = true;
    } else if (option == "--serve-at" && has_value) {
      result.socket = argv[++i];
    } else if (option == "--device" && has_value) {
      result.devices = numbers(argv[++i]);
    } else if (option == "--once" && has_value) {
      result.once = argv[++i];
    } else {
      throw std::invalid_argument("usage: [--device N[,N...]] [--once REQUEST]");
    }
  }
  if (int{result.serve} + int{!result.once.empty()} + int{!result.socket.empty()} != 1)
    throw std::invalid_argument("usage: [--device N] [--once REQUEST]");
  return result;
}

void serve(lab::worker& worker, lab::conversation& with) {
  with.say(worker.answer(nlohmann::json::parse(with.request(), nullptr, false)));
}

// The rank that the launcher has given this process: Open MPI and Slurm's pmix, MPICH and Slurm's pmi2, and
// Slurm itself last, whose variable a launcher within one task hands on. Throws where none says it: a process
// without a rank could be any of them.
bool is_rank_0() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string(rank) == "0";
  }
  throw std::runtime_error(
      "rank unknown: the launcher sets none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK and SLURM_PROCID");
}

// Descriptors above 2 do not survive a launcher of MPI's: rank 0 calls the front by a socket in a folder of
// the front's, which then is both pipes. False where it cannot be reached.
bool call_front(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return false;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int own = socket(AF_UNIX, SOCK_STREAM, 0);
  if (own < 0 || connect(own, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  // The number of one may be the other's.
  const int call = fcntl(own, F_DUPFD, lab::answer_descriptor + 1);
  return call >= 0 && dup2(call, lab::request_descriptor) >= 0 && dup2(call, lab::answer_descriptor) >= 0;
}

// What a process that has failed alone waits for the others, which may wait for it in the middle of a launch.
constexpr std::chrono::seconds patience{2};

// One of several processes: all of them answer the request that rank 0 was sent, each with its own GPU.
[[noreturn]] void serve_together(lab::worker& worker, lab::conversation& with,
                                 const std::string& socket_path) {
  if (lab::join_processes == nullptr) {
    throw std::runtime_error(
        "this worker was built without MPI, and cannot be one of several processes (libopenmpi-dev)");
  }
  const bool has_request = is_rank_0();
  const std::string own = has_request && call_front(socket_path) ? with.request() : "";
  const char* const unreachable = ": the program that asks cannot be reached: it must run on this host\n";
  // Before MPI's start, which the others may not come to.
  if (has_request && own.empty()) {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::cerr << "rank 0 on " << host.data() << unreachable;
    _exit(2);
  }
  lab::process_link& link = lab::join_processes();
  lab::processes::join(link);
  if (link.rank() == 0 && own.empty()) {
    std::cerr << "rank 0 of " << link.size() << " on " << link.host() << unreachable;
    link.abort();
  }
  // A launcher of another MPI's than this program was linked with makes each process alone.
  const auto request = nlohmann::json::parse(lab::processes::gather(own).front(), nullptr, false);
  const int wanted = request.is_object() ? request.value("processes", 0) : 0;
  lab::answer_record reply;
  if (wanted != link.size()) {
    reply = {.end = lab::answer_end::error,
             .message = "each of the launcher's processes knows of " + std::to_string(link.size()) +
                        ", and not of " + std::to_string(wanted) +
                        " (is it of another MPI than this build's?)",
             .error = lab::error_kind::environment};
  } else {
    reply = worker.answer(request);
  }
  const bool waits = reply.end == lab::answer_end::ok;
  if (!link.all_come(waits ? std::chrono::hours(24 * 365) : std::chrono::milliseconds(patience))) {
    std::cerr << "rank " << link.rank() << " of " << link.size() << " on " << link.host() << ": "
              << reply.message << "\n";
    link.abort();
  }
  reply = lab::agreed(reply);
  if (link.rank() == 0) with.say(reply);
  std::fflush(stdout);
  link.finish();
  _exit(0);
}

}  // namespace

int lab::worker_main(int argc, char** argv, conversation& with, std::optional<std::size_t> stages) {
  // Whatever constructors of the stage's have set.
  std::fesetenv(FE_DFL_ENV);
  try {
    const call asked = parse(argc, argv);
    check_registry();
    check_own_stages(stages);
    const bool is_heard = asked.serve || (!asked.socket.empty() && is_rank_0());
    worker answering(asked.devices, [&](const std::string& what) {
      if (is_heard) with.say({{"progress", what}});
    });
    if (!asked.socket.empty()) serve_together(answering, with, asked.socket);
    if (asked.serve) {
      // What a kernel has printed before it crashes, or is ended, is not lost.
      std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
      if (asked.connect) answering.connect();
      serve(answering, with);
      std::fflush(stdout);
      // Nothing of the stage's runs after its answer: neither destructors nor what it gave to atexit().
      _exit(0);
    }
    const answer_record answer = answering.answer(json_from(asked.once));
    std::cout << text_of(answer) << "\n";
    return answer.end == answer_end::ok ? 0 : answer.end == answer_end::failed ? 1 : 2;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}
