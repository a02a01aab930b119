#include "harness/device/checked_resource.hpp"

#include <algorithm>
#include <string>

#include "harness/device/kernels.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
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
    : upstream_(upstream), stream_(stream), found_(most_at_once, stream) {}

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
    look_for_writes({returned}, {});
    CUDA_CHECK(cudaMemsetAsync(returned.whole, poison, whole_bytes(returned), stream));
    if (quarantined_bytes_ > max_quarantined_bytes) {
      look_for_writes({}, quarantine_);
      empty_quarantine();
    }
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
  std::vector<block> live;
  for (const auto& [pointer, one] : live_) live.push_back(one);
  look_for_writes(live, quarantine_);
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

std::vector<std::size_t> checked_resource::first_changed(const std::vector<stretch>& all) {
  std::vector<std::size_t> first;
  while (first.size() < all.size()) {
    const std::size_t begin = first.size();
    const std::size_t count = std::min(all.size() - begin, most_at_once);
    for (std::size_t k = 0; k < count; ++k) {
      const stretch& one = all[begin + k];
      find_other_byte(one.bytes, static_cast<std::int64_t>(one.count), poison, found_.data() + k, stream_);
    }
    std::vector<std::int64_t> found(count);
    CUDA_CHECK(cudaMemcpyAsync(found.data(), found_.data(), count * sizeof found[0], cudaMemcpyDeviceToHost,
                               stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    first.insert(first.end(), found.begin(), found.end());
  }
  return first;
}

void checked_resource::look_for_writes(const std::vector<block>& guards,
                                       const std::vector<block>& given_back) {
  std::vector<stretch> looked_at;
  for (const block& one : guards) {
    looked_at.push_back({one.whole, guard_bytes});
    looked_at.push_back({one.whole + guard_bytes + one.bytes, guard_bytes});
  }
  for (const block& one : given_back) looked_at.push_back({one.whole, whole_bytes(one)});
  const std::vector<std::size_t> found = first_changed(looked_at);
  auto next = found.begin();
  for (const block& one : guards) {
    const std::size_t before = *next++;
    const std::size_t behind = *next++;
    if (before < guard_bytes) {
      complain(failure_kind::out_of_bounds, "a write " + bytes_text(guard_bytes - before) +
                                                " in front of an allocation of " + bytes_text(one.bytes));
    }
    if (behind < guard_bytes) {
      complain(
          failure_kind::out_of_bounds,
          "a write " + bytes_text(behind) + " behind the end of an allocation of " + bytes_text(one.bytes));
    }
  }
  for (const block& one : given_back) {
    const std::size_t late = *next++;
    if (late == whole_bytes(one)) continue;
    const std::int64_t byte = static_cast<std::int64_t>(late) - static_cast<std::int64_t>(guard_bytes);
    complain(failure_kind::out_of_bounds, "a write to byte " + std::to_string(byte) +
                                              " of an allocation of " + bytes_text(one.bytes) +
                                              " after it was given back");
  }
}

void checked_resource::empty_quarantine() noexcept {
  for (const block& one : quarantine_) give_up(one);
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
