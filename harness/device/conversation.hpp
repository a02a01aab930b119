// The worker's end of the conversation: the one request that this process answers, and the sealed lines of
// the answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace lab::conversation {

// The request that came with the start of the process (`--serve`): taken from the pipe before any of the
// stage's code has run, static initialisers included. Empty where there is none.
[[nodiscard]] std::string_view request();

// Sends one line of the answer. Does nothing in a process without a request, nor in one that was forked from
// the worker: only the worker itself answers.
void say(const nlohmann::json& line);

// Between these two the worker launches the stage `launches` times and does nothing else, so that the front
// can hold its own clock beside the worker's: `nanoseconds` is what passed by the latter.
void say_sampling_begins();
void say_sampling_ended(std::int64_t launches, std::int64_t nanoseconds);

}  // namespace lab::conversation
