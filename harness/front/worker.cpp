#include "harness/front/worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "harness/front/errors.hpp"
#include "harness/front/format.hpp"
#include "harness/front/interrupt.hpp"

namespace lab {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A line longer than this is not an answer: the largest are a million samples, about 20 MB.
constexpr std::size_t longest_line = std::size_t{256} << 20;
constexpr std::size_t longest_output_line = std::size_t{64} << 10;

// How long a process may take to be gone once it has said that it goes.
constexpr milliseconds farewell{2000};

answer_record failed_answer(failure_kind kind, std::string message) {
  answer_record answer;
  answer.end = answer_end::failed;
  answer.message = std::move(message);
  answer.failure = failure_record{};
  answer.failure->kind = kind;
  return answer;
}

answer_record garbage(const std::string& line) {
  return failed_answer(failure_kind::crash,
                       fmt::format("the worker's answer cannot be understood: {}", shortened(line, 80)));
}

}  // namespace

worker::~worker() {
  stop();
}

void worker::start() {
  pipe_pair requests = make_pipe();
  pipe_pair answers = make_pipe();
  pipe_pair output = make_pipe();
  process_ = child_process(arguments_, {{requests.read_end.get(), request_descriptor},
                                        {answers.write_end.get(), answer_descriptor},
                                        {output.write_end.get(), STDOUT_FILENO},
                                        {output.write_end.get(), STDERR_FILENO}});
  requests_ = std::move(requests.write_end);
  answers_ = std::move(answers.read_end);
  output_ = std::move(output.read_end);
  for (const auto* descriptor : {&requests_, &answers_, &output_}) set_nonblocking(*descriptor);
  received_.clear();
  searched_ = 0;
  output_text_.clear();
  last_output_.clear();
}

void worker::end_at_once() {
  process_.kill();
  if (output_.is_open()) read_output();
  requests_.close();
  answers_.close();
  output_.close();
}

void worker::stop() {
  if (!process_.is_running()) return;
  const std::string farewell_line = "{\"op\":\"quit\"}\n";
  [[maybe_unused]] const auto written = write(requests_.get(), farewell_line.data(), farewell_line.size());
  requests_.close();
  process_.wait_for(farewell);
  end_at_once();
}

answer_record worker::request(const nlohmann::json& message, milliseconds timeout,
                              const line_sink& on_progress) {
  throw_if_interrupted();
  // A process that died since its last answer harms no row: it is replaced before the request is sent.
  if (process_.is_running() && process_.wait_for(milliseconds(0))) end_at_once();
  if (!process_.is_running()) start();
  answer_record answer = converse(
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", timeout, on_progress);
  if (answer.sticky) {
    process_.wait_for(farewell);
    end_at_once();
  }
  return answer;
}

answer_record worker::converse(std::string unsent, milliseconds timeout, const line_sink& on_progress) {
  const auto deadline = clock::now() + timeout;
  bool more_to_come = true;
  for (;;) {
    for (std::string line; take_line(line);) {
      try {
        const auto json = nlohmann::json::parse(line);
        if (json.contains("end")) return json.get<answer_record>();
        if (on_progress) on_progress(json.at("progress").get<std::string>());
      } catch (const std::exception&) {  // not JSON, or not the protocol's
        end_at_once();
        return garbage(line);
      }
    }
    if (received_.size() > longest_line) {
      end_at_once();
      return garbage(received_.substr(0, 80));
    }
    if (!more_to_come) return death();

    if (was_interrupted()) {
      end_at_once();
      throw interrupted();
    }
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - clock::now());
    if (left.count() <= 0) {
      end_at_once();
      return failed_answer(failure_kind::hang, fmt::format("no answer within {} s; the stage was stopped",
                                                           static_cast<double>(timeout.count()) / 1000));
    }
    pollfd waiting[] = {{answers_.get(), POLLIN, 0},
                        {output_.get(), POLLIN, 0},
                        {interrupt_descriptor(), POLLIN, 0},
                        {unsent.empty() ? -1 : requests_.get(), POLLOUT, 0}};
    // Not longer than a moment: a child of the worker may hold the pipe open after the worker itself is gone.
    const auto moment = std::min(left, milliseconds(200));
    if (poll(waiting, 4, static_cast<int>(moment.count())) == 0) {
      if (process_.wait_for(milliseconds(0))) {
        read_answers();
        more_to_come = false;
      }
      continue;
    }
    if (waiting[1].revents != 0) read_output();
    if (waiting[3].revents != 0) {
      const ssize_t sent = write(requests_.get(), unsent.data(), unsent.size());
      // A broken pipe is the worker's death, which the answers' pipe tells as well.
      if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
      if (sent < 0 && errno == EPIPE) unsent.clear();
    }
    if (waiting[0].revents != 0) more_to_come = read_answers();
  }
}

answer_record worker::death() {
  auto ending = process_.wait_for(farewell);
  end_at_once();  // which also reads its last output
  std::string message = "the worker closed its answers and was ended";
  if (ending) message = (ending->by_signal ? "the worker was " : "the worker ") + ending->description();
  if (!last_output_.empty()) message += "; its last words: " + shortened(last_output_, 300);
  return failed_answer(failure_kind::crash, message);
}

bool worker::read_answers() {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = read(answers_.get(), buffer, sizeof buffer);
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
      if (received_.size() > longest_line) return true;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

void worker::read_output() {
  // Bounded, so that a process that never stops printing does not keep its front from the clock.
  char buffer[1 << 14];
  ssize_t count = 1;
  for (int reads = 0; reads < 64 && count > 0; ++reads) {
    count = read(output_.get(), buffer, sizeof buffer);
    if (count > 0) output_text_.append(buffer, static_cast<std::size_t>(count));
  }
  std::size_t begin = 0;
  for (std::size_t end; (end = output_text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    emit_output(output_text_.substr(begin, end - begin));
  }
  output_text_.erase(0, begin);
  const bool ended = count == 0;
  if (!output_text_.empty() && (ended || output_text_.size() > longest_output_line)) {
    emit_output(std::exchange(output_text_, ""));
  }
  if (ended) output_.close();
}

void worker::emit_output(const std::string& line) {
  if (line.find_first_not_of(" \t\r") != std::string::npos) last_output_ = line;
  if (output_sink_) {
    output_sink_(line);
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

bool worker::take_line(std::string& line) {
  const std::size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    return false;
  }
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

}  // namespace lab
