// Euclidean distances between each row of a full panel and each of a few other rows.
//
// Who calls: engines/gpu/products/dense_rows.py. All memory on the device. What a thread does: one distance, out(i, j) at i * few + j;
// neighbouring threads share a row of the panel, whose `inner` values lie side by side, as do those of the other rows `y`.
// Squares are summed as they are, as SciPy's cdist does: differences from 1e154 on are infinite.
//
// The prelude supplies X, the type of the panel's values.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const X* x, const double* y, u64 inner, u64 few, double* out) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += (u64)gridDim.x * blockDim.x) {
    const u64 i = at / few, j = at - i * few;
    double sum = 0;
    for (u64 c = 0; c < inner; ++c) {
      const double d = (double)x[i * inner + c] - y[j * inner + c];
      sum += d * d;
    }
    out[at] = sqrt(sum);
  }
}

}  // namespace szc
