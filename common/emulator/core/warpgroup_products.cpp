#include "common/emulator/core/warpgroup_products.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace lab::emulator {
namespace {

// What sums are while a product is under way: a NaN that no sum of products has.
constexpr std::uint32_t poison_bits = 0x7fbad5ad;

constexpr int chunk_bytes = 16, element_bytes = 2, in_chunk = chunk_bytes / element_bytes;

// What stands for the warpgroups of a cluster's blocks where an observer is told of them.
constexpr unsigned warpgroups_of_block = block_size_limit / 128;
constexpr std::array<char, warpgroups_of_block * most_cluster_blocks> warpgroups{};

number_format format_of(const warpgroup_shape& shape) {
  return shape.type == matrix_type::f16 ? format_f16 : format_bf16;
}

}  // namespace

// PTX ISA, "Shared Memory Matrix Layout"; the layouts are said in common/warpgroup_matrix.hpp.
const unsigned char* address_in_tile(const matrix_descriptor& tile, major order, int mn, int k) {
  const int line = tile.pattern == swizzle::none ? chunk_bytes : static_cast<int>(tile.pattern);
  const int in_line = line / element_bytes;
  int offset = 0;
  if (order == major::k) {
    offset = mn % 8 * line + mn / 8 * tile.stride_bytes;
    offset += tile.pattern == swizzle::none ? k / in_chunk * tile.leading_bytes + k % in_chunk * element_bytes
                                            : k * element_bytes;
  } else {
    const bool is_plain = tile.pattern == swizzle::none;
    offset = mn % in_line * element_bytes +
             mn / in_line * (is_plain ? tile.stride_bytes : tile.leading_bytes) + k % 8 * line +
             k / 8 * (is_plain ? tile.leading_bytes : tile.stride_bytes);
  }
  constexpr std::uintptr_t period = 1024;
  const auto address = reinterpret_cast<std::uintptr_t>(tile.start) + static_cast<std::uintptr_t>(offset);
  const auto within = static_cast<unsigned>(address % period);
  return reinterpret_cast<const unsigned char*>(address - within + swizzled(tile.pattern, within));
}

void warpgroup_products::begin_block(unsigned threads) {
  threads_ = threads;
  warps_.clear();
  groups_.clear();
}

bool warpgroup_products::sums::hold(bool poison) const {
  for (std::size_t k = 0; k < d.size(); ++k) {
    const std::uint32_t expected = poison ? poison_bits : std::bit_cast<std::uint32_t>(values[k]);
    std::uint32_t found = 0;
    std::memcpy(&found, d[k], sizeof found);
    if (found != expected) return false;
  }
  return true;
}

void warpgroup_products::sums::store(bool poison) const {
  for (std::size_t k = 0; k < d.size(); ++k)
    std::memcpy(d[k], poison ? static_cast<const void*>(&poison_bits) : &values[k], sizeof(float));
}

void warpgroup_products::fence(const calls& all) {
  warps_.resize(std::max<std::size_t>(warps_.size(), all[0]->warp + 1));
  ++warps_[all[0]->warp].fences;
}

void warpgroup_products::commit(const calls& all) {
  warps_.resize(std::max<std::size_t>(warps_.size(), all[0]->warp + 1));
  ++warps_[all[0]->warp].commit_groups;
}

// The sums' place in the warp's list. They keep their values, and are NaN from now on.
std::string warpgroup_products::begin_sums(warp_state& warp, const calls& all, std::size_t* index) {
  const auto count = static_cast<std::size_t>(all[0]->shape->n / 2);
  const auto found = std::find_if(warp.all_sums.begin(), warp.all_sums.end(),
                                  [&](const sums& one) { return one.d[0] == all[0]->d[0]; });
  *index = static_cast<std::size_t>(found - warp.all_sums.begin());
  if (found != warp.all_sums.end() && found->products_left != 0) {
    if (found->count != count) return "adds to sums of which a product of another shape is under way";
    if (!found->hold(true))
      return "has changed sums that the product at " + text_of(found->where) + " may still be writing";
  } else {
    if (warp.fences == 0) return "begins a product with no wgmma_fence() before it";
    if (found == warp.all_sums.end()) {
      warp.all_sums.emplace_back();
    } else if (all[0]->shape->accumulates && found->count == count && warp.fences == found->fences &&
               !found->hold(false)) {
      return "adds to sums that it has changed since it waited for them, with no wgmma_fence() behind that";
    }
    sums& begun = warp.all_sums[*index];
    begun.count = count;
    begun.d.clear();
    for (const call* lane : all) begun.d.insert(begun.d.end(), lane->d, lane->d + count);
    begun.values.resize(lanes * count);
    std::transform(begun.d.begin(), begun.d.end(), begun.values.begin(),
                   [](const float* sum) { return *sum; });
    begun.store(true);
  }
  sums& begun = warp.all_sums[*index];
  ++begun.products_left;
  begun.where = all[0]->where;
  return "";
}

void warpgroup_products::begin(const calls& all) {
  const unsigned number_of_warp = all[0]->warp, in_group = number_of_warp % warps_of_group;
  const warpgroup_shape& shape = *all[0]->shape;
  const auto complain = [&](const std::string& what) {
    for (call* one : all) one->complaint = what;
  };
  if ((number_of_warp / warps_of_group + 1) * warps_of_group * lanes > threads_)
    return complain(
        format("begins a product in a warpgroup that is not whole: the block has %u threads", threads_));
  for (const call* one : all) {
    if (!(*one->shape == shape))
      return complain("begins a product that is another one than that of its warp");
  }
  warps_.resize(std::max<std::size_t>(warps_.size(), number_of_warp + 1));
  groups_.resize(std::max<std::size_t>(groups_.size(), number_of_warp / warps_of_group + 1));
  warp_state& warp = warps_[number_of_warp];
  group& in = groups_[number_of_warp / warps_of_group];
  const std::uint64_t number = warp.begun_products;
  if (number == in.first + in.products.size()) {
    in.products.push_back({shape, all[0]->where, all[0]->reads_at_once});
    in.products.back().a.resize(rows * depth);
  }
  product& one = in.at(number);
  if (!(one.shape == shape))
    return complain("begins a product that is another one than that of its warpgroup at " +
                    text_of(one.where));
  begun mine{number, warp.commit_groups, 0};
  if (std::string wrong = begin_sums(warp, all, &mine.sums); !wrong.empty()) return complain(wrong);
  ++warp.begun_products;
  warp.under_way.push_back(mine);
  if (shape.a_in_registers) {
    const number_format format = format_of(shape);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned word = 0; word < 4; ++word) {
        for (unsigned half = 0; half < 2; ++half) {
          const unsigned row = in_group * warp_rows + lane / 4 + word % 2 * 8;
          const unsigned column = lane % 4 * 2 + half + word / 2 * 8;
          one.a[row * depth + column] = matrix_number_of(all[lane]->a[word] >> (16 * half) & 0xffff, format);
        }
      }
    }
    one.has_a[in_group] = true;
  }
  if (one.reads_at_once) {
    read_a(one, in_group);
    read_b(one);
  }
}

// Of a number of A or B, which have `depth` in a row.
std::size_t warpgroup_products::place_of(int row, int k) {
  return static_cast<std::size_t>(row) * depth + static_cast<std::size_t>(k);
}

void warpgroup_products::read_a(product& one, unsigned warp) {
  if (std::exchange(one.has_a[warp], true)) return;
  const auto first = static_cast<int>(warp) * warp_rows;
  for (int row = first; row < first + warp_rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, address_in_tile(one.shape.a, one.shape.a_major, row, k), sizeof bits);
      one.a[place_of(row, k)] = matrix_number_of(bits, format_of(one.shape));
    }
  }
}

void warpgroup_products::read_b(product& one) {
  if (std::exchange(one.has_b, true)) return;
  one.b.resize(place_of(one.shape.n, 0));
  for (int column = 0; column < one.shape.n; ++column) {
    for (int k = 0; k < depth; ++k) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, address_in_tile(one.shape.b, one.shape.b_major, column, k), sizeof bits);
      one.b[place_of(column, k)] = matrix_number_of(bits, format_of(one.shape));
    }
  }
}

// A warp's sums lie as those of mma.sync's m16n8 products side by side.
void warpgroup_products::multiply(const product& one, unsigned warp, sums& to) {
  const int sign = one.shape.sign_a * one.shape.sign_b, bits = format_of(one.shape).fraction_bits;
  std::array<matrix_number, depth> row_of_a;
  for (int row = 0; row < warp_rows; ++row) {
    const std::size_t first = place_of(static_cast<int>(warp) * warp_rows + row, 0);
    std::copy_n(one.a.begin() + static_cast<std::ptrdiff_t>(first), depth, row_of_a.begin());
    for (matrix_number& number : row_of_a) number.significand *= sign;
    for (int column = 0; column < one.shape.n; ++column) {
      const int lane = row % 8 * 4 + column % 8 / 2;
      const int k = column / 8 * 4 + row / 8 * 2 + column % 2;
      float& sum = to.values[static_cast<std::size_t>(lane) * to.count + static_cast<std::size_t>(k)];
      sum = matrix_sum(row_of_a.data(), one.b.data() + static_cast<std::ptrdiff_t>(column) * depth, depth,
                       bits, one.shape.accumulates ? sum : 0, {});
    }
  }
}

bool warpgroup_products::has_to_end(unsigned warp, std::size_t pending) const {
  return warp < warps_.size() && !warps_[warp].under_way.empty() &&
         warps_[warp].under_way.front().commit_group + pending < warps_[warp].commit_groups;
}

bool warpgroup_products::may_end(unsigned warp, std::size_t pending) const {
  const warp_state& mine = warps_[warp];
  const unsigned first = warp / warps_of_group * warps_of_group;
  for (const begun& one : mine.under_way) {
    if (one.commit_group + pending >= mine.commit_groups) continue;
    for (unsigned other = first; other < first + warps_of_group; ++other) {
      if (other >= warps_.size() || warps_[other].begun_products <= one.number) return false;
    }
  }
  return true;
}

void warpgroup_products::end(const calls& all) {
  const unsigned number_of_warp = all[0]->warp, in_group = number_of_warp % warps_of_group;
  if (number_of_warp >= warps_.size() || warps_[number_of_warp].under_way.empty()) return;
  warp_state& warp = warps_[number_of_warp];
  group& in = groups_[number_of_warp / warps_of_group];
  const auto is_over = [&](const begun& mine) {
    return mine.commit_group + all[0]->pending < warp.commit_groups;
  };
  for (const begun& mine : warp.under_way) {
    if (!is_over(mine)) continue;
    product& one = in.at(mine.number);
    for (unsigned other = 0; other < warps_of_group; ++other) read_a(one, other);
    read_b(one);
    if (active_observer && !std::exchange(one.is_waited_for, true)) {
      const auto note = [&](const unsigned char* chunk) { all[0]->was_read.push_back(chunk); };
      if (!one.shape.a_in_registers) for_each_chunk(one.shape.a, one.shape.a_major, 0, rows, note);
      for_each_chunk(one.shape.b, one.shape.b_major, 0, one.shape.n, note);
    }
    sums& to = warp.all_sums[mine.sums];
    multiply(one, in_group, to);
    --one.warps_left;
    if (--to.products_left != 0) continue;
    if (!to.hold(true)) {
      for (call* lane : all)
        lane->complaint =
            "has changed sums that the product at " + text_of(to.where) + " may still be writing";
      return;
    }
    to.store(false);
    to.fences = warp.fences;
  }
  std::erase_if(warp.under_way, is_over);
  while (!in.products.empty() && in.products.front().warps_left == 0) {
    in.products.pop_front();
    ++in.first;
  }
}

// ---- what the threads call

namespace {

using action = void (warpgroup_products::*)(const warpgroup_products::calls&);

template <action work>
void perform(const std::uint64_t* values) {
  warpgroup_products::calls all{};
  for (std::size_t lane = 0; lane < all.size(); ++lane)
    all[lane] = reinterpret_cast<warpgroup_products::call*>(values[lane]);
  (all[0]->products->*work)(all);
}

template <action work>
void call_together(warpgroup_products::call& mine, const char* name) {
  collective_call all{collective::whole_warp, name, ~0u, mine.where, reinterpret_cast<std::uint64_t>(&mine)};
  all.perform = perform<work>;
  wait_for_lanes(all);
  if (!mine.complaint.empty()) fail_thread(mine.where, mine.complaint);
}

}  // namespace

void block_runner::check_tile(const matrix_descriptor& tile, major order, int extent, const char* name,
                              place where) {
  constexpr int most_bytes = 1 << 18;
  const auto start = reinterpret_cast<std::uintptr_t>(tile.start);
  const auto wrong = [&](const std::string& what) {
    fail(where, std::string("begins a product whose ") + name + what);
  };
  if (start % chunk_bytes != 0) wrong(" begins at an address that is no multiple of 16: misaligned");
  for (const int bytes : {tile.leading_bytes, tile.stride_bytes}) {
    if (bytes % chunk_bytes != 0 || bytes < 0 || bytes >= most_bytes)
      wrong(format(" has %d bytes between its parts, which is no multiple of 16 below 2^18", bytes));
  }
  const unsigned period = swizzle_alignment(tile.pattern);
  if (tile.pattern != swizzle::none && start % period >= static_cast<unsigned>(tile.pattern))
    wrong(format(" is swizzled, and does not begin in the first row behind a multiple of %u bytes", period));
  for_each_chunk(tile, order, 0, extent, [&](const unsigned char* chunk) {
    if (!is_shared(chunk, chunk_bytes)) wrong(" is not, or not all, the block's shared memory");
  });
}

// To an observer a product is a copy from each chunk, by the first lanes of the warps. What these have done
// is ordered before what any thread of the warpgroup does that has waited.
void block_runner::begin_product(const warpgroup_shape& shape, const unsigned* a, float* const* d,
                                 place where, const void* return_address) {
  const bool is_first = running_->number % 32 == 0;
  const unsigned warp = running_->number / 32, in_group = warp % warpgroup_products::warps_of_group;
  if (is_first) {
    if (!shape.a_in_registers) check_tile(shape.a, shape.a_major, warpgroup_products::rows, "A", where);
    check_tile(shape.b, shape.b_major, shape.n, "B", where);
  }
  if (is_first && active_observer) {
    const auto note = [&](const unsigned char* chunk) {
      active_observer->bulk_copy_began(chunk, nullptr, chunk_bytes, false, return_address, "product");
    };
    const int first = static_cast<int>(in_group) * warpgroup_products::warp_rows;
    if (!shape.a_in_registers)
      for_each_chunk(shape.a, shape.a_major, first, first + warpgroup_products::warp_rows, note);
    if (in_group == 0) for_each_chunk(shape.b, shape.b_major, 0, shape.n, note);
    active_observer->tell_block(
        &warpgroups[rank_ * warpgroups_of_block + warp / warpgroup_products::warps_of_group]);
  }
  warpgroup_products::call mine{&products_, warp, where, &shape, a, d};
  mine.reads_at_once = is_first && copies_.happens_at_once();
  call_together<&warpgroup_products::begin>(mine, "wgmma_m64k16");
  if (!is_first || at_other_barriers_ == 0) return;
  for (emulated_thread& thread : threads_) {
    if (thread.state != thread_state::at_named_barrier || thread.wait->phase < wait_for_product ||
        !products_.may_end(thread.number / 32, thread.wait->threads))
      continue;
    thread.state = thread_state::ready;
    --at_other_barriers_;
    woken_ = true;
  }
}

void begin_product(const warpgroup_shape& shape, const unsigned* a, float* const* d, place where) {
  running_block().begin_product(shape, a, d, where, __builtin_return_address(0));
}

void fence_products(place where) {
  running_block().fence_products(where);
}

void commit_products(place where) {
  running_block().commit_products(where);
}

void wait_for_products(std::size_t pending, place where) {
  running_block().wait_for_products(pending, where);
}

void block_runner::fence_products(place where) {
  warpgroup_products::call mine{&products_, running_->number / 32, where};
  call_together<&warpgroup_products::fence>(mine, "wgmma_fence");
}

void block_runner::commit_products(place where) {
  warpgroup_products::call mine{&products_, running_->number / 32, where};
  call_together<&warpgroup_products::commit>(mine, "wgmma_commit");
}

void block_runner::wait_for_products(std::size_t pending, place where) {
  stop_if_launch_failed();
  const unsigned warp = running_->number / 32;
  if (products_.has_to_end(warp, pending)) {
    // All others go on first, as far as they can: whoever fills a tile again too early does so now.
    yield_from(__builtin_return_address(0));
    while (!products_.may_end(warp, pending)) {
      barrier_wait wait{
          .where = where, .phase = wait_for_product + warp, .threads = static_cast<unsigned>(pending)};
      running_->wait = &wait;
      running_->state = thread_state::at_named_barrier;
      ++at_other_barriers_;
      suspend();
    }
  }
  warpgroup_products::call mine{&products_, warp, where};
  mine.pending = pending;
  call_together<&warpgroup_products::end>(mine, "wgmma_wait");
  if (!active_observer) return;
  for (const unsigned char* chunk : mine.was_read) active_observer->bulk_copy_over(chunk, chunk_bytes);
  active_observer->told_by_block(
      &warpgroups[rank_ * warpgroups_of_block + warp / warpgroup_products::warps_of_group]);
}

}  // namespace lab::emulator
