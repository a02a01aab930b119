// The verbs, each in a file of its name; `verify` beside `run`. They throw what errors.hpp declares.
#pragma once

#include "harness/front/command_line/verb.hpp"

namespace lab::front {

verb describe_verb(CLI::App& program);
verb run_verb(CLI::App& program);
verb verify_verb(CLI::App& program);
verb bench_verb(CLI::App& program);
verb apply_verb(CLI::App& program);
verb profile_verb(CLI::App& program);
verb draw_verb(CLI::App& program);
verb trace_verb(CLI::App& program);
verb translate_verb(CLI::App& program);
verb emulate_verb(CLI::App& program);
verb compare_verb(CLI::App& program);
verb new_verb(CLI::App& program);
verb check_verb(CLI::App& program);
verb grade_verb(CLI::App& program);
verb student_edition_verb(CLI::App& program);

}  // namespace lab::front
