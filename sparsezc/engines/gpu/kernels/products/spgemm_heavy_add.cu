// The values of one row of a product that all blocks share, after spgemm_heavy_mark.cu marked its columns.
//
// Who calls: engines/gpu/products/spgemm_heavy_rows.py. Memory: ids and values of A and B in host memory (zero-copy) or
// on the device, all else on the device. Sums that do not depend on their order are added in the result, by the block
// that takes the next `piece` products. Others (floating-point numbers) are added in parts that do not depend on
// timing: each block adds `piece` products to sums of its own, one row of B after another, and heavy_join adds the
// parts in order.
//
// `row_number`: the row; `names`: the columns that B's ids represent (null: the ids themselves); `bits` and `before`:
// the place of each of the row's `n` columns among its sums (compaction.cuh).
//
// The prelude supplies what spgemm_heavy_rows.cuh needs, and BId, B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64
// col)`; the monoid (add, identity; ANY, ATOMIC); READS_B, ISO_B; ORDERED.
#include "atomics.cuh"
#include "spgemm_heavy_rows.cuh"
#include "compaction.cuh"

namespace szc {

// heavy_add: `counter` holds 0 on entry; with ORDERED it is the first block's part, and block k adds to sums[k * n ..].
extern "C" __global__ void __launch_bounds__(256)
    heavy_add(u64 start, u64 count, const i64* starts, const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids,
              const B* b_values, u64 piece, u64* counter, u64 row_number, const u64* names, const u32* bits, const i64* before, u64 n,
              Z* sums) {
  const HeavyRow row = {start, count, starts};
  const Matrix<AId, A> a = {nullptr, a_ids, a_values};
  const Matrix<BId, B> b = {nullptr, b_ids, b_values};
  const u64 all = row.products();
  const auto add_product = [&](Z* to, u64 shared, A x, u64 at) {
    const u64 col = (u64)load_host(b.ids + at, 0);
    Z* sum = to + kept_before(bits, before, 0, col);
    const Z z = multiply(x, b.template value<READS_B, ISO_B>(at), row_number, shared, names ? names[col] : col);
    if (ANY) *sum = z;
    else if (ORDERED) *sum = add(*sum, z);
    else combine(sum, z);
  };
  if (ORDERED) {  // every warp visits all of the part; the block shares a row of B, whose columns are distinct
    const u64 first = (*counter + blockIdx.x) * piece;
    if (first < all)
      each_part(row, a, b_indptr, first, first + piece < all ? first + piece : all, [&](u64 shared, u64 begin, u64 end, A x) {
        for (u64 at = begin + threadIdx.x; at < end; at += blockDim.x) add_product(sums + blockIdx.x * n, shared, x, at);
        __syncthreads();
      });
  } else {
    for_pieces(counter, all, piece, [&](u64 first) {
      each_part(row, a, b_indptr, first, first + piece < all ? first + piece : all, [&](u64 shared, u64 begin, u64 end, A x) {
        for (u64 at = begin + lane_id(); at < end; at += 32) add_product(sums, shared, x, at);
      });
    });
  }
}

// heavy_join: sums[k] (+)= the parts' sums, in the order of parts.
extern "C" __global__ void __launch_bounds__(256) heavy_join(u64 n, u64 parts, const Z* partial, Z* sums) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (u64)gridDim.x * blockDim.x) {
    Z sum = sums[k];
    for (u64 part = 0; part < parts; ++part) sum = add(sum, partial[part * n + k]);
    sums[k] = sum;
  }
}

}  // namespace szc
