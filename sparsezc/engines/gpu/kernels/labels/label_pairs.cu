// Sums of pairs of labels by sorting: entries are listed as pairs, and after a sort the sums of equal pairs, which are
// then neighbours, are added.
//
// Who calls: engines/gpu/products/label_sums.py, which sorts between the launches. Memory: `indices` and `values` in
// host memory (zero-copy) or on the device, all else on the device. What does the work: a warp, or for a long row a
// block, lists a row, neighbouring lanes neighbouring entries; in the sorted list a warp takes 32 pairs. A pair has its
// sum in the lowest `bits`; entries that do not count are NONE, which sorts behind all pairs.
//
// The prelude supplies what label_rows.cuh needs.
#include "compaction.cuh"
#include "label_rows.cuh"

namespace szc {

constexpr u64 NONE = ~(u64)0;

// `rows`: `nshort` short rows, then long ones, `count` in all. `places`: the position of the first pair of each. A
// pair's number is (row's label - `least`) * `width` + column's label. No weight needs more than `bits`.
extern "C" __global__ void __launch_bounds__(256)
    list_pairs(u64 count, u64 nshort, const u64* rows, const i64* places, const i64* indptr, const Id* indices, const A* values,
               const Key* label, u64 width, u64 least, u32 bits, u64* pairs) {
  constexpr u32 AHEAD = 4;  // ids that a thread loads before it reads their labels
  const Operands o = {{indptr, indices, values}, label, nullptr, nullptr, nullptr, 0.0, {}};
  auto list = [&](u64 k, u32 rank, u32 size) {
    const u64 row = rows[k], from = (u64)indptr[row], to = (u64)indptr[row + 1];
    const u64 start = ((u64)label[row] - least) * width, place = (u64)places[k];
    for (u64 first = (from & ~(u64)31) + rank; first < to; first += AHEAD * size) {
      Id cols[AHEAD];
#pragma unroll
      for (u32 a = 0; a < AHEAD; ++a) {
        const u64 at = first + a * size;
        if (at >= from && at < to) cols[a] = load_host(indices + at, 0);
      }
#pragma unroll
      for (u32 a = 0; a < AHEAD; ++a) {
        const u64 at = first + a * size;
        if (at < from || at >= to) continue;
        const u64 to_label = (u64)label[cols[a]], weight = (u64)o.weight(at);
        pairs[place + (at - from)] = to_label < width && weight ? (start + to_label) << bits | weight : NONE;
      }
    }
  };
  for (u64 k = nshort + blockIdx.x; k < count; k += gridDim.x) list(k, threadIdx.x, blockDim.x);
  const u64 warps = (u64)gridDim.x * blockDim.x / 32;
  for (u64 k = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; k < nshort; k += warps) list(k, lane_id(), 32);
}

// first_of_pairs: sets the bits of those of `count` sorted pairs that differ from the pair before them.
extern "C" __global__ void __launch_bounds__(256) first_of_pairs(u64 count, const u64* pairs, u32 bits, u32* first) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < 32 * words(count); at += (u64)gridDim.x * blockDim.x) {
    const u64 pair = at < count ? pairs[at] : NONE;
    const u32 here = __ballot_sync(ALL, pair != NONE && (at == 0 || pairs[at - 1] >> bits != pair >> bits));
    if (lane_id() == 0) first[at >> 5] = here;
  }
}

// add_pairs: adds the sums of equal pairs. `first`, `before`: the pairs that differ from the one before, and their
// number before each word (compaction.cuh). `ids`: their second labels; `sums`: zeros on entry.
extern "C" __global__ void __launch_bounds__(256)
    add_pairs(u64 count, const u64* pairs, u32 bits, const u32* first, const i64* before, u64 width, u32* ids, u32* sums) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < 32 * words(count); at += (u64)gridDim.x * blockDim.x) {
    const u64 pair = at < count ? pairs[at] : NONE;
    const u32 lane = lane_id(), here = first[at >> 5];
    u32 sum = pair == NONE ? 0 : (u32)(pair & (((u64)1 << bits) - 1));
    // the place of this lane's pair among those that begin in this warp, from 1 on; 0: it began in an earlier warp
    const u32 mine = (u32)__popc(here & (ALL >> (31 - lane)));
    for (u32 d = 1; d < 32; d <<= 1) {
      const u32 other = __shfl_down_sync(ALL, mine, d), adds = __shfl_down_sync(ALL, sum, d);
      if (lane + d < 32 && other == mine) sum += adds;
    }
    if (pair == NONE || (lane != 0 && !has_bit(here, lane))) continue;
    const u64 place = (u64)before[at >> 5] + mine - 1;
    atomicAdd(sums + place, sum);
    if (has_bit(here, lane)) ids[place] = (u32)((pair >> bits) % width);
  }
}

}  // namespace szc
