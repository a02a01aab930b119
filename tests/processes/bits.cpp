// Prints a hash of the outputs of each stage that was linked in: with so many GPUs of this process, or as one
// of several processes with a GPU each, without an argument and started by a launcher of MPI's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/across_processes.hpp"
#include "harness/device/track.hpp"

int main(int argc, char** argv) {
  lab::process_link* const link = argc > 1 ? nullptr : &lab::join_processes();
  if (link != nullptr) lab::processes::join(*link);
  const std::int64_t gpus = argc > 1 ? std::atoi(argv[1]) : lab::processes::count();
  const lab::stream stream;
  for (const char* const track : {"moving_average_gpus", "reduction_gpus"}) {
    for (const lab::stage_entry* stage : lab::stages_of(track)) {
      if (!lab::runs_across_processes(stage->path)) continue;
      const lab::track& its_track = lab::track_of(*stage);
      const auto work =
          its_track.make(*stage, its_track.complete({{"n", 50'007}, {"gpus", gpus}}), stream.get());
      work->prepare(lab::pattern::random, 7);
      work->launch();
      const std::uint64_t bits = work->digest();  // of all ranks together
      if (lab::processes::rank() == 0)
        std::printf("%s %016llx\n", stage->path.c_str(), static_cast<unsigned long long>(bits));
    }
  }
  if (link != nullptr) link->finish();
}
