// The body of a translation: statements of PTX as lines of one asm statement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/analysis.hpp"
#include "common/ptx/module.hpp"
#include "common/ptx/types.hpp"

namespace lab::ptx {

// Throws an error that ends with what to do instead of translating.
[[noreturn]] void refuse(position where, const std::string& why);

// What an access to a parameter reads or writes: a register, an operand of the asm statement, a number, or
// (of a structure that one function hands to another) local memory.
struct place {
  std::string text;  // as it stands in the asm text: "%%result", "%1", "8"
  int bits = 0;
  bool is_number = false;
  std::uint64_t bytes = 0;  // of a structure; else 0
};

// Emits one function, and in nested blocks those that it calls.
class emitter {
 public:
  struct line {
    std::string text;  // as it stands between the quotes, but for their escapes
    std::size_t origin = 0;
  };
  struct table {
    const declaration* source = nullptr;
    std::string register_name;  // that holds its address: "%table0"
    std::string register_text;  // the same in asm: "%%_table0"
  };

  emitter(std::string_view ptx, const module& source)
      : source_(source),
        result_name_(unique(ptx, "%result")),
        argument_name_(unique(ptx, "%argument")),
        table_name_(unique(ptx, "%table")),
        end_name_(unique(ptx, "$end")) {}

  // Of the register that is to hold the result; it does not occur in the PTX.
  [[nodiscard]] std::string result_register() const;

  // Emits `of` with its parameters at these places. What it stores to func_retval0 goes to `result`; nowhere
  // where that has no bits. With `pointer`, it is the stores through the first parameter that go there.
  void emit(const function& of, const std::map<std::string, place, std::less<>>& parameters,
            const place& result, const result_pointer* pointer);

  [[nodiscard]] const std::vector<line>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<table>& tables() const { return tables_; }
  // Whether anything but the operands decides what the statement does, or it changes more than its result.
  [[nodiscard]] bool is_volatile() const { return is_volatile_; }

 private:
  struct frame {
    const function* of = nullptr;
    const std::map<std::string, place, std::less<>>* parameters = nullptr;
    place result;
    const result_pointer* pointer = nullptr;
    symbols names;
    std::map<std::string, bool> labels;
    std::vector<std::map<std::string, place, std::less<>>> call_places{1};  // of .param in blocks
    std::string end;                                                        // label
    bool jumps_to_end = false;
  };

  // `name` with as many underscores as it takes for the PTX not to hold it.
  [[nodiscard]] static std::string unique(std::string_view ptx, std::string name);

  void add(std::string text, const statement& origin);
  void count(std::size_t bytes, position where);
  void emit_statement(frame& in, std::size_t index);
  void emit_declaration(frame& in, const statement& one);
  void emit_instruction(frame& in, std::size_t index);
  void emit_return(frame& in, std::size_t index);
  void emit_call(frame& in, const statement& one);
  void emit_load(frame& in, const statement& one);
  void emit_store(frame& in, const statement& one, const place& into);
  void emit_structure_access(frame& in, const statement& one, const place& structure);
  void emit_other(frame& in, const statement& one);
  [[nodiscard]] std::map<std::string, place, std::less<>> arguments_of_call(const frame& in,
                                                                            const statement& call,
                                                                            const function& callee,
                                                                            const operand* given) const;
  operand resolved(const frame& in, const statement& one, const operand& source);
  std::string address_of_table(const declaration& variable, position where);
  [[nodiscard]] const place* find_call_place(const frame& in, std::string_view name) const;
  [[nodiscard]] const declaration& register_of(const frame& in, const operand& named) const;
  [[nodiscard]] place source_of(const frame& in, const operand& named) const;

  const module& source_;
  std::string result_name_;
  std::string argument_name_;
  std::string table_name_;
  std::string end_name_;
  std::vector<line> lines_;
  std::vector<table> tables_;
  std::vector<const function*> callers_;
  std::size_t numbers_ = 0;  // of names given so far
  std::size_t depth_ = 1;
  std::size_t bytes_ = 0;
  bool is_volatile_ = false;
  position stored_;  // the first store to memory, where there is one
  bool stores_ = false;
  bool reads_global_table_ = false;
};

}  // namespace lab::ptx
