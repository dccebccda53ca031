// A product of two full panels at the entries of a sparse matrix: out(i, j) = sum over c of left(i, c) (x) right(j, c).
// `inner`: columns of either panel.
//
// Who calls: engines/gpu/products/sddmm.py. Memory: `indices` and `out` in host memory (zero-copy) or on the device,
// all else on the device. What a warp does: it takes 32 entries that begin at a multiple of 32, one aligned request of
// ids, finds their rows by bisection of the offsets, computes their products (sddmm.cuh), and writes 32 values.
//
// The prelude supplies Id, W (the type of entries, dot::Z) and what sddmm.cuh says.
#include "bisect.cuh"
#include "sddmm.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nvals, u64 nrows, const i64* indptr, const Id* indices, const L* left, const R* right, u64 inner, W* out) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at - lane_id() < nvals; at += (u64)gridDim.x * blockDim.x) {
    const bool active = at < nvals;
    const u64 id = active ? (u64)load_host(indices + at, 0) : 0;
    const u64 row = active ? last_not_above(indptr, 0, nrows, at) : 0;
    const dot::Z z = dot_entries(left, right, inner, row, id, __ballot_sync(ALL, active));
    if (active) out[at] = z;
  }
}

}  // namespace szc
