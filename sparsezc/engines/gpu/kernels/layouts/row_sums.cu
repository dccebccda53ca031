// Sums of row groups that have several items, from the items' sums.
//
// Who calls: engines/gpu/layouts/row_groups.py, after row_groups.cu, whose prelude it has. All memory on the device.
// What a block does: it takes 32 rows of a group; each of its warps adds an eighth of the items' sums, in order, and
// the first warp adds the eight results.
#include "row_groups.cuh"

namespace szc {

// `count` groups, of which g has the items from first[g] to first[g + 1]. `partial`: the sums of each item; `places`:
// the rows of all groups, `size` in all; `w`: the result.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u32* first, const Z* partial, const u32* places, u64 size, W* w) {
  __shared__ Z found[8][32];
  const u32 lane = lane_id(), warp = threadIdx.x >> 5;
  for (u64 piece = blockIdx.x; piece < count * (GROUP / 32); piece += gridDim.x) {
    const u64 group = piece / (GROUP / 32), row = piece % (GROUP / 32) * 32 + lane, place = group * GROUP + row;
    const u64 begin = first[group], items = first[group + 1] - begin;
    Z sum = identity();
#pragma unroll 8
    for (u64 i = begin + items * warp / 8; i < begin + items * (warp + 1) / 8; ++i) sum = add(sum, partial[i * GROUP + row]);
    found[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && place < size) {
      for (u32 k = 1; k < 8; ++k) sum = add(sum, found[k][lane]);
      w[places[place]] = cast<W>(sum);
    }
    __syncthreads();
  }
}

}  // namespace szc
