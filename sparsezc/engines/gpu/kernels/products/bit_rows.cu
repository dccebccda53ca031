// The rows of a matrix in the columns that have most of its entries, in two forms: as numbers and as bits.
//
// Who calls: engines/gpu/products/bit_dots.py. All memory on the device. What a warp does: it takes the rows of a
// presence word one after another and looks up the rank of each id. `rank` numbers the columns that count, the most
// used first; others have NONE. A row of h entries in such columns gets, at its own positions in arrays as long as the
// ids: in `ranks` their h numbers, and in `bits` (null: not wanted) h words, the bits of those numbers that are less
// than 32 h. hubs[row] is h; reach[row] is one more than the largest number, or NONE where it has other columns, too.
//
// The prelude supplies Id.
#include "warp.cuh"

namespace szc {

constexpr u32 NONE = ALL;

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const u32* rank, u32* ranks, u32* bits, u32* hubs, u32* reach) {
  const u32 lane = lane_id();
  const u64 warps = (u64)gridDim.x * blockDim.x / 32;
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * word < nrows; word += warps) {
    const u64 row = 32 * word + lane;
    const u64 begin = row < nrows ? (u64)indptr[row] : 0, end = row < nrows ? (u64)indptr[row + 1] : 0;
    u32 of_mine = 0, up_to = 0;
    for (u32 left = __ballot_sync(ALL, begin < end); left; left &= left - 1) {
      const u32 r = (u32)__ffs((int)left) - 1;
      const u64 from = __shfl_sync(ALL, begin, r), to = __shfl_sync(ALL, end, r);
      u32 count = 0, most = 0;
      for (u64 base = from; base < to; base += 32) {
        const bool active = base + lane < to;
        const u32 k = active ? rank[load_host(indices + base + lane, 0)] : 0;
        const u32 hits = __ballot_sync(ALL, active && k != NONE);
        if (has_bit(hits, lane)) ranks[from + count + (u32)__popc(hits & (bit(lane) - 1))] = k;
        if (active) most = k == NONE || most == NONE ? NONE : most > k + 1 ? most : k + 1;
        count += (u32)__popc(hits);
      }
      most = largest(most);
      __syncwarp();  // other lanes have written the numbers that this one reads
      if (bits) {
        for (u32 k = lane; k < count; k += 32) bits[from + k] = 0;
        __syncwarp();
        for (u32 k = lane; k < count; k += 32) {
          const u32 number = ranks[from + k];
          if (number >> 5 < count) atomicOr(bits + from + (number >> 5), bit(number & 31u));
        }
      }
      if (lane == r) {
        of_mine = count;
        up_to = most;
      }
    }
    if (row < nrows) {
      hubs[row] = of_mine;
      reach[row] = up_to;
    }
  }
}

}  // namespace szc
