// A matrix cut by columns: block b has the entries of columns b * width .. (b + 1) * width - 1, in row order.
//
// Who calls: engines/gpu/layouts/column_blocks.py. All memory on the device. What a warp does: it takes a row at a
// time, whose ids ascend, and lane b bisects for the first entry of block b. First `lengths` writes the number of
// entries that each block has of each row; with their running sums, `split` copies the entries to their places.
//
// The prelude supplies Id, A (any type of the values' size) and VALUES: whether values are copied, too.
#include "warp.cuh"

namespace szc {

constexpr u32 MOST = 31;  // blocks: lane number `nblocks` holds the end of the row

// The start of the lane's block in a row: the first entry from `begin` on whose id is at least `lane * width`.
__device__ __forceinline__ u64 block_begin(const Id* ids, u64 begin, u64 end, u64 width, u32 nblocks) {
  const u64 least = (u64)lane_id() * width;
  u64 low = lane_id() < nblocks ? begin : end, high = end;
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if ((u64)ids[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The offsets of block b begin at b * (nrows + 1). A row's length is written at the next row's place, so that running
// sums are offsets.
extern "C" __global__ void __launch_bounds__(256)
    lengths(u64 nrows, const i64* indptr, const Id* ids, u64 width, u32 nblocks, i64* offsets, u64* counter) {
  for_pieces(counter, nrows, 32, [&](u64 first) {
    for (u64 row = first; row < nrows && row < first + 32; ++row) {
      const u64 begin = block_begin(ids, (u64)indptr[row], (u64)indptr[row + 1], width, nblocks);
      const u64 end = __shfl_down_sync(ALL, begin, 1);
      if (lane_id() < nblocks) offsets[lane_id() * (nrows + 1) + row + 1] = (i64)(end - begin);
    }
  });
}

// `into`: the addresses of each block's ids and values.
extern "C" __global__ void __launch_bounds__(256)
    split(u64 nrows, const i64* indptr, const Id* ids, const A* values, u64 width, u32 nblocks, const i64* offsets, const u64* into,
          u64* counter) {
  for_pieces(counter, nrows, 32, [&](u64 first) {
    for (u64 row = first; row < nrows && row < first + 32; ++row) {
      const u64 row_begin = (u64)indptr[row], row_end = (u64)indptr[row + 1];
      const u64 begin = block_begin(ids, row_begin, row_end, width, nblocks);
      const u64 there = lane_id() < nblocks ? (u64)offsets[lane_id() * (nrows + 1) + row] - begin : 0;
      for (u64 base = row_begin; base < row_end; base += 32) {
        const u64 at = base + lane_id();
        const Id id = at < row_end ? ids[at] : Id();
        const u32 block = (u32)((u64)id / width);
        const u64 to = at + __shfl_sync(ALL, there, (int)block);
        if (at >= row_end) continue;
        ((Id*)into[2 * block])[to] = id;
        if (VALUES) ((A*)into[2 * block + 1])[to] = values[at];
      }
    }
  });
}

}  // namespace szc
