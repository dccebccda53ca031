// A sparse matrix times a panel of k columns: Y(i, c) = (+) over s of M(i, s) (x) X(s, c), where the mask allows it;
// each row of M is read once for all columns.
//
// Who calls: engines/gpu/products/spmm.py. Memory: `indices` and `values` of M in host memory (zero-copy) or on the
// device, all else on the device; X, Y and the mask are panels, entry (i, c) at i * width + c. What a warp does: it
// streams the rows of a presence word (rows.cuh), a slice of 32 entries at a time; then its lanes are the columns, and
// it takes the slice's entries one after another, or several at once where there are fewer than 32 columns. Where X may
// lack entries, each lane first compares the columns of X at its entry with those that the mask allows in the row, and
// only entries that share a column are taken: in a search most entries have nothing to add. A row ends early where all
// its sums are terminal. Rows longer than LONG are cut into chunks, which any warp may take; the warp that finishes
// last adds the chunks' sums in order, so results do not depend on timing. `group`: the lanes that an entry takes.
//
// The prelude supplies what spmm.cuh says, and FILTERS, whether entries are compared first: for 32 columns at most.
#include "spmm.cuh"

namespace szc {

// The sums of a row in the lane's own columns.
struct Sums {
  Z sum[COLUMNS];
  u32 has;  // a bit each

  __device__ __forceinline__ void clear() {
    for (u32 q = 0; q < COLUMNS; ++q) sum[q] = identity();
    has = 0;
  }
  __device__ __forceinline__ void join(u32 q, Z z) {
    sum[q] = has_bit(has, q) ? (ANY ? sum[q] : add(sum[q], z)) : z;
    has |= bit(q);
  }
};

// The entry at place `lane` of a slice: with FILTERS the entries that have a product follow each other, else each has
// its own place.
struct Placed {
  Id id;
  u32 live;  // its columns that have products; ALL without FILTERS
  u32 lane;  // the lane that has read it
};

// The position of the set bit of a word that has n set bits below it.
__device__ __forceinline__ u32 nth_bit(u32 word, u32 n) {
  u32 at = 0;
  for (u32 d = 16; d; d >>= 1) {
    const u32 lower = (u32)__popc(word >> at & bit_range(0, d));
    if (lower <= n) {
      n -= lower;
      at += d;
    }
  }
  return at;
}

// Moves the entries of `hits` to the first places. All lanes call.
__device__ __forceinline__ Placed place(Id id, u32 live, u32 hits) {
  const u32 lane = FILTERS ? nth_bit(hits, lane_id()) : lane_id();
  if (!FILTERS) return {id, ALL, lane};
  return {__shfl_sync(ALL, id, lane), __shfl_sync(ALL, live, lane), lane};
}

// The columns of a row that the mask allows; and those of these in which X has an entry.
__device__ __forceinline__ u32 wanted_columns(const Operands& o, u64 row) {
  return FILTERS ? bits_from(o.mask, o.flip, row * o.width, (u32)o.width) : any_allowed(o, row);
}
__device__ __forceinline__ u32 live_columns(const Operands& o, u64 id, u32 wanted, bool active) {
  return FILTERS && active && wanted ? bits_from(o.x_bits, 0, id * o.width, (u32)o.width) & wanted : active;
}

// Adds the entries at places lo .. hi-1, all of one row.
__device__ __forceinline__ void add_entries(const Operands& o, const Placed& e, const Weight& w, u64 row, u32 lo, u32 hi, Sums& s) {
  constexpr u32 AHEAD = COLUMNS >= 4 ? 1 : 4 / COLUMNS;  // entries whose vector values are requested at once
  const u32 together = 32 / o.group, mine = lane_id() / o.group;
  for (u32 t = lo; t < hi; t += together * AHEAD) {
    X x[AHEAD][COLUMNS];
    bool hit[AHEAD][COLUMNS];
    u64 shared[AHEAD];
    Factor f[AHEAD];
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u) {
      const u32 at = t + u * together + mine, from = at & 31u;
      shared[u] = (u64)__shfl_sync(ALL, e.id, from);
      f[u] = factor(o, w, FILTERS ? __shfl_sync(ALL, e.lane, from) : from);
      const u32 live = FILTERS ? __shfl_sync(ALL, e.live, from) : ALL;
#pragma unroll
      for (u32 q = 0; q < COLUMNS; ++q) {
        const u64 place = shared[u] * o.width + column(o, q);
        hit[u][q] = at < hi && column(o, q) < o.width && f[u].is_there(o, q) &&
                    (FILTERS ? has_bit(live, (u32)column(o, q)) : present(o.x_bits, place));
        x[u][q] = READS_X && hit[u][q] ? o.x[place] : X();
      }
    }
#pragma unroll
    for (u32 u = 0; u < AHEAD; ++u)
#pragma unroll
      for (u32 q = 0; q < COLUMNS; ++q)
        if (hit[u][q]) s.join(q, multiply(f[u].of(q), x[u][q], row, shared[u], column(o, q)));
  }
}

// Combines the sums of lanes that share a column; afterwards each of them has the whole sum.
__device__ __forceinline__ void gather(const Operands& o, Sums& s) {
  for (u32 d = o.group; d < 32; d <<= 1)
#pragma unroll
    for (u32 q = 0; q < COLUMNS; ++q) {
      const Z z = __shfl_xor_sync(ALL, s.sum[q], (int)d);
      if (__shfl_xor_sync(ALL, (int)has_bit(s.has, q), (int)d)) s.join(q, z);
    }
}

__device__ __forceinline__ void write(const Operands& o, u64 row, const Sums& s) {
  for (u32 q = 0; q < COLUMNS; ++q) {
    const u64 first = row * o.width + 32 * (u64)q, place = row * o.width + column(o, q);
    const bool mine = has_bit(s.has, q) && lane_id() < o.group && o.allowed(place);
    if (mine) o.y[place] = s.sum[q];
    const u32 found = __ballot_sync(ALL, mine), shift = (u32)first & 31u;
    if (lane_id() == 0 && found) {
      atomicOr(&o.y_bits[first >> 5], found << shift);
      if (shift && found >> (32 - shift)) atomicOr(&o.y_bits[(first >> 5) + 1], found >> (32 - shift));
    }
  }
}

// Whether further entries cannot change any sum.
__device__ __forceinline__ bool finished(const Operands& o, u64 row, const Sums& s) {
  if (!ANY && !TERMINAL) return false;
  bool open = false;
  for (u32 q = 0; q < COLUMNS; ++q)
    if (column(o, q) < o.width && !(has_bit(s.has, q) && (ANY || terminal(s.sum[q])))) open |= o.allowed(row * o.width + column(o, q));
  return !__any_sync(ALL, open);
}

__device__ __forceinline__ void do_chunk(const Operands& o, PartIds& ids, const i64* indptr, const Chunks& c, u64 chunk) {
  const u32 slot = c.slot[chunk];
  const u64 row = c.rows[slot], first = c.first[slot], last = c.first[slot + 1];
  const u32 wanted = is_in_part(o.part, row) ? wanted_columns(o, row) : 0;
  if (!wanted) return;
  const u64 begin = (u64)indptr[row] + (chunk - first) * LONG, row_end = (u64)indptr[row + 1];
  const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
  Sums s;
  s.clear();
  for (u64 base = begin & ~(u64)31; base < end; base += 32) {
    const u64 at = base + lane_id();
    const bool active = at >= begin && at < end;
    const Id id = ids.load(at, active);
    const u32 live = live_columns(o, (u64)id, wanted, active), hits = __ballot_sync(ALL, live != 0);
    const u32 lo = FILTERS || base >= begin ? 0 : (u32)(begin - base);
    const u32 hi = FILTERS ? (u32)__popc(hits) : end - base < 32 ? (u32)(end - base) : 32;
    if (FILTERS && !hits) continue;
    add_entries(o, place(id, live, hits), weight(o, at, row, (u64)id, live != 0), row, lo, hi, s);
    if (finished(o, row, s)) break;
  }
  gather(o, s);
  for (u32 q = 0; q < COLUMNS; ++q)
    if (lane_id() < o.group && column(o, q) < o.width) {
      c.partial[chunk * o.width + column(o, q)] = s.sum[q];
      c.partial_has[chunk * o.width + column(o, q)] = has_bit(s.has, q);
    }
  __threadfence();
  __syncwarp();
  u32 is_last = 0;
  if (lane_id() == 0) is_last = atomicAdd(&c.arrived[slot], 1u) + 1 == (u32)(last - first);
  if (!__shfl_sync(ALL, is_last, 0)) return;
  __threadfence();
  s.clear();
  for (u32 q = 0; q < COLUMNS; ++q)
    if (column(o, q) < o.width)
      for (u64 k = first; k < last; ++k)
        if (((volatile u8*)c.partial_has)[k * o.width + column(o, q)]) s.join(q, ((volatile Z*)c.partial)[k * o.width + column(o, q)]);
  write(o, row, s);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const Own* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const u32* x_bits, const u32* mask, u32 flip, u64 width,
           u32 group, Z* y, u32* y_bits, u64* counters, Z* partial, u8* partial_has, u32* arrived, const L* left, const R* right,
           u64 inner) {
  __shared__ u8 owners[8][32];
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Operands o = {values, x, x_bits, mask, flip, width, group, y, y_bits, part, left, right, inner};
  const Chunks c = {long_rows, long_first, chunk_slot, partial, partial_has, arrived};
  PartIds ids(indices, part);
  const auto do_word = [&](u64 word) {
    const OwnRow own = own_row(part, nrows, indptr, word, [&](u64 row) { return wanted_columns(o, row); });
    Sums s;
    u32 open = 32;  // the row whose sums are in s; 32: none
    stream_rows(own.begin, own.end, __ballot_sync(ALL, own.is_streamed()), owners[threadIdx.x >> 5], [&](const Slice& slice) {
      const Id id = ids.load(slice.at, slice.active);
      const u32 live = live_columns(o, (u64)id, __shfl_sync(ALL, own.wanted, slice.row), slice.active);
      const u32 hits = __ballot_sync(ALL, live != 0);
      if (!hits) return false;
      const Weight w = weight(o, slice.at, 32 * word + slice.row, (u64)id, live != 0);
      const Placed e = place(id, live, hits);
      u32 done = 0;
      for (u32 heads = or_lanes(live ? bit(slice.head) : 0); heads; heads &= heads - 1) {
        const u32 first = (u32)__ffs((int)heads) - 1, r = __shfl_sync(ALL, slice.row, first);
        const u32 range = __shfl_sync(ALL, slice.range, r);
        const u32 head = FILTERS ? (u32)__popc(hits & (bit(first) - 1)) : first;
        const u32 count = (u32)__popc(FILTERS ? hits & range : range);
        if (r != open) {
          if (open < 32) {
            gather(o, s);
            write(o, 32 * word + open, s);
          }
          s.clear();
          open = r;
        }
        add_entries(o, e, w, 32 * word + r, head, head + count, s);
        if (finished(o, 32 * word + r, s)) done |= bit(r);
      }
      return has_bit(done, lane_id());
    });
    if (open < 32) {
      gather(o, s);
      write(o, 32 * word + open, s);
    }
  };
  for_chunks_and_words(part, nrows, first_chunk, end_chunk, counters, [&](u64 chunk) { do_chunk(o, ids, indptr, c, chunk); }, do_word);
}

}  // namespace szc
