// Presence words: 32 entries of a vector packed into a u32. Small kernels, which have no prelude.
//
// Who calls: engines/gpu/runtime/presence_words.py, engines/gpu/products/spmm.py (lines). All memory on the device.
#include "warp.cuh"

namespace szc {

// count: adds to *total, 0 on entry, the number of entries that are present.
extern "C" __global__ void count(u64 nwords, const u32* bits, u64* total) {
  u64 mine = 0;
  for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += (u64)gridDim.x * blockDim.x)
    mine += (u32)__popc(bits[word]);
  add_lanes(mine, total);
}

// frontier: the number of rows that are present, and the number of their entries; totals are zeros on entry.
extern "C" __global__ void frontier(u64 size, const u32* bits, const i64* indptr, u64* totals) {
  u64 rows = 0, entries = 0;
  const u64 nwords = (size + 31) / 32;
  for_pieces(nullptr, nwords, 32, [&](u64 first) {
    const u32 mine = first + lane_id() < nwords ? bits[first + lane_id()] : 0;
    rows += (u32)__popc(mine);
    for (u32 todo = __ballot_sync(ALL, mine != 0); todo; todo &= todo - 1) {
      const u32 k = (u32)__ffs((int)todo) - 1;
      const u64 i = 32 * (first + k) + lane_id();
      if (has_bit(__shfl_sync(ALL, mine, (int)k), lane_id())) entries += (u64)(indptr[i + 1] - indptr[i]);
    }
  });
  add_lanes(rows, totals);
  add_lanes(entries, totals + 1);
}

// wanted: a sample of one word of rows in every `step`: the number of rows that the mask lets through, the number of
// entries among the first 32 of each, and the number of all their entries; totals are zeros on entry.
extern "C" __global__ void wanted(u64 nrows, const i64* indptr, const u32* mask, u32 flip, u64 step, u64* totals) {
  u64 n[3] = {0, 0, 0};
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = step * (((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5); 32 * word < nrows; word += step * warps) {
    const u64 i = 32 * word + lane_id();
    if (i >= nrows || (mask && !has_bit(mask[word] ^ flip, lane_id()))) continue;
    const u64 entries = (u64)(indptr[i + 1] - indptr[i]);
    ++n[0];
    n[1] += entries < 32 ? entries : 32;
    n[2] += entries;
  }
  for (int k = 0; k < 3; ++k) add_lanes(n[k], totals + k);
}

// lines: presence words of the rows of a panel, `width` entries each, in which the mask lets an entry through.
extern "C" __global__ void lines(u64 count, u64 width, const u32* mask, u32 flip, u32* bits) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < count; word += warps) {
    const u64 line = 32 * word + lane_id(), first = line * width, end = line < count ? first + width : first;
    bool any = false;
    for (u64 at = first; !any && at < end; at = (at | 31) + 1) {
      const u32 lo = (u32)at & 31u, hi = end - at < 32 - lo ? lo + (u32)(end - at) : 32;
      any = ((mask[at >> 5] ^ flip) & bit_range(lo, hi)) != 0;
    }
    const u32 found = __ballot_sync(ALL, any);
    if (lane_id() == 0) bits[word] = found;
  }
}

// popcounts: the number of bits that are set in each word.
extern "C" __global__ void popcounts(u64 nwords, const u32* bits, i64* counts) {
  for (u64 w = (u64)blockIdx.x * blockDim.x + threadIdx.x; w < nwords; w += (u64)gridDim.x * blockDim.x)
    counts[w] = (i64)__popc(bits[w]);
}

// positions: the positions of present entries, in order; `before`: the number of entries before each word.
extern "C" __global__ void positions(u64 nwords, const u32* bits, const i64* before, i64* at) {
  const u32 lane = lane_id();
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; word < nwords; word += ((u64)gridDim.x * blockDim.x) >> 5) {
    const u32 now = bits[word];
    if (has_bit(now, lane)) at[before[word] + __popc(now & (bit(lane) - 1))] = (i64)(32 * word + lane);
  }
}

// mark: sets the bits of a list of entries, `index`; `bits` holds zeros on entry.
extern "C" __global__ void mark(u64 count, const u64* index, u32* bits) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    atomicOr(&bits[index[k] >> 5], bit((u32)index[k] & 31u));
}

// turn: starts the next round: clears `bits` and adds 1 to `number`, which may be null.
extern "C" __global__ void turn(u64 nwords, u32* bits, i64* number) {
  for (u64 w = (u64)blockIdx.x * blockDim.x + threadIdx.x; w < nwords; w += (u64)gridDim.x * blockDim.x) bits[w] = 0;
  if (number && blockIdx.x == 0 && threadIdx.x == 0) ++*number;
}

}  // namespace szc
