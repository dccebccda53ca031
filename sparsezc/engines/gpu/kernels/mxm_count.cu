// How many entries each row of a product A B has: the first of two looks at the products.
//
// Who calls: engines/gpu/gustavson.py. Where things lie: the ids of A and B in host memory (zero-copy) or on the device, all
// else on the device. A row of few products is a warp's: their columns go into a hash table in shared memory. A row of many
// is a block's: their columns are bits of a map in device memory.
// Source: M. Parger, M. Winter, D. Mlakar, M. Steinberger, spECK, PPoPP 2020, doi:10.1145/3332466.3374521.
//
// The prelude supplies what gustavson.cuh and table.cuh need, and SLOTS of the block's table.
#include "gustavson.cuh"
#include "table.cuh"

namespace szc {

// `products`: of each row; those of the rows whose bits are in `large` are counted by maps, of which there are nmaps.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* products, const i64* a_indptr, const AId* a_ids, const i64* b_indptr, const BId* b_ids,
           u64 nlarge, const u64* large_rows, const u32* large, u64 nmaps, Word* maps, u32* summaries, u64 summary,
           u64* counters, i64* counts) {
  __shared__ Key keys[SLOTS];
  __shared__ u64 taken;
  const Matrix<AId, A> a = {a_indptr, a_ids, nullptr};
  const u32 lane = lane_id(), warp = threadIdx.x / 32;
  if (blockIdx.x < nmaps) {
    const Map map = {maps + 1024 * summary * blockIdx.x, summaries + summary * blockIdx.x, summary};
    for (u64 k = take_together(counters, &taken); k < nlarge; k = take_together(counters, &taken)) {
      const u64 row = large_rows[k];
      each_row(a, b_indptr, (u64)a_indptr[row], (u64)a_indptr[row + 1], [&](u32 t, u64, u64 begin, u64 end, A) {
        if (t % (blockDim.x / 32) != warp) return;
        for (u64 at = begin + lane; at < end; at += 32) map.mark((u64)load_host(b_ids + at, 0));
      });
      __syncthreads();
      u32 n = 0;
      map.each_part(true, [&](u64 w) { n += (u32)__popc(map.words[w].bits); });
      n = add_lanes(n);
      if (lane == 0 && n) atomicAdd((u64*)&counts[row], (u64)n);
      __syncthreads();
    }
  }
  const Group own = {lane, 32};
  for (u64 word = take(counters + 1, 1); 32 * word < nrows; word = take(counters + 1, 1)) {
    const u64 row = 32 * word + lane;
    const u64 n = row < nrows && !(large && has_bit(large[word], lane)) ? (u64)products[row] : 0;
    u64 from = 0, to = 0;
    if (n) {
      from = (u64)a_indptr[row];
      to = (u64)a_indptr[row + 1];
    }
    for (u32 left = __ballot_sync(ALL, n != 0); left; left &= left - 1) {
      const u32 t = (u32)__ffs((int)left) - 1;
      Table table = {keys + SLOTS / 8 * warp, 32};
      table.clear(own, 2 * __shfl_sync(ALL, n, t), SLOTS / 8);
      u32 found = 0;
      each_row(a, b_indptr, __shfl_sync(ALL, from, t), __shfl_sync(ALL, to, t), [&](u32, u64, u64 begin, u64 end, A) {
        for (u64 at = begin + lane; at < end; at += 32) {
          bool fresh;
          table.insert((Key)load_host(b_ids + at, 0), fresh);
          found += fresh;
        }
      });
      found = add_lanes(found);
      if (lane == 0) counts[32 * word + t] = (i64)found;
      __syncwarp();
    }
  }
}

}  // namespace szc
