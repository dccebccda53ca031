// Sums of rows in groups: w = A (+).(x) v for a full vector that exceeds the card's cache.
//
// Who calls: engines/gpu/layouts/row_groups.py (Groups.product); engines/gpu/products/spmv.py compiles the kernel. All
// memory on the device. A row group is 256 consecutive rows in descending order of length. Its entries are in slices of
// 32 words, nearly sorted by column, so that one request for values of the vector serves several lanes; the entries of
// a slice are of different rows. What a warp does: it takes an item, some slices of one group, and adds products to
// sums of the rows in shared memory that no other warp uses. No two lanes add to one sum at once, so results are the
// same each time, to the last bit. row_sums.cu adds the sums of groups that have several items.
//
// The prelude is that of mxv.cu, of whose flags only READS_VALUES is used.
#include "row_groups.cuh"

namespace szc {

constexpr u32 FLIGHT = 4;  // slices whose values are requested at once

// `words`: the slices; item i has those from begins[i] to begins[i + 1], of group group[i]. `places`: the rows of all
// groups, `size` in all. The first `many` items are those of groups that have several: their sums are written to
// `partial`, GROUP for each item; all others are written to `w`. Rows without entries are not written.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, u64 many, const u64* begins, const u32* group, const u32* words, const A* values, const X* x, const u32* places,
           u64 size, Z* partial, W* w, u64* counter) {
  __shared__ Z all_sums[8][GROUP];
  const u32 lane = lane_id();
  Z* const sums = all_sums[threadIdx.x >> 5];
  const A a = READS_VALUES ? values[0] : A();
  for (u64 item = take(counter, 1); item < count; item = take(counter, 1)) {
    for (u32 row = lane; row < GROUP; row += 32) sums[row] = identity();
    __syncwarp();
    const u32* const from = words + 32 * begins[item] + lane;
    const u32 slices = (u32)(begins[item + 1] - begins[item]);
    u32 ahead[FLIGHT];
#pragma unroll
    for (u32 k = 0; k < FLIGHT; ++k) ahead[k] = k < slices ? load_host(from + 32 * k, 0) : EMPTY;
    for (u32 slice = 0; slice < slices; slice += FLIGHT) {
      u32 word[FLIGHT];
      X v[FLIGHT];
#pragma unroll
      for (u32 k = 0; k < FLIGHT; ++k) {
        const u32 later = slice + k + FLIGHT;
        word[k] = ahead[k];
        v[k] = word[k] != EMPTY ? x[word[k] >> ROW_BITS] : X();
        ahead[k] = later < slices ? load_host(from + 32 * (u64)later, 0) : EMPTY;
      }
#pragma unroll
      for (u32 k = 0; k < FLIGHT; ++k) {
        if (word[k] != EMPTY) {
          Z* const sum = sums + (word[k] & (GROUP - 1));
          *sum = add(*sum, multiply(a, v[k], 0, word[k] >> ROW_BITS));
        }
        __syncwarp();
      }
    }
    for (u32 row = lane; row < GROUP; row += 32) {
      const u64 place = (u64)group[item] * GROUP + row;
      if (item < many) {
        partial[item * GROUP + row] = sums[row];
      } else if (place < size) {
        w[places[place]] = cast<W>(sums[row]);
      }
    }
    __syncwarp();
  }
}

}  // namespace szc
