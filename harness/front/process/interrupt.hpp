// Ctrl-C and its relatives, as something that a poll() can wait for.
#pragma once

namespace lab::front {

// From now on SIGINT, SIGTERM and SIGHUP set a flag instead of ending the program, and SIGPIPE and
// SIGXFSZ do nothing.
void catch_interrupts();

[[nodiscard]] bool was_interrupted();

// Readable once an interrupt has come; never read from it. -1 before catch_interrupts().
[[nodiscard]] int interrupt_descriptor();

// Throws `interrupted` if an interrupt has come.
void throw_if_interrupted();

}  // namespace lab::front
