// Euclidean distances between each row of a full panel and each of a few other rows.
//
// Who calls: engines/gpu/products/dense_rows.py. All memory on the device. What a thread does: it computes one distance
// for each of ROWS neighbouring rows, out(i, j) at i * few + j; neighbouring threads share these rows, each `inner`
// consecutive values, and have neighbouring columns of `y`, which is the transpose of the other rows. Squares are
// summed unscaled, as SciPy's cdist does: differences from 1e154 on give infinity. `nrows`: of the panel.
//
// The prelude supplies X, the type of the panel's values, and ROWS.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const X* x, const double* y, u64 inner, u64 few, double* out) {
  const u64 size = (nrows + ROWS - 1) / ROWS * few;
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += (u64)gridDim.x * blockDim.x) {
    const u64 group = at / few, j = at - group * few, first = group * ROWS;
    const u32 rows = nrows - first < ROWS ? (u32)(nrows - first) : ROWS;
    double sum[ROWS] = {};
    for (u64 c = 0; c < inner; ++c) {
      const double other = y[c * few + j];
#pragma unroll
      for (u32 r = 0; r < ROWS; ++r) {
        const double d = (double)x[(first + (r < rows ? r : 0)) * inner + c] - other;
        sum[r] += d * d;
      }
    }
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r)
      if (r < rows) out[(first + r) * few + j] = sqrt(sum[r]);
  }
}

}  // namespace szc
