// A transposed sparse matrix times a panel of k columns: Y(j, c) = (+) over i of M(i, j) (x) X(i, c), where the mask
// allows it; each row of M is read once for all columns, and no transpose is stored.
//
// Who calls: engines/gpu/products/spmm.py. Memory: as in spmm.cu; Y has the monoid's identity everywhere on entry. What
// a warp does: it streams rows as spmm.cu does; its lanes are the columns, and combine each product into Y by an
// atomic, so sums of floats depend on timing in their last bits. Rows longer than LONG are cut into chunks, which any
// warp may take. `group`: the lanes that share an entry, each with its columns.
//
// The prelude supplies what spmm.cuh says; positions are those of the transpose: `row` is the id.
#include "atomics.cuh"
#include "spmm.cuh"

namespace szc {

// Adds the entries that lanes lo .. hi-1 have read, all of one row.
__device__ __forceinline__ void push_entries(const Operands& o, u64 id, const Weight& w, u64 row, u32 lo, u32 hi) {
  const u32 together = 32 / o.group, mine = lane_id() / o.group;
  X x[COLUMNS];
  bool has[COLUMNS];
#pragma unroll
  for (u32 q = 0; q < COLUMNS; ++q) {
    const u64 place = row * o.width + column(o, q);
    has[q] = column(o, q) < o.width && present(o.x_bits, place);
    x[q] = READS_X && has[q] ? o.x[place] : X();
  }
  for (u32 t = lo; t < hi; t += together) {
    const u32 from = t + mine;
    const u64 target = __shfl_sync(ALL, id, from & 31u);
    const Factor f = factor(o, w, from & 31u);
#pragma unroll
    for (u32 q = 0; q < COLUMNS; ++q) {
      const u64 place = target * o.width + column(o, q);
      if (from >= hi || !has[q] || !f.is_there(o, q) || !o.allowed(place)) continue;
      const bool seen = has_bit(((volatile u32*)o.y_bits)[place >> 5], (u32)place & 31u);
      if (ANY && seen) continue;
      const Z z = multiply(f.of(q), x[q], target, row, column(o, q));
      if (ANY) o.y[place] = z;
      else combine(&o.y[place], z);
      if (!seen) atomicOr(&o.y_bits[place >> 5], bit((u32)place & 31u));
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const Own* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const u32* x_bits, const u32* mask, u32 flip, u64 width,
           u32 group, Z* y, u32* y_bits, u64* counters, const L* left, const R* right, u64 inner) {
  __shared__ u8 owners[8][32];
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Operands o = {values, x, x_bits, mask, flip, width, group, y, y_bits, part, left, right, inner};
  const u32 lane = lane_id();
  PartIds ids(indices, part);
  for (u64 chunk = first_chunk + take(counters, 1); chunk < end_chunk; chunk = first_chunk + take(counters, 1)) {
    const u32 slot = chunk_slot[chunk];
    const u64 row = long_rows[slot], begin = (u64)indptr[row] + (chunk - long_first[slot]) * LONG, row_end = (u64)indptr[row + 1];
    const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
    if (!is_in_part(part, row)) continue;
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const u64 id = (u64)ids.load(at, active);
      push_entries(o, id, weight(o, at, id, row, active), row, base < begin ? (u32)(begin - base) : 0, end - base < 32 ? (u32)(end - base) : 32);
    }
  }
  const u64 start = first_word(part), end_of_part = end_word(part, nrows);
  for (u64 word = start + take(counters + 1, 1); word < end_of_part; word = start + take(counters + 1, 1)) {
    const u64 row = 32 * word + lane;
    u64 begin = 0, end = 0;
    if (has_bit(in_part(part, word, ALL), lane) && row < nrows) {
      begin = (u64)indptr[row];
      end = (u64)indptr[row + 1];
    }
    stream_rows(begin, end, __ballot_sync(ALL, begin < end && end - begin <= LONG), owners[threadIdx.x >> 5], [&](const Slice& slice) {
      const u64 id = (u64)ids.load(slice.at, slice.active);
      const Weight w = weight(o, slice.at, id, 32 * word + slice.row, slice.active);
      for (u32 heads = __ballot_sync(ALL, slice.active && slice.head == lane); heads; heads &= heads - 1) {
        const u32 head = (u32)__ffs((int)heads) - 1, r = __shfl_sync(ALL, slice.row, head);
        push_entries(o, id, w, 32 * word + r, head, head + (u32)__popc(__shfl_sync(ALL, slice.range, r)));
      }
      return false;
    });
  }
}

}  // namespace szc
