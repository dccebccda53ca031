// Puts the entries of row groups into slices of 32 words of 32 different rows, for row_groups.cu.
//
// Who calls: engines/gpu/layouts/row_groups.py, twice: without `words` to count the slices of each item, in `slices`,
// and then to write the slices of item i from slice at[i] of `words` on, which are EMPTY before. All memory on the
// device. What a warp does: it takes one of `count` items, which has the sorted `keys` of entry_keys.cu from begins[i]
// to begins[i + 1]. It keeps a pool of the next 64 entries; a slice takes the first of these that are of different
// rows, and the others wait for the next slice.
#include "row_groups.cuh"

namespace szc {

constexpr u32 POOL = 64;  // entries; of only 32, two on average would share a row with another, and slices be not full

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u64* begins, const u64* keys, u32* slices, const u64* at, u32* words, u64* counter) {
  __shared__ u32 all_claims[8][GROUP];
  __shared__ u32 all_pools[8][POOL];
  const u32 lane = lane_id(), before = bit(lane) - 1;
  u32 *const claims = all_claims[threadIdx.x >> 5], *const pool = all_pools[threadIdx.x >> 5];
  for (u32 j = lane; j < GROUP; j += 32) claims[j] = POOL;
  __syncwarp();
  for (u64 item = take(counter, 1); item < count; item = take(counter, 1)) {
    u64 next = begins[item];
    const u64 end = begins[item + 1];
    u32 held = 0, slice = 0;
    while (held || next < end) {
      const u32 more = (u32)(end - next < POOL - held ? end - next : POOL - held);
      for (u32 j = lane; j < more; j += 32) pool[held + j] = (u32)keys[next + j];
      next += more;
      held += more;
      __syncwarp();
      u32 word[2], place[2];
      bool has[2];
      for (u32 k = 0; k < 2; ++k) {
        has[k] = 32 * k + lane < held;
        word[k] = has[k] ? pool[32 * k + lane] : 0;
        place[k] = word[k] & (GROUP - 1);
        if (has[k]) atomicMin(&claims[place[k]], 32 * k + lane);
      }
      __syncwarp();
      u32 taken = 0, left = 0;
      for (u32 k = 0; k < 2; ++k) {
        const bool first = has[k] && claims[place[k]] == 32 * k + lane;
        const u32 firsts = __ballot_sync(ALL, first), rank = taken + __popc(firsts & before);
        const bool goes = first && rank < 32;
        if (goes && words) words[32 * (at[item] + slice) + rank] = word[k];
        const u32 stays = __ballot_sync(ALL, has[k] && !goes);
        if (has[k] && !goes) pool[left + __popc(stays & before)] = word[k];
        taken += __popc(firsts);
        left += __popc(stays);
      }
      __syncwarp();
      for (u32 k = 0; k < 2; ++k) {
        if (has[k]) claims[place[k]] = POOL;
      }
      held = left;
      ++slice;
      __syncwarp();
    }
    if (!words && lane == 0) slices[item] = slice;
  }
}

}  // namespace szc
