// The sums of a matrix's entries by the labels of their rows and columns.
//
// Who calls: engines/gpu/products/label_sums.py, which lists the rows by length class. Memory: `indices` and `values`
// in host memory (zero-copy) or on the device, all else on the device. What does the work: 8 or 32 lanes take a row of
// at most as many entries and compare all pairs; a warp or a block takes a longer row and adds its entries' weights by
// label in a hash table, as label_choose.cu does. Then each label's sum is that of a pair (the row's label, this
// label), once for each row: it is added to an array of all pairs, or listed for sorting.
//
// The prelude supplies what label_rows.cuh needs; CLASS, the length class; SLOTS of a block's table; DENSE: whether
// there is an array of all pairs.
#include "label_rows.cuh"

namespace szc {

constexpr bool BLOCKS = CLASS >= 3, GLOBAL = CLASS == 4;
constexpr u32 LANES = CLASS == 0 ? 8 : 32;
// The pairs that have been found, one after another: `pairs` with their sums in the lowest `bits`, or, where `bits` is
// 0, without sums, which are then in `totals`. With DENSE `totals` is an array of the sums of all pairs.
struct Pairs {
  u64* pairs;
  Sum* totals;
  u32 bits;
  u64* found;  // the number of pairs, of which the first `capacity` are kept
  u64 capacity;
  u64 start;   // the row's first pair

  __device__ __forceinline__ void add(u64 label, Sum sum) const {
    const u64 pair = start + label;
    if (DENSE) {
      atomicAdd(totals + pair, sum);
    } else if (!bits) {
      const u64 at = next();
      if (at >= capacity) return;
      pairs[at] = pair;
      totals[at] = sum;
    } else {
      const u64 most = ((u64)1 << bits) - 1;
      for (u64 rest = (u64)sum; rest; rest -= rest < most ? rest : most) {
        const u64 at = next();
        if (at < capacity) pairs[at] = pair << bits | (rest < most ? rest : most);
      }
    }
  }

  // A place in the list for each lane that calls together with this one.
  __device__ __forceinline__ u64 next() const {
    const u32 here = __activemask(), first = (u32)__ffs((int)here) - 1;
    u64 at = 0;
    if (lane_id() == first) at = atomicAdd(found, (u64)__popc(here));
    return __shfl_sync(here, at, (int)first) + (u64)__popc(here & (bit(lane_id()) - 1));
  }
};

// Adds the entries of a row of at most LANES, one a lane; all lanes of the warp call.
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

// `rows`: `count` of them. A pair's number is (row's label - `least`) * `width` + column's label. `keys`, `sums`: with
// GLOBAL `slots` for each block, for entries that spill. `pairs`, `totals`, `bits`, `found`, `capacity`: see Pairs.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u64* rows, const i64* indptr, const Id* indices, const A* values, const Key* label, u64 width, u64 least,
           Key* keys, Sum* sums, u32 slots, u64* pairs, Sum* totals, u32 bits, u64* found, u64 capacity, u64* counter) {
  constexpr u32 CAPACITY = CLASS < 2 ? 1 : SLOTS;
  __shared__ Key near_keys[CAPACITY];
  __shared__ Sum near_sums[CAPACITY];
  __shared__ u64 taken;
  __shared__ u32 counts_of_spill[GLOBAL ? Sums::COUNTS : 1];
  const Operands o = {{indptr, indices, values}, label, nullptr, nullptr, nullptr, 0.0, {}};
  if (CLASS < 2) {
    const u64 stride = (u64)gridDim.x * blockDim.x / LANES;
    const u64 mine = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES, others = lane_id() / LANES;
    for (u64 k = mine; k - others < count; k += stride) {  // all lanes of a warp stay together
      const bool valid = k < count;
      const u64 row = valid ? rows[k] : 0;
      add_short(o, valid, row, width, {pairs, totals, bits, found, capacity, ((u64)label[row] - least) * width});
    }
    return;
  }
  const u32 part = BLOCKS ? 0 : SLOTS / 8 * (threadIdx.x / 32);
  const Group g = {BLOCKS ? threadIdx.x : lane_id(), BLOCKS ? 256u : 32u};
  const u64 own = (u64)slots * blockIdx.x;
  Sums table = {{near_keys + part, 0}, near_sums + part, keys + own, sums + own, GLOBAL ? slots / 2 : 0, counts_of_spill, GLOBAL};
  for (;;) {
    const u64 k = BLOCKS ? take_together(counter, &taken) : take(counter, 1);
    if (k >= count) return;
    const u64 row = rows[k];
    const Pairs mine = {pairs, totals, bits, found, capacity, ((u64)label[row] - least) * width};
    const u64 entries = (u64)(indptr[row + 1] - indptr[row]);
    table.each(o, g, row, entries, BLOCKS ? SLOTS : SLOTS / 8, EMPTY, [&](Key to, Sum sum) {
      if ((u64)to < width) mine.add((u64)to, sum);
    });
    g.sync();
  }
}

}  // namespace szc
