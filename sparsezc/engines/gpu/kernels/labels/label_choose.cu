// The best label of each row that has its label turn, for rows of one length class.
//
// Who calls: engines/gpu/products/label_moves.py. Memory: `indices` and `values` in host memory (zero-copy) or on the
// device, all else on the device. What does the work: 8 or 32 lanes take a row of at most as many entries and compare
// all pairs; a warp or a block takes a longer row and adds its entries' weights to sums by label in a hash table in
// shared memory; entries that find no slot spill to device memory and are added afterwards. A label scores its
// sum - scale * shares[row] * totals[label].
// Source: S. Sahu, GVE-Louvain, 2023, doi:10.48550/arXiv.2312.04876 (a table a row; on GPUs: M. Naim, F. Manne, M.
// Halappanavar, A. Tumeo, IPDPS 2017, doi:10.1109/IPDPS.2017.16).
//
// The prelude supplies what label_rows.cuh needs; CLASS, the length class; SLOTS of a block's table.
#include "label_rows.cuh"

namespace szc {

constexpr bool BLOCKS = CLASS >= 3, GLOBAL = CLASS == 4;
constexpr u32 LANES = CLASS == 0 ? 8 : 32;

// `listed`, `first`, `counts`: the rows (label_rows.cuh). `within`, `whole`, `cut`, `alone`, `a`, `b`, `turn`: see
// Joins. `best`: of each listed row. `keys`, `sums`: with GLOBAL `slots` for each block, for entries that spill.
extern "C" __global__ void __launch_bounds__(256, RESIDENT)
    KERNEL(const Key* listed, const u64* first, u64* counts, const i64* indptr, const Id* indices, const A* values, const Key* label,
           const Key* within, const double* shares, const double* totals, double scale, const double* cut, const double* whole,
           const u8* alone, u64 a, u64 b, u32 turn, Key* keys, Sum* sums, u32 slots, Key* best) {
  constexpr u32 CAPACITY = CLASS < 2 ? 1 : SLOTS;
  __shared__ Key near_keys[CAPACITY];
  __shared__ Sum near_sums[CAPACITY];
  __shared__ Choice choices[8];
  __shared__ u64 taken;
  __shared__ u32 counts_of_spill[GLOBAL ? Sums::COUNTS : 1];
  const u64 count = counts[CLASS], from = first[CLASS];
  const Operands o = {{indptr, indices, values}, label, within, shares, totals, scale, {cut, whole, alone, a, b, turn}};
  if (CLASS < 2) {
    const u64 stride = (u64)gridDim.x * blockDim.x / LANES;
    const u64 mine = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES, others = lane_id() / LANES;
    for (u64 k = mine; k - others < count; k += stride) {  // all lanes of a warp stay together
      const bool valid = k < count;
      const u64 row = valid ? (u64)listed[from + k] : 0;
      const Rule rule = {(u64)label[row], true};
      const Choice choice = choose_short<LANES>(o, valid, row, rule);
      if (valid && lane_id() % LANES == 0) best[from + k] = (Key)choice.label;
    }
    return;
  }
  const u32 warp = threadIdx.x / 32, part = BLOCKS ? 0 : SLOTS / 8 * warp;
  const Group g = {BLOCKS ? threadIdx.x : lane_id(), BLOCKS ? 256u : 32u};
  const u64 own = (u64)slots * blockIdx.x;
  Sums table = {{near_keys + part, 0}, near_sums + part, keys + own, sums + own, GLOBAL ? slots / 2 : 0, counts_of_spill, GLOBAL};
  for (;;) {
    const u64 k = BLOCKS ? take_together(counts + TAKEN + CLASS, &taken) : take(counts + TAKEN + CLASS, 1);
    if (k >= count) return;
    const u64 row = (u64)listed[from + k];
    const Rule rule = {(u64)label[row], true};
    Choice choice = choose(o, g, table, row, rule, (u64)(indptr[row + 1] - indptr[row]), BLOCKS ? SLOTS : SLOTS / 8);
    if (BLOCKS) {
      if (lane_id() == 0) choices[warp] = choice;
      __syncthreads();
      for (u32 w = 0; w < 8; ++w)
        if (w != warp && rule.beats(choices[w], choice)) choice = choices[w];
    }
    if (g.rank == 0) best[from + k] = (Key)choice.label;
    g.sync();
  }
}

}  // namespace szc
