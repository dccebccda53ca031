// The number of entries of each row of a product A B: the first of two passes over the products.
//
// Who calls: engines/gpu/products/spgemm_rows.py. Memory: ids of A and B in host memory (zero-copy) or on the device,
// all else on the device. What does the work: a warp, or a block for a row of more products, inserts the columns of a
// row's products into a hash table in shared memory; where even a block's table is too small, they are bits of a map in
// device memory.
// Source: M. Parger, M. Winter, D. Mlakar, M. Steinberger, spECK, PPoPP 2020, doi:10.1145/3332466.3374521.
//
// The prelude supplies what spgemm.cuh needs, and SLOTS, the size of a block's table.
#include "spgemm.cuh"

namespace szc {

// Counts the columns of a row of at most n products, by a group; each lane returns a part of the count.
__device__ __forceinline__ u32 count_row(const Group& g, Table table, const Matrix<AId, A>& a, const i64* b_indptr, const BId* b_ids,
                                         u64 row, u64 n, u32 most) {
  table.clear(g, 2 * n, most);
  u32 found = 0;
  each_row(g, a, b_indptr, (u64)a.indptr[row], (u64)a.indptr[row + 1], [&](u64, u64 begin, u64 end, A) {
    for (u64 at = begin + lane_id(); at < end; at += 32) {
      bool fresh;
      table.insert((Key)load_host(b_ids + at, 0), fresh);
      found += fresh;
    }
  });
  g.sync();
  return found;
}

// `products`: the number of products of each row. Blocks count the listed rows; the first nmaps blocks count the mapped
// ones among them.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* products, const i64* a_indptr, const AId* a_ids, const i64* b_indptr, const BId* b_ids,
           u64 nmapped, u64 ntabled, const u64* rows, const u32* listed, u64 nmaps, Word* maps, u32* summaries, u64 summary,
           u64* counters, i64* counts) {
  __shared__ Key keys[SLOTS];
  __shared__ u64 taken;
  const Matrix<AId, A> a = {a_indptr, a_ids, nullptr};
  const Listed list = {nmapped, ntabled, rows, listed};
  const u32 lane = lane_id();
  const Group block = {threadIdx.x, blockDim.x}, own = {lane, 32};
  if (blockIdx.x < nmaps) {
    const Map map = {maps + 1024 * summary * blockIdx.x, summaries + summary * blockIdx.x, summary};
    for (u64 k = take_together(counters, &taken); k < nmapped; k = take_together(counters, &taken)) {
      each_row(block, a, b_indptr, (u64)a_indptr[rows[k]], (u64)a_indptr[rows[k] + 1], [&](u64, u64 begin, u64 end, A) {
        for (u64 at = begin + lane; at < end; at += 32) map.mark((u64)load_host(b_ids + at, 0));
      });
      __syncthreads();
      u32 found = 0;
      map.each_part(true, [&](u64 w) { found += (u32)__popc(map.words[w].bits); });
      found = add_lanes(found);
      if (lane == 0 && found) atomicAdd((u64*)&counts[rows[k]], (u64)found);
      __syncthreads();
    }
  }
  for (u64 k = take_together(counters + 1, &taken); k < ntabled; k = take_together(counters + 1, &taken)) {
    const u64 row = rows[nmapped + k];
    const u32 found = add_lanes(count_row(block, {keys, 0}, a, b_indptr, b_ids, row, (u64)products[row], SLOTS));
    if (lane == 0 && found) atomicAdd((u64*)&counts[row], (u64)found);
  }
  for (u64 word = take(counters + 2, 1); 32 * word < nrows; word = take(counters + 2, 1)) {
    const u64 row = 32 * word + lane, n = list.mine(row, nrows) ? (u64)products[row] : 0;
    for (u32 left = __ballot_sync(ALL, n != 0); left; left &= left - 1) {
      const u32 t = (u32)__ffs((int)left) - 1;
      const Table table = {keys + SLOTS / 8 * (threadIdx.x / 32), 0};
      const u32 found = add_lanes(count_row(own, table, a, b_indptr, b_ids, 32 * word + t, __shfl_sync(ALL, n, t), SLOTS / 8));
      if (lane == 0) counts[32 * word + t] = (i64)found;
    }
  }
}

}  // namespace szc
