// A sort key for each entry of a matrix, for row_slices.cu.
//
// Who calls: engines/gpu/layouts/row_groups.py, which sorts the keys. All memory on the device. A warp takes 32 rows at
// a time. `places`: each row's position in descending order of length. From high bits to low, an entry's key in `keys`
// has the row's group, the column, and the row's place in the group; the last two make the entry's word.
#include "row_groups.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const u32* indices, const u32* places, u64* keys, u64* counter) {
  for_pieces(counter, nrows, 32, [&](u64 first) {
    for (u64 row = first; row < nrows && row < first + 32; ++row) {
      const u64 place = places[row], key = place >> ROW_BITS << 32 | (place & (GROUP - 1));
      for (u64 at = (u64)indptr[row] + lane_id(); at < (u64)indptr[row + 1]; at += 32) keys[at] = key | (u64)indices[at] << ROW_BITS;
    }
  });
}

}  // namespace szc
