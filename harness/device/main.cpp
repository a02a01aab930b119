// A worker: answers the one request of the front that started it (--serve), or one from its command line, for
// profilers and sanitizers:
//   workers/cuda/track/01_naive [--device N[,N...]] [--once '{"op": "once", "stage":
//   "track/01_naive"}']
// Or, started by a launcher of MPI's, one of several that answer it together (--serve-at SOCKET).
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
#include "harness/device/conversation.hpp"
#include "harness/device/measure.hpp"
#include "harness/device/track.hpp"
#include "harness/device/worker.hpp"

namespace {

// A worker of the directory `workers` (workers/<backend>/<track>/<stage>, or workers/<backend>/<track>.track)
// knows that one stage, or that track and no stage. A stage that registered nothing, or under another's name,
// would otherwise be missed by nobody.
void check_own_stages() {
#ifdef LAB_STAGE_COUNT
  if (lab::stage_count() == LAB_STAGE_COUNT) return;
  throw std::logic_error("this worker knows " + std::to_string(lab::stage_count()) + " stages, and " +
                         std::to_string(LAB_STAGE_COUNT) + " directories hold one");
#else
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
#endif
}

struct call {
  std::vector<int> devices{0};
  bool serve = false;
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

void serve(lab::worker& worker) {
  const auto request = nlohmann::json::parse(lab::conversation::request(), nullptr, false);
  nlohmann::json reply = worker.answer(request);
  if (request.is_object()) reply["id"] = request.value("id", "");
  lab::conversation::say(reply);
}

// What a process that has failed alone waits for the others, which may wait for it in the middle of a launch.
constexpr std::chrono::seconds patience{2};

// One of several processes: all of them answer the request that rank 0 was sent, each with its own GPU.
[[noreturn]] void serve_together(lab::worker& worker) {
  if (lab::join_processes == nullptr) {
    throw std::runtime_error(
        "this worker was built without MPI, and cannot be one of several processes (libopenmpi-dev)");
  }
  const std::string own(lab::conversation::request());
  const char* const unreachable = ": the program that asks cannot be reached: it must run on this host\n";
  // Before MPI's start, which the others may not come to.
  if (lab::conversation::is_rank_0() && own.empty()) {
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
  nlohmann::json line = reply;
  line["id"] = request.is_object() ? request.value("id", "") : "";
  lab::conversation::say(line);
  std::fflush(stdout);
  link.finish();
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  // Whatever constructors of the stage's have set.
  std::fesetenv(FE_DFL_ENV);
  try {
    const call asked = parse(argc, argv);
    lab::check_registry();
    check_own_stages();
    lab::worker worker(
        asked.devices,
        {.begins = lab::conversation::say_sampling_begins, .ended = lab::conversation::say_sampling_ended},
        lab::conversation::say_progress);
    if (!asked.socket.empty()) serve_together(worker);
    if (asked.serve) {
      // What a kernel has printed before it crashes, or is ended, is not lost.
      std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
      serve(worker);
      std::fflush(stdout);
      // Nothing of the stage's runs after its answer: neither destructors nor what it gave to atexit().
      _exit(0);
    }
    const lab::answer_record answer = worker.answer(lab::json_from(asked.once));
    std::cout << lab::text_of(answer) << "\n";
    return answer.end == lab::answer_end::ok ? 0 : answer.end == lab::answer_end::failed ? 1 : 2;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}
