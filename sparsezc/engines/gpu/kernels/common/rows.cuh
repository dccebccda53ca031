// Streaming of rows by a warp: the only code that determines the order and the shape of requests to host memory.
//
// A warp streams the entries of rows as slices of 32 entries that begin at multiples of 32: each slice is one aligned
// 128-byte request of 4-byte ids (two of 8-byte ids). A lane whose entry belongs to none of the wanted rows issues no
// load. With ROWS_PER_WARP 1 a slice holds entries of one row: the merged and aligned access of EMOGI (Min et al., VLDB
// 2021, section 4.2). ROWS_PER_WARP 32 extends this to short rows: one request reads all wanted rows of a presence word
// that share a line, and rows that are not wanted are skipped. In both cases a warp leaves a row that needs no more
// entries.
//
// The prelude supplies ROWS_PER_WARP, 1 or 32; gb.config.rows_per_warp and engines/gpu/products/rows_per_warp.py choose
// it.
#pragma once
#include "warp.cuh"

namespace szc {

// One item of work is ROWS_PER_WARP neighbouring rows: the presence word that holds their bits, and these bits.
__device__ __forceinline__ u64 word_of_item(u64 item) { return item * ROWS_PER_WARP / 32; }
__device__ __forceinline__ u32 rows_of_item(u64 item) { return ROWS_PER_WARP == 32 ? ALL : bit((u32)item & 31u); }

// One slice as one lane sees it: the lane has two roles.
struct Slice {
  u64 at;      // as reader: the position in `indices` and `values`
  bool active; //            whether that entry is wanted
  u32 row;     //            the lane that owns the entry's row (valid if active)
  u32 head;    //            the first lane of this slice with an entry of the same row (this lane if not active)
  u32 range;   // as owner of row number `lane`: the lanes that hold its entries in this slice; 0 if none
};

// Streams entries [next, end) of the rows whose bits are set in `rows` (lane = row; next < end for each of them).
// `owner` is 32 bytes of shared memory for this warp alone. All lanes call `visit(slice)`; it returns, for the lane's
// own row, whether that row needs no more entries.
template <class Visit>
__device__ __forceinline__ void stream_rows(u64 next, u64 end, u32 rows, volatile u8* owner, Visit visit) {
  const u32 lane = lane_id();
  while (rows) {
    const u32 first = (u32)__ffs((int)rows) - 1;
    const u64 at = __shfl_sync(ALL, next, first);  // rows ascend, so the first row has the first entry
    const u64 base = at & ~(u64)31;
    const bool mine = (ROWS_PER_WARP == 1 ? lane == first : has_bit(rows, lane)) && next < base + 32;
    const u32 lo = mine ? (u32)(next - base) : 0;
    const u32 hi = mine ? (u32)(end - base < 32 ? end - base : 32) : 0;
    Slice s;
    s.range = mine ? bit_range(lo, hi) : 0;
    const u32 active = or_lanes(s.range);
    const u32 heads = or_lanes(mine ? bit(lo) : 0);
    __syncwarp();  // all have read the last slice's owners
    if (mine) owner[lo] = (u8)lane;
    __syncwarp();
    s.at = base + lane;
    s.active = has_bit(active, lane);
    s.head = s.active ? 31u - (u32)__clz((int)(heads & (ALL >> (31u - lane)))) : lane;
    s.row = s.active ? owner[s.head] : lane;
    const bool done = visit(s);
    if (mine) next = base + hi;
    rows = __ballot_sync(ALL, has_bit(rows, lane) && next < end && !done);
  }
}

// Visits the chunks begin .. end-1 of long rows: one lane calls `wanted(chunk)`, all lanes call `visit(chunk)`. A warp
// takes `spread` (1 to 32) chunks at a time, far apart from each other (launch.spread). Where all chunks are wanted it
// is 1, so that they are read in order; where few may be wanted it is larger, so that checks are cheap and many warps
// still share one wanted row.
template <class Wanted, class Visit>
__device__ __forceinline__ void for_chunks(u64* counter, u64 begin, u64 end, u32 spread, Wanted wanted, Visit visit) {
  const u64 takes = (end - begin + spread - 1) / spread;
  for_pieces(counter, takes, 1, [&](u64 t) {
    const u64 mine = begin + t + lane_id() * takes;
    u32 todo = __ballot_sync(ALL, lane_id() < spread && mine < end && wanted(mine));
    for (; todo; todo &= todo - 1) visit(begin + t + ((u32)__ffs((int)todo) - 1) * takes);
  });
}

}  // namespace szc
