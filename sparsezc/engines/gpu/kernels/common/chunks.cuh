// Rows of more than LONG entries, cut into chunks of LONG entries; any warp may take the next chunk.
//
// The prelude of the kernel supplies LONG.
#pragma once
#include "warp.cuh"

namespace szc {

struct Chunks {
  u64 count;
  const u64* rows;   // the long rows
  const u64* first;  // the first chunk of each
  const u32* slot;   // of each chunk: the place of its row in `rows`
};

// Calls visit(row, begin, end) for each chunk that this warp takes, with the chunk's entries begin .. end-1. `counter`
// holds 0 on entry.
template <class Visit>
__device__ __forceinline__ void each_chunk(const Chunks& chunks, const i64* indptr, u64* counter, Visit visit) {
  for (u64 c = take(counter, 1); c < chunks.count; c = take(counter, 1)) {
    const u32 slot = chunks.slot[c];
    const u64 row = chunks.rows[slot], begin = (u64)indptr[row] + (c - chunks.first[slot]) * LONG, end = (u64)indptr[row + 1];
    visit(row, begin, end - begin < LONG ? end : begin + LONG);
  }
}

}  // namespace szc
