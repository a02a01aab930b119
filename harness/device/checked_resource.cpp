#include "harness/device/checked_resource.hpp"

#include <algorithm>
#include <string>

namespace lab {
namespace {

// What may wait to be looked at for late writes; beyond it, memory is short, and looked at at once.
constexpr std::size_t max_quarantined_bytes = std::size_t{1} << 28;

template <class Number>
std::string bytes_text(Number bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::size_t whole_bytes(const guarded_buffer& one) {
  return guarded_buffer::needed_bytes(one.size());
}

}  // namespace

checked_resource::checked_resource(cudaStream_t stream) : stream_(stream), found_(2 * most_at_once, stream) {}

void* checked_resource::allocate(std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  guarded_buffer added(static_cast<std::int64_t>(bytes), stream_);
  added.poison_all();
  if (fill_ != memory_fill::ones) added.fill(fill_, bytes);
  if (stream != stream_) CUDA_CHECK(cudaStreamSynchronize(stream_));
  void* const handed_out = added.data();
  live_.emplace(handed_out, std::move(added));
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
  if (const std::size_t allocated = *bytes_of(pointer); bytes != allocated) {
    complain(failure_kind::wrong,
             bytes_text(bytes) + " given back of an allocation of " + bytes_text(allocated),
             "an allocation given back with its size");
  }
  try {
    const guarded_buffer& returned = quarantine_.emplace_back(std::move(found->second));
    live_.erase(found);
    quarantined_bytes_ += whole_bytes(returned);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    look_at_guards({&returned});
    returned.poison_all();
    if (quarantined_bytes_ > max_quarantined_bytes) look_at_quarantine();
  } catch (const std::exception&) {
    // A device that is lost says so again at the next call that may throw.
  }
}

std::optional<std::size_t> checked_resource::bytes_of(const void* pointer) const {
  const auto found = live_.find(pointer);
  if (found == live_.end()) return std::nullopt;
  return static_cast<std::size_t>(found->second.size());
}

std::optional<failure_record> checked_resource::check(const std::vector<const void*>& kept) {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  std::vector<const guarded_buffer*> live;
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& [pointer, one] : live_) {
    live.push_back(&one);
    if (std::find(kept.begin(), kept.end(), pointer) != kept.end()) continue;
    ++count;
    bytes += static_cast<std::size_t>(one.size());
  }
  look_at_guards(live);
  look_at_quarantine();
  if (count > 0) {
    complain(failure_kind::wrong,
             "a launch that did not give back " + bytes_text(bytes) + " of " + std::to_string(count) +
                 (count == 1 ? " allocation" : " allocations"),
             "all memory but the output's given back");
  }
  return first_failure_;
}

void checked_resource::release_all() noexcept {
  live_.clear();
  quarantine_.clear();
  quarantined_bytes_ = 0;
  first_failure_.reset();
}

void checked_resource::complain(failure_kind kind, const std::string& found, const char* expected) {
  if (!first_failure_) first_failure_ = failure_record{.kind = kind, .expected = expected, .found = found};
}

void checked_resource::find_all(std::size_t count,
                                const std::function<void(std::size_t, std::int64_t*)>& look,
                                const std::function<void(std::size_t, const std::int64_t*)>& take) {
  for (std::size_t begin = 0; begin < count; begin += most_at_once) {
    const std::size_t end = std::min(count, begin + most_at_once);
    for (std::size_t k = begin; k < end; ++k) look(k, found_.data() + 2 * (k - begin));
    std::vector<std::int64_t> found(2 * (end - begin));
    CUDA_CHECK(cudaMemcpyAsync(found.data(), found_.data(), found.size() * sizeof found[0],
                               cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    for (std::size_t k = begin; k < end; ++k) take(k, &found[2 * (k - begin)]);
  }
}

void checked_resource::look_at_guards(const std::vector<const guarded_buffer*>& of) {
  find_all(
      of.size(), [&](std::size_t k, std::int64_t* at) { of[k]->look_at_guards(at); },
      [&](std::size_t k, const std::int64_t* found) {
        const auto byte = of[k]->changed_byte(found);
        if (!byte) return;
        const std::int64_t size = of[k]->size();
        complain(failure_kind::out_of_bounds,
                 "a write " +
                     (*byte < 0 ? bytes_text(-*byte) + " in front of"
                                : bytes_text(*byte - size) + " behind the end of") +
                     " an allocation of " + bytes_text(size));
      });
}

void checked_resource::look_at_quarantine() {
  find_all(
      quarantine_.size(), [&](std::size_t k, std::int64_t* at) { quarantine_[k].look_at_all(at); },
      [&](std::size_t k, const std::int64_t* found) {
        const guarded_buffer& one = quarantine_[k];
        if (*found == static_cast<std::int64_t>(whole_bytes(one))) return;
        complain(failure_kind::out_of_bounds,
                 "a write to byte " + std::to_string(*found - guarded_buffer::guard_bytes) +
                     " of an allocation of " + bytes_text(one.size()) + " after it was given back");
      });
  quarantine_.clear();
  quarantined_bytes_ = 0;
}

}  // namespace lab
