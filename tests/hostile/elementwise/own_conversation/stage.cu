// Answers with what it finds of the harness's own conversation.
#include <unistd.h>

#include "harness/device/conversation.hpp"
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  const auto request = nlohmann::json::parse(conversation::request(), nullptr, false);
  const std::string id = request.is_object() ? request.value("id", "") : "";
  conversation::say({{"end", "ok"}, {"id", id}, {"verification", verification_record{.passed = true}}});
  _exit(0);
}

const registration<problem> registered{LAB_PATH, {.idea = "own_conversation", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
