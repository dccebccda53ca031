// The row offsets of two merged matrices (matrix_merge.cu): the number of kept entries before each row of a part.
//
// Who calls: engines/gpu/elementwise/matrix_merge.py, for rows first .. last-1 of X and Y. All memory on the device:
// the offsets x_indptr and y_indptr of the whole matrices; entries x_base .. x_base + x_count - 1 of X, and from y_base
// on of Y, take part; `bits` and `before` are those that merge_entries wrote.
#include "compaction.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 first, u64 last, const i64* x_indptr, u64 x_base, u64 x_count, const i64* y_indptr,
                                  u64 y_base, const u32* bits, const i64* before, i64* out) {
  for (u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x; r <= last - first; r += (u64)gridDim.x * blockDim.x)
    out[r] = (i64)(kept_before(bits, before, 0, (u64)x_indptr[first + r] - x_base) +
                   kept_before(bits, before, words(x_count), (u64)y_indptr[first + r] - y_base));
}

}  // namespace szc
