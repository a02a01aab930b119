// A function that is not understood (it calls through a pointer, for one) is no error of its file, whose
// other functions may do without it. It has one statement: an instruction without opcode, at the place of
// what is not understood, with the message as its modifier.
#pragma once

#include "common/ptx/module.hpp"

namespace lab::ptx {

[[nodiscard]] inline statement unread_body(const error& why) {
  return {.where = {why.line(), why.column()}, .modifiers = {why.message()}};
}

[[nodiscard]] inline bool is_unread(const function& one) {
  return one.body.size() == 1 && one.body[0].kind == statement_kind::instruction &&
         one.body[0].opcode.empty();
}

// Throws what it is not understood for.
inline void require_read(const function& one) {
  if (is_unread(one)) throw error(one.body[0].where, one.body[0].modifiers[0]);
}

}  // namespace lab::ptx
