// A value mask as presence words: the entries that are present and not zero.
//
// Who calls: engines/gpu/runtime/presence_words.py. What a warp does: it takes 32 words and visits those that have
// entries: the 32 entries of a word, one a lane, make one word of `bits` by a ballot. The prelude supplies X.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 size, const X* x, const u32* x_bits, u32* bits) {
  const u64 nwords = (size + 31) / 32;
  for_pieces(nullptr, nwords, 32, [&](u64 first) {
    const u32 lane = lane_id();
    const u32 there = first + lane < nwords ? (x_bits ? x_bits[first + lane] : ALL) : 0;
    u32 mine = 0;
    for (u32 todo = __ballot_sync(ALL, there != 0); todo; todo &= todo - 1) {
      const u32 k = (u32)__ffs((int)todo) - 1;
      const u64 i = 32 * (first + k) + lane;
      const u32 word = __shfl_sync(ALL, there, (int)k);
      const u32 now = __ballot_sync(ALL, i < size && has_bit(word, lane) && x[i] != X(0));
      if (lane == k) mine = now;
    }
    if (first + lane < nwords) bits[first + lane] = mine;
  });
}

}  // namespace szc
