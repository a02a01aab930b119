// The process that does the work: one for each request, spoken to and ended from here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/process/child_process.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// How several processes of one worker are started, one for each GPU of a group: "mpirun", with options of its
// own or without, and their number. One process is started without it.
struct process_launch {
  std::vector<std::string> launcher = {};
  int processes = 1;
};

// How long a worker may be at work, by the processor time of its busiest thread (or be there, ten times as
// long, see is_over()): until its answer, and until any line of it, of progress or of the answer.
struct time_limits {
  using seconds = std::chrono::duration<double>;

  // NOLINTNEXTLINE(google-explicit-constructor): most callers have one time.
  template <class Ticks, class Period>
  time_limits(std::chrono::duration<Ticks, Period> until_answer, seconds until_line = seconds::max())
      : answer(until_answer), silence(until_line) {}

  seconds answer;
  seconds silence;
};

// What marks the lines of one exchange, so that those of the worker's are told from any others (grade).
class line_seal {
 public:
  line_seal() = default;
  line_seal(const line_seal&) = delete;
  line_seal& operator=(const line_seal&) = delete;
  virtual ~line_seal() = default;

  // What is sent instead of a request.
  virtual std::string request(const std::string& text) = 0;
  // The text of the next line of the answer; nothing where it is not the worker's.
  virtual std::optional<std::string> answer(const std::string& line) = 0;
};

class exchange;

class worker {
 public:
  using line_sink = std::function<void(const std::string& line)>;
  using seal_maker = std::function<std::unique_ptr<line_seal>()>;

  // `arguments` start the process: its binary and its options. Of several processes rank 0 gives the answer.
  // With `make_seal` the lines are marked, as the program must know.
  explicit worker(std::vector<std::string> arguments, process_launch launch = {}, seal_maker make_seal = {});
  worker(worker&&) noexcept;
  worker& operator=(worker&&) noexcept;
  ~worker();

  // Where lines go that the process prints to its stdout and stderr; the default is stderr. After this many
  // lines of one request no more go there, but one that says so.
  static constexpr int most_output_lines = 1000;
  void set_output_sink(line_sink sink) { output_sink_ = std::move(sink); }

  // Starts the process, and returns the closing line of its answer to `message`. Nothing of the process is
  // left when this returns. The answer is `failed`, with a failure of kind crash or hang, where the process
  // dies, does not answer or says nothing for longer than it may, or leaves other processes behind, or where
  // its answer cannot be understood; of several processes, where one of them does any of that. Strings in the
  // answer are cleaned (format.hpp). Throws environment_error when the process cannot be started, or when the
  // launcher of several ends before rank 0 has called, and `interrupted` on Ctrl-C.
  answer_record request(const nlohmann::json& message, time_limits limits, const line_sink& on_progress = {});

  // Starts the process of the next request now: it takes its device meanwhile. Nothing if it cannot be
  // started, which that request will say, or if there are several.
  void start_ahead();

  // The same, where it is not started yet, and sends it `message`, which the next request must be: it is
  // answered meanwhile.
  void ask_ahead(const nlohmann::json& message);
  [[nodiscard]] bool is_asked() const;
  // False where it was asked ahead for something else.
  [[nodiscard]] bool may_answer(const nlohmann::json& message) const;

  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  std::vector<std::string> arguments_;
  process_launch launch_;
  seal_maker make_seal_;
  line_sink output_sink_;
  std::unique_ptr<exchange> ahead_;
  nlohmann::json asked_;  // of it
};

}  // namespace lab::front
