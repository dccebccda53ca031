// A key for each entry of a matrix, by which entries are sorted for row_groups.cu.
//
// Who calls: engines/gpu/layouts/row_groups.py. All memory on the device. A warp takes 32 rows at a time. A row's place, in `places`, is
// its group and, in `tag_bits` bits, its place in the group. From high to low a key in `keys` is the group, the column and the
// place in the group, the last two in 32 bits.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const u32* indices, const u32* places, u32 tag_bits, u64* keys, u64* counter) {
  for_pieces(counter, nrows, 32, [&](u64 first) {
    for (u64 row = first; row < nrows && row < first + 32; ++row) {
      const u64 place = places[row], key = place >> tag_bits << 32 | (place & (bit(tag_bits) - 1));
      for (u64 at = (u64)indptr[row] + lane_id(); at < (u64)indptr[row + 1]; at += 32) keys[at] = key | (u64)indices[at] << tag_bits;
    }
  });
}

}  // namespace szc
