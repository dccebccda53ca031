// One step of many searches, by frontier (push): each vertex sets its searches' bits in its neighbours.
//
// Who calls: engines/gpu/products/multi_source_bfs.py. Memory: `indices` in host memory (zero-copy) or on the device,
// all else on the device. What a warp does: it streams the rows of the vertices that are in the frontier of a search
// (rows.cuh), and sets the bits that the mask allows and the neighbour lacks. Long rows are cut into chunks, which any
// warp may take. The active searches are the bits of a, b, c, d; reached vertices are written to `y`.
#include "multi_source_bfs.cuh"

namespace szc {

__device__ __forceinline__ void push(const Panel& p, u64 vertex, const Bits& x) {
  for (u32 w = 0; w < WORDS; ++w) {
    u64 fresh = x.word[w];
    if (fresh) fresh &= p.wanted(vertex, w);
    if (fresh) fresh &= ~p.reached(vertex, w);
    if (fresh) set_bits(p.y, p.width, vertex, w, fresh);
  }
}

// Processes the 32 rows of a word, one a lane.
__device__ __forceinline__ void do_word(const Panel& p, Ids& ids, u64 nrows, const i64* indptr, u64 word, u8* owners) {
  const u32 lane = lane_id();
  const u64 row = 32 * word + lane;
  Bits bits = {};
  u64 begin = 0, end = 0;
  if (row < nrows) bits = p.frontier(row);
  if (bits.any()) {
    begin = (u64)indptr[row];
    end = (u64)indptr[row + 1];
  }
  stream_rows(begin, end, __ballot_sync(ALL, begin < end && end - begin <= LONG), owners, [&](const Slice& s) {
    Bits x;
    for (u32 w = 0; w < WORDS; ++w) x.word[w] = __shfl_sync(ALL, bits.word[w], (int)s.row);
    const u64 vertex = (u64)ids.load(s.at, s.active);
    if (s.active) push(p, vertex, x);
    return false;
  });
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const u32* x, const u32* mask, u32 flip, u64 width, u64 a, u64 b,
           u64 c, u64 d, u32* y, u64* counters, u32 piece, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot) {
  __shared__ u8 owners[8][32];
  const u32 lane = lane_id();
  const Panel p = {indices, x, mask, flip, width, given(a, b, c, d), y};
  if (PLANNED && !p.active.any()) return;
  Ids ids(indices);
  each_chunk({nchunks, long_rows, long_first, chunk_slot}, indptr, counters, [&](u64 row, u64 begin, u64 end) {
    const Bits bits = p.frontier(row);
    if (!bits.any()) return;
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const u64 vertex = (u64)ids.load(at, active);
      if (active) push(p, vertex, bits);
    }
  });
  const u32 nwords = (u32)((nrows + 31) / 32);  // rows are numbered with 32 bits (panel.py)
  for_pieces(counters + 1, nwords, piece, [&](u64 first) {
    for (u32 i = 0; i < piece && first + i < nwords; ++i)
      do_word(p, ids, nrows, indptr, (u32)first + i, owners[threadIdx.x >> 5]);
  });
}

}  // namespace szc
