// Folding of the products of a slice: 32 lanes hold products of several sums; products of one sum are neighbours.
//
// The prelude of the kernel supplies Z, `Z add(Z, Z)` and ANY (the monoid keeps whichever operand comes first).
#pragma once
#include "warp.cuh"

namespace szc {

// Adds a slice to the sums. Each lane has two roles. As the maker of a product (`hit`: whether it has one; otherwise z
// is the identity), `head` is the lane where the products of its sum begin in this slice. As the owner of sum number
// `lane`, it receives the products of the lanes in `range`. All lanes call.
__device__ __forceinline__ void fold(u32 head, u32 range, bool hit, Z z, Z& sum, bool& has) {
  const u32 lane = lane_id();
  const u32 hits = __ballot_sync(ALL, hit) & range;
  if (ANY) {
    const Z first = __shfl_sync(ALL, z, hits ? __ffs((int)hits) - 1 : (int)lane);
    if (hits && !has) sum = first;
  } else {
    for (u32 d = 1; d < 32; d <<= 1) {  // segmented scan: lane i holds the sum from its head to i
      const Z left = __shfl_up_sync(ALL, z, d);
      if (lane >= head + d) z = add(left, z);
    }
    const Z part = __shfl_sync(ALL, z, range ? 31 - __clz((int)range) : (int)lane);
    if (hits) sum = has ? add(sum, part) : part;
  }
  has |= hits != 0;
}

}  // namespace szc
