// Many breadth-first searches at once: a panel of Booleans, `width` bits for each vertex, in words of 64 bits.
//
// The prelude supplies Id, the type of the matrix's ids; WORDS, the number of 64-bit words that hold the bits of a
// vertex; ALIGNED: each vertex's bits begin at a word (width = 64 * WORDS), else at any bit; PLANNED: a word in device
// memory has the active searches, 64 at most; LONG.
// Source: M. Then and others, The more the merrier: efficient multi-source graph traversal, PVLDB 8, 2014,
// doi:10.14778/2735496.2735507.
#pragma once
#include "chunks.cuh"
#include "ids.cuh"
#include "rows.cuh"

namespace szc {

struct Bits {
  u64 word[WORDS];

  __device__ __forceinline__ bool any() const {
    u64 all = 0;
    for (u32 w = 0; w < WORDS; ++w) all |= word[w];
    return all != 0;
  }
};

// The bits given as kernel arguments: by value, as a copy to the device takes longer than a launch; PLANNED: addresses.
__device__ __forceinline__ Bits given(u64 a, u64 b, u64 c, u64 d) {
  const u64 all[4] = {a, b, c, d};
  Bits bits;
  for (u32 w = 0; w < WORDS; ++w) bits.word[w] = PLANNED ? *(const u64*)all[w] : all[w];
  return bits;
}

// All bits of a vertex in word w.
__device__ __forceinline__ u64 whole(u64 width, u32 w) {
  const u64 rest = width - 64 * (u64)w;
  return rest >= 64 ? ~(u64)0 : ((u64)1 << rest) - 1;
}

__device__ __forceinline__ u64 load_word(const u32* bits, u64 word) { return ((const u64*)bits)[word]; }
__device__ __forceinline__ u64 load_word(const volatile u32* bits, u64 word) { return ((const volatile u64*)bits)[word]; }

// A vertex's bits in word w. Bits that other warps write are read through a pointer to volatile.
template <class Pointer> __device__ __forceinline__ u64 load_bits(Pointer bits, u64 width, u64 vertex, u32 w) {
  if (ALIGNED) return load_word(bits, vertex * WORDS + w);
  const u64 rest = width - 64 * (u64)w, first = vertex * width + 64 * (u64)w, at = first >> 5;
  const u32 shift = (u32)first & 31u, end = shift + (u32)(rest < 64 ? rest : 64);
  u64 value = bits[at];
  if (end > 32) value |= (u64)bits[at + 1] << 32;
  value >>= shift;
  if (end > 64) value |= (u64)bits[at + 2] << (64 - shift);
  return value & whole(width, w);
}

__device__ __forceinline__ void set_bits(u32* bits, u64 width, u64 vertex, u32 w, u64 value) {
  if (ALIGNED) {
    atomicOr((u64*)bits + vertex * WORDS + w, value);
    return;
  }
  const u64 first = vertex * width + 64 * (u64)w, at = first >> 5;
  const u32 shift = (u32)first & 31u;
  const u32 part[3] = {(u32)(value << shift), (u32)(value >> (32 - shift)), shift ? (u32)(value >> (64 - shift)) : 0};
  for (u32 k = 0; k < 3; ++k)
    if (part[k]) atomicOr(&bits[at + k], part[k]);
}

struct Panel {
  const Id* indices;
  const u32* x;       // the frontiers
  const u32* mask;    // null: none
  u32 flip;
  u64 width;
  Bits active;        // the active searches
  u32* y;             // the reached vertices; zeros on entry, or another launch's results for other searches

  __device__ __forceinline__ u64 reached(u64 vertex, u32 w) const { return load_bits((const volatile u32*)y, width, vertex, w); }

  __device__ __forceinline__ Bits frontier(u64 vertex) const {
    Bits b;
    for (u32 w = 0; w < WORDS; ++w) b.word[w] = load_bits(x, width, vertex, w) & active.word[w];
    return b;
  }
  // The active searches that have not reached a vertex yet.
  __device__ __forceinline__ u64 wanted(u64 vertex, u32 w) const {
    return (mask ? load_bits(mask, width, vertex, w) ^ (flip ? whole(width, w) : 0) : whole(width, w)) & active.word[w];
  }
};

__device__ __forceinline__ u64 or_lanes(u64 v) { return (u64)or_lanes((u32)(v >> 32)) << 32 | or_lanes((u32)v); }

// The OR of the words of all entries that a slice has of the lane's own row, 0 where it has none. All lanes call, each
// with its entry's word.
__device__ __forceinline__ u64 or_of_row(const Slice& s, u64 word) {
  const u32 lane = lane_id();
  for (u32 d = 1; d < 32; d <<= 1) {  // segmented scan: the OR from the head of the entry's row to the lane
    const u64 left = __shfl_up_sync(ALL, word, d);
    if (lane >= s.head + d) word |= left;
  }
  const u64 of_row = __shfl_sync(ALL, word, s.range ? 31 - __clz((int)s.range) : (int)lane);
  return s.range ? of_row : 0;
}

// Bit i of lane k becomes bit k of lane i. All lanes call.
__device__ __forceinline__ u32 transpose(u32 word) {
  u32 low = 0x0000ffff;  // bits that stay in lanes without d
  for (u32 d = 16; d; d >>= 1) {
    const u32 other = __shfl_xor_sync(ALL, word, (int)d);
    word = lane_id() & d ? (word & ~low) | ((other & ~low) >> d) : (word & low) | ((other & low) << d);
    low ^= low << (d / 2);
  }
  return word;
}

// The reads of a step, as a warp counts them. Its totals: the entries of the rows in any frontier; the rows that a
// search may still reach, the entries in the first 32 of each, and all their entries; then, for each search, the
// entries of the rows in its frontier: lane i adds up those of searches i, 32 + i ...
struct Reads {
  enum { TOTALS = 4 + 64 * WORDS };  // numbers in the totals
  u64 n[4], own[2 * WORDS];

  // Counts the vertices of a frontier. All lanes call, each with a vertex's bits in the frontier and the entries of its
  // row, 0 where it has no bit.
  __device__ __forceinline__ void push(const Bits& bits, u64 entries) {
    n[0] += entries;
    const u32 there = __ballot_sync(ALL, entries != 0);
    if (__popc(there) > 4) {  // each lane adds up the entries of its searches, one binary digit at a time
      u32 has[2 * WORDS];
      for (u32 w = 0; w < WORDS; ++w) {
        has[2 * w] = transpose((u32)bits.word[w]);
        has[2 * w + 1] = transpose((u32)(bits.word[w] >> 32));
      }
      for (u64 left = or_lanes(entries); left; left &= left - 1) {
        const u32 b = (u32)__ffsll((long long)left) - 1, digit = __ballot_sync(ALL, (entries >> b) & 1);
        for (u32 k = 0; k < 2 * WORDS; ++k) own[k] += (u64)__popc(has[k] & digit) << b;
      }
      return;
    }
    for (u32 left = there; left; left &= left - 1) {
      const int t = __ffs((int)left) - 1;
      const u64 weight = __shfl_sync(ALL, entries, t);
      for (u32 w = 0; w < WORDS; ++w) {
        const u64 of = __shfl_sync(ALL, bits.word[w], t);
        own[2 * w] += (of >> lane_id()) & 1 ? weight : 0;
        own[2 * w + 1] += (of >> (32 + lane_id())) & 1 ? weight : 0;
      }
    }
  }

  // Counts a row that some search may still reach.
  __device__ __forceinline__ void pull(u64 entries) {
    ++n[1];
    n[2] += entries < 32 ? entries : 32;
    n[3] += entries;
  }

  __device__ __forceinline__ void add_to(u64* totals) const {
    for (u32 k = 0; k < 4; ++k) add_lanes(n[k], totals + k);
    for (u32 k = 0; k < 2 * WORDS; ++k)
      if (own[k]) atomicAdd(&totals[4 + 32 * k + lane_id()], own[k]);
  }
};

}  // namespace szc
