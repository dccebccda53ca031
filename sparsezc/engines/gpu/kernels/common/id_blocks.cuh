// Compressed ids: blocks of 32 entries, each decoded by one warp alone (in NumPy: memory/id_blocks.py).
//
// Most entries are stored as the gap to the previous entry, minus one, in `low` bits. Others are *marked*: the id
// itself (minus the block's base) is stored, in low + `high` bits. Marked are the first entry of a block, entries whose
// id does not exceed the previous one (rows begin there; decoders do not need the row boundaries, so a block may hold
// any rows), and entries whose gap is too large for `low` bits. A block is a sequence of 4-byte words, and blocks
// follow each other without a gap:
//
//   word 0        marked entries, a bit each; bit 0 (the first entry is always marked) is set if a base follows
//   [1 word]      the base
//   low words     the low bits of entry i at bit i * low
//   the rest      the high bits of the k-th marked entry at bit k * high
//
// A block of 32 words holds the plain ids, as no packing was smaller. The position and packing of each block stay in
// device memory: 2 bytes a block (a header), and 8 bytes for each 32 blocks.
// Sources: M. Zukowski, S. Heman, N. Nes, P. Boncz, Super-scalar RAM-CPU cache compression, ICDE 2006,
// doi:10.1109/ICDE.2006.150 (exceptions stored apart from narrow codes); D. Lemire, L. Boytsov, Decoding billions of
// integers per second through vectorization, Softw. Pract. Exper. 45, 2015, doi:10.1002/spe.2203 (gaps in small
// blocks).
#pragma once
#include "warp.cuh"

namespace szc {

struct BlockTable {
  const u32* body;     // whole lines of 32 words
  const u16* headers;  // words << 10 | low << 5 | high, padded to a multiple of 32 with zeros
  const u64* starts;   // the number of the first word of each 32 blocks
};

struct Block {
  u64 first;  // the number of its first word
  u32 words, low, high;
};

// Bits below n, for n < 32.
__device__ __forceinline__ u32 below(u32 n) { return bit(n) - 1; }

// The place and packing of a block. All lanes call, with the same number.
__device__ __forceinline__ Block find_block(const BlockTable& table, u64 number) {
  const u32 lane = lane_id(), place = (u32)number & 31u;
  const u32 mine = table.headers[(number & ~(u64)31) + lane];
  const u32 header = __shfl_sync(ALL, mine, (int)place);
  const u32 before = add_lanes(lane < place ? mine >> 10 : 0);
  return Block{table.starts[number >> 5] + before, header >> 10, (header >> 5) & 31u, header & 31u};
}

// The lanes whose entries are marked, from the first word of a block.
__device__ __forceinline__ u32 marked(u32 word) { return word | 1u; }

// `width` (< 32) bits from bit `at` on of the words in `window`, the first of which lane `from` holds. All lanes call.
__device__ __forceinline__ u32 bits_at(u32 window, u32 from, u32 at, u32 width) {
  const u32 first = from + (at >> 5);
  const u32 left = __shfl_sync(ALL, window, (int)(first & 31u)), right = __shfl_sync(ALL, window, (int)((first + 1) & 31u));
  return __funnelshift_r(left, right, at & 31u) & below(width);
}

// The id of the lane's entry of a block. Lane (from + k) % 32 of `window` holds word k of the block. All lanes call.
__device__ __forceinline__ u32 unpack(const Block& block, u32 window, u32 from) {
  const u32 lane = lane_id();
  if (block.words == 32) return __shfl_sync(ALL, window, (int)((from + lane) & 31u));
  const u32 word = __shfl_sync(ALL, window, (int)(from & 31u)), own = marked(word);
  const u32 base = word & 1u ? __shfl_sync(ALL, window, (int)((from + 1) & 31u)) : 0;
  from += 1 + (word & 1u);
  const bool is_own = has_bit(own, lane);
  const u32 upto = own & (ALL >> (31u - lane)), head = 31u - (u32)__clz((int)upto);
  const u32 low = bits_at(window, from, lane * block.low, block.low);
  const u32 high = bits_at(window, from + block.low, ((u32)__popc(upto) - 1) * block.high, block.high);
  u32 id = is_own ? low + (high << block.low) + base : low + 1;
  for (u32 d = 1; d < 32; d <<= 1) {  // segmented scan: lane i holds the sum from its head to i
    const u32 left = __shfl_up_sync(ALL, id, d);
    if (lane >= head + d) id += left;
  }
  return id;
}

}  // namespace szc
