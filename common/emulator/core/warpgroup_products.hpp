// The matrix products of the block's warpgroups that are under way (wgmma). Internal.
//
// A product is made when it is least convenient and still legal. It reads its tiles when the first warp waits
// for it, or, of those that a seed draws, when it begins; all four warps' at once, since a product is one
// instruction of the warpgroup. A warp's sums become NaN when it begins, and get their values when this warp
// waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/matrix_arithmetic.hpp"
#include "common/emulator/core/warpgroup_functions.hpp"

namespace lab::emulator {

// Where the tile's bytes of 16 in k or in the other dimension lie.
const unsigned char* address_in_tile(const matrix_descriptor& tile, major order, int mn, int k);
// Calls visit(address) for each chunk of 16 bytes with elements from `first` to `last` of that dimension.
template <class Visit>
void for_each_chunk(const matrix_descriptor& tile, major order, int first, int last, Visit visit) {
  constexpr int depth = 16, in_chunk = 8;
  for (int mn = first; mn < last; mn += order == major::k ? 1 : in_chunk) {
    for (int k = 0; k < depth; k += order == major::k ? in_chunk : 1)
      visit(address_in_tile(tile, order, mn, k));
  }
}

class warpgroup_products {
 public:
  static constexpr int rows = 64, warp_rows = 16, depth = 16;
  static constexpr unsigned warps_of_group = 4, lanes = 32;

  // What a lane gives to one of the functions below, which are called once for a warp.
  struct call {
    warpgroup_products* products;
    unsigned warp;
    place where;
    const warpgroup_shape* shape = nullptr;
    const unsigned* a = nullptr;
    float* const* d = nullptr;
    std::size_t pending = 0;
    bool reads_at_once = false;  // that of the first warp counts
    std::string complaint{};     // what is wrong, for each lane
    // Lane 0's: of products whose tiles the first warp waits for now, the 16-byte chunks of these.
    std::vector<const unsigned char*> was_read{};
  };
  using calls = std::array<call*, lanes>;

  void begin_block(unsigned threads);
  void fence(const calls& all);
  void begin(const calls& all);
  void commit(const calls& all);
  // Whether a wait for all but `pending` groups is for any product, and all warps of the group have begun
  // each that it is for.
  [[nodiscard]] bool has_to_end(unsigned warp, std::size_t pending) const;
  [[nodiscard]] bool may_end(unsigned warp, std::size_t pending) const;
  void end(const calls& all);

 private:
  // Of a warpgroup.
  struct product {
    warpgroup_shape shape;
    place where;
    bool reads_at_once;
    std::array<bool, warps_of_group> has_a{};
    bool has_b = false;
    bool is_waited_for = false;
    std::vector<matrix_number> a, b;  // rows of A, columns of B
    unsigned warps_left = warps_of_group;
  };
  struct group {
    std::deque<product> products;
    std::uint64_t first = 0;  // the number of products.front()
    product& at(std::uint64_t number) { return products[static_cast<std::size_t>(number - first)]; }
  };
  // Of a warp: where each lane has its sums, and what they are while products are under way.
  struct sums {
    std::size_t count;
    std::vector<float*> d;      // lane after lane
    std::vector<float> values;  // likewise
    unsigned products_left = 0;
    std::uint64_t fences = 0;  // of the warp when the last product was waited for
    place where{};             // of the last product
    [[nodiscard]] bool hold(bool poison) const;
    void store(bool poison) const;
  };
  struct begun {
    std::uint64_t number, commit_group;
    std::size_t sums;
  };
  struct warp_state {
    std::uint64_t begun_products = 0, commit_groups = 0, fences = 0;
    std::vector<begun> under_way;
    std::vector<sums> all_sums;
  };

  std::string begin_sums(warp_state& warp, const calls& all, std::size_t* index);
  [[nodiscard]] static std::size_t place_of(int row, int k);
  static void read_a(product& one, unsigned warp);
  static void read_b(product& one);
  static void multiply(const product& one, unsigned warp, sums& to);

  unsigned threads_ = 0;
  std::vector<warp_state> warps_;
  std::vector<group> groups_;
};

}  // namespace lab::emulator
