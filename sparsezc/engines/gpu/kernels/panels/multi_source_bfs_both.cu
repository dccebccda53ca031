// One step of many searches on a symmetric matrix that stores each edge in one row: each end gets the other's bits.
//
// Who calls: engines/gpu/several_processes/search_step.py, for a step that would read nearly all entries either way.
// Memory: `indices` in host memory (zero-copy) or on the device, all else on the device. What a warp does: it streams
// the rows (rows.cuh), collects for each row's vertex the frontier's bits of its neighbours, and sets the vertex's own
// bits at these neighbours. Bits that the mask does not allow are set, too. Long rows are cut into chunks, which any
// warp may take. The active searches are the bits of a, b, c, d; reached vertices are written to `y`.
#include "multi_source_bfs.cuh"

namespace szc {

// Sets the bits `x` at the vertex of each active lane's entry, and returns that vertex's own bits.
__device__ __forceinline__ Bits exchange(const Panel& p, u64 vertex, bool active, const Bits& x) {
  if (!active) return Bits{};
  const Bits own = p.frontier(vertex);
  for (u32 w = 0; w < WORDS; ++w)
    if (x.word[w]) set_bits(p.y, p.width, vertex, w, x.word[w]);
  return own;
}

__device__ __forceinline__ void add(const Panel& p, u64 row, const Bits& found) {
  for (u32 w = 0; w < WORDS; ++w)
    if (found.word[w]) set_bits(p.y, p.width, row, w, found.word[w]);
}

// Processes the 32 rows of a word, one a lane.
__device__ __forceinline__ void do_word(const Panel& p, Ids& ids, u64 nrows, const i64* indptr, u64 word, u8* owners) {
  const u64 row = 32 * word + lane_id();
  Bits mine = {}, found = {};
  u64 begin = 0, end = 0;
  if (row < nrows) {
    mine = p.frontier(row);
    begin = (u64)indptr[row];
    end = (u64)indptr[row + 1];
  }
  stream_rows(begin, end, __ballot_sync(ALL, begin < end && end - begin <= LONG), owners, [&](const Slice& s) {
    Bits x;
    for (u32 w = 0; w < WORDS; ++w) x.word[w] = __shfl_sync(ALL, mine.word[w], (int)s.row);
    const u64 vertex = (u64)ids.load(s.at, s.active);
    const Bits own = exchange(p, vertex, s.active, x);
    for (u32 w = 0; w < WORDS; ++w) found.word[w] |= or_of_row(s, own.word[w]);
    return false;
  });
  add(p, row, found);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const u32* x, const u32* mask, u32 flip, u64 width, u64 a, u64 b,
           u64 c, u64 d, u32* y, u64* counters, u32 piece, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot) {
  __shared__ u8 owners[8][32];
  const Panel p = {indices, x, mask, flip, width, given(a, b, c, d), y};
  Ids ids(indices);
  each_chunk({nchunks, long_rows, long_first, chunk_slot}, indptr, counters, [&](u64 row, u64 begin, u64 end) {
    const Bits mine = p.frontier(row);
    Bits found = {};
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane_id();
      const bool active = at >= begin && at < end;
      const u64 vertex = (u64)ids.load(at, active);
      const Bits own = exchange(p, vertex, active, mine);
      for (u32 w = 0; w < WORDS; ++w) found.word[w] |= or_lanes(own.word[w]);
    }
    if (lane_id() == 0) add(p, row, found);
  });
  const u32 nwords = (u32)((nrows + 31) / 32);  // rows are numbered with 32 bits (panel.py)
  for_pieces(counters + 1, nwords, piece, [&](u64 first) {
    for (u32 i = 0; i < piece && first + i < nwords; ++i)
      do_word(p, ids, nrows, indptr, (u32)first + i, owners[threadIdx.x >> 5]);
  });
}

}  // namespace szc
