// Greedy colouring: each row gets the smallest colour that no neighbour before it in the order has.
//
// Who calls: engines/gpu/graphs/colors.py. Memory: `indices` in host memory (zero-copy) or on the device, all else on
// the device. What does the work: a warp, or for a long row a block, takes a row. `wait_rows` counts the neighbours
// before each row; `color_rows` colours the rows that wait for no neighbour, and lists those that waited for these
// alone. So each entry is read three times.
// Source: M. Jones, P. Plassmann, A parallel graph coloring heuristic, SIAM J. Sci. Comput. 14, 1993,
// doi:10.1137/0914041.
//
// The prelude supplies Id and Key, the types of ids and of listed rows; LONG_ROW, the entries of a row beyond which a
// block takes it; WORDS, of 32 colours each, that a warp examines together: a block examines 8 times as many.
#include "row_lists.cuh"

namespace szc {

constexpr u32 NO_COLOR = 0xffffffffu;

struct Graph {
  const i64* indptr;
  const Id* indices;
  const i64* order;

  // Whether row `one` is coloured before row `other`: the one of higher order, or of equal orders the smaller row.
  __device__ __forceinline__ bool precedes(u64 one, i64 order_of_one, u64 other, i64 order_of_other) const {
    return order_of_one > order_of_other || (order_of_one == order_of_other && one < other);
  }

  __device__ __forceinline__ bool is_long(u64 row) const { return (u64)(indptr[row + 1] - indptr[row]) > LONG_ROW; }

  // Calls visit(neighbour, of[neighbour]) for the entries of a row, except the diagonal. Each thread loads several ids,
  // then the values of `of` at all of them: a round waits for its longest row, and one load at a time would make that
  // row a chain of waits.
  template <class T, class Visit> __device__ __forceinline__ void each(const Group& g, u64 row, const T* of, Visit visit) const {
    constexpr u32 AHEAD = 4;  // with 8 orders of 8 bytes spill
    const u64 from = (u64)indptr[row], to = (u64)indptr[row + 1];
    for (u64 first = (from & ~(u64)31) + g.rank; first < to; first += AHEAD * g.size) {
      Id cols[AHEAD];
      T found[AHEAD];
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) {
        const u64 at = first + k * g.size;
        cols[k] = at >= from && at < to ? load_host(indices + at, 0) : (Id)row;
      }
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) found[k] = of[cols[k]];
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k)
        if ((u64)cols[k] != row) visit((u64)cols[k], found[k]);
    }
  }
};

// `waits`: zeros on entry. `next`, `next_counts`: the rows that wait for no neighbour, also in `capacity` entries.
extern "C" __global__ void __launch_bounds__(256)
    wait_rows(Key* listed, u64 capacity, u64* counts, const i64* indptr, const Id* indices, const i64* order, u32* waits, Key* next,
              u64* next_counts) {
  const Graph graph = {indptr, indices, order};
  const Listed found = {next, capacity, next_counts};
  Listed{listed, capacity, counts}.each([&](u64 row, const Group& g) {
    u32 before = 0;
    const i64 own = order[row];
    graph.each(g, row, order, [&](u64 col, i64 other) { before += graph.precedes(col, other, row, own); });
    before = add_lanes(before);
    if (lane_id() == 0) atomicAdd(waits + row, before);
    g.sync();
    if (g.rank == 0 && atomicAdd(waits + row, 0u) == 0) found.add(row, graph.is_long(row));
    g.sync();
  });
}

// `color`: NO_COLOR where a row has none yet. The limit of four blocks a multiprocessor leaves the registers that
// 8-byte ids need.
extern "C" __global__ void __launch_bounds__(256, 4)
    color_rows(Key* listed, u64 capacity, u64* counts, const i64* indptr, const Id* indices, const i64* order, u32* waits, Key* next,
               u64* next_counts, u32* color) {
  __shared__ u32 taken[8 * WORDS];
  __shared__ u32 least[8];
  const Graph graph = {indptr, indices, order};
  const Listed found = {next, capacity, next_counts};
  Listed{listed, capacity, counts}.each([&](u64 row, const Group& g) {
    u32* words = g.size == 32 ? taken + WORDS * (threadIdx.x / 32) : taken;
    const u32 count = g.size == 32 ? WORDS : 8 * WORDS;
    u32 mine = NO_COLOR;
    for (u32 base = 0; mine == NO_COLOR; base += 32 * count) {
      for (u32 w = g.rank; w < count; w += g.size) words[w] = 0;
      g.sync();
      graph.each(g, row, color, [&](u64, u32 other) {
        other -= base;
        if (other < 32 * count) atomicOr(words + other / 32, bit(other % 32));
      });
      g.sync();
      for (u32 w = g.rank; w < count && mine == NO_COLOR; w += g.size) {
        const u32 open = ~*(volatile u32*)(words + w);
        if (open) mine = base + 32 * w + (u32)__ffs((int)open) - 1;
      }
      mine = ~largest(~mine);
      if (g.size != 32) {
        if (lane_id() == 0) least[threadIdx.x / 32] = mine;
        __syncthreads();
        for (u32 w = 0; w < 8; ++w) mine = least[w] < mine ? least[w] : mine;
      }
      g.sync();
    }
    if (g.rank == 0) color[row] = mine;
    const i64 own = order[row];
    graph.each(g, row, order, [&](u64 col, i64 other) {
      if (graph.precedes(row, own, col, other) && atomicAdd(waits + col, ~0u) == 1) found.add(col, graph.is_long(col));
    });
    g.sync();
  });
}

}  // namespace szc
