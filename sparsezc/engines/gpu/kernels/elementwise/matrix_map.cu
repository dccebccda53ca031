// Operations on single entries of a matrix: apply writes new values, select marks the entries to keep.
//
// Who calls: engines/gpu/elementwise/matrix_map.py. What a warp does: it takes 32 entries that begin at a multiple of
// 32: one aligned request of ids and one of values. `indices`, `values`, `out` and `bits` begin with entry `first` and
// have `nvals` entries. The row of an entry, where the operator reads it, is found by bisection of the offsets.
//
// The prelude supplies Id, A, S, Z (types of ids, values, scalar, result); `Z compute(A a, S s, u64 row, u64 col)`; the
// flags READS_VALUES, READS_ROWS, READS_COLUMNS, ISO, and KEEP: if false, z is written to `out`; if true, whether z is
// not 0 is written to `bits`.
#include "bisect.cuh"
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 first, u64 nvals, u64 nrows, const i64* indptr, const Id* indices, const A* values, S s, Z* out, u32* bits) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < ((nvals + 31) & ~(u64)31); at += (u64)gridDim.x * blockDim.x) {
    Z z = Z();
    const u64 row = READS_ROWS ? last_not_above_together(indptr, 0, nrows, first + at) : 0;
    if (at < nvals) {
      const u64 col = READS_COLUMNS ? (u64)load_host(indices + at, 0) : 0;
      const A a = !READS_VALUES ? A() : ISO ? values[0] : load_host(values + at, 1);
      z = compute(a, s, row, col);
      if (!KEEP) out[at] = z;
    }
    if (KEEP) {
      const u32 kept = __ballot_sync(ALL, at < nvals && z != Z(0));
      if (lane_id() == 0) bits[at >> 5] = kept;
    }
  }
}

}  // namespace szc
