#include "harness/front/emulate/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "common/emulator/core/elf_file.hpp"

namespace lab::front {
namespace {

// Bytes that are read in their order; beyond the end it throws.
class byte_reader {
 public:
  explicit byte_reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] bool has_more() const { return left() != 0; }
  void go_to(std::size_t at) {
    if (at > bytes_.size()) throw std::runtime_error("it ends early");
    at_ = at;
  }
  template <class T>
  T take() {
    T value;
    if (bytes_.size() - at_ < sizeof value) throw std::runtime_error("it ends early");
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) throw std::runtime_error("a name has no end");
    std::string found(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return found;
  }
  // LEB128.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    } while (byte >= 0x80);
    if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// ---- ELF

const elf_file::section* section_of(const elf_file& elf, const std::string& name) {
  const auto found = std::find_if(elf.sections().begin(), elf.sections().end(),
                                  [&](const elf_file::section& one) { return one.name == name; });
  return found == elf.sections().end() ? nullptr : &*found;
}

// ---- lines (DWARF 2, with NVIDIA's statement for what was inlined)

struct line_row {
  std::uint64_t address = 0;
  std::size_t file = 1;
  unsigned line = 1;
  std::size_t inlined_at = 0;  // the row of the call, from 1; 0: not inlined
};

struct line_table {
  std::vector<std::string> files;  // from 1
  // By the section of the code; in their order, in which the last of an address holds.
  std::map<std::size_t, std::vector<line_row>> rows;
};

std::string joined(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).lexically_normal();
}

class line_program {
 public:
  line_program(const elf_file& elf, const elf_file::section& lines) : from_(lines.contents) {
    const elf_file::section* const moved = section_of(elf, ".rela" + std::string(lines.name));
    if (moved == nullptr) return;
    const std::vector<elf_file::symbol> symbols = moved->header.sh_link < elf.sections().size()
                                                      ? elf.symbols(elf.sections()[moved->header.sh_link])
                                                      : std::vector<elf_file::symbol>();
    for (const auto& one : elf_file::entries<Elf64_Rela>(moved->contents)) {
      const Elf64_Sym& symbol = symbols.at(ELF64_R_SYM(one.r_info)).entry;
      moved_[one.r_offset] = {symbol.st_shndx, symbol.st_value + static_cast<std::uint64_t>(one.r_addend)};
    }
  }

  // One unit after another.
  std::vector<line_table> run() {
    std::vector<line_table> tables;
    while (from_.has_more()) tables.push_back(unit());
    return tables;
  }

 private:
  line_table unit() {
    table_ = {};
    const auto length = from_.take<std::uint32_t>();
    const std::size_t end = from_.at() + length;
    const auto version = from_.take<std::uint16_t>();
    if (version != 2) throw std::runtime_error(fmt::format("its lines are DWARF {}, not 2", version));
    const auto header = from_.take<std::uint32_t>();
    const std::size_t program = from_.at() + header;
    instruction_bytes_ = from_.take<std::uint8_t>();
    from_.take<std::uint8_t>();  // whether a row is a statement
    line_base_ = from_.take<std::int8_t>();
    line_range_ = from_.take<std::uint8_t>();
    opcode_base_ = from_.take<std::uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) throw std::runtime_error("its lines make no sense");
    lengths_.assign(opcode_base_, 0);
    for (unsigned opcode = 1; opcode < opcode_base_; ++opcode) lengths_[opcode] = from_.take<std::uint8_t>();
    std::vector<std::string> folders{""};
    for (std::string name = from_.text(); !name.empty(); name = from_.text()) folders.push_back(name);
    table_.files.assign(1, "");
    for (std::string name = from_.text(); !name.empty(); name = from_.text()) {
      const auto folder = from_.number();
      from_.number();  // time
      from_.number();  // bytes
      table_.files.push_back(joined(folders.at(folder), name));
    }
    from_.go_to(program);
    begin_sequence();
    while (from_.at() < end) statement();
    return std::move(table_);
  }

  void begin_sequence() {
    now_ = {};
    section_ = 0;
    rows_.clear();
  }

  void statement() {
    const auto opcode = from_.take<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned step = opcode - opcode_base_;
      now_.address += std::uint64_t{step / line_range_} * instruction_bytes_;
      now_.line = static_cast<unsigned>(static_cast<int>(now_.line) + line_base_ +
                                        static_cast<int>(step % line_range_));
      rows_.push_back(now_);
      return;
    }
    switch (opcode) {
      case 0:
        return extended();
      case 1:
        rows_.push_back(now_);
        return;
      case 2:
        now_.address += from_.number() * instruction_bytes_;
        return;
      case 3:
        now_.line = static_cast<unsigned>(static_cast<std::int64_t>(now_.line) + from_.signed_number());
        return;
      case 4:
        now_.file = from_.number();
        return;
      case 8:
        now_.address += std::uint64_t{(255u - opcode_base_) / line_range_} * instruction_bytes_;
        return;
      case 9:
        now_.address += from_.take<std::uint16_t>();
        return;
      default:
        for (unsigned operand = 0; operand < lengths_[opcode]; ++operand) from_.number();
    }
  }

  void extended() {
    const auto length = from_.number();
    if (length > from_.left()) throw std::runtime_error("it ends early");
    const std::size_t end = from_.at() + length;
    constexpr unsigned end_of_sequence = 1, set_address = 2, inlined_call = 0x90;
    switch (from_.take<std::uint8_t>()) {
      case end_of_sequence: {
        auto& all = table_.rows[section_];
        // Rows of calls are counted within their sequence.
        for (line_row& row : rows_) row.inlined_at = row.inlined_at == 0 ? 0 : row.inlined_at + all.size();
        all.insert(all.end(), rows_.begin(), rows_.end());
        begin_sequence();
        break;
      }
      case set_address: {
        const auto moved = moved_.find(from_.at());
        now_.address = from_.take<std::uint64_t>();
        if (moved != moved_.end()) {
          section_ = moved->second.section;
          now_.address += moved->second.value;
        }
        break;
      }
      case inlined_call:
        now_.inlined_at = from_.number();
        break;
      default:
        break;
    }
    from_.go_to(end);
  }

  struct place {
    std::size_t section = 0;
    std::uint64_t value = 0;
  };

  byte_reader from_;
  std::map<std::uint64_t, place> moved_;
  line_table table_;
  std::vector<line_row> rows_;  // of the sequence
  line_row now_;
  std::size_t section_ = 0;
  unsigned instruction_bytes_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<unsigned> lengths_;
};

struct source_location {
  std::string file;
  unsigned line = 0;
};

// The lines of one section of code.
class section_lines {
 public:
  section_lines(const std::vector<line_table>& tables, std::size_t section,
                const std::vector<std::string>& headers)
      : headers_(headers) {
    for (const line_table& table : tables) {
      const auto found = table.rows.find(section);
      if (found == table.rows.end()) continue;
      table_ = &table;
      rows_ = &found->second;
      for (std::size_t number = 0; number < rows_->size(); ++number)
        by_address_[(*rows_)[number].address] = number;
    }
  }

  [[nodiscard]] source_location of(std::uint64_t address) const {
    auto found = by_address_.upper_bound(address);
    if (found == by_address_.begin()) return {};
    const line_row* row = &(*rows_)[(--found)->second];
    for (unsigned depth = 0; depth < most_calls; ++depth) {
      const std::string& file =
          row->file < table_->files.size() ? table_->files[row->file] : table_->files[0];
      if (!file.empty() && row->line != 0 && is_own(file)) return {file, row->line};
      if (row->inlined_at == 0 || row->inlined_at > rows_->size()) break;
      row = &(*rows_)[row->inlined_at - 1];
    }
    return {};
  }

 private:
  static constexpr unsigned most_calls = 100;

  [[nodiscard]] bool is_own(const std::string& file) const {
    return std::none_of(headers_.begin(), headers_.end(),
                        [&](const std::string& folder) { return file.rfind(folder + "/", 0) == 0; });
  }

  const std::vector<std::string>& headers_;
  const line_table* table_ = nullptr;
  const std::vector<line_row>* rows_ = nullptr;
  std::map<std::uint64_t, std::size_t> by_address_;
};

// ---- instructions

struct machine_instruction {
  std::uint64_t low = 0, high = 0;

  [[nodiscard]] unsigned opcode() const { return low & 0xfff; }
  [[nodiscard]] unsigned kind() const { return low & 0x1ff; }  // whatever its operands are
  [[nodiscard]] unsigned predicate() const { return low >> 12 & 7; }
  [[nodiscard]] bool is_negated() const { return (low >> 15 & 1) != 0; }
  [[nodiscard]] bool is_conditional() const { return predicate() != always_true || is_negated(); }
  // nvcc pads copies past the registers with such loads.
  [[nodiscard]] bool is_never_executed() const { return predicate() == always_true && is_negated(); }
  [[nodiscard]] unsigned size() const { return high >> 9 & 7; }
  [[nodiscard]] std::array<unsigned, 2> predicates_set() const {
    return {static_cast<unsigned>(high >> 17 & 7), static_cast<unsigned>(high >> 20 & 7)};
  }
  // Of a branch: bytes from the instruction behind it.
  [[nodiscard]] std::int64_t offset(unsigned capability) const {
    constexpr unsigned bits = 48;
    const auto upper = static_cast<std::int64_t>((low >> 34 | high << 30) << (64 - bits)) >> (64 - bits);
    return capability < 90 ? upper * 4 : (upper * 256 + static_cast<std::int64_t>(low >> 16 & 0xff)) * 4;
  }
  // Whether a branch may be passed: by a predicate, or by one of the forms that have a condition of their
  // own.
  [[nodiscard]] bool is_conditional_branch() const {
    return is_conditional() || (high >> 23 & 0xf) != always_true || (low >> 24 & 0x3ff) != 0;
  }

  static constexpr unsigned always_true = 7;
  static constexpr std::uint64_t bytes = 16;
};

namespace machine_kinds {

enum all : unsigned {
  branch = 0x147,
  indexed_branch = 0x149,
  jump = 0x14a,
  indexed_jump = 0x14c,
  exit = 0x14d,
  return_ = 0x150,
  kill = 0x15b
};

bool one_of(unsigned kind, std::initializer_list<unsigned> list) {
  return std::find(list.begin(), list.end(), kind) != list.end();
}

bool ends_block(unsigned kind) {
  return one_of(kind, {branch, indexed_branch, jump, indexed_jump, exit, return_, kill});
}

// FSETP, ISETP, PLOP3, DSETP, HSETP2, FCHK.
bool always_sets_predicates(unsigned kind) {
  return one_of(kind, {0x00b, 0x00c, 0x01c, 0x02a, 0x034, 0x102});
}
// A predicate field that is PT when unused: VOTE, IADD3, LEA, LOP3, IMAD and its relatives, VIMNMX, LDG,
// ATOMG, SHFL.
bool may_set_predicates(unsigned kind) {
  return one_of(kind,
                {0x006, 0x010, 0x011, 0x012, 0x024, 0x025, 0x027, 0x048, 0x180, 0x181, 0x1a8, 0x1a9, 0x189});
}
bool sets_none(unsigned kind) {
  return one_of(kind, {0x002, 0x003, 0x005, 0x007, 0x009, 0x013, 0x019, 0x020, 0x021, 0x023, 0x035, 0x036,
                       0x082, 0x090, 0x091, 0x099, 0x0b9, 0x105, 0x106, 0x108, 0x109, 0x118, 0x119, 0x11d,
                       0x11a, 0x141, 0x145, 0x147, 0x14d, 0x182, 0x184, 0x185, 0x186, 0x188, 0x18e, 0x1c3});
}

}  // namespace machine_kinds

unsigned bytes_of_size(unsigned size) {
  constexpr std::array<unsigned, 7> bytes{1, 1, 2, 2, 4, 8, 16};
  if (size >= bytes.size()) throw std::runtime_error("an access of a width that is not known");
  return bytes[size];
}

// What touches memory, or waits for the block.
struct access_form {
  unsigned kind;
  machine_operation operation;
  machine_space space;
  unsigned opcode = 0;              // with these operands alone; 0: whatever they are
  std::optional<unsigned> bytes{};  // none: as its size says
};
constexpr access_form access_forms[] = {
    {0x180, machine_operation::load, machine_space::generic},
    {0x181, machine_operation::load, machine_space::global},
    {0x184, machine_operation::load, machine_space::shared},
    {0x185, machine_operation::store, machine_space::generic},
    {0x186, machine_operation::store, machine_space::global},
    {0x188, machine_operation::store, machine_space::shared},
    {0x03b, machine_operation::load, machine_space::generic, 0x83b, 16},  // ldmatrix
    {0x1ae, machine_operation::copy, machine_space::generic, 0xfae},      // cp.async
    {0x11d, machine_operation::barrier, machine_space::none, 0, 0},
};

std::optional<machine_access> access_of(const machine_instruction& one) {
  for (const access_form& form : access_forms) {
    if (one.kind() != form.kind || (form.opcode != 0 && one.opcode() != form.opcode)) continue;
    machine_access made;
    made.operation = form.operation;
    made.space = form.space;
    made.bytes = form.bytes ? *form.bytes : bytes_of_size(one.size());
    return made;
  }
  return std::nullopt;
}

// Cuts one section of code into blocks.
class code_reader {
 public:
  code_reader(std::string_view code, unsigned capability, const section_lines& lines)
      : capability_(capability), lines_(lines) {
    byte_reader from(code);
    while (from.has_more()) {
      machine_instruction one;
      one.low = from.take<std::uint64_t>();
      one.high = from.take<std::uint64_t>();
      code_.push_back(one);
    }
  }

  machine_kernel read() {
    find_blocks();
    for (std::size_t number = 0; number < begins_.size(); ++number) {
      const std::size_t end = number + 1 < begins_.size() ? begins_[number + 1] : code_.size();
      kernel_.blocks.push_back(block(begins_[number], end));
    }
    return std::move(kernel_);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> target(std::size_t at) const {
    const std::int64_t bytes =
        static_cast<std::int64_t>((at + 1) * machine_instruction::bytes) + code_[at].offset(capability_);
    const auto place = static_cast<std::size_t>(bytes);
    if (bytes < 0 || place % machine_instruction::bytes != 0 ||
        place / machine_instruction::bytes >= code_.size())
      return std::nullopt;
    return place / machine_instruction::bytes;
  }

  void find_blocks() {
    std::set<std::size_t> begins{0};
    for (std::size_t at = 0; at < code_.size(); ++at) {
      if (!machine_kinds::ends_block(code_[at].kind())) continue;
      if (at + 1 < code_.size()) begins.insert(at + 1);
      if (code_[at].kind() != machine_kinds::branch) continue;
      if (const auto there = target(at)) begins.insert(*there);
    }
    begins_.assign(begins.begin(), begins.end());
  }

  [[nodiscard]] std::size_t block_at(std::size_t begin) const {
    return static_cast<std::size_t>(std::lower_bound(begins_.begin(), begins_.end(), begin) -
                                    begins_.begin());
  }

  machine_block block(std::size_t begin, std::size_t end) {
    machine_block made;
    std::map<std::array<unsigned, 3>, unsigned> conditions;  // by predicate, negation and what it holds
    std::array<unsigned, 8> versions{};
    for (std::size_t at = begin; at < end; ++at) {
      const machine_instruction& one = code_[at];
      if (auto found = access_of(one); found && !one.is_never_executed()) {
        const source_location place = lines_.of(at * machine_instruction::bytes);
        found->file = place.file;
        found->line = place.line;
        if (one.is_conditional()) {
          const auto number = static_cast<unsigned>(conditions.size() + 1);
          found->condition =
              conditions
                  .emplace(std::array{one.predicate(), one.is_negated() ? 1u : 0u, versions[one.predicate()]},
                           number)
                  .first->second;
        }
        made.accesses.push_back(*found);
      }
      note_predicates(one, versions);
    }
    const machine_instruction& last = code_[end - 1];
    bool goes_on = true;
    switch (last.kind()) {
      case machine_kinds::branch:
        if (const auto there = target(end - 1)) {
          made.next.push_back(block_at(*there));
        } else {
          kernel_.has_unknown_branches = true;
        }
        goes_on = last.is_conditional_branch();
        break;
      case machine_kinds::indexed_branch:
      case machine_kinds::jump:
      case machine_kinds::indexed_jump:
        kernel_.has_unknown_branches = true;
        break;
      case machine_kinds::exit:
      case machine_kinds::return_:
      case machine_kinds::kill:
        made.may_exit = true;
        goes_on = last.is_conditional();
        break;
      default:
        break;
    }
    if (goes_on && end < code_.size()) made.next.push_back(block_at(end));
    return made;
  }

  static void note_predicates(const machine_instruction& one, std::array<unsigned, 8>& versions) {
    if (machine_kinds::sets_none(one.kind())) return;
    if (machine_kinds::always_sets_predicates(one.kind()) || machine_kinds::may_set_predicates(one.kind())) {
      for (const unsigned set : one.predicates_set()) ++versions[set];
    } else {
      for (unsigned& version : versions) ++version;
    }
    versions[machine_instruction::always_true] = 0;  // nobody sets PT, which stands for none
  }

  const unsigned capability_;
  const section_lines& lines_;
  std::vector<machine_instruction> code_;
  std::vector<std::size_t> begins_;
  machine_kernel kernel_;
};

constexpr const char* operation_names[] = {"load", "store", "copy", "barrier"};
constexpr const char* space_names[] = {"none", "global", "shared", "generic"};

}  // namespace

std::vector<machine_kernel> read_cubin(std::string_view cubin, unsigned capability,
                                       const std::vector<std::string>& headers) {
  if (capability < 70 || capability > 90)
    throw std::runtime_error(fmt::format(
        "the machine code of sm_{} is not read: of compute capability 7.0 to 9.0 it is", capability));
  const elf_file elf(cubin);
  constexpr unsigned cuda_machine = 190;
  if (elf.header().e_machine != cuda_machine) throw std::runtime_error("it holds no code for a GPU");
  std::vector<line_table> tables;
  if (const elf_file::section* const lines = section_of(elf, ".debug_line"))
    tables = line_program(elf, *lines).run();
  std::vector<machine_kernel> kernels;
  const std::string prefix = ".text.";
  for (std::size_t number = 0; number < elf.sections().size(); ++number) {
    const elf_file::section& section = elf.sections()[number];
    if (!section.name.starts_with(prefix) || section.contents.empty()) continue;
    const section_lines lines(tables, number, headers);
    machine_kernel kernel = code_reader(section.contents, capability, lines).read();
    kernel.name = section.name.substr(prefix.size());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string listing_of(const std::vector<machine_kernel>& kernels) {
  std::string text;
  std::map<std::string, std::size_t> files;
  for (const machine_kernel& kernel : kernels) {
    text +=
        fmt::format("kernel {}{}\n", kernel.name, kernel.has_unknown_branches ? " has-unknown-branches" : "");
    for (std::size_t number = 0; number < kernel.blocks.size(); ++number) {
      const machine_block& block = kernel.blocks[number];
      text += fmt::format("block {}\n", number);
      for (const machine_access& access : block.accesses) {
        std::size_t file = 0;
        if (!access.file.empty()) {
          const auto [known, is_new] = files.emplace(access.file, files.size() + 1);
          file = known->second;
          if (is_new) text += fmt::format("file {} {}\n", file, access.file);
        }
        text +=
            fmt::format("{} {} {} at {}:{}", operation_names[static_cast<std::size_t>(access.operation)],
                        space_names[static_cast<std::size_t>(access.space)], access.bytes, file, access.line);
        text += access.condition == 0 ? "\n" : fmt::format(" if {}\n", access.condition);
      }
      text += "next";
      for (const std::size_t next : block.next) text += fmt::format(" {}", next);
      text += block.may_exit ? " exit\n" : "\n";
    }
  }
  return text;
}

}  // namespace lab::front
