// A sparse matrix and its transpose, each times a panel, in one pass: an entry w of row i and column j adds w (x)
// right(j) to row i of the left half of the result, and w (x) left(i) to row j of its right half.
//
// Who calls: engines/gpu/products/two_way.py. Memory: `indices` and `values` of M in host memory (zero-copy) or on the
// device, all else on the device. X and Y have two halves of `width` columns at the same positions: row i of the left
// half at i * stride, row j of the right half at right + j * stride. Y has the monoid's identity everywhere on entry.
// What a warp does: it streams rows (rows.cuh), a slice of 32 entries at a time; LANES of its lanes, one a column,
// share an entry, and AHEAD entries are requested at once. Sums of rows stay in registers; those of columns, and of
// rows that are cut into chunks, are combined by atomics, so sums of floats depend on timing in their last bits.
//
// Weights of entries: with SAMPLED a dot product of the two panels' rows, after the steps of `weigh`, which gives each
// column its weight; else `entries` has a weight for each column, those of entry `at` of M from at * width on. `starts`
// are M's own offsets, as a launch part may have copies of rows at other positions. Either panel is read once for each
// entry.
//
// The prelude supplies Id, Own, A, X, Z (types of ids, M's values, weights, X's and Y's values); `Z multiply(A a, X
// x)`; the monoid (add, identity; ANY, ATOMIC); READS_OWN (steps read M's values), ISO, SAMPLED, and with it what
// sddmm.cuh says (else L and R); WEIGHTS, DROPS, `u32 weight_of(u64 column)`, `u32 weigh(dot::Z w, Own own, u64 row,
// u64 col, A (&a)[WEIGHTS])`; LONG; COLUMNS, the columns that a lane has; LANES and AHEAD, powers of two, AHEAD at most
// LANES; and what part.cuh says.
#include "atomics.cuh"
#include "part.cuh"
#include "rows.cuh"

namespace szc {

constexpr u32 TOGETHER = 32 / LANES;   // entries that a warp processes together
constexpr u32 SHARE = LANES / AHEAD;   // lanes that hold one weight

struct Operands {
  const X* x;
  const A* entries;
  const i64 *starts, *indptr;
  u64 width, stride, right;
  Z* y;
  u32* y_bits;
};

__device__ __forceinline__ u64 column(u32 q) { return (lane_id() & (LANES - 1)) + LANES * (u64)q; }

// The slice that a warp has read, one entry a lane.
struct Read {
  u64 base;  // the first lane's position
  Id id;
  Own own;
};

// A row that is being read: the row of X that its entries are multiplied with, and its sums, in the lane's own columns.
struct Row {
  u64 number;
  u64 moved;  // an entry's position in the matrix minus its position in the launch part
  X left[COLUMNS];
  Z sum[COLUMNS];
  u32 has;  // a bit each

  __device__ __forceinline__ void open(const Operands& o, u64 row) {
    number = row;
    moved = SAMPLED ? 0 : (u64)(o.starts[row] - o.indptr[row]);
    has = 0;
#pragma unroll
    for (u32 q = 0; q < COLUMNS; ++q) {
      left[q] = column(q) < o.width ? o.x[row * o.stride + column(q)] : X();
      sum[q] = identity();
    }
  }
  __device__ __forceinline__ void join(u32 q, Z z) {
    sum[q] = has_bit(has, q) ? (ANY ? sum[q] : add(sum[q], z)) : z;
    has |= bit(q);
  }
};

// Combines the sums of lanes that share a column; afterwards each of them has the whole sum.
__device__ __forceinline__ void gather(Row& r) {
  for (u32 d = LANES; d < 32; d <<= 1)
#pragma unroll
    for (u32 q = 0; q < COLUMNS; ++q) {
      const Z z = __shfl_xor_sync(ALL, r.sum[q], (int)d);
      if (__shfl_xor_sync(ALL, (int)has_bit(r.has, q), (int)d)) r.join(q, z);
    }
}

// Writes a row's sums, or with `shared` adds them to those of the row's other chunks.
__device__ __forceinline__ void write(const Operands& o, Row& r, bool shared) {
  gather(r);
#pragma unroll
  for (u32 q = 0; q < COLUMNS; ++q) {
    const u64 first = r.number * o.stride + LANES * (u64)q, place = r.number * o.stride + column(q);
    const bool mine = has_bit(r.has, q) && lane_id() < LANES;
    if (mine && (ANY || !shared)) o.y[place] = r.sum[q];
    else if (mine) combine(&o.y[place], r.sum[q]);
    const u32 found = __ballot_sync(ALL, mine), shift = (u32)first & 31u;
    if (lane_id() == 0 && found) {
      atomicOr(&o.y_bits[first >> 5], found << shift);
      if (shift && found >> (32 - shift)) atomicOr(&o.y_bits[(first >> 5) + 1], found >> (32 - shift));
    }
  }
}

// Marks all columns of row j of the right half as present. A lane that finds the row's first bit set leaves the others
// to the lane that set it.
__device__ __forceinline__ void mark(const Operands& o, u64 j) {
  const u64 first = o.right + j * o.stride, end = first + o.width;
  if (has_bit(((volatile u32*)o.y_bits)[first >> 5], (u32)first & 31u)) return;
  for (u64 at = first; at < end; at = (at | 31) + 1) {
    const u32 lo = (u32)at & 31u, hi = end - (at - lo) < 32 ? (u32)(end - (at - lo)) : 32;
    atomicOr(&o.y_bits[at >> 5], bit_range(lo, hi));
  }
}

// Adds up each of AHEAD values over the lanes of an entry: a lane gets the sum of value number (lane % LANES) / SHARE.
// In each round lanes exchange half of their values, so 8 sums over 32 lanes take 9 exchanges, not 40.
__device__ __forceinline__ dot::Z add_up(dot::Z (&p)[AHEAD], u64 width) {
  const u32 lane = lane_id() & (LANES - 1);
#pragma unroll
  for (u32 d = LANES / 2, many = AHEAD / 2; d; d >>= 1, many >>= 1) {
    const bool upper = lane & d;
    // lanes beyond the width have no values in the first round; later their partners' values
    const bool first = d == LANES / 2, mine = !first || lane < width, theirs = !first || (lane ^ d) < width;
#pragma unroll
    for (u32 k = 0; k < (many ? many : 1); ++k) {
      const dot::Z sent = many && !upper ? p[k + many] : p[k], kept = many && upper ? p[k + many] : p[k];
      const dot::Z other = __shfl_xor_sync(ALL, sent, (int)d);
      p[k] = mine && theirs ? dot::add(kept, other) : mine ? kept : other;
    }
  }
  return p[0];
}

// The weights of one of the entries that the lane's group has requested: number (lane % LANES) / SHARE.
struct Weights {
  A a[WEIGHTS];
  u32 kept;  // a bit each: it was not dropped
};

__device__ __forceinline__ Weights weights(const Operands& o, const Read& read, const Row& r, const Id (&target)[AHEAD],
                                           const X (&right)[AHEAD][COLUMNS], u32 t, u32 hi) {
  const u32 mine = lane_id() / LANES;
  dot::Z product[AHEAD];
#pragma unroll
  for (u32 u = 0; u < AHEAD; ++u) {
    product[u] = dot::identity();
#pragma unroll
    for (u32 q = 0; q < COLUMNS; ++q)
      if (t + u * TOGETHER + mine < hi && column(q) < o.width) {
        const dot::Z z = dot::multiply(r.left[q], right[u][q], r.number, column(q), target[u]);
        product[u] = q == 0 ? z : dot::add(product[u], z);
      }
  }
  const dot::Z z = add_up(product, o.width);
  const u32 from = t + (lane_id() & (LANES - 1)) / SHARE * TOGETHER + mine;
  const u64 j = __shfl_sync(ALL, read.id, from & 31u);
  const Own own = READS_OWN ? __shfl_sync(ALL, read.own, from & 31u) : Own();
  Weights w;
  w.kept = ALL;
#pragma unroll
  for (u32 k = 0; k < WEIGHTS; ++k) w.a[k] = A();
  if (from < hi) w.kept = weigh(z, own, r.number, j, w.a);
  return w;
}

// Adds the entries that lanes lo .. hi-1 have read, all of one row.
__device__ __forceinline__ void add_entries(const Operands& o, const Read& read, Row& r, u32 lo, u32 hi) {
  const u32 mine = lane_id() / LANES;
  for (u32 t = lo; t < hi; t += TOGETHER * AHEAD) {
    Id target[AHEAD];
    X right[AHEAD][COLUMNS];
    A weight[AHEAD][COLUMNS];  // loaded here without SAMPLED
    Z seen[AHEAD][COLUMNS];    // without SAMPLED: sums of the entries' columns so far
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u) {
      const u32 from = t + u * TOGETHER + mine;
      target[u] = __shfl_sync(ALL, read.id, from & 31u);
#pragma unroll
      for (u32 q = 0; q < COLUMNS; ++q) {
        const bool there = from < hi && column(q) < o.width;
        right[u][q] = there ? o.x[o.right + target[u] * o.stride + column(q)] : X();
        if (!ANY && !SAMPLED && there) seen[u][q] = look(&o.y[o.right + target[u] * o.stride + column(q)]);
        if (!SAMPLED) weight[u][q] = there ? o.entries[(read.base + from + r.moved) * o.width + column(q)] : A();
      }
    }
    const Weights w = SAMPLED ? weights(o, read, r, target, right, t, hi) : Weights();
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u) {
      const int source = (int)(mine * LANES + u * SHARE);
      const u32 kept = DROPS ? __shfl_sync(ALL, w.kept, source) : ALL;
#pragma unroll
      for (u32 k = 0; SAMPLED && k < WEIGHTS; ++k) {
        const A given = __shfl_sync(ALL, w.a[k], source);
#pragma unroll
        for (u32 q = 0; q < COLUMNS; ++q)
          if (k == 0 || weight_of(column(q)) == k) weight[u][q] = given;
      }
#pragma unroll
      for (u32 q = 0; q < COLUMNS; ++q) {
        const bool there = t + u * TOGETHER + mine < hi && column(q) < o.width;
        if (!there || (DROPS && !has_bit(kept, weight_of(column(q))))) continue;
        r.join(q, multiply(weight[u][q], right[u][q]));
        const u64 place = o.right + target[u] * o.stride + column(q);
        const Z z = multiply(weight[u][q], r.left[q]);
        if (ANY) o.y[place] = z;
        else if (SAMPLED) combine(&o.y[place], z);  // dot products leave no registers for `seen`
        else combine_after(&o.y[place], z, seen[u][q]);
        if (DROPS && !has_bit(((volatile u32*)o.y_bits)[place >> 5], (u32)place & 31u)) atomicOr(&o.y_bits[place >> 5], bit((u32)place & 31u));
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 3)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const Own* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const A* entries, const i64* starts, u64 width, u64 stride,
           u64 right, Z* y, u32* y_bits, u64* counters) {
  __shared__ u8 owners[8][32];
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Operands o = {x, entries, starts, indptr, width, stride, right, y, y_bits};
  const u32 lane = lane_id();
  PartIds ids(indices, part);
  const auto read_slice = [&](u64 at, bool active) {
    Read read = {at - lane, ids.load(at, active), Own()};
    if (READS_OWN && active) read.own = ISO ? values[0] : szc::read(values, value_segments, at, 1);
    if (!DROPS && active) mark(o, read.id);
    return read;
  };
  for (u64 chunk = first_chunk + take(counters, 1); chunk < end_chunk; chunk = first_chunk + take(counters, 1)) {
    const u32 slot = chunk_slot[chunk];
    const u64 row = long_rows[slot], begin = (u64)indptr[row] + (chunk - long_first[slot]) * LONG, row_end = (u64)indptr[row + 1];
    const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
    if (!is_in_part(part, row)) continue;
    Row r;
    r.open(o, row);
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane;
      const Read read = read_slice(at, at >= begin && at < end);
      add_entries(o, read, r, base < begin ? (u32)(begin - base) : 0, end - base < 32 ? (u32)(end - base) : 32);
    }
    write(o, r, true);
  }
  const u64 start = first_word(part), end_of_part = end_word(part, nrows);
  for (u64 word = start + take(counters + 1, 1); word < end_of_part; word = start + take(counters + 1, 1)) {
    const u64 row = 32 * word + lane;
    u64 begin = 0, end = 0;
    if (has_bit(in_part(part, word, ALL), lane) && row < nrows) {
      begin = (u64)indptr[row];
      end = (u64)indptr[row + 1];
    }
    Row r;
    u32 open = 32;  // the row whose sums are in r; 32: none
    stream_rows(begin, end, __ballot_sync(ALL, begin < end && end - begin <= LONG), owners[threadIdx.x >> 5], [&](const Slice& slice) {
      const Read read = read_slice(slice.at, slice.active);
      for (u32 heads = __ballot_sync(ALL, slice.active && slice.head == lane); heads; heads &= heads - 1) {
        const u32 head = (u32)__ffs((int)heads) - 1, number = __shfl_sync(ALL, slice.row, head);
        if (number != open) {
          if (open < 32) write(o, r, false);
          r.open(o, 32 * word + number);
          open = number;
        }
        add_entries(o, read, r, head, head + (u32)__popc(__shfl_sync(ALL, slice.range, number)));
      }
      return false;
    });
    if (open < 32) write(o, r, false);
  }
}

}  // namespace szc
