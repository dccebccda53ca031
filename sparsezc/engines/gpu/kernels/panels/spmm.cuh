// Shared by the products of a sparse matrix and a panel: operands, and the weights of entries.
//
// Included by spmm.cu and spmm_few.cu (a row of the matrix makes a row of the result) and spmm_push.cu (an entry adds
// to the row of its column). A weight is the value that an entry is multiplied with. Without SAMPLED it is the matrix's
// own value. With SAMPLED it is computed when the entry is read: an entry of the product of two full panels, `left` and
// `right` of `inner` columns (sddmm.cuh), after the steps of `weigh`, which may drop it; an entry may have several
// weights, each for columns of its own.
//
// The prelude supplies Id, Own, A, X, Z (types of ids, M's values, weights, X's values, result); `Z multiply(A a, X x,
// u64 row, u64 shared, u64 col)`; the monoid (add, identity, terminal; ANY, TERMINAL, ATOMIC); READS_A (weights
// needed), READS_OWN (steps read M's values), READS_X, ISO, SAMPLED, and with it what sddmm.cuh says (else L and R);
// WEIGHTS, DROPS, `u32 weight_of(u64 column)`, `u32 weigh(dot::Z w, Own own, u64 row, u64 col, A (&a)[WEIGHTS])`, which
// returns a bit for each weight that is not dropped; LONG; COLUMNS, the columns that a lane has; and what part.cuh
// says.
#pragma once
#include "part.cuh"
#include "rows.cuh"
#include "sddmm.cuh"

namespace szc {

struct Operands {
  const Own* values;
  const X* x;
  const u32* x_bits;  // null: the panel is full
  const u32* mask;    // null: none
  u32 flip;
  u64 width;
  u32 group;          // lanes that share an entry: a power of two, at least `width`, or 32
  Z* y;
  u32* y_bits;        // zeros on entry
  Part part;
  const L* left;
  const R* right;
  u64 inner;

  __device__ __forceinline__ bool allowed(u64 place) const { return !mask || has_bit(mask[place >> 5] ^ flip, (u32)place & 31u); }
};

// Whether the mask allows any entry of a row of the panel.
__device__ __forceinline__ bool any_allowed(const Operands& o, u64 row) {
  if (!o.mask) return true;
  const u64 first = row * o.width, end = first + o.width;
  for (u64 word = first >> 5; 32 * word < end; ++word) {
    const u32 lo = 32 * word < first ? (u32)(first - 32 * word) : 0, hi = end - 32 * word < 32 ? (u32)(end - 32 * word) : 32;
    if ((o.mask[word] ^ o.flip) & bit_range(lo, hi)) return true;
  }
  return false;
}

// Bits first .. first + width - 1 of presence words, each xor `flip`, for a width of 32 at most; null: all of them.
__device__ __forceinline__ u32 bits_from(const u32* bits, u32 flip, u64 first, u32 width) {
  if (!bits) return bit_range(0, width);
  const u32 shift = (u32)first & 31u;
  u32 found = (bits[first >> 5] ^ flip) >> shift;
  if (shift + width > 32) found |= (bits[(first >> 5) + 1] ^ flip) << (32 - shift);
  return found & bit_range(0, width);
}

// The chunks of long rows, and their results.
struct Chunks {
  const u64* rows;
  const u64* first;
  const u32* slot;
  Z* partial;     // chunk c, column q at c * width + q; and whether there is a sum
  u8* partial_has;
  u32* arrived;   // of each long row, chunks finished so far
};

__device__ __forceinline__ u64 column(const Operands& o, u32 q) { return (lane_id() & (o.group - 1)) + 32 * (u64)q; }

// Calls `do_chunk(chunk)` for the chunks of a launch, then `do_word(word)` for its words; warps take them in order.
template <class DoChunk, class DoWord>
__device__ __forceinline__ void for_chunks_and_words(const Part& part, u64 nrows, u64 first_chunk, u64 end_chunk, u64* counters, DoChunk do_chunk,
                                                     DoWord do_word) {
  for (u64 chunk = first_chunk + take(counters, 1); chunk < end_chunk; chunk = first_chunk + take(counters, 1)) do_chunk(chunk);
  const u64 start = first_word(part), end = end_word(part, nrows);
  for (u64 word = start + take(counters + 1, 1); word < end; word = start + take(counters + 1, 1)) do_word(word);
}

// The row of a presence word that the lane owns: its entries, none where no column is wanted; and `wanted(row)`, 0
// outside the launch part.
struct OwnRow {
  u64 row, begin, end;
  u32 wanted;

  __device__ __forceinline__ bool is_streamed() const { return begin < end && end - begin <= LONG; }
};

template <class Wanted>
__device__ __forceinline__ OwnRow own_row(const Part& part, u64 nrows, const i64* indptr, u64 word, Wanted wanted) {
  OwnRow own = {32 * word + lane_id(), 0, 0, 0};
  if (has_bit(in_part(part, word, ALL), lane_id()) && own.row < nrows) own.wanted = wanted(own.row);
  if (own.wanted) {
    own.begin = (u64)indptr[own.row];
    own.end = (u64)indptr[own.row + 1];
  }
  return own;
}

// The weights of the lane's own entry.
struct Weight {
  A a[WEIGHTS];
  u32 has;  // a bit each: it was not dropped
};

// The weights of the lane's entry `at`, where it is active, in row i and column j of M. All lanes call.
__device__ __forceinline__ Weight weight(const Operands& o, u64 at, u64 i, u64 j, bool active) {
  Weight w;
  w.has = ALL;
  if (!READS_A && !DROPS) return w;
  Own own = Own();
  if ((!SAMPLED || READS_OWN) && active) own = ISO ? o.values[0] : read(o.values, o.part.value_segments, at, 1);
  if (!SAMPLED) {
    w.a[0] = cast<A>(own);
    return w;
  }
  const dot::Z z = dot_entries(o.left, o.right, o.inner, i, j, __ballot_sync(ALL, active));
#pragma unroll
  for (u32 k = 0; k < WEIGHTS; ++k) w.a[k] = A();
  if (active) w.has = weigh(z, own, i, j, w.a);
  return w;
}

// The weights of another lane's entry for this lane's columns.
struct Factor {
  A a[WEIGHTS == 1 ? 1 : COLUMNS];
  u32 has;

  __device__ __forceinline__ A of(u32 q) const { return a[WEIGHTS == 1 ? 0 : q]; }
  __device__ __forceinline__ bool is_there(const Operands& o, u32 q) const { return !DROPS || has_bit(has, WEIGHTS == 1 ? 0 : weight_of(column(o, q))); }
};

// The factor of lane `from`'s entry. All lanes call.
__device__ __forceinline__ Factor factor(const Operands& o, const Weight& w, u32 from) {
  Factor f;
  f.has = DROPS ? __shfl_sync(ALL, w.has, (int)from) : ALL;
#pragma unroll
  for (u32 k = 0; k < WEIGHTS; ++k) {
    const A a = READS_A ? (A)__shfl_sync(ALL, w.a[k], (int)from) : A();
#pragma unroll
    for (u32 q = 0; q < (WEIGHTS == 1 ? 1 : COLUMNS); ++q)
      if (WEIGHTS == 1 || k == 0 || weight_of(column(o, q)) == k) f.a[q] = a;
  }
  return f;
}

}  // namespace szc
