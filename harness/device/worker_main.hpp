// What every worker's program does, whatever carries its conversation with the front.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lab {

// Where the one request of this process comes from, and where the lines of its answer go.
class conversation {
 public:
  conversation() = default;
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  virtual ~conversation() = default;

  // The request, as JSON.
  virtual std::string request() = 0;
  // Sends one line of the answer.
  virtual void say(const nlohmann::json& line) = 0;
};

// Answers the request of the front that started this process (--serve, --serve-at SOCKET), or the one on its
// command line (--once); the exit code. `stages`: how many the program holds; nothing for a program of the
// directory `workers`, which is named by its stage or its track.
int worker_main(int argc, char** argv, conversation& with, std::optional<std::size_t> stages = {});

}  // namespace lab
