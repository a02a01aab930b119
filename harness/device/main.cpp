// A worker: serves the front on two pipes, or answers one request from its command line, for profilers and
// sanitizers:
//   lab-worker-cuda [--device N] [--once '{"op": "once", "stage": "moving_average/01_naive"}']
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "harness/device/track.hpp"
#include "harness/device/worker.hpp"

int main(int argc, char** argv) {
  try {
    int device = 0;
    std::string request;
    for (int i = 1; i < argc; i += 2) {
      const std::string option = argv[i];
      if (i + 1 == argc || (option != "--device" && option != "--once")) {
        std::cerr << "usage: " << argv[0] << " [--device N] [--once REQUEST]\n";
        return 2;
      }
      if (option == "--device") device = std::stoi(argv[i + 1]);
      if (option == "--once") request = argv[i + 1];
    }
    lab::check_registry();
    // A stage that registered nothing would otherwise be missed by nobody.
    if (lab::stage_count() != LAB_STAGE_COUNT) {
      std::cerr << "this worker knows " << lab::stage_count() << " stages, and " << LAB_STAGE_COUNT
                << " directories hold one\n";
      return 2;
    }
    lab::worker worker(device);
    if (request.empty()) return worker.serve(lab::request_descriptor, lab::answer_descriptor);
    const lab::answer_record answer = worker.answer(nlohmann::json::parse(request));
    std::cout << nlohmann::json(answer).dump() << "\n";
    return answer.end == lab::answer_end::ok ? 0 : answer.end == lab::answer_end::failed ? 1 : 2;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}
