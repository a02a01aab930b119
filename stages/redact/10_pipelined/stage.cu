// Persistent blocks, whose warps have different roles: one orders the copies of the next tiles, five parse a
// tile into registers and put its output into a ring in shared memory, and two look back and write out what
// is in the ring. The parsing warps wait for predecessors only when the ring is full.
//
// The file has more than 150 lines because the roles share one memory and its barriers, and can only be
// understood together: first what they share, then order_copies, write_out and parse, each with what it
// needs, then the kernel that gives each warp its role.
#include "common/bulk_copy.hpp"
#include "common/dependent_launch.hpp"
#include "common/look_back.hpp"
#include "common/multiprocessors.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/register_rows.hpp"
#include "stages/redact/staged_characters.hpp"
#include "stages/redact/tile_size.hpp"
#include "stages/redact/wide_tile.hpp"

namespace lab::redact::pipelined {
namespace {

constexpr int threads = 160;  // that parse
constexpr int rows_of_thread = 4;
constexpr int writers = 2;  // warps
// With offsets of 32 bits. Shared memory holds two with those of 64.
constexpr int blocks_per_multiprocessor = 3;
constexpr int warps = threads / 32;
constexpr int max_rows = threads * rows_of_thread;
constexpr int block_threads = threads + 32 * writers + 32;
constexpr int loads_ahead = 2;
// Tiles whose output waits in the ring, at most.
constexpr int slots = 16;
constexpr int clear_threads = 256;
constexpr int ring_bytes = 28 * 1024;
constexpr int ring_chunks = ring_bytes / 16;
constexpr int max_name_bytes = 17 * max_rows;
constexpr int max_visibility_bytes = 8 * max_rows;
constexpr int max_output_of_tile = max_name_bytes + static_cast<int>(max_growth) * max_rows;
constexpr tile_room room{max_name_bytes, max_visibility_bytes, max_output_of_tile, max_rows};

// At the end of an array less than 16 bytes may be left, which no bulk copy takes.
enum class tile_state { copied, to_be_completed, wide, none };

template <class Offset>
struct input_memory {
  staged_characters<max_name_bytes> names;
  staged_characters<max_visibility_bytes> visibilities;
  alignas(16) Offset name_offsets[max_rows + offsets_behind<Offset>];
  alignas(16) Offset visibility_offsets[max_rows + offsets_behind<Offset>];
  std::int64_t tile;
  tile_state state;
  mbarrier full;
  mbarrier empty;
};

// A tile's output in the ring: where each row begins, 16 bits each, and behind that the characters.
struct waiting_output {
  std::int64_t tile;  // -1 when nothing follows
  int bytes;          // -1 when there is nothing to do
  int chunk;          // where in the ring
  int head;           // of the ring, before
  mbarrier full;
  mbarrier empty;

  __device__ __forceinline__ void describe(std::int64_t its_tile, int its_bytes, int its_chunk,
                                           int head_before) {
    tile = its_tile;
    bytes = its_bytes;
    chunk = its_chunk;
    head = head_before;
  }
};

// What a tile needs of the ring at most.
constexpr int max_needed = (2 * max_rows + 15) / 16 + max_output_of_tile / 16 + 1;
static_assert(max_needed <= ring_chunks);
static_assert(sizeof(wide_row<std::int64_t>) * max_rows <= sizeof(staged_characters<max_name_bytes>));

template <class Offset>
struct block_memory {
  input_memory<Offset> input[loads_ahead];
  uint4 ring[ring_chunks + 1];
  waiting_output waiting[slots];
  int warp_bytes[2][warps];
};

template <class Offset>
struct work {
  columns<Offset> in;
  std::int64_t tiles;
  int tile_rows;
  look_back_word* words;  // one for each tile, and one that counts tiles that were taken
  Offset* offsets;
  char* chars;

  [[nodiscard]] __device__ __forceinline__ int rows_of(std::int64_t tile) const {
    const std::int64_t left = in.rows - tile * tile_rows;
    return left < tile_rows ? static_cast<int>(left) : tile_rows;
  }
  // Chunks of a tile's place in the ring that say where its rows begin.
  [[nodiscard]] __device__ __forceinline__ int chunks_of_rows() const { return (tile_rows * 2 + 15) / 16; }
};

// Elements [first, first + count) of an array that has `total`, as far as they are in whole chunks of 16
// bytes.
template <class T>
__device__ __forceinline__ void copy_chunks(T* to, const T* from, std::int64_t first, int count,
                                            std::int64_t total, mbarrier& full) {
  constexpr int in_chunk = 16 / static_cast<int>(sizeof(T));
  const int whole = first + count <= total ? count : static_cast<int>(total - first) / in_chunk * in_chunk;
  if (whole > 0) {
    copy_in(to, from + first, whole, full);
  } else {
    full.arrive();
  }
}

// The rest, less than a chunk. One warp calls.
template <class T>
__device__ __forceinline__ void complete(T* to, const T* from, std::int64_t first, int count,
                                         std::int64_t total) {
  constexpr int in_chunk = 16 / static_cast<int>(sizeof(T));
  if (first + count <= total) return;
  const int k = static_cast<int>(total - first) / in_chunk * in_chunk + static_cast<int>(threadIdx.x) % 32;
  if (first + k < total) to[k] = from[first + k];
}

// Has a tile brought into the L2 cache, but for what is at its end.
template <class Offset>
__device__ __forceinline__ void order_prefetches(const work<Offset>& all, std::int64_t tile) {
  const columns<Offset>& in = all.in;
  const std::int64_t first_row = tile * all.tile_rows;
  const std::int64_t end = first_row + all.tile_rows;
  if (end >= in.rows) return;
  const auto prefetch_chunks = [](const char* chars, Offset begin, Offset behind) {
    const Offset from = begin & ~Offset{15};
    const Offset bytes = (behind - from) & ~Offset{15};
    if (bytes > 0 && bytes <= max_name_bytes) prefetch(chars + from, static_cast<int>(bytes));
  };
  prefetch(in.name_offsets + first_row, all.tile_rows);
  prefetch(in.visibility_offsets + first_row, all.tile_rows);
  prefetch_chunks(in.names, in.name_offsets[first_row], in.name_offsets[end]);
  prefetch_chunks(in.visibilities, in.visibility_offsets[first_row], in.visibility_offsets[end]);
}

// One thread: takes tiles, and has them copied in.
template <class Offset>
__device__ __forceinline__ void order_copies(const work<Offset>& all, block_memory<Offset>& memory) {
  const columns<Offset>& in = all.in;
  // Tiles are taken in ascending order, so that a tile that is waited for has been taken by a block that
  // runs. Where there is no more than one for each block, that is left to the order in which blocks start.
  const bool is_one_each = all.tiles <= gridDim.x;
  const auto take = [&]() -> std::int64_t {
    return static_cast<std::int64_t>(atomicAdd(all.words + all.tiles, look_back_word{1}));
  };
  if (!is_one_each) {
    // Some block will take this one soon, and the counter may not be cleared yet.
    order_prefetches(all, blockIdx.x);
    grid_dependency_sync();
  }
  std::int64_t tile = is_one_each ? blockIdx.x : take();
  for (int i = 0;; ++i) {
    input_memory<Offset>& to = memory.input[i % loads_ahead];
    const bool is_there = tile < all.tiles;
    const std::int64_t first_row = tile * all.tile_rows;
    Offset names = 0, visibilities = 0, names_end = 0, visibilities_end = 0;
    if (is_there) {
      const std::int64_t end = first_row + all.rows_of(tile);
      names = in.name_offsets[first_row];
      visibilities = in.visibility_offsets[first_row];
      names_end = in.name_offsets[end];
      visibilities_end = in.visibility_offsets[end];
    }
    if (i >= loads_ahead) to.empty.wait(i / loads_ahead - 1);
    to.tile = tile;
    if (!is_there || names_end - names > max_name_bytes ||
        visibilities_end - visibilities > max_visibility_bytes) {
      to.state = is_there ? tile_state::wide : tile_state::none;
      for (int k = 0; k < 4; ++k) to.full.arrive();
    } else {
      const int offsets = all.tile_rows + offsets_behind<Offset>;
      const std::int64_t names_begin = names & ~Offset{15};
      const std::int64_t visibilities_begin = visibilities & ~Offset{15};
      const int name_bytes = static_cast<int>(names_end - names_begin + 15) / 16 * 16;
      const int visibility_bytes = static_cast<int>(visibilities_end - visibilities_begin + 15) / 16 * 16;
      const bool is_whole = first_row + offsets <= in.rows + 1 &&
                            names_begin + name_bytes <= in.names_bytes &&
                            visibilities_begin + visibility_bytes <= in.visibilities_bytes;
      to.state = is_whole ? tile_state::copied : tile_state::to_be_completed;
      fence_proxy_async();
      copy_chunks(to.name_offsets, in.name_offsets, first_row, offsets, in.rows + 1, to.full);
      copy_chunks(to.visibility_offsets, in.visibility_offsets, first_row, offsets, in.rows + 1, to.full);
      copy_chunks(reinterpret_cast<char*>(to.names.chunks + 1), in.names, names_begin, name_bytes,
                  in.names_bytes, to.full);
      copy_chunks(reinterpret_cast<char*>(to.visibilities.chunks + 1), in.visibilities, visibilities_begin,
                  visibility_bytes, in.visibilities_bytes, to.full);
    }
    if (!is_there) return;
    tile = is_one_each ? all.tiles : take();
  }
}

// One warp of several: every so many tiles of the block, looks back and writes.
template <class Offset>
__device__ __forceinline__ void write_out(const work<Offset>& all, block_memory<Offset>& memory, int writer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  grid_dependency_sync();
  for (int i = writer;; i += writers) {
    waiting_output& from = memory.waiting[i % slots];
    from.full.wait(i / slots);
    const std::int64_t tile = from.tile;
    if (tile < 0) return;
    const int bytes = from.bytes;
    if (bytes >= 0) {
      const uint4* const rows = memory.ring + from.chunk;
      const auto* const row_begins = reinterpret_cast<const unsigned short*>(rows);
      const std::int64_t begin = look_back(all.words, tile, bytes);
      Offset* const offsets = all.offsets + tile * all.tile_rows;
      const int count = all.rows_of(tile);
      for (int row = lane; row < count; row += 32)
        __stcs(offsets + row, static_cast<Offset>(begin + row_begins[row]));
      if (tile + 1 == all.tiles && lane == 0) offsets[count] = static_cast<Offset>(begin + bytes);
      copy_out<32>(all.chars, begin, rows + all.chunks_of_rows(), bytes, lane);
    }
    from.empty.arrive();
  }
}

// The warps that parse.
struct team {
  static constexpr int threads = pipelined::threads;
#if LAB_EMULATED
  static void sync() {
    named_barrier(1, threads);
  }
  static bool sync_or(bool flag) {
    return emulator::wait_at_named_barrier(1, threads, flag, emulator::place::here()) != 0;
  }
#else
  static __device__ __forceinline__ void sync() {
    asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory");
  }
  // Whether `flag` was set in any thread.
  static __device__ __forceinline__ bool sync_or(bool flag) {
    unsigned any;
    asm volatile(
        "{\n.reg .pred mine, any;\nsetp.ne.u32 mine, %1, 0;\nbar.red.or.pred any, 1, %2, mine;\n"
        "selp.u32 %0, 1, 0, any;\n}"
        : "=r"(any)
        : "r"(static_cast<unsigned>(flag)), "n"(threads)
        : "memory");
    return any != 0;
  }
#endif
};

// A tile at the end of an array.
template <class Offset>
__device__ __forceinline__ void complete_tile(const work<Offset>& all, std::int64_t first_row, int rows,
                                              input_memory<Offset>& to) {
  const columns<Offset>& in = all.in;
  if (threadIdx.x < 32) {
    const int offsets = all.tile_rows + offsets_behind<Offset>;
    complete(to.name_offsets, in.name_offsets, first_row, offsets, in.rows + 1);
    complete(to.visibility_offsets, in.visibility_offsets, first_row, offsets, in.rows + 1);
    const std::int64_t names = in.name_offsets[first_row] & ~Offset{15};
    const std::int64_t visibilities = in.visibility_offsets[first_row] & ~Offset{15};
    complete(reinterpret_cast<char*>(to.names.chunks + 1), in.names, names,
             static_cast<int>(in.name_offsets[first_row + rows] - names + 15), in.names_bytes);
    complete(reinterpret_cast<char*>(to.visibilities.chunks + 1), in.visibilities, visibilities,
             static_cast<int>(in.visibility_offsets[first_row + rows] - visibilities + 15),
             in.visibilities_bytes);
    fence_proxy_async();
  }
  team::sync();
}

// What of the ring is in use is [tail, head), in chunks; the ring goes on from its end at its beginning.
struct ring_space {
  int head = 0;
  int tail = 0;
  int oldest = 0;  // of the block's tiles that have a place in it

  template <class Offset>
  __device__ __forceinline__ void wait_for_oldest(block_memory<Offset>& memory, int newest) {
    memory.waiting[oldest % slots].empty.wait(oldest / slots);
    ++oldest;
    tail = oldest < newest ? memory.waiting[oldest % slots].head : head;
  }

  // Waits until tile i of the block can have `needed` chunks that follow each other, and says where they are.
  template <class Offset>
  __device__ __forceinline__ int wait_for_place(block_memory<Offset>& memory, int i, int needed) {
    int chunk = head % ring_chunks;
    if (chunk + needed > ring_chunks) {
      head += ring_chunks - chunk;
      chunk = 0;
    }
    while (head + needed - tail > ring_chunks || oldest <= i - slots) wait_for_oldest(memory, i);
    return chunk;
  }
};

// Tells the writers, who wait for tiles i, i + 1 ... of the block, that there are no more.
template <class Offset>
__device__ __forceinline__ void announce_end(block_memory<Offset>& memory, int i) {
  for (int k = i; k < i + writers; ++k) {
    waiting_output& last = memory.waiting[k % slots];
    if (k >= slots) last.empty.wait(k / slots - 1);
    last.tile = -1;
    last.full.arrive();
  }
}

// Which rows of a tile are this lane's: `first` and every 32nd behind it, of the warp's.
template <class Offset>
struct rows_of_lane {
  const input_memory<Offset>& from;
  int first;
  int rows_of_warp;
  int rows;  // of the tile

  [[nodiscard]] __device__ __forceinline__ int row(int k) const { return first + 32 * k; }
  [[nodiscard]] __device__ __forceinline__ bool has(int k) const {
    return 32 * k < rows_of_warp && row(k) < rows;
  }
  [[nodiscard]] __device__ __forceinline__ row_position position(int k) const {
    return position_of(from.name_offsets, from.visibility_offsets, has(k) ? row(k) : 0);
  }
};

// Tile i of the block: where it comes from, and where its output goes.
template <class Offset>
struct tile_in_turn {
  input_memory<Offset>& from;
  waiting_output& to;
  int i;
  std::int64_t tile;
  std::int64_t first_row;
  int rows;
};

// A tile that is too large to be staged is written here, and leaves nothing to the writers.
template <class Offset>
__device__ __forceinline__ void redact_wide(const work<Offset>& all, block_memory<Offset>& memory,
                                            const tile_in_turn<Offset>& turn, ring_space& ring) {
  while (ring.oldest <= turn.i - slots) ring.wait_for_oldest(memory, turn.i);
  redact_wide_tile<team>(all.in, turn.tile, turn.first_row, turn.rows,
                         reinterpret_cast<wide_row<Offset>*>(&turn.from), all.words, all.offsets, all.chars);
  fence_proxy_async();
  team::sync();
  if (threadIdx.x == 0) {
    turn.to.tile = turn.tile;
    turn.to.bytes = -1;
    turn.to.head = ring.head;
    turn.from.empty.arrive();
  }
  turn.to.full.arrive();
}

// Into a place of the ring: where each row begins, and what the registers hold of it. `at` are the bytes of
// the rows before it in its warp, `before_warp` those of the warps before; afterwards both together.
template <class Offset>
__device__ __forceinline__ void write_rows(unsigned short* row_begins, char* staged,
                                           const rows_of_lane<Offset>& mine,
                                           const register_row (&parsed)[rows_of_thread], int before_warp,
                                           int (&at)[rows_of_thread]) {
#pragma unroll
  for (int k = 0; k < rows_of_thread; ++k) {
    at[k] += before_warp;
    if (!mine.has(k)) continue;
    row_begins[mine.row(k)] = static_cast<unsigned short>(at[k]);
    write_row(staged + at[k], parsed[k]);
  }
}

// Five warps: each tile of the block, one after the other.
template <class Offset>
__device__ __forceinline__ void parse(const work<Offset>& all, block_memory<Offset>& memory) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int rows_of_warp = (all.tile_rows / 32 + warps - 1) / warps * 32;
  const int lane = thread % 32;
  const int first = warp * rows_of_warp + lane;
  const int chunks_of_rows = all.chunks_of_rows();
  grid_dependency_sync();
  ring_space ring;
  for (int i = 0;; ++i) {
    input_memory<Offset>& from = memory.input[i % loads_ahead];
    waiting_output& to = memory.waiting[i % slots];
    from.full.wait(i / loads_ahead);
    const tile_state state = from.state;
    if (state == tile_state::none) return announce_end(memory, i);
    const std::int64_t tile = from.tile;
    const std::int64_t first_row = tile * all.tile_rows;
    const int rows = all.rows_of(tile);
    if (state == tile_state::wide) {
      redact_wide(all, memory, tile_in_turn<Offset>{from, to, i, tile, first_row, rows}, ring);
      continue;
    }
    if (state == tile_state::to_be_completed) complete_tile(all, first_row, rows, from);

    // Rows into registers, and how many bytes of the tile lie before each of them.
    const staged_column names(from.names.chunks + 1, from.name_offsets[0] & ~Offset{15});
    const staged_column visibilities(from.visibilities.chunks + 1, from.visibility_offsets[0] & ~Offset{15});
    register_row parsed[rows_of_thread];
    int at[rows_of_thread];
    const rows_of_lane<Offset> mine{from, first, rows_of_warp, rows};
    const int is_slow = parse_rows(names, visibilities, mine, parsed, at);
    const int of_warp = warp_exclusive_sums(at);
    if (lane == 0) memory.warp_bytes[i % 2][warp] = of_warp;
    const bool any_slow = team::sync_or(is_slow < 0);
    const warp_sums sums = sum_over_warps(memory.warp_bytes[i % 2], warp);

    // The aggregate is published before anything of this tile waits. The input buffer can be filled again,
    // unless the rest of a slow row is still to be read from it.
    if (thread == 0) {
      publish_aggregate(all.words, tile, sums.total);
      if (!any_slow) from.empty.arrive();
    }

    // The output into the ring.
    const int needed = chunks_of_rows + sums.total / 16 + 1;
    const int chunk = ring.wait_for_place(memory, i, needed);
    if (thread == 0) to.describe(tile, sums.total, chunk, ring.head);
    ring.head += needed;
    auto* const row_begins = reinterpret_cast<unsigned short*>(memory.ring + chunk);
    char* const staged = reinterpret_cast<char*>(memory.ring + chunk + chunks_of_rows);
    write_rows(row_begins, staged, mine, parsed, sums.before, at);
    if (any_slow) {
      write_slow_rows(staged, names, mine, parsed, at);
      team::sync();
      if (thread == 0) from.empty.arrive();
    }
    to.full.arrive();
  }
}

__global__ void __launch_bounds__(clear_threads) clear_kernel(look_back_word* words, std::int64_t count) {
  trigger_dependents();
  const std::int64_t word = std::int64_t{blockIdx.x} * clear_threads + threadIdx.x;
  if (word < count) words[word] = 0;
}

template <class Offset>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor) redact_kernel(work<Offset> all) {
  auto& memory = *dynamic_shared<block_memory<Offset>>();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (input_memory<Offset>& one : memory.input) {
      one.full.initialise(4);
      one.empty.initialise(1);
    }
    for (waiting_output& one : memory.waiting) {
      one.full.initialise(threads);
      one.empty.initialise(32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (thread < threads) {
    parse(all, memory);
  } else if (thread < threads + 32 * writers) {
    write_out(all, memory, (thread - threads) / 32);
  } else if (thread == threads + 32 * writers) {
    order_copies(all, memory);
  }
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in, room, 0.9);
    const std::int64_t tiles = (in.rows + tile_rows - 1) / tile_rows;
    const resource_buffer<look_back_word> words(resource, static_cast<std::size_t>(tiles + 1), stream);
    bounded_output<Offset> out(in, resource, stream);
    const nvtx_range range("redact");
    if (in.rows == 0) {
      CUDA_CHECK(cudaMemsetAsync(out.offsets.data(), 0, sizeof(Offset), stream));
    } else {
      lab::launch(clear_kernel, blocks_for_rows(tiles + 1, clear_threads), dim3(clear_threads), 0, stream,
                  words.data(), tiles + 1);
      const int blocks_each = sizeof(Offset) == 4 ? blocks_per_multiprocessor : 2;
      const auto blocks =
          static_cast<unsigned>(std::min<std::int64_t>(tiles, std::int64_t{blocks_each} * multiprocessors()));
      launch_early(redact_kernel<Offset>, dim3(blocks), dim3(block_threads), sizeof(block_memory<Offset>),
                   stream,
                   work<Offset>{columns_of<Offset>(in), tiles, tile_rows, words.data(), out.offsets.data(),
                                out.chars.data()});
    }
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "warps with roles: copying, parsing and writing are at different tiles",
     .launch = launch,
     .tile = max_rows,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::redact::pipelined
