// A vector in another order: new entry i is old entry at[i].
//
// Who calls: engines/gpu/storage/vertex_order.py, engines/gpu/layouts/hub_columns.py. All memory on the device. A warp makes one presence
// word. `values` and `new_values` may be null; `new_bits` are the presence words in the new order, null where all entries are present.
// The prelude supplies A, any type of the values' size.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 size, const u32* at, const A* values, const u32* bits, A* new_values, u32* new_bits) {
  const u64 warps = ((u64)gridDim.x * blockDim.x) >> 5;
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < size; word += warps) {
    const u64 i = 32 * word + lane_id();
    const u64 from = i < size ? at[i] : 0;
    const bool has = i < size && present(bits, from);
    if (has && values) new_values[i] = values[from];
    const u32 made = __ballot_sync(ALL, has);
    if (lane_id() == 0 && new_bits) new_bits[word] = made;
  }
}

}  // namespace szc
