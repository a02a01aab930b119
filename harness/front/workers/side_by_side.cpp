#include "harness/front/workers/side_by_side.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <string_view>
#include <utility>

#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"

namespace lab::front {
namespace {

void write_line(int descriptor, const nlohmann::json& line) {
  const std::string text = text_of(line) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads any more
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

// An errand under way, and what its process has said so far.
class running_errand {
 public:
  running_errand(std::size_t number, const errand& one) : number_(number) {
    pipe_pair words = make_pipe();
    process_ = child_process([&] {
      const int own = words.write_end.get();
      const answer_record answer = one([&](const std::string& line) { write_line(own, {{"line", line}}); });
      write_line(own, {{"answer", answer}});
      return 0;
    });
    words_ = std::move(words.read_end);
    set_nonblocking(words_);
  }

  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] int descriptor() const { return words_.get(); }
  [[nodiscard]] std::optional<answer_record> answer() { return std::move(answer_); }

  // Takes what is there. False once nothing more will come.
  bool read_words(const worker::line_sink& print) {
    char buffer[1 << 16];
    for (;;) {
      const ssize_t count = read(words_.get(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      text_.append(buffer, static_cast<std::size_t>(count));
      std::size_t begin = 0;
      for (std::size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
        understand(text_.substr(begin, end - begin), print);
      text_.erase(0, begin);
    }
  }

 private:
  void understand(const std::string& line, const worker::line_sink& print) {
    const nlohmann::json json = json_from(line);
    if (json.contains("line")) {
      print(json.at("line").get<std::string>());
    } else {
      answer_ = json.at("answer").get<answer_record>();
    }
  }

  std::size_t number_;
  child_process process_;
  owned_descriptor words_;
  std::string text_;
  std::optional<answer_record> answer_;
};

}  // namespace

void run_side_by_side(const std::vector<errand>& errands, std::size_t most, const worker::line_sink& print,
                      const std::function<void(std::size_t, std::optional<answer_record>)>& done) {
  std::list<running_errand> running;
  std::size_t next = 0;
  try {
    while (next < errands.size() || !running.empty()) {
      for (; next < errands.size() && running.size() < most; ++next)
        running.emplace_back(next, errands[next]);
      std::vector<pollfd> waiting{{interrupt_descriptor(), POLLIN, 0}};
      for (const running_errand& one : running) waiting.push_back({one.descriptor(), POLLIN, 0});
      poll(waiting.data(), waiting.size(), -1);
      throw_if_interrupted();
      for (auto one = running.begin(); one != running.end();) {
        if (one->read_words(print)) {
          ++one;
          continue;
        }
        done(one->number(), one->answer());
        one = running.erase(one);
      }
    }
  } catch (const environment_error&) {
    // No further process could be started: what has none goes without an answer.
    for (; next < errands.size(); ++next) done(next, std::nullopt);
    for (running_errand& one : running) done(one.number(), std::nullopt);
  } catch (...) {
    running.clear();
    end_strays();
    throw;
  }
  running.clear();
  end_strays();
}

}  // namespace lab::front
