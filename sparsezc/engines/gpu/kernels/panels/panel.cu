// The rows, as ids, of a panel that stores a matrix of `width` rows and `length` columns by columns.
//
// Who calls: engines/gpu/elementwise/panel.py. All memory on the device. What a warp does: it takes 32 columns, one a
// lane, and visits one row after another. The first launch counts entries (those of row r in word w of columns:
// counts[r * words + w]); with the running sums `before` of these the second writes the ids of each row, ascending, and
// their positions in the panel.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 length, u64 width, const u32* bits, i64* counts, const i64* before, u32* ids, i64* at) {
  const u64 nwords = (length + 31) / 32, warps = (u64)gridDim.x * blockDim.x / 32;
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; word < nwords; word += warps) {
    const u64 column = 32 * word + lane_id();
    for (u64 row = 0; row < width; ++row) {
      const u64 place = column * width + row;
      const bool there = column < length && present(bits, place);
      const u32 found = __ballot_sync(ALL, there);
      if (!before) {
        if (lane_id() == 0) counts[row * nwords + word] = (i64)__popc(found);
      } else if (there) {
        const u64 to = (u64)before[row * nwords + word] + (u32)__popc(found & (bit(lane_id()) - 1));
        ids[to] = (u32)column;
        if (at) at[to] = (i64)place;
      }
    }
  }
}

}  // namespace szc
