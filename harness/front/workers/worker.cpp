#include "harness/front/workers/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "harness/front/output/format.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/process/temporary_folder.hpp"

namespace lab::front {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A line longer than this is not an answer: the largest are a million samples, about 20 MB.
constexpr std::size_t longest_line = std::size_t{256} << 20;
constexpr std::size_t longest_output_line = std::size_t{64} << 10;
// What a process prints is passed on for a person to read, who reads no more than this of one request.
constexpr int most_lines = worker::most_output_lines;

// How long a process may take to be gone once it has given its answer, and a launcher with all that it has
// started, maybe on other hosts, of which it may miss one for 20 s before it says so (launcher.cpp).
constexpr milliseconds grace_period{2000};
constexpr milliseconds launcher_grace_period{30'000};

// What one request differs in from another.
constexpr std::array asked_for{"op", "stage", "parameters", "plan"};
// A request with the references of a track is longer than a pipe holds by itself.
constexpr int pipe_bytes = 256 << 10;

answer_record failed_answer(failure_kind kind, std::string message) {
  answer_record answer;
  answer.end = answer_end::failed;
  answer.message = std::move(message);
  answer.failure = failure_record{};
  answer.failure->kind = kind;
  return answer;
}

answer_record crashed(std::string message) {
  return failed_answer(failure_kind::crash, std::move(message));
}

// A folder that only this user can enter, with the socket where rank 0 of several processes calls. It is gone
// with the folder.
class private_socket {
 public:
  explicit private_socket(int processes) : rank_0_(listening_at(path(), processes)) {}

  [[nodiscard]] std::string path() const { return (folder_.path() / "front").string(); }
  // Negative once rank 0 has called.
  [[nodiscard]] int listener() const { return rank_0_.get(); }
  [[nodiscard]] bool has_called() const { return !rank_0_.is_open(); }

  // The one call that is taken; nothing while there is none.
  owned_descriptor take_call() {
    owned_descriptor call(accept4(rank_0_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (call.is_open()) rank_0_.close();
    return call;
  }

 private:
  static owned_descriptor listening_at(const std::string& path, int processes) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      throw environment_error(fmt::format("{}: the path is too long for a socket (TMPDIR)", path));
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    owned_descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener.get(), processes) != 0)
      throw environment_error(fmt::format("cannot listen at {}: {}", path, std::strerror(errno)));
    return listener;
  }
  temporary_folder folder_{"ranks"};
  owned_descriptor rank_0_;
};

}  // namespace

// One request, and the process that answers it.
class exchange {
 public:
  exchange(const std::vector<std::string>& arguments, const process_launch& launch,
           std::unique_ptr<line_seal> seal, worker::line_sink output_sink)
      : output_sink_(std::move(output_sink)), seal_(std::move(seal)) {
    pipe_pair output = make_pipe();
    std::vector<std::string> all = arguments;
    if (launch.processes > 1) {
      socket_.emplace(launch.processes);
      launcher_ = fmt::format("the launcher ({})", fmt::join(launch.launcher, " "));
      all.insert(all.begin(), {"-n", std::to_string(launch.processes)});
      all.insert(all.begin(), launch.launcher.begin(), launch.launcher.end());
      all.insert(all.end(), {"--serve-at", socket_->path()});
      process_ = child_process(
          all, {{output.write_end.get(), STDOUT_FILENO}, {output.write_end.get(), STDERR_FILENO}});
      output_ = std::move(output.read_end);
      set_nonblocking(output_);
      return;
    }
    pipe_pair requests = make_pipe();
    pipe_pair answers = make_pipe();
    all.emplace_back("--serve");
    process_ = child_process(all, {{requests.read_end.get(), request_descriptor},
                                   {answers.write_end.get(), answer_descriptor},
                                   {output.write_end.get(), STDOUT_FILENO},
                                   {output.write_end.get(), STDERR_FILENO}});
    requests_ = std::move(requests.write_end);
    fcntl(requests_.get(), F_SETPIPE_SZ, pipe_bytes);
    answers_ = std::move(answers.read_end);
    output_ = std::move(output.read_end);
    for (const auto* descriptor : {&requests_, &answers_, &output_}) set_nonblocking(*descriptor);
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() {
    end_process();
    end_orphans();
  }

  // Sends what run() asks: what the pipe takes of it now, and the rest while run() waits.
  void ask(const nlohmann::json& message) {
    unsent_ = text_of(message) + "\n";
    if (seal_) unsent_ = seal_->request(unsent_);
    is_asked_ = true;
    if (requests_.is_open()) send();
  }

  [[nodiscard]] bool is_asked() const { return is_asked_; }

  answer_record run(const nlohmann::json& message, const time_limits& limits,
                    const worker::line_sink& on_progress) {
    on_progress_ = on_progress;
    if (!is_asked_) ask(message);
    answer_record answer = converse(limits);
    // What does not answer does not end, and on other hosts it is the launcher that ends it.
    if (answer.failure && answer.failure->kind == failure_kind::hang) end_process();
    // What it prints last belongs to its row, too.
    const auto deadline = clock::now() + (socket_ ? launcher_grace_period : grace_period);
    while (process_.is_running() && !process_.wait_for(milliseconds(1)) && clock::now() < deadline) {
      if (output_.is_open()) read_output();
    }
    end_process();
    if (output_.is_open()) read_output();
    const std::vector<std::string> orphans = end_orphans();
    // A launcher may end before what it has reached the other hosts by: ssh, over a slow link.
    if (!orphans.empty() && answer.end == answer_end::ok && !socket_)
      return crashed(
          fmt::format("it left processes running, which were ended: {}", fmt::join(orphans, ", ")));
    return answer;
  }

 private:
  answer_record converse(const time_limits& limits);
  std::optional<answer_record> understand(const std::string& line);
  void wait(milliseconds moment);
  void send();
  answer_record death();
  // What the launcher has done, before anything of a stage's ran: throws environment_error.
  [[noreturn]] void tell_launcher(const std::string& deed) const;
  void end_process();
  void read_answers();
  void read_output();
  void emit_output(const std::string& line);
  // "; waiting: rank 0 of 2 on ...", of several processes; the cause, where others only wait in turn.
  [[nodiscard]] std::string waiting() const;
  bool take_line(std::string& line);

  worker::line_sink output_sink_;
  worker::line_sink on_progress_;
  std::unique_ptr<line_seal> seal_;
  child_process process_;
  std::optional<private_socket> socket_;  // of several processes, instead of both pipes
  std::string launcher_;                  // of them, in words
  owned_descriptor requests_;
  owned_descriptor answers_;
  owned_descriptor output_;
  std::optional<process_ending> ending_;
  bool more_to_come_ = true;
  bool is_asked_ = false;
  std::string unsent_;
  std::string received_;        // bytes of answers that are not yet a whole line
  std::size_t searched_ = 0;    // of received_, known to hold no end of line
  std::string output_text_;     // bytes of output that are not yet a whole line
  std::string last_output_;     // the last line that has a word
  std::string launcher_words_;  // its lines before rank 0 had called, and then those after
  // Of several processes, the first line in which one says what ends it, and the last in which each says for
  // whom it waits.
  std::string of_a_rank_;
  std::map<int, std::string> waiting_;
  int lines_shown_ = 0;
};

answer_record exchange::converse(const time_limits& limits) {
  time_watch since_request(limits.answer);
  time_watch since_line(limits.silence);
  for (;;) {
    for (std::string line; take_line(line);) {
      since_line.restart();
      if (auto answer = understand(line)) return std::move(*answer);
    }
    if (received_.size() > longest_line)
      return crashed("the worker's answer is too long: " + cleaned(received_.substr(0, 80)));
    if (!more_to_come_) return death();

    throw_if_interrupted();
    const spent_time of_answer = since_request.spent(process_);
    const bool is_late = is_over(of_answer, limits.answer);
    const spent_time of_line = since_line.spent(process_);
    if (is_late || is_over(of_line, limits.silence)) {
      const std::string limit =
          is_late ? limit_text(of_answer, limits.answer) : limit_text(of_line, limits.silence);
      if (socket_ && !socket_->has_called()) tell_launcher("has not started rank 0 within " + limit);
      return failed_answer(failure_kind::hang,
                           fmt::format("{} {}; the stage was stopped{}",
                                       is_late ? "no answer within" : "nothing heard for", limit, waiting()));
    }
    // Not longer than a moment: a child of the worker may hold the pipe open after the worker itself is gone.
    wait(std::min({milliseconds(200), since_request.between_looks(), since_line.between_looks()}));
  }
}

// The answer, where the line is the closing one.
std::optional<answer_record> exchange::understand(const std::string& line) {
  const std::optional<std::string> text = seal_ ? seal_->answer(line) : line;
  if (!text) {
    return crashed(fmt::format("something that is not the worker's wrote to its answers: {}",
                               shortened(cleaned(line), 80)));
  }
  try {
    auto json = json_from(*text);
    clean(json);
    if (!json.contains("end")) {
      if (on_progress_) on_progress_(json.at("progress").get<std::string>());
      return std::nullopt;
    }
    return json.get<answer_record>();
  } catch (const std::exception&) {  // not JSON, or not the protocol's
    return crashed(
        fmt::format("the worker's answer cannot be understood: {}", shortened(cleaned(*text), 80)));
  }
}

// Until something comes, or the moment has passed.
void exchange::wait(milliseconds moment) {
  pollfd waiting[] = {{answers_.get(), POLLIN, 0},
                      {output_.get(), POLLIN, 0},
                      {interrupt_descriptor(), POLLIN, 0},
                      {unsent_.empty() ? -1 : requests_.get(), POLLOUT, 0},
                      {socket_ ? socket_->listener() : -1, POLLIN, 0}};
  if (poll(waiting, 5, static_cast<int>(moment.count())) == 0) {
    if (!ending_) ending_ = process_.wait_for(milliseconds(0));
    if (ending_) {
      if (answers_.is_open()) read_answers();
      more_to_come_ = false;
    }
    return;
  }
  if (waiting[4].revents != 0) {
    requests_ = socket_->take_call();
    launcher_words_.clear();
    if (requests_.is_open()) answers_ = owned_descriptor(fcntl(requests_.get(), F_DUPFD_CLOEXEC, 0));
  }
  if (waiting[1].revents != 0) read_output();
  if (waiting[3].revents != 0) send();
  if (waiting[0].revents != 0) read_answers();
}

void exchange::send() {
  const ssize_t sent = write(requests_.get(), unsent_.data(), unsent_.size());
  // A broken pipe is the worker's death, which the answers' pipe tells as well.
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
  if (sent < 0 && errno == EPIPE) unsent_.clear();
}

answer_record exchange::death() {
  if (!ending_) ending_ = process_.wait_for(socket_ ? launcher_grace_period : grace_period);
  end_process();
  if (output_.is_open()) read_output();
  if (socket_ && !socket_->has_called()) {
    tell_launcher(ending_ ? fmt::format("{}{} before rank 0 was there", ending_->by_signal ? "was " : "",
                                        ending_->description())
                          : "was ended before rank 0 was there");
  }
  if (!of_a_rank_.empty()) return crashed(shortened(of_a_rank_, 500));
  const std::string who = socket_ ? "the launcher" : "the worker";
  std::string message = who + " closed its answers and was ended";
  if (ending_) {
    message = who + (ending_->by_signal ? " was " : " ") + ending_->description();
    if (!ending_->by_signal) message += socket_ ? " before rank 0 answered" : " before it answered";
  }
  if (socket_) {
    if (!launcher_words_.empty()) message += ", and said " + shortened(launcher_words_, 500);
    message += waiting();
  } else if (!last_output_.empty()) {
    message += "; its last words: " + shortened(last_output_, 300);
  }
  return crashed(message);
}

std::string exchange::waiting() const {
  for (const auto& [rank, line] : waiting_) {
    int missing = 0;
    if (std::sscanf(line.c_str(), "waiting: rank %*d of %*d on %*s to which rank %d", &missing) == 1 &&
        !waiting_.contains(missing))
      return "; " + line;
  }
  return waiting_.empty() ? "" : "; " + waiting_.begin()->second;
}

void exchange::tell_launcher(const std::string& deed) const {
  throw environment_error(fmt::format("{} {}, and said {}", launcher_, deed,
                                      launcher_words_.empty() ? "nothing" : shortened(launcher_words_, 500)));
}

void exchange::end_process() {
  if (socket_) {
    process_.end_within(launcher_grace_period);
  } else {
    process_.kill();
  }
}

void exchange::read_answers() {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = read(answers_.get(), buffer, sizeof buffer);
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
      if (received_.size() > longest_line) return;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 || errno != EAGAIN) more_to_come_ = false;
    return;
  }
}

void exchange::read_output() {
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

void exchange::emit_output(const std::string& raw) {
  const std::string line = cleaned(raw, longest_output_line);
  if (std::any_of(line.begin(), line.end(), [](unsigned char one) { return std::isalnum(one) != 0; })) {
    last_output_ = line;
    int waits = 0;
    constexpr std::size_t enough = 1000;
    if (socket_ && std::sscanf(line.c_str(), "waiting: rank %d of", &waits) == 1) {
      waiting_[waits] = line;
    } else if (socket_ && launcher_words_.size() < enough) {
      launcher_words_ += (launcher_words_.empty() ? "" : "; ") + line;
    }
  }
  if (socket_ && of_a_rank_.empty() && line.rfind("rank ", 0) == 0) of_a_rank_ = line;
  if (lines_shown_ > most_lines) return;
  const std::string shown = lines_shown_++ < most_lines
                                ? line
                                : fmt::format("(it has printed {} lines; more are not shown)", most_lines);
  if (output_sink_) {
    output_sink_(shown);
  } else {
    std::fprintf(stderr, "%s\n", shown.c_str());
  }
}

bool exchange::take_line(std::string& line) {
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

worker::worker(std::vector<std::string> arguments, process_launch launch, seal_maker make_seal)
    : arguments_(std::move(arguments)), launch_(std::move(launch)), make_seal_(std::move(make_seal)) {}
worker::worker(worker&&) noexcept = default;
worker& worker::operator=(worker&&) noexcept = default;
worker::~worker() = default;

void worker::start_ahead() {
  if (launch_.processes > 1 || make_seal_) return;
  std::vector<std::string> all = arguments_;
  all.emplace_back("--connect");
  try {
    ahead_ = std::make_unique<exchange>(all, launch_, nullptr, output_sink_);
  } catch (const environment_error&) {
    ahead_.reset();
  }
}

void worker::ask_ahead(const nlohmann::json& message) {
  if (!ahead_) start_ahead();
  if (!ahead_) return;
  for (const char* const what : asked_for) asked_[what] = message.value(what, nlohmann::json());
  ahead_->ask(message);
}

bool worker::may_answer(const nlohmann::json& message) const {
  return !is_asked() || std::all_of(asked_for.begin(), asked_for.end(), [&](const char* what) {
    return asked_.at(what) == message.value(what, nlohmann::json());
  });
}

bool worker::is_asked() const {
  return ahead_ && ahead_->is_asked();
}

answer_record worker::request(const nlohmann::json& message, time_limits limits,
                              const line_sink& on_progress) {
  throw_if_interrupted();
  std::unique_ptr<exchange> one = std::move(ahead_);
  try {
    if (!one)
      one =
          std::make_unique<exchange>(arguments_, launch_, make_seal_ ? make_seal_() : nullptr, output_sink_);
  } catch (const environment_error& missing) {
    // A stage's program is its row's affair: another stage may have taken it away.
    const std::string op = message.value("op", "");
    if (launch_.processes > 1 || (op != "measure" && op != "verify")) throw;
    return crashed(missing.what());
  }
  return one->run(message, limits, on_progress);
}

}  // namespace lab::front
