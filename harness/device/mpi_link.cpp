// The processes that a launcher of MPI's has started (mpirun, srun), as the harness and the emulator's NCCL
// use them. Compiled into the workers of the tracks over several GPUs where MPI was found (stages/mpi.cmake).
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/cuda.hpp"
#include "common/process_group.hpp"
#if LAB_EMULATED
#include "common/emulator/core/nccl.hpp"
#endif

namespace lab {
namespace {

using clock = std::chrono::steady_clock;

// Waits without taking a processor from the others for long: processes are often more than processors.
class patience {
 public:
  void wait() {
    if (++turns_ < 1000) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  [[nodiscard]] bool is_longer_than(std::chrono::milliseconds time) const {
    return clock::now() - begin_ > time;
  }

 private:
  clock::time_point begin_ = clock::now();
  int turns_ = 0;
};

void check_mpi(int code, const char* expression) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(expression) + ": " + std::string(text, text + length));
}
#define MPI_CHECK(expression) check_mpi((expression), #expression)

class mpi_link final : public process_link
#if LAB_EMULATED
    ,
                       public emulator::nccl_transport
#endif
{
 public:
  mpi_link() {
    MPI_CHECK(MPI_Init(nullptr, nullptr));
    // An agreement, the end and a stage's messages never meet one another.
    for (MPI_Comm* comm : {&agreements_, &end_, &messages_}) {
      MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, comm));
      MPI_CHECK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    }
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size_));
    MPI_Comm here = MPI_COMM_NULL;
    MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    MPI_CHECK(MPI_Comm_rank(here, &local_rank_));
    MPI_CHECK(MPI_Comm_free(&here));
    hosts_.assign(static_cast<std::size_t>(size_), "an unknown host");
    hosts_ = gather(host());
  }

  [[nodiscard]] int rank() const override {
    return rank_;
  }
  [[nodiscard]] int size() const override {
    return size_;
  }
  [[nodiscard]] int local_rank() const override {
    return local_rank_;
  }
  [[nodiscard]] std::string host() const override {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
  }

  std::vector<std::string> gather(const std::string& own) override {
    if (own.size() > max_text) throw std::length_error("a process gives more than others can take");
    std::vector<std::string> all = *exchange(agreements_, own, unlimited);
    MPI_CHECK(MPI_Barrier(agreements_));  // all are here: they leave together
    return all;
  }

  std::string left_over() override {
#if LAB_EMULATED
    // What was sent before the others came to the last agreement is here.
    for (int attempt = 0; attempt < 4; ++attempt) {
      int there = 0;
      MPI_Status status;
      MPI_CHECK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, messages_, &there, &status));
      if (there != 0) return "rank " + std::to_string(status.MPI_SOURCE) + " has sent what is not received";
    }
#endif
    return "";
  }

  bool all_come(std::chrono::milliseconds time) override {
    return exchange(end_, "", time).has_value();
  }

  [[noreturn]] void abort() override {
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
  }

  void finish() override {
#if LAB_EMULATED
    forget_sent();
    if (!sent_.empty()) return;  // which nobody receives, and MPI would wait for
#endif
    MPI_Finalize();
  }

#if LAB_EMULATED
  void send(int rank, int number, const std::string& message) override {
    forget_sent();
    sent_.push_back({message, MPI_REQUEST_NULL});
    const std::string& kept = sent_.back().text;
    MPI_CHECK(MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_CHAR, rank, number % max_tag,
                        messages_, &sent_.back().request));
  }

  std::string receive(int rank, int number) override {
    return *receive_from(messages_, rank, number % max_tag, patience(), unlimited);
  }

 private:
  struct sent_message {
    std::string text;
    MPI_Request request;
  };

  // What has arrived need not be kept.
  void forget_sent() {
    sent_.remove_if([](sent_message& one) {
      int done = 0;
      MPI_CHECK(MPI_Test(&one.request, &done, MPI_STATUS_IGNORE));
      return done != 0;
    });
  }

  static constexpr int max_tag = 32768;  // MPI promises as many
  std::list<sent_message> sent_;
#endif

 private:
  // Sends `own` to all and receives theirs, in the order of the ranks; nothing if they do not come within
  // `time`.
  std::optional<std::vector<std::string>> exchange(MPI_Comm comm, const std::string& own,
                                                   std::chrono::milliseconds time) {
    std::vector<MPI_Request> sent;
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      MPI_CHECK(MPI_Isend(own.data(), static_cast<int>(own.size()), MPI_CHAR, rank, 0, comm,
                          &sent.emplace_back(MPI_REQUEST_NULL)));
    }
    std::vector<std::string> all;
    patience waiting;
    for (int rank = 0; rank < size_; ++rank) {
      auto text = rank == rank_ ? own : receive_from(comm, rank, 0, waiting, time);
      if (!text) return std::nullopt;
      all.push_back(std::move(*text));
    }
    MPI_CHECK(MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE));
    return all;
  }

  // A message of that rank; nothing if none comes within `time`. Says for whom it waits, once.
  std::optional<std::string> receive_from(MPI_Comm comm, int rank, int tag, patience waiting,
                                          std::chrono::milliseconds time) {
    bool told = false;
    for (;; waiting.wait()) {
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_CHECK(MPI_Improbe(rank, tag, comm, &there, &message, &status));
      if (there != 0) {
        int bytes = 0;
        MPI_CHECK(MPI_Get_count(&status, MPI_CHAR, &bytes));
        std::string text(static_cast<std::size_t>(bytes), '\0');
        MPI_CHECK(MPI_Mrecv(text.data(), bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE));
        return text;
      }
      if (waiting.is_longer_than(time)) return std::nullopt;
      if (told || !waiting.is_longer_than(std::chrono::seconds(2))) continue;
      told = true;
      std::fprintf(stderr, "waiting: rank %d of %d on %s, to which rank %d on %s has sent nothing for 2 s\n",
                   rank_, size_, host().c_str(), rank, hosts_[static_cast<std::size_t>(rank)].c_str());
      std::fflush(stderr);
    }
  }

  static constexpr std::size_t max_text = std::size_t{1} << 30;
  static constexpr std::chrono::hours unlimited{24 * 365};

  MPI_Comm agreements_ = MPI_COMM_NULL;
  MPI_Comm end_ = MPI_COMM_NULL;
  MPI_Comm messages_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  std::vector<std::string> hosts_;  // of all ranks
};

process_link& join() {
  static mpi_link link;
#if LAB_EMULATED
  emulator::set_nccl_transport(&link);
#endif
  return link;
}

[[maybe_unused]] const bool registered = [] {
  join_processes = join;
  return true;
}();

}  // namespace
}  // namespace lab
