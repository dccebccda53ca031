// Sums of a panel's entries by a monoid, along its rows or columns.
//
// Who calls: engines/gpu/elementwise/panel_parts.py. All memory on the device. What a thread does: it folds sum t:
// `count` entries from t / width * piece + t % width on, `step` apart, as far as they are below `size`. A row has width
// 1 and step 1; a piece of a column has the panel's width for both, so neighbouring threads read neighbours.
//
// `u_bits`, `out_bits`: presence words of entries and of sums.
//
// The prelude supplies X and Z (types of entries and sums), and the monoid (add, identity).
#include "warp.cuh"

namespace szc {

constexpr u32 AHEAD = 4;  // entries that a thread requests at once

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, u64 sums, const X* u, const u32* u_bits, u64 width, u64 piece, u64 step, u64 count, Z* out, u32* out_bits) {
  for (u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x; t - lane_id() < sums; t += (u64)gridDim.x * blockDim.x) {
    Z sum = identity();
    bool has = false;
    u64 at = t / width * piece + t % width;
    for (u64 k = 0; t < sums && k < count && at < size; k += AHEAD, at += AHEAD * step) {
      bool there[AHEAD];
      X x[AHEAD];
#pragma unroll
      for (u32 a = 0; a < AHEAD; ++a) there[a] = k + a < count && at + a * step < size && present(u_bits, at + a * step);
#pragma unroll
      for (u32 a = 0; a < AHEAD; ++a) x[a] = there[a] ? u[at + a * step] : X();
#pragma unroll
      for (u32 a = 0; a < AHEAD; ++a) {
        if (!there[a]) continue;
        const Z z = cast<Z>(x[a]);
        sum = has ? add(sum, z) : z;
        has = true;
      }
    }
    if (has) out[t] = sum;
    const u32 found = __ballot_sync(ALL, has);
    if (lane_id() == 0) out_bits[t >> 5] = found;
  }
}

}  // namespace szc
