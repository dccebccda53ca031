// Matrix times matrix: every product A(i, k) B(k, j) of some rows of A (Gustavson, ACM TOMS 1978, by expansion), each with
// the key of its place; the caller sorts and folds them.
//
// Who calls: engines/gpu/mxm.py. Where things lie: `indices` and `values` of A and B in host memory (zero-copy) or on the
// device, all else on the device. A thread makes a product; neighbours read neighbouring entries of B's rows.
//
// The prelude supplies AId, BId, A, B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; READS_A, READS_B (what the
// multiply needs), ISO_A, ISO_B, CONSTANT (products not kept).
#include "operands.cuh"

namespace szc {

// Entries start .. start + nentries - 1 of A, in rows first .. last-1; `before`: products before each of them.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nproducts, u64 nentries, const i64* before, u64 start, u64 first, u64 last, const i64* a_indptr,
           const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids, const B* b_values, u64 ncols,
           u64* keys, Z* results) {
  const Matrix<AId, A> a = {a_indptr, a_ids, a_values};
  const Matrix<BId, B> b = {b_indptr, b_ids, b_values};
  for (u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x; t < nproducts; t += (u64)gridDim.x * blockDim.x) {
    const u64 entry = last_not_above(before, 0, nentries, t), at = start + entry;
    const u64 shared = (u64)load_host_cached(a_ids + at, 0);
    const u64 b_at = (u64)b_indptr[shared] + (t - (u64)before[entry]);
    const u64 row = last_not_above(a_indptr, first, last, at), col = (u64)load_host(b_ids + b_at, 0);
    keys[t] = (row - first) * ncols + col;
    if (!CONSTANT) results[t] = multiply(a.value<READS_A, ISO_A>(at), b.value<READS_B, ISO_B>(b_at), row, shared, col);
  }
}

}  // namespace szc
