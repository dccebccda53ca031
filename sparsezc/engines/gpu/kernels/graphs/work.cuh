// How the warps of a search share the rows of a frontier in bits: each takes some words in turn, and chunks of long rows.
//
// The prelude supplies Id; LONG and ROWS_PER_WARP as for mxv.cu.
#pragma once
#include "rows.cuh"

namespace szc {

// The rows of a matrix or of its transpose; those of more than LONG entries are cut into chunks (chunks.cuh).
struct Side {
  const i64* indptr;
  const Id* indices;
  u64 nchunks;
  const u64* long_rows;
  const u64* long_first;
  const u32* chunk_slot;
};

struct Shares {
  u64 nwords;
  u32 piece, words, spread;  // what a warp takes at once: items of rows, words, chunks
};

// Calls visit(item, bits) for the items of which load(item) is not 0; a warp loads `piece` of them at once, one a lane.
template <class Load, class Visit> __device__ __forceinline__ void each(u64 count, u32 piece, Load load, Visit visit) {
  for_pieces(nullptr, count, piece, [&](u64 first) {
    const u32 loaded = lane_id() < piece && first + lane_id() < count ? load(first + lane_id()) : 0;
    u32 todo = __ballot_sync(ALL, loaded != 0);
    for (; todo; todo &= todo - 1) {
      const u32 k = (u32)__ffs((int)todo) - 1;
      visit(first + k, __shfl_sync(ALL, loaded, (int)k));
    }
  });
}

// Calls visit(word, bits) for the words of which load(word) is not 0.
template <class Load, class Visit> __device__ __forceinline__ void each_word(const Shares& s, Load load, Visit visit) {
  each(s.nwords, s.words, load, visit);
}

// Calls visit(word, rows) for the rows of which load(word) has the bit, ROWS_PER_WARP at once.
template <class Load, class Visit> __device__ __forceinline__ void each_rows(const Shares& s, Load load, Visit visit) {
  each(s.nwords * (32 / ROWS_PER_WARP), s.piece, [&](u64 item) { return load(word_of_item(item)) & rows_of_item(item); },
       [&](u64 item, u32 rows) { visit(word_of_item(item), rows); });
}

// Calls visit(row, begin, end) for the chunks of long rows that are wanted.
template <class Wanted, class Visit>
__device__ __forceinline__ void each_long(const Shares& s, const Side& side, Wanted wanted, Visit visit) {
  for_chunks(nullptr, 0, side.nchunks, s.spread, [&](u64 c) { return wanted(side.long_rows[side.chunk_slot[c]]); }, [&](u64 c) {
    const u32 slot = side.chunk_slot[c];
    const u64 row = side.long_rows[slot], begin = (u64)side.indptr[row] + (c - side.long_first[slot]) * LONG;
    const u64 end = (u64)side.indptr[row + 1];
    visit(row, begin, end - begin < LONG ? end : begin + LONG);
  });
}

}  // namespace szc
