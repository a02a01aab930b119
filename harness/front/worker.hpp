// The process that does the work: started, spoken to, stopped and replaced from here.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/child_process.hpp"
#include "harness/protocol.hpp"

namespace lab {

class worker {
 public:
  using line_sink = std::function<void(const std::string& line)>;

  // `arguments` start the process: its binary and its options. Nothing is started before the first request.
  explicit worker(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  worker() = default;
  worker(worker&&) = default;
  worker& operator=(worker&&) = default;
  ~worker();

  // Where lines go that the process prints to its stdout and stderr; the default is stderr.
  void set_output_sink(line_sink sink) { output_sink_ = std::move(sink); }

  // The closing line of the answer to `message`. A process that dies, says what cannot be understood, or does
  // not answer within `timeout` is ended, and the answer is `failed` with a failure of kind crash or hang;
  // the next request starts another process. Throws environment_error when the process cannot be started and
  // `interrupted` on Ctrl-C.
  answer_record request(const nlohmann::json& message, std::chrono::milliseconds timeout,
                        const line_sink& on_progress = {});

  // Ends the process, politely first.
  void stop();

  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  void start();
  void end_at_once();
  answer_record converse(std::string unsent, std::chrono::milliseconds timeout, const line_sink& on_progress);
  answer_record death();
  bool read_answers();  // false at the end of the pipe
  void read_output();
  void emit_output(const std::string& line);
  bool take_line(std::string& line);

  std::vector<std::string> arguments_;
  line_sink output_sink_;
  child_process process_;
  owned_descriptor requests_;
  owned_descriptor answers_;
  owned_descriptor output_;
  std::string received_;      // bytes of answers that are not yet a whole line
  std::size_t searched_ = 0;  // of received_, known to hold no end of line
  std::string output_text_;   // bytes of output that are not yet a whole line
  std::string last_output_;   // the last line that was not blank
};

}  // namespace lab
