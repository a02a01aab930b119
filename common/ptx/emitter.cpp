#include "common/ptx/emitter.hpp"

#include <algorithm>

namespace lab::ptx {
namespace {

constexpr std::size_t most_text = std::size_t{4} << 20;  // bytes of a translation, whose callees are copied
constexpr std::size_t deepest_call = 16;

constexpr std::string_view special_registers[] = {"%tid",
                                                  "%ntid",
                                                  "%laneid",
                                                  "%warpid",
                                                  "%nwarpid",
                                                  "%ctaid",
                                                  "%nctaid",
                                                  "%nclusterid",
                                                  "%smid",
                                                  "%nsmid",
                                                  "%gridid",
                                                  "%lanemask_",
                                                  "%clock",
                                                  "%pm",
                                                  "%globaltimer",
                                                  "%envreg",
                                                  "%dynamic_smem_size",
                                                  "%total_smem_size",
                                                  "%aggr_smem_size",
                                                  "%reserved_smem_offset",
                                                  "%cluster",
                                                  "%is_explicit_cluster",
                                                  "%current_graph_exec"};

bool is_special(std::string_view name) {
  return std::any_of(std::begin(special_registers), std::end(special_registers),
                     [&](std::string_view one) { return name.rfind(one, 0) == 0; });
}

// A statement of PTX as it stands in asm text, where '%' begins an operand. A register gets another name,
// %rd1 that of %_rd1: the operands of an asm statement are registers of the surrounding function, which the
// compiler calls %rd1 as well, and a block's own register would hide them.
std::string asm_text(std::string_view ptx) {
  std::string text;
  for (std::size_t at = 0; at < ptx.size(); ++at) {
    if (ptx[at] != '%') {
      text += ptx[at];
    } else {
      text += is_special(ptx.substr(at)) ? "%%" : "%%_";
    }
  }
  return text;
}

std::string guard_of(const statement& one) {
  return one.guard.empty() ? "" : asm_text((one.guard_negated ? "@!" : "@") + one.guard + " ");
}

bool has(const statement& one, std::string_view modifier) {
  return std::find(one.modifiers.begin(), one.modifiers.end(), modifier) != one.modifiers.end();
}

// The one type of an access to memory. Vectors and structures are refused.
ptx_type type_of_access(const statement& one) {
  const std::vector<ptx_type> types = types_of(one);
  if (types.size() != 1 || types[0].kind == 'p')
    throw error(one.where, "this access has no type such as .u64");
  if (has(one, ".v2") || has(one, ".v4") || has(one, ".v8"))
    refuse(one.where, "a structure is passed by value in parts");
  return types[0];
}

void require_whole(const statement& one, const operand& address) {
  if (!address.offset.empty() && address.offset != "0")
    refuse(address.where,
           "a part of the parameter " + address.text + " is accessed (" + print(address) + ")");
  if (one.operands.size() != 2) throw error(one.where, "two operands are wanted here");
}

// "mov" where nothing changes; else "cvt" from the low bits of what was loaded, with the load's sign.
std::string convert(ptx_type loaded, const place& into, const place& from) {
  const std::string to_text = into.text + ", " + from.text + ";";
  const char kind = loaded.kind == 'f' ? 'f' : 'b';
  if (from.is_number || (into.bits == from.bits && loaded.bits >= into.bits))
    return std::string("mov.") + kind + std::to_string(into.bits) + " " + to_text;
  const char sign = loaded.kind == 's' ? 's' : 'u';
  const int low = std::min(loaded.bits, from.bits);
  return std::string("cvt.") + sign + std::to_string(into.bits) + "." + sign + std::to_string(low) + " " +
         to_text;
}

// Of a parameter between functions: a register, which is 16 bits wide at least, or a structure's bytes.
place place_of(const declaration& parameter, std::string text) {
  const auto type = find_ptx_type(parameter.type);
  if (!parameter.vector.empty() || !type || type->kind == 'p' ||
      (parameter.is_array && parameter.elements == 0))
    refuse(parameter.where, "the parameter " + parameter.name + " is neither a number nor a structure");
  const int bits = type->bits;
  if (parameter.is_array)
    return {std::move(text), 0, false, parameter.elements * static_cast<std::uint64_t>(bits) / 8};
  return {std::move(text), std::max(bits, 16)};
}

bool fits(const place& given, const declaration& parameter) {
  const place needed = place_of(parameter, "");
  return given.bits == needed.bits && given.bytes == needed.bytes;
}

// %r1.x: the register alone.
std::string_view without_member(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace

void refuse(position where, const std::string& why) {
  throw error(where, why + ", which cannot be translated; use the stage \"udf/04_link_time\"");
}

std::string emitter::result_register() const {
  return asm_text(result_name_);
}

std::string emitter::unique(std::string_view ptx, std::string name) {
  std::size_t most = 0;
  bool is_there = false;
  for (std::size_t at = ptx.find(name); at != std::string_view::npos; at = ptx.find(name, at + name.size())) {
    is_there = true;
    const std::size_t begin = at + name.size();
    most = std::max(most, std::min(ptx.find_first_not_of('_', begin), ptx.size()) - begin);
  }
  return is_there ? name.append(most + 1, '_') : name;
}

void emitter::count(std::size_t bytes, position where) {
  bytes_ += bytes;
  if (bytes_ > most_text) refuse(where, "with the functions that it calls, the function is too large");
}

void emitter::add(std::string text, const statement& origin) {
  count(text.size() + 2 * depth_, origin.where);
  lines_.push_back({std::string(2 * depth_, ' ') + std::move(text), origin.where.line});
}

const place* emitter::find_call_place(const frame& in, std::string_view name) const {
  for (auto scope = in.call_places.rbegin(); scope != in.call_places.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  }
  return nullptr;
}

const declaration& emitter::register_of(const frame& in, const operand& named) const {
  const declaration* const found =
      named.kind == operand_kind::name ? in.names.find(without_member(named.text)) : nullptr;
  if (found == nullptr || found->space != ".reg")
    throw error(named.where, "a register is wanted, and " + print(named) + " is not declared as one");
  return *found;
}

place emitter::source_of(const frame& in, const operand& named) const {
  if (named.kind == operand_kind::number) return {named.text, 0, true};
  const auto type = find_ptx_type(register_of(in, named).type);
  if (!type || type->kind == 'p') throw error(named.where, print(named) + " cannot be stored to a parameter");
  return {asm_text(named.text), type->bits, false};
}

void emitter::emit(const function& of, const std::map<std::string, place, std::less<>>& parameters,
                   const place& result, const result_pointer* pointer) {
  if (callers_.size() == deepest_call)
    refuse(of.where, "calls are nested deeper than " + std::to_string(deepest_call));
  require_read(of);
  callers_.push_back(&of);
  frame in{.of = &of, .parameters = &parameters, .result = result, .pointer = pointer};
  in.end = end_name_ + (numbers_ == 0 ? "" : std::to_string(numbers_));
  ++numbers_;
  for (const statement& one : of.body) {
    if (one.kind != statement_kind::label && one.kind != statement_kind::branch_targets) continue;
    if (!in.labels.emplace(one.opcode, true).second)
      throw error(one.where, "the label " + one.opcode + " is there twice");
  }
  for (std::size_t index = 0; index < of.body.size(); ++index) emit_statement(in, index);
  if (in.jumps_to_end) add(in.end + ":", of.body.back());
  callers_.pop_back();
}

void emitter::emit_statement(frame& in, std::size_t index) {
  const statement& one = in.of->body[index];
  count(8, one.where);  // what is dropped takes time as well
  switch (one.kind) {
    case statement_kind::label:
      return add(one.opcode + ":", one);
    case statement_kind::declaration:
      return emit_declaration(in, one);
    case statement_kind::instruction:
      return emit_instruction(in, index);
    case statement_kind::pragma:
      return add(asm_text(print(one)), one);
    case statement_kind::branch_targets:
      return emit_other(in, one);
    case statement_kind::block_begin:
      in.names.open();
      in.call_places.emplace_back();
      add("{", one);
      ++depth_;
      return;
    case statement_kind::block_end:
      in.names.close();
      in.call_places.pop_back();
      --depth_;
      add("}", one);
      return;
  }
}

void emitter::emit_declaration(frame& in, const statement& one) {
  const declaration& declared = one.declared;
  if (declared.space == ".param") {
    const place made = place_of(declared, asm_text(argument_name_ + std::to_string(numbers_++)));
    if (!in.call_places.back().emplace(declared.name, made).second)
      throw error(declared.where, declared.name + " is declared twice");
    if (made.bytes == 0) return add(".reg .b" + std::to_string(made.bits) + " " + made.text + ";", one);
    const std::uint32_t alignment = std::max<std::uint32_t>(declared.alignment, 1);
    return add(".local .align " + std::to_string(alignment) + " .b8 " + made.text + "[" +
                   std::to_string(made.bytes) + "];",
               one);
  }
  if (declared.space != ".reg" && declared.space != ".local")
    refuse(declared.where,
           "the variable " + declared.name + " in " + declared.space + " memory is shared between calls");
  if (in.pointer != nullptr && in.call_places.size() > 1) {
    for (const std::string& name : in.pointer->registers) {
      if (name.rfind(declared.name, 0) == 0)
        refuse(declared.where, "a block has another register of the result's name");
    }
  }
  in.names.declare(declared);
  add(asm_text(print(one)), one);
}

void emitter::emit_return(frame& in, std::size_t index) {
  const statement& one = in.of->body[index];
  const bool is_last =
      std::all_of(in.of->body.begin() + static_cast<std::ptrdiff_t>(index) + 1, in.of->body.end(),
                  [](const statement& after) { return after.kind == statement_kind::block_end; });
  if (is_last) return;
  in.jumps_to_end = true;
  add(guard_of(one) + (has(one, ".uni") ? "bra.uni " : "bra ") + in.end + ";", one);
}

void emitter::emit_instruction(frame& in, std::size_t index) {
  const statement& one = in.of->body[index];
  if (!one.guard.empty()) (void)register_of(in, {.text = one.guard, .where = one.where});
  if (one.opcode == "ret") return emit_return(in, index);
  if (one.opcode == "call") return emit_call(in, one);
  if (is_parameter_access(one, "ld")) return emit_load(in, one);
  if (is_parameter_access(one, "st")) {
    if (one.operands.size() != 2 || one.operands[0].kind != operand_kind::address)
      throw error(one.where, "a store to a parameter has an address and a value");
    const operand& address = one.operands[0];
    if (const place* const argument = find_call_place(in, address.text))
      return emit_store(in, one, *argument);
    if (in.of->results.empty() || address.text != in.of->results[0].name)
      throw error(address.where, address.text + " is no parameter of a call, and not the function's result");
    if (in.pointer != nullptr || (in.result.bits == 0 && in.result.bytes == 0)) return;  // a status
    return emit_store(in, one, in.result);
  }
  if (in.pointer != nullptr && !one.operands.empty()) {
    const operand& first = one.operands[0];
    const bool is_address = first.kind == operand_kind::address;
    if (in.pointer->registers.count(first.text) != 0) {
      if (is_address) emit_store(in, one, in.result);
      return;  // else a copy of the pointer
    }
  }
  emit_other(in, one);
}

void emitter::emit_load(frame& in, const statement& one) {
  if (one.operands.size() != 2 || one.operands[1].kind != operand_kind::address)
    throw error(one.where, "a load of a parameter has a register and an address");
  const operand& address = one.operands[1];
  if (in.pointer != nullptr && address.text == in.of->parameters[0].name) return;
  const place* from = find_call_place(in, address.text);
  if (from == nullptr) {
    const auto found = in.parameters->find(address.text);
    if (found == in.parameters->end())
      throw error(address.where, "the function has no parameter " + address.text);
    from = &found->second;
  }
  if (from->bytes != 0) return emit_structure_access(in, one, *from);
  const ptx_type type = type_of_access(one);
  require_whole(one, address);
  const place into = source_of(in, one.operands[0]);
  if (into.is_number) throw error(one.where, "a load needs a register");
  if (into.bits < type.bits)
    throw error(one.where, print(one.operands[0]) + " is narrower than what is loaded");
  if (!from->is_number && from->bits < type.bits)
    throw error(one.where, "the load is wider than the parameter " + address.text);
  add(guard_of(one) + convert(type, into, *from), one);
}

// A part of a structure: the same access to local memory.
void emitter::emit_structure_access(frame& in, const statement& one, const place& structure) {
  statement access = one;
  for (std::string& modifier : access.modifiers) {
    if (modifier.rfind(".param", 0) == 0) modifier = ".local";
  }
  // \x02: the structure's name, which is one of asm text already.
  const std::size_t address = one.opcode == "ld" ? 1 : 0, value = 1 - address;
  access.operands[address].text = "\x02";
  access.operands[value] = resolved(in, one, one.operands[value]);
  std::string text = asm_text(print(access));
  text.replace(text.find('\x02'), 1, structure.text);
  add(text, one);
}

void emitter::emit_store(frame& in, const statement& one, const place& into) {
  if (into.bytes != 0) return emit_structure_access(in, one, into);
  const ptx_type type = type_of_access(one);
  require_whole(one, one.operands[0]);
  if (one.operands[1].kind == operand_kind::vector) refuse(one.where, "a structure is stored in parts");
  const place from = source_of(in, one.operands[1]);
  if (!from.is_number && from.bits < type.bits)
    throw error(one.where, print(one.operands[1]) + " is narrower than what is stored");
  if (type.bits > into.bits) throw error(one.where, "the store is wider than where it goes");
  add(guard_of(one) + convert(type, into, from), one);
}

std::map<std::string, place, std::less<>> emitter::arguments_of_call(const frame& in, const statement& call,
                                                                     const function& callee,
                                                                     const operand* given) const {
  const std::size_t count = given == nullptr ? 0 : given->parts.size();
  if (count != callee.parameters.size())
    throw error(call.where, "the call has " + std::to_string(count) + " arguments, and " + callee.name +
                                " has " + std::to_string(callee.parameters.size()) + " parameters");
  std::map<std::string, place, std::less<>> arguments;
  for (std::size_t k = 0; k < count; ++k) {
    const operand& part = given->parts[k];
    const place* const argument = find_call_place(in, part.text);
    if (argument == nullptr)
      refuse(part.where, "the argument " + print(part) + " is no .param of this block");
    if (!fits(*argument, callee.parameters[k]))
      throw error(part.where, part.text + " is not as wide as the parameter of " + callee.name);
    arguments[callee.parameters[k].name] = *argument;
  }
  return arguments;
}

void emitter::emit_call(frame& in, const statement& one) {
  const bool gives = !one.operands.empty() && one.operands[0].kind == operand_kind::list;
  const std::size_t at = gives ? 1 : 0;
  if (at >= one.operands.size() || one.operands[at].kind != operand_kind::name)
    throw error(one.where, "a call names a function");
  const operand& named = one.operands[at];
  const auto callee = std::find_if(
      source_.functions.begin(), source_.functions.end(),
      [&](const function& each) { return each.name == named.text && each.has_body && !each.is_kernel; });
  if (callee == source_.functions.end())
    refuse(named.where, "the function calls " + named.text + ", whose code is not in the file");
  if (std::find(callers_.begin(), callers_.end(), &*callee) != callers_.end())
    refuse(named.where, "the function calls itself by way of " + named.text);
  if (!one.guard.empty()) refuse(one.where, "the call has a predicate");
  const operand* const given = one.operands.size() > at + 1 ? &one.operands[at + 1] : nullptr;
  if (given != nullptr && given->kind != operand_kind::list)
    refuse(given->where, "the call goes through a pointer");
  const auto arguments = arguments_of_call(in, one, *callee, given);
  place result;
  if (gives) {
    const operand& list = one.operands[0];
    const place* const found = list.parts.size() == 1 ? find_call_place(in, list.parts[0].text) : nullptr;
    if (found == nullptr) refuse(list.where, "the result of the call is no .param of this block");
    if (callee->results.size() != 1 || !fits(*found, callee->results[0]))
      throw error(list.where, "the result is not as wide as that of " + callee->name);
    result = *found;
  }
  add("{", one);
  ++depth_;
  emit(*callee, arguments, result, nullptr);
  --depth_;
  add("}", one);
}

std::string emitter::address_of_table(const declaration& variable, position where) {
  const auto known =
      std::find_if(tables_.begin(), tables_.end(), [&](const table& one) { return one.source == &variable; });
  if (known != tables_.end()) return known->register_name;
  if (variable.space == ".shared") refuse(where, variable.name + " lies in shared memory");
  if (!variable.linkage.empty())
    refuse(where, variable.name + " is " + variable.linkage.substr(1) + ", so that others may change it");
  if (!variable.has_values)
    refuse(where, variable.name + " has no initial values, and so is no constant table");
  reads_global_table_ |= variable.space == ".global";
  const std::string name = table_name_ + std::to_string(tables_.size());
  tables_.push_back({&variable, name, asm_text(name)});
  return name;
}

// The operand with the addresses of tables instead of their names. Throws error for a name that nothing
// declares.
operand emitter::resolved(const frame& in, const statement& one, const operand& source) {
  operand result = source;
  for (operand& part : result.parts) part = resolved(in, one, part);
  const bool has_name = source.kind == operand_kind::name || source.kind == operand_kind::address;
  const bool is_number = !source.text.empty() && source.text[0] >= '0' && source.text[0] <= '9';
  if (!has_name || (source.kind == operand_kind::address && is_number)) return result;
  const std::string_view name = without_member(source.text);
  if (in.names.find(name) != nullptr || is_special(source.text) || source.text == "WARP_SZ") return result;
  if (in.labels.count(source.text) != 0 &&
      (one.opcode == "bra" || one.opcode == "brx" || one.kind == statement_kind::branch_targets))
    return result;
  if (find_call_place(in, source.text) != nullptr || in.parameters->count(source.text) != 0)
    refuse(source.where, "the address of the parameter " + source.text + " is taken");
  for (const function& each : source_.functions) {
    if (each.name == source.text)
      refuse(source.where, "the address of the function " + each.name + " is taken");
  }
  for (const declaration& variable : source_.variables) {
    if (variable.name == source.text) {
      result.text = address_of_table(variable, source.where);
      return result;
    }
  }
  throw error(source.where, source.text + " is not declared");
}

void emitter::emit_other(frame& in, const statement& one) {
  if (one.kind == statement_kind::instruction) {
    if (!is_pure(one)) is_volatile_ = true;
    const bool reads = one.opcode == "ld" || one.opcode == "ldu" || one.opcode == "prefetch";
    if (!is_pure(one) && !reads && !stores_) {
      stores_ = true;
      stored_ = one.where;
    }
  }
  statement resolved_one = one;
  for (std::size_t k = 0; k < one.operands.size(); ++k) {
    operand& each = resolved_one.operands[k];
    each = resolved(in, one, each);
    if (each.kind == operand_kind::name && !each.offset.empty() && each.text != one.operands[k].text)
      refuse(each.where, "an address within a table is taken");
  }
  add(asm_text(print(resolved_one)), one);
  if (stores_ && reads_global_table_)
    refuse(stored_, "the function changes memory and reads a table in global memory, which may be the same");
}

}  // namespace lab::ptx
