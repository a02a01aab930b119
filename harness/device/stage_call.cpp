#include "harness/device/stage_call.hpp"

#include <cxxabi.h>

#include <cfenv>
#include <exception>
#include <typeinfo>

#include "common/emulator/core/elf_file.hpp"
#include "common/error.hpp"
#include "common/memory.hpp"
#include "common/process_group.hpp"

namespace lab {
namespace {

// Rounding mode, flushing of denormals and exception flags of this thread, restored at the end: what a stage
// sets must not reach the reference that it is compared with.
class floating_point_guard {
 public:
  floating_point_guard() { std::fegetenv(&before_); }
  floating_point_guard(const floating_point_guard&) = delete;
  floating_point_guard& operator=(const floating_point_guard&) = delete;
  ~floating_point_guard() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

}  // namespace

std::string thrown_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an unknown type";
  return demangled(type->name());
}

void guarded_call(const char* name, const std::function<void()>& call) {
  const floating_point_guard guard;
  try {
    return call();
  } catch (const cuda_error&) {
    throw;
  } catch (const memory_error&) {
    throw;
  } catch (const stage_error&) {
    throw;
  } catch (const abi::__forced_unwind&) {  // pthread_exit(), which must not be held up
    throw;
  } catch (const std::exception& thrown) {
    throw stage_error(std::string(name) + " threw an exception: " + thrown.what());
  } catch (...) {
    throw stage_error(std::string(name) + " threw an exception: a value of type " + thrown_type());
  }
}

std::int64_t checked_tile(std::int64_t tile, const char* unit) {
  constexpr std::int64_t largest = std::int64_t{1} << 20;
  if (tile >= 1 && tile <= largest) return tile;
  throw stage_error("its tile is " + std::to_string(tile) + " " + unit + ", and must be from 1 to " +
                    std::to_string(largest));
}

void require_memory(std::size_t needed) {
  if (needed <= memory::always_there && !memory::is_limited()) return;
  const std::size_t available = processes::smallest(memory::available());
  if (needed > available) throw memory_error(needed, available);
}

std::string too_much_scratch(std::size_t arrays, std::size_t needed, std::size_t scratch) {
  if (scratch == 0 || needed <= memory::always_there) return "";
  const std::size_t available = processes::smallest(memory::available());
  if (arrays > available || needed <= available) return "";
  return "asks for " + std::to_string(scratch) + " bytes of scratch memory, and " +
         std::to_string(available - arrays) + " are free beside inputs and outputs";
}

std::string absurd_workspace(std::size_t bytes) {
  if (bytes <= absurd_bytes) return "";
  std::string text = "asks for " + std::to_string(bytes) + " bytes of scratch memory";
  if (const auto negative = static_cast<std::int64_t>(bytes); negative < 0)
    text += " (" + std::to_string(negative) + " as an unsigned number)";
  return text + ", " + more_than_any_device_has;
}

}  // namespace lab
