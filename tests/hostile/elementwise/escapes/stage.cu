// Its idea clears the screen, runs backwards and is not UTF-8.
#include <cstdio>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  std::puts("\x1b[2J\x1b]0;title\x07");
}

const registration<problem> registered{
    LAB_PATH, {.idea = "\x1b[2Jidea\xe2\x80\xae\xff\nsecond line", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
