// Rows of a product, a part of the columns at a time: each column of the part has its sum in shared memory.
//
// Who calls: engines/gpu/products/spgemm_dense.py, after spgemm_dense_count.cu counted the entries. All memory on the
// device. What a block does: it takes a row and a part of the columns; its warps take the entries of A's row by turns
// and add their products by atomics. Sums that depend on their order are added one row of B after another by all warps:
// its products have no column in common.
//
// The prelude supplies what spgemm.cuh needs, and B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; the
// monoid (add, identity; ANY, ATOMIC); READS_B, ISO_B; VALUES, whether values are wanted; ORDERED, whether sums depend
// on their order; COUNTS, whether a sum is the number of its products; Sum: u32 with COUNTS, else Z; WIDTH, the columns
// of a part.
#include "atomics.cuh"
#include "spgemm_dense.cuh"

namespace szc {

struct Sums {
  Sum* sums;
  u32* bits;

  // The columns among 32 that have an entry.
  __device__ __forceinline__ u32 present_in(u32 word) const {
    return COUNTS ? __ballot_sync(ALL, ((const u32*)sums)[32 * word + lane_id()] != 0) : bits[word];
  }
};

// `rows`: nrows of them, of ncols columns; `starts` and `found`: the first entry, and the number of entries, of each
// row in each of `parts` parts; `base`: the first entry of the result.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const u64* rows, u64 parts, u64 ncols, const i64* starts, const u32* found, u64 base, const i64* a_indptr,
           const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids, const B* b_values, const u64* names,
           u64* counter, BId* ids, Z* values) {
  __shared__ Sum sums[VALUES ? WIDTH : 1];
  __shared__ u32 bits[COUNTS ? 1 : WIDTH / 32];
  __shared__ u32 totals[8];
  __shared__ u64 taken;
  const Matrix<AId, A> a = {a_indptr, a_ids, a_values};
  const Matrix<BId, B> b = {b_indptr, b_ids, b_values};
  const u32 lane = lane_id(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const Sum none = COUNTS ? Sum() : (Sum)identity();
  if (VALUES)
    for (u32 c = threadIdx.x; c < WIDTH; c += blockDim.x) sums[c] = none;
  if (!COUNTS)
    for (u32 w = threadIdx.x; w < WIDTH / 32; w += blockDim.x) bits[w] = 0;
  __syncthreads();
  for (u64 item = take_together(counter, &taken); item < nrows * parts; item = take_together(counter, &taken)) {
    if (!found[item]) continue;
    const u64 row = rows[item / parts], lo = item % parts * WIDTH, hi = lo + WIDTH < ncols ? lo + WIDTH : ncols;
    const Part part = {lo, hi, parts == 1};
    const Sums s = {sums, bits};
    const auto add_one = [&](u64 shared, A x, u64 at, u64 col) {
      const u32 c = (u32)(col - lo);
      if (COUNTS) {
        atomicAdd((u32*)&sums[c], 1u);
        return;
      }
      mark(bits, c);
      if (!VALUES) return;
      const Z z = multiply(x, b.value<READS_B, ISO_B>(at), row, shared, names ? names[col] : col);
      Z* sum = (Z*)&sums[c];
      if (ANY) *sum = z;
      else if (ORDERED) *sum = add(*sum, z);
      else combine(sum, z);
    };
    const u64 from = (u64)a_indptr[row], to = (u64)a_indptr[row + 1];
    if (VALUES && ORDERED && !COUNTS) {
      each_cut(a, b, from, to, 1, part, [&](u64 shared, u64 begin, u64 end, A x) {
        for (u64 at = begin + threadIdx.x; at < end; at += blockDim.x) add_one(shared, x, at, (u64)load_host_cached(b_ids + at, 0));
        __syncthreads();
      });
    } else {
      each_cut(a, b, from + warp, to, warps, part, [&](u64 shared, u64 begin, u64 end, A x) {
        each_id(b_ids, begin, end, [&](u64 at, u64 col) { add_one(shared, x, at, col); });
      });
    }
    __syncthreads();
    // Each warp lists a share of the part's words, behind the entries of earlier shares, and clears their sums.
    const u32 nwords = (u32)((hi - lo + 31) / 32), share = (nwords + warps - 1) / warps, begin = warp * share;
    const u32 end = begin + share < nwords ? begin + share : nwords;
    u32 count = 0;
    for (u32 w = begin; w < end; ++w) count += (u32)__popc(s.present_in(w));
    if (lane == 0) totals[warp] = count;
    __syncthreads();
    u64 at = (u64)starts[item] - base;
    for (u32 w = 0; w < warp; ++w) at += totals[w];
    for (u32 w = begin; w < end; ++w) {
      const u32 there = s.present_in(w), c = 32 * w + lane;
      if (has_bit(there, lane)) {
        const u64 place = at + (u32)__popc(there & (bit(lane) - 1));
        ids[place] = (BId)(lo + c);
        if (VALUES) {
          values[place] = (Z)sums[c];
          sums[c] = none;
        }
      }
      at += (u32)__popc(there);
      __syncwarp();
      if (!COUNTS && lane == 0) bits[w] = 0;
    }
    __syncthreads();
  }
}

}  // namespace szc
