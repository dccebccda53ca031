// Compaction: the position of each kept entry among those that are kept. Kept entries are bits, 32 a word; `before`
// counts the kept entries before each word.
#pragma once
#include "warp.cuh"

namespace szc {

__device__ __forceinline__ u64 words(u64 entries) { return (entries + 31) / 32; }

// The number of kept entries among the first k entries of an operand, whose words begin at `start`.
__device__ __forceinline__ u64 kept_before(const u32* bits, const i64* before, u64 start, u64 k) {
  const u64 word = start + (k >> 5);
  const u32 rest = (u32)k & 31u;
  return (u64)(before[word] - before[start]) + (rest ? (u64)__popc(bits[word] & (bit(rest) - 1)) : 0);
}

}  // namespace szc
