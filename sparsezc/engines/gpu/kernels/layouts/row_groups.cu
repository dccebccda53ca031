// Sums of rows in groups: w = A (+).(x) v for a full vector that exceeds the card's cache.
//
// Who calls: engines/gpu/products/spmv.py, with the layout of engines/gpu/layouts/row_groups.py. All memory on the device. A group is
// some neighbours in the order of their lengths; its entries are sorted by column, each a word of 32 bits: the column, and in its low
// `tag_bits` the row's place in the group. So lanes read neighbouring values of the vector, and one request serves several. What a
// warp does: it takes an item, entries of one group, and adds their products to the rows' sums in shared memory, which are its own.
// The warp that finishes the last item of a group adds the items' sums in their order. Only lanes of one warp that
// meet at a row are added in whatever order the card takes them.
//
// The prelude is that of mxv.cu; A, W and all flags but READS_VALUES and ISO are not used.
#include "atomics.cuh"

namespace szc {

constexpr u32 MOST = 256;   // rows of a group
constexpr u32 FLIGHT = 4;   // slices of 32 entries whose values are requested at once
constexpr u32 ROWS = MOST / 32;  // of a lane

// `words`: the entries; item i has those from begins[i] to begins[i + 1], of group group[i], whose items are first[group] and
// on. `places`: the rows of all groups, `size` in all. `partial`: MOST sums for each item of a group that has several; `arrived`,
// for each such group: zeros on entry. Rows without entries are not written.
// *p = add(*p, z) for the lanes that are `in`, in shared memory that is the warp's own. An atomic of 4 bytes is an instruction or a short
// loop; sums of 8 bytes are added in turns: the lanes that meet at a row write their numbers to its claim, and one is read. All lanes call.
__device__ __forceinline__ void add_to(Z* sums, volatile u8* claims, u32 row, bool in, Z z) {
  if constexpr (sizeof(Z) == 4) {
    if (in) combine(sums + row, z);
    return;
  }
  while (__any_sync(ALL, in)) {
    if (in) claims[row] = (u8)lane_id();
    __syncwarp();
    if (in && claims[row] == lane_id()) {
      sums[row] = add(sums[row], z);
      in = false;
    }
    __syncwarp();
  }
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u64* begins, const u32* group, const u32* first, const u32* words, const A* values, const X* x, u32 tag_bits,
           const u32* places, u64 size, Z* partial, u32* arrived, Z* w, u64* counter) {
  __shared__ Z all_sums[8][MOST];
  __shared__ u8 claims[8][MOST];
  const u32 lane = lane_id();
  Z* const sums = all_sums[threadIdx.x >> 5];
  const A a = READS_VALUES ? values[0] : A();
  for (u64 item = take(counter, 1); item < count; item = take(counter, 1)) {
    for (u32 j = lane; j < MOST; j += 32) sums[j] = identity();
    __syncwarp();
    const u64 base = begins[item] & ~(u64)31;
    const u32 begin = (u32)(begins[item] - base), end = (u32)(begins[item + 1] - base);
    u32 ahead[FLIGHT];
#pragma unroll
    for (u32 k = 0; k < FLIGHT; ++k) ahead[k] = 32 * k + lane < end ? load_host(words + base + 32 * k + lane, 0) : 0;
    for (u32 from = 0; from < end; from += 32 * FLIGHT) {
      u32 word[FLIGHT];
      X v[FLIGHT];
      bool in[FLIGHT];
#pragma unroll
      for (u32 k = 0; k < FLIGHT; ++k) {
        const u32 at = from + 32 * k + lane, later = at + 32 * FLIGHT;
        word[k] = ahead[k];
        in[k] = at >= begin && at < end;
        v[k] = in[k] ? x[word[k] >> tag_bits] : X();
        ahead[k] = later < end ? load_host(words + base + later, 0) : 0;
      }
#pragma unroll
      for (u32 k = 0; k < FLIGHT; ++k) {
        add_to(sums, claims[threadIdx.x >> 5], word[k] & (bit(tag_bits) - 1), in[k], multiply(a, v[k], 0, word[k] >> tag_bits));
      }
    }
    __syncwarp();
    const u32 of = group[item], begin_item = first[of], end_item = first[of + 1];
    Z sum[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) sum[j] = sums[32 * j + lane];
    if (end_item - begin_item > 1) {
#pragma unroll
      for (u32 j = 0; j < ROWS; ++j) partial[item * MOST + 32 * j + lane] = sum[j];
      __threadfence();
      u32 last = 0;
      if (lane == 0) last = atomicAdd(&arrived[of], 1u) + 1 == end_item - begin_item;
      if (!__shfl_sync(ALL, last, 0)) continue;
      __threadfence();
#pragma unroll
      for (u32 j = 0; j < ROWS; ++j) sum[j] = ((volatile Z*)partial)[(u64)begin_item * MOST + 32 * j + lane];
#pragma unroll 4
      for (u64 i = begin_item + 1; i < end_item; ++i) {
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) sum[j] = add(sum[j], ((volatile Z*)partial)[i * MOST + 32 * j + lane]);
      }
    }
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) {
      const u64 place = ((u64)of << tag_bits) + 32 * j + lane;
      if (32 * j + lane < bit(tag_bits) && place < size) w[places[place]] = sum[j];
    }
  }
}

}  // namespace szc
