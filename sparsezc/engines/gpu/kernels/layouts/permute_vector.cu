// A vector in another order: new entry i is old entry at[i].
//
// Who calls: engines/gpu/storage/vertex_order.py, engines/gpu/layouts/hub_columns.py. All memory on the device. What a
// warp does: it makes one presence word of the result. `values` and `new_values` may be null; `new_bits`: the presence
// words in the new order, null where all entries are present. The prelude supplies A, any type of the values' size.
#include "warp.cuh"

namespace szc {

constexpr u32 AHEAD = sizeof(A) <= 8 ? 4 : 2;  // words whose entries a warp requests at once

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const u32* at, const A* values, const u32* bits, A* new_values, u32* new_bits) {
  const u64 warps = ((u64)gridDim.x * blockDim.x) >> 5;
  for (u64 first = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * first < size; first += AHEAD * warps) {
    u32 from[AHEAD];
    bool has[AHEAD];
    A value[AHEAD];
#pragma unroll
    for (u32 k = 0; k < AHEAD; ++k) {
      const u64 i = 32 * (first + k * warps) + lane_id();
      has[k] = i < size;
      from[k] = has[k] ? at[i] : 0;
    }
#pragma unroll
    for (u32 k = 0; k < AHEAD; ++k) {
      has[k] = has[k] && present(bits, from[k]);
      value[k] = has[k] && values ? values[from[k]] : A();
    }
#pragma unroll
    for (u32 k = 0; k < AHEAD; ++k) {
      const u64 word = first + k * warps;
      if (has[k] && values) new_values[32 * word + lane_id()] = value[k];
      const u32 made = __ballot_sync(ALL, has[k]);
      if (lane_id() == 0 && new_bits && 32 * word < size) new_bits[word] = made;
    }
  }
}

}  // namespace szc
