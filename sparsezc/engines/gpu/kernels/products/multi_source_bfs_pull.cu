// One step of many searches by rows (pull): each vertex looks for a neighbour in each search's frontier.
//
// Who calls: engines/gpu/products/multi_source_bfs.py. Memory: `indices` in host memory (zero-copy) or on the device,
// all else on the device. What a warp does: it streams the rows of the vertices that a search may still reach
// (rows.cuh); a row ends as soon as all of these searches have reached its vertex. With HEADS a warp first reads the
// row-head cache in device memory (head_cache.cu), and then only the rows whose heads did not suffice. Long rows are
// cut into chunks, which any warp may take. The active searches are the bits of a, b, c, d; reached vertices are
// written to `y`.
#include "head_cache.cuh"
#include "multi_source_bfs.cuh"

namespace szc {

__device__ __forceinline__ void do_chunk(const Panel& p, Ids& ids, u64 row, u64 begin, u64 end) {
  Bits wanted, found;
  for (u32 w = 0; w < WORDS; ++w) {
    wanted.word[w] = p.wanted(row, w) & ~p.reached(row, w);
    found.word[w] = 0;
  }
  bool open = wanted.any();
  for (u64 base = begin & ~(u64)31; open && base < end; base += 32) {
    const u64 at = base + lane_id();
    const bool active = at >= begin && at < end;
    const u64 id = (u64)ids.load(at, active);
    Bits x = {};
    if (active) x = p.frontier(id);
    open = false;
    for (u32 w = 0; w < WORDS; ++w) {
      found.word[w] |= or_lanes(x.word[w]) & wanted.word[w];
      open |= found.word[w] != wanted.word[w];
    }
  }
  if (lane_id() == 0)
    for (u32 w = 0; w < WORDS; ++w)
      if (found.word[w]) set_bits(p.y, p.width, row, w, found.word[w]);
}

// Finds the searches that reach a lane's vertex through its heads; returns whether the row's other entries can add
// none.
__device__ __forceinline__ bool look_at_heads(const Panel& p, const Id* heads, u32 k, u64 word, const Bits& wanted, Bits& found) {
  bool looking = wanted.any(), done = !looking;
  for (u32 j = 0; j < k && __any_sync(ALL, looking); ++j) {
    if (!looking) continue;
    const Id id = heads[(word * k + j) * 32 + lane_id()];
    done = id == head_none<Id>();
    looking = !done && id != head_more<Id>();
    if (!looking) continue;
    const Bits x = p.frontier(id);
    done = true;
    for (u32 w = 0; w < WORDS; ++w) {
      found.word[w] |= x.word[w] & wanted.word[w];
      done &= found.word[w] == wanted.word[w];
    }
    looking = !done;
  }
  return done;
}

// Processes the 32 rows of a word, one a lane.
__device__ __forceinline__ void do_word(const Panel& p, Ids& ids, u64 nrows, const i64* indptr, const Id* heads, u32 k, u64 word,
                                        u8* owners) {
  const u32 lane = lane_id();
  const u64 row = 32 * word + lane;
  Bits wanted = {}, found = {};
  u64 begin = 0, end = 0;
  if (row < nrows)
    for (u32 w = 0; w < WORDS; ++w) wanted.word[w] = p.wanted(row, w);
  const bool done = HEADS ? look_at_heads(p, heads, k, word, wanted, found) : !wanted.any();
  if (!done) {
    begin = (u64)indptr[row];
    end = (u64)indptr[row + 1];
  }
  const bool rest = HEADS ? end - begin > k : begin < end;  // shorter rows are whole in the heads
  stream_rows(begin, end, __ballot_sync(ALL, rest && end - begin <= LONG), owners, [&](const Slice& s) {
    const u64 id = (u64)ids.load(s.at, s.active);
    Bits x = {};
    if (s.active) x = p.frontier(id);
    bool open = false;
    for (u32 w = 0; w < WORDS; ++w) {
      found.word[w] |= or_of_row(s, x.word[w]) & wanted.word[w];
      open |= found.word[w] != wanted.word[w];
    }
    return !open;
  });
  for (u32 w = 0; w < WORDS; ++w)
    if (found.word[w]) set_bits(p.y, p.width, row, w, found.word[w]);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const u32* x, const u32* mask, u32 flip, u64 width, u64 a, u64 b,
           u64 c, u64 d, u32* y, const Id* heads, u32 k, u64* counters, u32 piece, u64 nchunks, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot) {
  __shared__ u8 owners[8][32];
  const Panel p = {indices, x, mask, flip, width, given(a, b, c, d), y};
  if (PLANNED && !p.active.any()) return;
  Ids ids(indices);
  each_chunk({nchunks, long_rows, long_first, chunk_slot}, indptr, counters,
             [&](u64 row, u64 begin, u64 end) { do_chunk(p, ids, row, begin, end); });
  const u32 nwords = (u32)((nrows + 31) / 32);  // rows are numbered with 32 bits (panel.py)
  for_pieces(counters + 1, nwords, piece, [&](u64 first) {
    for (u32 i = 0; i < piece && first + i < nwords; ++i)
      do_word(p, ids, nrows, indptr, heads, k, (u32)first + i, owners[threadIdx.x >> 5]);
  });
}

}  // namespace szc
