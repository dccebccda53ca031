// The number of entries of rows of a product in each part of the columns, before spgemm_dense_fill.cu computes them.
//
// Who calls: engines/gpu/products/spgemm_dense.py. All memory on the device. What a block does: it takes a row and as
// many columns as it has bits for in shared memory, marks the columns of the row's products, and counts the bits of
// each part.
//
// The prelude supplies what spgemm.cuh needs; WIDTH, the columns of a part, and WORDS of the bits: a multiple of WIDTH
// / 32.
#include "spgemm_dense.cuh"

namespace szc {

// `rows`: nrows of them, those with most products first, of ncols columns; `found`: the number of entries of each row
// in each of `parts` parts.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const u64* rows, u64 parts, u64 ncols, const i64* a_indptr, const AId* a_ids, const i64* b_indptr,
           const BId* b_ids, u64* counter, u32* found) {
  __shared__ u32 bits[WORDS];
  __shared__ u64 taken;
  const Matrix<AId, A> a = {a_indptr, a_ids, nullptr};
  const Matrix<BId, u8> b = {b_indptr, b_ids, nullptr};
  const u64 span = 32 * (u64)WORDS, spans = (ncols + span - 1) / span;
  const u32 lane = lane_id(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (u64 item = take_together(counter, &taken); item < nrows * spans; item = take_together(counter, &taken)) {
    const u64 k = item / spans, lo = item % spans * span, hi = lo + span < ncols ? lo + span : ncols;
    const u32 nwords = (u32)((hi - lo + 31) / 32);
    for (u32 w = threadIdx.x; w < nwords; w += blockDim.x) bits[w] = 0;
    __syncthreads();
    each_cut(a, b, (u64)a_indptr[rows[k]] + warp, (u64)a_indptr[rows[k] + 1], warps, {lo, hi, spans == 1},
             [&](u64, u64 begin, u64 end, A) { each_id(b_ids, begin, end, [&](u64, u64 col) { mark(bits, (u32)(col - lo)); }); });
    __syncthreads();
    for (u32 p = warp; p * (WIDTH / 32) < nwords; p += warps) {
      const u32 end = (p + 1) * (WIDTH / 32) < nwords ? (p + 1) * (WIDTH / 32) : nwords;
      u32 count = 0;
      for (u32 w = p * (WIDTH / 32) + lane; w < end; w += 32) count += (u32)__popc(bits[w]);
      count = add_lanes(count);
      if (lane == 0) found[k * parts + lo / WIDTH + p] = count;
    }
    __syncthreads();
  }
}

}  // namespace szc
