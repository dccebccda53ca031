// Encodes ids into compressed blocks (id_blocks.cuh).
//
// Who calls: engines/gpu/storage/compressed_ids.py. Memory: `indices` and `body` in host memory (zero-copy) or on the
// device, headers on the device. What a warp does: it takes 32 entries, a block, whatever rows they belong to. First
// `measure` chooses the smallest packing of each block; sums of the sizes give each block's start (`starts`), and
// `encode` writes the blocks.
//
// The prelude supplies Id, the type of the plain ids.
#include "id_blocks.cuh"

namespace szc {

__device__ __forceinline__ u32 width(u32 v) { return 32u - (u32)__clz((int)v); }

// The lane's entry: its id, and its gap to the previous entry minus one; ALL where ids do not ascend, or at the first entry.
struct Entry {
  u32 id, gap;
};

// Entries beyond the last have the smallest gap: they take no bits.
__device__ __forceinline__ Entry entry_of(const Id* indices, u64 nvals, u64 block) {
  const u64 at = 32 * block + lane_id();
  u32 id = (u32)load_host(indices + (at < nvals ? at : nvals - 1), 0);
  const u32 before = __shfl_up_sync(ALL, id, 1);
  Entry e = {id, lane_id() && id > before ? id - before - 1 : ALL};
  if (at >= nvals) e.gap = 0;
  return e;
}

// The number of words for `high` high bits of each marked entry, those set in `own`.
__device__ __forceinline__ u32 high_words(u32 own, u32 high) { return ((u32)__popc(own) * high + 31) / 32; }

extern "C" __global__ void __launch_bounds__(256) measure(u64 nvals, const Id* indices, u64* counter, u16* headers) {
  const u64 count = (nvals + 31) / 32;
  for_pieces(counter, count, 32, [&](u64 first) {
    for (u64 block = first; block < count && block < first + 32; ++block) {
      const Entry e = entry_of(indices, nvals, block);
      const bool is_first = e.gap == ALL;
      const u32 wide = is_first ? 32 : width(e.gap);
      u32 best = 32, header = 32u << 10;
      for (u32 low = 0; low + 1 < best; ++low) {
        const bool is_own = wide > low;
        const u32 own = __ballot_sync(ALL, is_own);
        const u32 most = largest(is_own ? e.id : 0), least = ~largest(is_own ? ~e.id : 0);
        for (u32 base = 0; base < 2; ++base) {
          const u32 needed = width(base ? most - least : most), high = needed > low ? needed - low : 0;
          const u32 words = 1 + base + low + high_words(own, high);
          if (high < 32 && words < best) {
            best = words;
            header = words << 10 | low << 5 | high;
          }
        }
      }
      if (lane_id() == 0) headers[block] = (u16)header;
    }
  });
}

// Writes `value` from bit `at` of `words` on; these bits were 0.
__device__ __forceinline__ void put_bits(u32* words, u32 at, u32 value) {
  const u32 shift = at & 31u;
  if (value << shift) atomicOr(&words[at >> 5], value << shift);
  if (shift && value >> (32u - shift)) atomicOr(&words[(at >> 5) + 1], value >> (32u - shift));
}

extern "C" __global__ void __launch_bounds__(256)
    encode(u64 nvals, const Id* indices, u64* counter, const u16* headers, const u64* starts, u32* body) {
  __shared__ u32 made[8][32];
  u32* words = made[threadIdx.x >> 5];
  const u32 lane = lane_id();
  const BlockTable table = {body, headers, starts};
  const u64 count = (nvals + 31) / 32;
  for_pieces(counter, count, 32, [&](u64 first) {
    for (u64 number = first; number < count && number < first + 32; ++number) {
      const Entry e = entry_of(indices, nvals, number);
      const Block block = find_block(table, number);
      words[lane] = block.words == 32 ? e.id : 0;
      __syncwarp();
      if (block.words < 32) {
        const bool is_own = e.gap == ALL || width(e.gap) > block.low;
        const u32 own = __ballot_sync(ALL, is_own), least = ~largest(is_own ? ~e.id : 0);
        const u32 based = block.words - 1 - block.low - high_words(own, block.high), base = based ? least : 0;
        const u32 value = is_own ? e.id - base : e.gap, from = 1 + based;
        if (lane == 0) {
          words[0] = (own & ~1u) | based;
          if (based) words[1] = base;
        }
        __syncwarp();
        if (block.low) put_bits(words + from, lane * block.low, value & below(block.low));
        if (is_own) put_bits(words + from + block.low, (u32)__popc(own & below(lane)) * block.high, value >> block.low);
        __syncwarp();
      }
      if (lane < block.words) body[block.first + lane] = words[lane];
      __syncwarp();
    }
  });
}

}  // namespace szc
