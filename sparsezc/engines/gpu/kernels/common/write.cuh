// The GraphBLAS write rule for one presence word: 32 entries, one a lane.
//
// The prelude of the kernel supplies the types W (the output's) and Z (the result's), `constexpr bool ACCUM` and, with it,
// `W accumulate(W old, Z z)`. Sources: GraphBLAS C API 2.1, section 3.5.4 (masks, accumulators, REPLACE).
#pragma once
#include "warp.cuh"

namespace szc {

struct Output {
  W* values;           // where results are written
  u32* bits;
  const W* old_values; // the output's content before; the same arrays where writing in place is safe
  const u32* old_bits; // null: the output was empty
  const u32* mask;     // null: no mask. Presence bits of the mask's true entries
  u32 flip;            // ALL for a complemented mask, else 0
  u32 replace;         // not 0: entries outside the mask are deleted
};

// The entries of this word that the mask lets through. Bits beyond `size` are clear.
__device__ __forceinline__ u32 allowed_word(const Output& out, u64 word, u64 size) {
  const u32 tail = size - 32 * word >= 32 ? ALL : ALL >> (32u - (u32)(size - 32 * word));
  return (out.mask ? out.mask[word] ^ out.flip : ALL) & tail;
}

// Writes the values of the entries of `word` that this warp owns, and returns their presence bits. `old`: the word's
// presence bits before; `region`: the positions that the operation assigns (ALL for most); `has`: of these, the ones
// with a result, each in its lane's z; `before`: the old value, if the caller has read it. All lanes call.
__device__ __forceinline__ u32 write_values(const Output& out, u64 word, u32 old, u32 allowed, u32 region, u32 has, Z z, u32 owned,
                                            const W* before = nullptr) {
  const u32 lane = lane_id();
  const u64 i = 32 * word + lane;
  const u32 inside = allowed & region;
  const u32 results = inside & has;
  const u32 kept = old & ((allowed & ~region) | (out.replace ? 0 : ~allowed) | (ACCUM ? inside : 0));
  const u32 now = (results | kept) & owned;
  if (has_bit(owned & results, lane)) {
    out.values[i] = ACCUM && has_bit(old, lane) ? accumulate(before ? *before : out.old_values[i], z) : cast<W>(z);
  } else if (has_bit(now, lane) && out.values != out.old_values) {
    out.values[i] = out.old_values[i];
  }
  return now;
}

// Writes the values and the presence bits of `word`. All lanes call.
__device__ __forceinline__ void write_word(const Output& out, u64 word, u32 allowed, u32 region, u32 has, Z z,
                                           u32 owned) {
  const u32 old = out.old_bits ? out.old_bits[word] : 0;
  const u32 now = write_values(out, word, old, allowed, region, has, z, owned);
  __syncwarp();  // every lane has read the old word, which lane 0 may now overwrite
  if (lane_id() == 0) {
    if (owned == ALL) {
      out.bits[word] = now;
    } else if (owned) {  // other warps write the other bits of the word
      atomicAnd(&out.bits[word], now | ~owned);
      atomicOr(&out.bits[word], now);
    }
  }
}

}  // namespace szc
