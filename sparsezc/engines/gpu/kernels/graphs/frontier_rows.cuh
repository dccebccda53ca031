// Division of a frontier's rows among the warps of a search: each takes words of rows in turn, and chunks of long rows.
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
  u32 piece, words, spread;  // the items of rows, words and chunks that a warp takes at once
};

// Calls visit(item, bits) for the items whose bits, load(item), are not 0; a warp loads `piece` items at once.
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

// Calls visit(word, bits) for the words whose bits, load(word), are not 0.
template <class Load, class Visit> __device__ __forceinline__ void each_word(const Shares& s, Load load, Visit visit) {
  each(s.nwords, s.words, load, visit);
}

// Calls visit(word, rows) for the rows whose bits in load(word) are set, ROWS_PER_WARP at once.
template <class Load, class Visit> __device__ __forceinline__ void each_rows(const Shares& s, Load load, Visit visit) {
  each(s.nwords * (32 / ROWS_PER_WARP), s.piece, [&](u64 item) { return load(word_of_item(item)) & rows_of_item(item); },
       [&](u64 item, u32 rows) { visit(word_of_item(item), rows); });
}

// Reads N entries together, so that their requests are in flight together: `load` returns an entry, `look` the value
// that it refers to, and `use` gets both and `of`. Each is called for active entries only, so none may be a collective.
template <u32 N, class P, class Load, class Look, class Use>
__device__ __forceinline__ void read_together(const u64 (&at)[N], const bool (&active)[N], const P (&of)[N], Load load, Look look, Use use) {
  decltype(load(0)) loaded[N] = {};
  decltype(look(loaded[0])) seen[N] = {};
#pragma unroll
  for (u32 j = 0; j < N; ++j) if (active[j]) loaded[j] = load(at[j]);
#pragma unroll
  for (u32 j = 0; j < N; ++j) if (active[j]) seen[j] = look(loaded[j]);
#pragma unroll
  for (u32 j = 0; j < N; ++j) if (active[j]) use(loaded[j], seen[j], of[j]);
}

// Reads the entries of up to 32 rows one after another without gaps, N times 32 at once: for device memory, which needs
// no aligned requests. Lane r has row r: its entries begin .. end-1, and `own`, which `use` gets; together they are
// fewer than 2^31. All lanes call.
template <u32 N, class P, class Load, class Look, class Use>
__device__ __forceinline__ void stream_together(u64 begin, u64 end, P own, Load load, Look look, Use use) {
  const u32 lane = lane_id();
  u32 upto = (u32)(end - begin);  // entries of the rows up to this one
  for (u32 d = 1; d < 32; d <<= 1) {
    const u32 left = __shfl_up_sync(ALL, upto, d);
    if (lane >= d) upto += left;
  }
  const u64 origin = end - upto;  // the position of entry number 0 of all rows, counted back from this row
  const u32 total = __shfl_sync(ALL, upto, 31);
  for (u32 first = 0; first < total; first += 32 * N) {
    u64 at[N];
    bool active[N];
    P of[N];
#pragma unroll
    for (u32 j = 0; j < N; ++j) {
      const u32 entry = first + 32 * j + lane;
      u32 row = 0;  // the first of which `upto` is larger
#pragma unroll
      for (u32 step = 16; step; step >>= 1)
        if (__shfl_sync(ALL, upto, (int)(row + step - 1)) <= entry) row += step;
      at[j] = __shfl_sync(ALL, origin, (int)row) + entry;
      of[j] = __shfl_sync(ALL, own, (int)row);
      active[j] = entry < total;
    }
    read_together(at, active, of, load, look, use);
  }
}

// The same for the entries begin .. end-1 of one row; slices begin at multiples of 32.
template <u32 N, class P, class Load, class Look, class Use>
__device__ __forceinline__ void stream_one(u64 begin, u64 end, P own, Load load, Look look, Use use) {
  for (u64 base = begin & ~(u64)31; base < end; base += 32 * N) {
    u64 at[N];
    bool active[N];
    P of[N];
#pragma unroll
    for (u32 j = 0; j < N; ++j) {
      at[j] = base + 32 * j + lane_id();
      active[j] = at[j] >= begin && at[j] < end;
      of[j] = own;
    }
    read_together(at, active, of, load, look, use);
  }
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
