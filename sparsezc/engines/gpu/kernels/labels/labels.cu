// Rows whose columns have labels: the best label of each row, or the sum of its entries within its own label.
//
// Who calls: engines/gpu/products/labels.py, which lists the rows by their lengths. Memory: `indices` and `values` in
// host memory (zero-copy) or on the device, all else on the device. What does the work: a warp or a block takes a row
// and adds its entries' weights to sums by label in a hash table in shared memory; entries that find no slot spill to
// device memory and are added afterwards. Where entries count as one each, lanes that read the same label add once.
// Sums do not depend on timing where weights are whole numbers.
//
// The prelude supplies what label_rows.cuh needs, and BLOCKS: a block takes a row, else a warp; GLOBAL: entries may
// spill to device memory; SLOTS of a block's table; SUM: whether sums within one label are wanted.
#include "label_rows.cuh"

namespace szc {

// The sum of a row's entries within a label, by a group; each lane returns that of its warp.
__device__ __forceinline__ double add_within(const Operands& o, const Group& g, u64 row, i64 wanted) {
  double sum = 0.0;
  o.each_column(g, row, [&](u64 col) { return o.label[col]; }, [&](i64 label, double weight) {
    if (label == wanted) sum += weight;
  });
  return add_lanes(sum);
}

// `rows`: `count` of them. `keys`, `sums`: with GLOBAL `slots` for each block, for entries that spill. Results for each
// row: `weight` with SUM, else `best`.
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
    KERNEL(u64 count, const u64* rows, const i64* indptr, const Id* indices, const A* values, const i64* label, u32 stays, Key* keys,
           Sum* sums, u32 slots, u64* counter, i64* best, double* weight) {
  __shared__ Key near_keys[SUM ? 1 : SLOTS];
  __shared__ Sum near_sums[SUM ? 1 : SLOTS];
  __shared__ Choice choices[8];
  __shared__ u64 taken;
  __shared__ u32 counts_of_spill[GLOBAL ? Sums::COUNTS : 1];
  const u32 warp = threadIdx.x / 32, part = BLOCKS ? 0 : SLOTS / 8 * warp;
  const Operands o = {{indptr, indices, values}, label, nullptr, nullptr, nullptr, 0.0, {}};
  const Group g = {BLOCKS ? threadIdx.x : lane_id(), BLOCKS ? 256u : 32u};
  const u64 first = (u64)slots * blockIdx.x;
  Sums table = {{near_keys + part, 0}, near_sums + part, keys + first, sums + first, GLOBAL ? slots / 2 : 0, counts_of_spill, GLOBAL};
  for (;;) {
    const u64 k = BLOCKS ? take_together(counter, &taken) : take(counter, 1);
    if (k >= count) return;
    const u64 row = rows[k], mine = (u64)label[row];
    const Rule rule = {mine, stays != 0};
    Choice choice;
    if (SUM) choice = {add_within(o, g, row, (i64)mine), 0};
    else choice = choose(o, g, table, row, rule, (u64)(indptr[row + 1] - indptr[row]), BLOCKS ? SLOTS : SLOTS / 8);
    if (BLOCKS) {
      if (lane_id() == 0) choices[warp] = choice;
      __syncthreads();
      for (u32 w = 0; w < 8; ++w) {
        const Choice other = choices[w];
        if (w == warp) continue;
        if (SUM) choice.score += other.score;
        else if (rule.beats(other, choice)) choice = other;
      }
    }
    if (g.rank == 0) {
      if (SUM) weight[k] = choice.score;
      else best[k] = (i64)choice.label;
    }
    g.sync();
  }
}

}  // namespace szc
