#include "harness/device/checked_resource.hpp"

#include <algorithm>
#include <string>

#include "harness/device/kernels.hpp"
#if LAB_EMULATED
#include "common/emulator/emulator.hpp"
#endif

namespace lab {
namespace {

// What may wait to be looked at for late writes; beyond it, memory is short, and looked at at once.
constexpr std::size_t max_quarantined_bytes = std::size_t{1} << 28;

std::string bytes_text(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

checked_resource::checked_resource(memory_resource& upstream, cudaStream_t stream)
    : upstream_(upstream), stream_(stream), found_(1, stream) {}

checked_resource::~checked_resource() {
  release_all();
}

void* checked_resource::allocate(std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  block added{nullptr, bytes, stream};
  added.whole = static_cast<unsigned char*>(upstream_.allocate(whole_bytes(added), stream));
  void* const handed_out = added.whole + guard_bytes;
  live_.emplace(handed_out, added);
  CUDA_CHECK(cudaMemsetAsync(added.whole, poison, whole_bytes(added), stream));
  if (fill_ == memory_fill::zeros) CUDA_CHECK(cudaMemsetAsync(handed_out, 0, bytes, stream));
  if (fill_ == memory_fill::random)
    fill_random(static_cast<unsigned char*>(handed_out), static_cast<std::int64_t>(bytes), bytes, stream);
#if LAB_EMULATED
  emulator::narrow_allocation(handed_out, bytes);
#endif
  return handed_out;
}

void checked_resource::deallocate(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept {
  if (pointer == nullptr) return;
  const auto found = live_.find(pointer);
  if (found == live_.end()) {
    complain(failure_kind::wrong, "memory that was given back twice, or never handed out",
             "each allocation given back once");
    return;
  }
  const block returned = found->second;
  live_.erase(found);
  if (bytes != returned.bytes) {
    complain(failure_kind::wrong,
             bytes_text(bytes) + " given back of an allocation of " + bytes_text(returned.bytes),
             "an allocation given back with its size");
  }
  try {
    quarantine_.push_back(returned);
    quarantined_bytes_ += whole_bytes(returned);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    check_guards(returned);
    CUDA_CHECK(cudaMemsetAsync(returned.whole, poison, whole_bytes(returned), stream));
    if (quarantined_bytes_ > max_quarantined_bytes) empty_quarantine();
  } catch (const std::exception&) {
    // A device that is lost says so again at the next call that may throw.
  }
}

std::optional<std::size_t> checked_resource::bytes_of(const void* pointer) const {
  const auto found = live_.find(pointer);
  return found == live_.end() ? std::nullopt : std::optional(found->second.bytes);
}

std::optional<failure_record> checked_resource::check(const std::vector<const void*>& kept) {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  for (const auto& [pointer, one] : live_) check_guards(one);
  empty_quarantine();
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& [pointer, one] : live_) {
    if (std::find(kept.begin(), kept.end(), pointer) != kept.end()) continue;
    ++count;
    bytes += one.bytes;
  }
  if (count > 0) {
    complain(failure_kind::wrong,
             "a launch that did not give back " + bytes_text(bytes) + " of " + std::to_string(count) +
                 (count == 1 ? " allocation" : " allocations"),
             "all memory but the output's given back");
  }
  return first_failure_;
}

void checked_resource::release_all() noexcept {
  for (const auto& [pointer, one] : live_) give_up(one);
  for (const block& one : quarantine_) give_up(one);
  live_.clear();
  quarantine_.clear();
  quarantined_bytes_ = 0;
  first_failure_.reset();
}

void checked_resource::complain(failure_kind kind, const std::string& found, const char* expected) {
  if (!first_failure_) first_failure_ = failure_record{.kind = kind, .expected = expected, .found = found};
}

std::optional<std::int64_t> checked_resource::first_changed(const unsigned char* bytes, std::size_t count) {
  const auto n = static_cast<std::int64_t>(count);
  find_other_byte(bytes, n, poison, found_.data(), stream_);
  std::int64_t first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, found_.data(), sizeof first, cudaMemcpyDeviceToHost, stream_));
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  return first < n ? std::optional(first) : std::nullopt;
}

void checked_resource::check_guards(const block& one) {
  if (const auto before = first_changed(one.whole, guard_bytes)) {
    complain(failure_kind::out_of_bounds, "a write " +
                                              bytes_text(guard_bytes - static_cast<std::size_t>(*before)) +
                                              " in front of an allocation of " + bytes_text(one.bytes));
  }
  if (const auto behind = first_changed(one.whole + guard_bytes + one.bytes, guard_bytes)) {
    complain(failure_kind::out_of_bounds, "a write " + bytes_text(static_cast<std::size_t>(*behind)) +
                                              " behind the end of an allocation of " + bytes_text(one.bytes));
  }
}

void checked_resource::empty_quarantine() {
  for (const block& one : quarantine_) {
    if (const auto late = first_changed(one.whole, whole_bytes(one))) {
      complain(failure_kind::out_of_bounds,
               "a write to byte " + std::to_string(*late - static_cast<std::int64_t>(guard_bytes)) +
                   " of an allocation of " + bytes_text(one.bytes) + " after it was given back");
    }
    give_up(one);
  }
  quarantine_.clear();
  quarantined_bytes_ = 0;
}

void checked_resource::give_up(const block& one) noexcept {
#if LAB_EMULATED
  emulator::widen_allocation(one.whole);  // whoever is given this memory next has other bounds
#endif
  upstream_.deallocate(one.whole, whole_bytes(one), one.stream);
}

}  // namespace lab
