// The sums of a matrix's entries by the labels of their rows and columns, in one table of pairs.
//
// Who calls: engines/gpu/products/label_sums.py, which lists the rows by their lengths. Where things lie: `indices` and `values` in
// host memory (zero-copy) or on the device, all else on the device. What does the work: 8 or 32 lanes take a row of as many entries and
// compare all pairs; a warp or a block takes a longer one and adds what its entries weigh by label in a hash table, as label_choose.cu does.
// Then each label's sum is added to that of the pair (the row's label, this label): in an array of all pairs, or in a hash table in device
// memory. So a pair costs one atomic for each row, not for each entry.
//
// The prelude supplies what label_rows.cuh needs; CLASS, of rows; SLOTS of a block's table; DENSE: whether all pairs have a place.
#include "label_rows.cuh"

namespace szc {

constexpr bool BLOCKS = CLASS >= 3, GLOBAL = CLASS == 4;
constexpr u32 LANES = CLASS == 0 ? 8 : 32;
constexpr u64 NO_PAIR = ~(u64)0;

struct Pairs {
  u64* pairs;
  Sum* totals;
  u64 places;
  u64 start;  // the row's first pair

  __device__ __forceinline__ void add(u64 label, Sum sum) const {
    const u64 pair = start + label;
    if (DENSE) {
      atomicAdd(totals + pair, sum);
      return;
    }
    u64 at = __umul64hi(pair * 11400714819323198485ull, places);  // Fibonacci hashing: Knuth, vol. 3, section 6.4
    for (;; at = at + 1 < places ? at + 1 : 0) {
      u64 before = *(volatile u64*)(pairs + at);
      if (before == NO_PAIR) before = atomicCAS(pairs + at, NO_PAIR, pair);
      if (before == NO_PAIR || before == pair) break;
    }
    atomicAdd(totals + at, sum);
  }
};

// The entries of a row of at most LANES, one a lane; all lanes of the warp call.
__device__ __forceinline__ void add_short(const Operands& o, bool valid, u64 row, u64 width, const Pairs& pairs) {
  const u64 from = valid ? (u64)o.a.indptr[row] : 0, to = valid ? (u64)o.a.indptr[row + 1] : 0;
  const u64 at = from + lane_id() % LANES;
  u64 label = width;
  Sum weight = 0, sum = 0;
  if (at < to) {
    label = (u64)o.label[(u64)load_host(o.a.ids + at, 0)];
    weight = o.weight(at);
  }
  bool first = label < width;
  for (u32 d = 0; d < LANES; ++d) {
    const u64 other = __shfl_sync(ALL, label, d, LANES);
    const Sum adds = __shfl_sync(ALL, weight, d, LANES);
    if (other != label) continue;
    sum += adds;
    if (d < lane_id() % LANES) first = false;  // an earlier lane adds this label
  }
  if (first) pairs.add(label, sum);
}

// `rows`: count of them. Pairs are numbered by rows of `width` from that of label `least` on. `keys`, `sums`: an empty table of
// `slots` for each block, where GLOBAL. `pairs`, `totals`: the table of pairs, of so many `places`.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u64* rows, const i64* indptr, const Id* indices, const A* values, const Key* label, u64 width, u64 least,
           Key* keys, Sum* sums, u32 slots, u64* pairs, Sum* totals, u64 places, u64* counter) {
  constexpr u32 ROOM = CLASS < 2 ? 1 : SLOTS;
  __shared__ Key near_keys[ROOM];
  __shared__ Sum near_sums[ROOM];
  __shared__ u64 taken;
  __shared__ u32 spilled;
  const Operands o = {{indptr, indices, values}, label, nullptr, nullptr, nullptr, 0.0, {}};
  if (CLASS < 2) {
    const u64 stride = (u64)gridDim.x * blockDim.x / LANES;
    const u64 mine = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES, others = lane_id() / LANES;
    for (u64 k = mine; k - others < count; k += stride) {  // all lanes of a warp stay together
      const bool valid = k < count;
      const u64 row = valid ? rows[k] : 0;
      add_short(o, valid, row, width, {pairs, totals, places, ((u64)label[row] - least) * width});
    }
    return;
  }
  const u32 part = BLOCKS ? 0 : SLOTS / 8 * (threadIdx.x / 32);
  const Group g = {BLOCKS ? threadIdx.x : lane_id(), BLOCKS ? 256u : 32u};
  const u64 own = (u64)slots * blockIdx.x;
  Sums table = {{near_keys + part, 0}, near_sums + part, {keys + own, GLOBAL ? slots : 0}, sums + own, &spilled};
  for (;;) {
    const u64 k = BLOCKS ? take_together(counter, &taken) : take(counter, 1);
    if (k >= count) return;
    const u64 row = rows[k];
    table.clear(g, (u64)(indptr[row + 1] - indptr[row]), BLOCKS ? SLOTS : SLOTS / 8);
    add_row(o, g, table, row);
    const Pairs mine = {pairs, totals, places, ((u64)label[row] - least) * width};
    table.each(g, [&](Key to, Sum sum) {
      if ((u64)to < width) mine.add((u64)to, sum);
    });
    g.sync();
  }
}

}  // namespace szc
