// Connected components after a search: the vertices that it reached are one component, and trees find the others.
//
// Who calls: engines/gpu/graphs/components.py, after search.cu, with all blocks running at once (grid_sync.cuh).
// Memory: ids in host memory (zero-copy) or on the device, all else on the device. What it does: the smallest vertex
// that the search reached, `low`, represents all of them. Each other vertex begins as a tree of its own; its row is
// streamed, and each entry hooks the larger of two roots under the smaller, so that a root is the smallest vertex of
// its tree. At last each vertex gets its root. In a graph with a giant component the vertices that the search did not
// reach have few edges; in other graphs this kernel reads every row.
// Source: J. Jaiganesh, M. Burtscher, A high-performance connected components implementation for GPUs, HPDC 2018,
// doi:10.1145/3208040.3208041 (hooking, and path halving on the way).
//
// The prelude supplies Id; the flags DIRECTED (an edge is stored in one row only), HEADS, LEAVES (a row is left at its
// first reached neighbour: an edge between two others may be read in either row); LONG and ROWS_PER_WARP as for mxv.cu.
#include "grid_sync.cuh"
#include "head_cache.cuh"
#include "frontier_rows.cuh"

namespace szc {

// Numbers in `state`: `size` minus the smallest vertex that was reached; the entries that were read.
enum { BELOW, READ };

// Trees of vertices: a parent is smaller than its child. Other threads hook meanwhile: a parent that was read earlier
// is still an ancestor.
struct Forest {
  i64* parent;
  const u32* reached;
  i64 low;

  __device__ __forceinline__ i64 above(i64 v) const { return *(volatile i64*)(parent + v); }

  // The root of a vertex's tree; halves the path to it.
  __device__ __forceinline__ i64 root(u64 v) const {
    i64 at = present(reached, v) ? low : (i64)v, up = above(at);
    while (up != at) {
      const i64 next = above(up);
      if (next != up) *(volatile i64*)(parent + at) = next;
      at = up;
      up = next;
    }
    return at;
  }

  // Joins the trees of two vertices.
  __device__ __forceinline__ void join(u64 a, u64 b) const {
    i64 x = root(a), y = root(b);
    while (x != y) {
      if (x < y) {
        const i64 other = x;
        x = y;
        y = other;
      }
      const i64 was = (i64)atomicCAS((u64*)(parent + x), (u64)x, (u64)y);
      if (was == x) return;
      x = was;  // hooked meanwhile: on from its parent
    }
  }
};

struct Rest {
  u64 size;
  Shares shares;
  Forest forest;
  const u32* closed;
  const u32* border;

  // The vertices of a word whose rows are read.
  __device__ __forceinline__ u32 open(u64 word) const {
    const u32 all = size - 32 * word >= 32 ? ALL : ALL >> (32u - (u32)(size - 32 * word));
    return DIRECTED ? (~closed[word] | border[word]) & all : ~closed[word] & all;
  }
};

// Makes a tree of each open vertex, and one of the smallest vertex that was reached.
__device__ __forceinline__ void begin_trees(const Rest& r, u64* state) {
  u64 below = 0;
  const u32* reached = r.forest.reached;
  for_pieces(nullptr, r.shares.nwords, 32, [&](u64 first) {
    const u64 word = first + lane_id();
    const u32 met = word < r.shares.nwords ? reached[word] : 0;
    if (met) below = larger(below, r.size - (32 * word + (u64)__ffs((int)met) - 1));
  });
  below = largest(below);
  if (lane_id() == 0 && below > *(volatile u64*)&state[BELOW]) {  // one of these becomes `low`
    r.forest.parent[r.size - below] = (i64)(r.size - below);
    atomicMax(&state[BELOW], below);
  }
  each_word(r.shares, [&](u64 word) { return r.open(word); }, [&](u64 word, u32 open) {
    const u64 v = 32 * word + lane_id();
    if (has_bit(open, lane_id())) r.forest.parent[v] = (i64)v;
  });
}

// Joins open vertices and their neighbours. Returns the number of entries that were read.
__device__ __forceinline__ u32 join_rows(const Rest& r, const Side& side, const Id* heads, u32 k, volatile u8* owner) {
  const u32 lane = lane_id();
  const Forest& forest = r.forest;
  u32 read = 0;
  // Returns whether the search reached the neighbour. Of two other vertices an undirected edge is taken once, from the
  // larger vertex's row, unless that row may have been left.
  const auto meet = [&](u64 row, Id id) {
    if (present(forest.reached, id)) return true;
    if (DIRECTED || LEAVES || (u64)id < row) forest.join(row, (u64)id);
    return false;
  };
  each_rows(r.shares, [&](u64 word) { return r.open(word); }, [&](u64 word, u32 open) {
    const u64 row = 32 * word + lane;
    u64 begin = 0, end = 0;
    if (has_bit(open, lane)) {
      begin = (u64)side.indptr[row];
      end = (u64)side.indptr[row + 1];
    }
    if (end - begin > LONG) end = begin;
    bool inside = false;
    if (HEADS && end - begin <= k) {  // whole in the heads
      for (; begin < end; --end) inside |= meet(row, heads[(word * k + (end - begin - 1)) * 32 + lane]);
      if (inside) forest.join(row, (u64)forest.low);
    }
    inside = false;
    stream_rows(begin, end, __ballot_sync(ALL, begin < end), owner, [&](const Slice& slice) {
      const Id id = slice.active ? load_host(side.indices + slice.at, 0) : Id();
      const bool met = slice.active && meet(32 * word + slice.row, id);
      read += slice.active;
      if (__ballot_sync(ALL, met) & slice.range) {
        if (!inside) forest.join(row, (u64)forest.low);
        inside = true;
      }
      return LEAVES && inside;
    });
  });
  const auto wanted = [&](u64 row) { return has_bit(r.open(row >> 5), (u32)row & 31u); };
  each_long(r.shares, side, wanted, [&](u64 row, u64 begin, u64 end) {
    bool inside = false;
    for (u64 base = begin & ~(u64)31; base < end && !(LEAVES && inside); base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const Id id = active ? load_host(side.indices + at, 0) : Id();
      const bool met = active && meet(row, id);
      read += active;
      if (!__any_sync(ALL, met)) continue;
      if (lane == 0 && !inside) forest.join(row, (u64)forest.low);
      inside = true;
    }
  });
  return read;
}

// Writes each vertex's root in place of its parent: another thread that reads it meanwhile gets an ancestor either way.
__device__ __forceinline__ void write_roots(const Rest& r) {
  const Forest& forest = r.forest;
  const u32 lane = lane_id();
  i64 giant = forest.low;
  while (forest.above(giant) != giant) giant = forest.above(giant);
  for_pieces(nullptr, r.shares.nwords, r.shares.words, [&](u64 first) {
    const bool mine = lane < r.shares.words && first + lane < r.shares.nwords;
    const u32 met = mine ? forest.reached[first + lane] : 0, open = mine ? r.open(first + lane) & ~met : 0;
    for (u32 k = 0; k < r.shares.words && first + k < r.shares.nwords; ++k) {
      const u64 v = 32 * (first + k) + lane;
      i64 label = (i64)v;
      const u32 word_met = __shfl_sync(ALL, met, (int)k), word_open = __shfl_sync(ALL, open, (int)k);
      if (has_bit(word_met, lane)) label = giant;
      if (has_bit(word_open, lane))
        for (i64 up = forest.above(label); up != label; up = forest.above(label)) label = up;
      if (v < r.size) forest.parent[v] = label;
    }
  });
}

// `labels`: undefined on entry; at the end the smallest vertex of each vertex's component. `reached`: the vertices that
// the search reached; `closed`: those whose rows are not read, which are the reached ones and, without DIRECTED, those
// without entries; `border`: with DIRECTED, reached vertices that the search did not expand, whose rows are read, too.
// `state`, `wait`: zeros.
extern "C" __global__ void __launch_bounds__(256, 8)
    KERNEL(u64 size, const i64* indptr, const Id* indices, u64 nchunks, const u64* long_rows, const u64* long_first, const u32* chunk_slot,
         const Id* heads, u32 k, const u32* reached, const u32* closed, const u32* border, i64* labels, u64* state, u64* wait, u32 piece,
         u32 words, u32 spread) {
  __shared__ u8 owners[8][32];
  Rest r = {size, {(size + 31) / 32, piece, words, spread}, {labels, reached, 0}, closed, border};
  begin_trees(r, state);
  sync_grid(wait);
  r.forest.low = (i64)(size - *(volatile u64*)&state[BELOW]);
  const Side side = {indptr, indices, nchunks, long_rows, long_first, chunk_slot};
  add_lanes((u64)join_rows(r, side, heads, k, owners[threadIdx.x >> 5]), &state[READ]);
  sync_grid(wait);
  write_roots(r);
}

}  // namespace szc
