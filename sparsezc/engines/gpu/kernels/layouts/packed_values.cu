// Ids and small whole values packed in one word: out[at] = id | value << bits, so that one request reads both.
//
// Who calls: engines/gpu/layouts/packed_values.py. `indices`, `values` and `out` may be in host memory; *unfit is 0 on
// entry, and is set if a value is not a whole number from 0 to `most`. The prelude supplies A.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nvals, const u32* indices, const A* values, u32 bits, u32 most, u32* out, u32* unfit) {
  bool fits = true;
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < nvals; at += (u64)gridDim.x * blockDim.x) {
    const A value = load_host(values + at, 1);
    const bool good = value >= A(0) && value <= (A)most;  // false for NaN
    const u32 whole = good ? (u32)value : 0;
    fits = fits && good && (A)whole == value;
    out[at] = load_host(indices + at, 0) | (whole << bits);
  }
  if (!fits) atomicOr(unfit, 1u);
}

}  // namespace szc
