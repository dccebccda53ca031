// Shared by the kernels that count and fill the rows of a product: the walk along the rows of B at the columns of a row
// of A, and the bitmap of the columns of a large row of the product.
//
// Rows that no warp computes alone are listed: first `nmapped` rows that a block computes with a map, then `ntabled`
// with a hash table; `listed` are presence words of all of them. There are `nmaps` maps; each of the `summaries` has
// `summary` words.
//
// The prelude supplies AId, BId, A (types of A's ids and values, and of B's ids), Key (BId); READS_A, ISO_A. Source: F.
// Gustavson, ACM TOMS 4, 1978, doi:10.1145/355791.355796.
#pragma once
#include "operands.cuh"
#include "hash_table.cuh"

namespace szc {

// Calls visit(shared, begin, end, x) for the entries of A among from .. to-1, in order, whose row of B has entries,
// begin .. end-1; x is A's value. The warps of a group take one entry each, or, at the end, one with begin = end. All
// threads of the group call, and visit is called for all of them together.
template <class Visit>
__device__ __forceinline__ void each_row(const Group& g, const Matrix<AId, A>& a, const i64* b_indptr, u64 from, u64 to, Visit visit) {
  for (u64 base = from & ~(u64)31; base < to; base += 32) {
    const u64 at = base + lane_id();
    u64 shared = 0, begin = 0, end = 0;
    A x = A();
    if (at >= from && at < to) {
      shared = (u64)load_host(a.ids + at, 0);
      begin = (u64)b_indptr[shared];
      end = (u64)b_indptr[shared + 1];
      x = a.template value<READS_A, ISO_A>(at);
    }
    for (u32 left = __ballot_sync(ALL, begin < end); left;) {
      u32 mine = 32;
      for (u32 w = 0; w < g.warps() && left; ++w, left &= left - 1)
        if (w == g.warp()) mine = (u32)__ffs((int)left) - 1;
      const u32 t = mine & 31u;
      const u64 first = __shfl_sync(ALL, begin, t), last = __shfl_sync(ALL, end, t);
      visit(__shfl_sync(ALL, shared, t), first, mine < 32 ? last : first, READS_A ? (A)__shfl_sync(ALL, x, t) : A());
    }
  }
}

// 32 columns: those that are present, and the number of columns before them.
struct __align__(8) Word {
  u32 bits, before;
};

// The columns of a large row: a bit each, and a bit for each 1,024 of them, so that a scan is short. One block uses a
// map, which holds zeros between rows.
struct Map {
  Word* words;
  u32* summary;
  u64 size;  // of the summary, in words

  __device__ __forceinline__ void mark(u64 col) const {
    u32* word = &words[col >> 5].bits;
    const u32 mine = bit((u32)col & 31u);
    if (*(volatile u32*)word & mine) return;
    if (!atomicOr(word, mine)) atomicOr(&summary[col >> 15], bit((u32)(col >> 10) & 31u));
  }

  // The number of present columns before one of them.
  __device__ __forceinline__ u64 rank(u64 col) const {
    const Word word = words[col >> 5];
    return word.before + (u32)__popc(word.bits & (bit((u32)col & 31u) - 1));
  }

  // Calls visit(w) for each 32 words with columns in them, words[w] being the lane's own, in ascending order; each warp
  // of the block takes a share of them. `last`: the map is cleared. All threads of the block call.
  template <class Visit> __device__ __forceinline__ void each_part(bool last, Visit visit) const {
    const u64 warps = blockDim.x / 32, part = (size + warps - 1) / warps, begin = part * (threadIdx.x / 32);
    const u64 end = begin + part < size ? begin + part : size;
    for (u64 base = begin; base < end; base += 32) {
      const u32 mine = base + lane_id() < end ? summary[base + lane_id()] : 0;
      for (u32 left = __ballot_sync(ALL, mine != 0); left; left &= left - 1) {
        const u32 t = (u32)__ffs((int)left) - 1;
        for (u32 parts = __shfl_sync(ALL, mine, t); parts; parts &= parts - 1) {
          const u64 w = 32 * (32 * (base + t) + (u32)__ffs((int)parts) - 1) + lane_id();
          visit(w);
          if (last) words[w].bits = 0;
        }
      }
      if (last && mine) summary[base + lane_id()] = 0;
    }
  }
};

// Rows that warps do not take: those that a block computes with a map, then those with a hash table.
struct Listed {
  u64 nmapped, ntabled;
  const u64* rows;
  const u32* bits;  // of all of these rows; null: there are none

  // Whether a warp takes `row`: it is below `end` and not listed.
  __device__ __forceinline__ bool mine(u64 row, u64 end) const { return row < end && !(bits && present(bits, row)); }
};

}  // namespace szc
