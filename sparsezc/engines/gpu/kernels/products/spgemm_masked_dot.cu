// Matrix times matrix at a mask's entries only: C(i, j) = A(i, :) (+).(x) B'(j, :); no other entry is computed.
//
// Who calls: engines/gpu/products/spgemm_masked_dot.py. Memory: `indices` and `values` of A and B in host memory
// (zero-copy) or on the device, all else on the device. What a warp does: it takes a row of A in which the mask has
// entries and puts its ids into a hash table in shared memory; then it streams the rows of B' at the columns of these
// entries and looks each id up. The whole warp reads a long row of B'; short rows share a slice. A row of B' that is
// much longer than A's is not streamed: A's ids are searched in it by bisection. Where A's row or the mask's is long, a
// block shares the table, and the mask's entries are cut into chunks; where A's row is too long for a table, all rows
// are bisected. One warp computes each sum, lane by lane and then by a tree, so results do not depend on timing.
// Sources: X. Chen and others, TRUST: Triangle counting reloaded on GPUs, IEEE TPDS 2021, doi:10.1109/TPDS.2021.3064892
// (tables of rows); A. Azad, A. Buluc, J. Gilbert, IPDPSW 2015, doi:10.1109/IPDPSW.2015.75 (masked products).
//
// `m_indptr` and `m_ids` are the mask's rows; `allowed` marks the entries that count (null: all); `edge`: see Operands.
//
// The prelude supplies AId, BId, A, B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; the monoid (add,
// identity, terminal; ANY, TERMINAL); READS_A, READS_B (the operands that the multiply needs), ISO_A, ISO_B; MId, the
// type of the mask's ids; PLACES, whether the position of an id in A's row is needed; CORNERS: no sum is written;
// instead each product of row i, column j and shared id k is counted in `counts` at i, j and k (the multiply gives 1);
// what hash_table.cuh needs; SLOTS, the size of the table; WARP_ROW and WARP_MASK, the longest row of A and of the mask
// that a warp takes alone.
#include "fold.cuh"
#include "operands.cuh"
#include "hash_table.cuh"

namespace szc {

constexpr u32 SLICES = 4;  // slices of a long row that are requested at once
constexpr u64 SHORT = 16;  // entries; rows of no more share a slice with others
constexpr u32 BISECTION = 4;  // the cost of a bisection step, in look-ups of the table

// The ids of a row of A, their positions in it, and the number of times that each was found.
struct RowTable : Table {
  u32* places;
  u32* found;  // 16 bits a slot: each of a task's entries of the mask, of which there are fewer than 2^16, finds an id once

  __device__ __forceinline__ void fill(const Group& g, const AId* ids, u64 n, u32 most) {
    clear(g, 8 * n, most);
    if (CORNERS)
      for (u32 pair = g.rank; 2 * pair < slots; pair += g.size) found[pair] = 0;
    for (u64 k = g.rank; k < n; k += g.size) {
      bool fresh;
      const u32 slot = insert(load_host_cached(ids + k, 0), fresh);
      if (PLACES) places[slot] = (u32)k;
    }
    g.sync();
  }

  __device__ __forceinline__ void count(u32 slot) const { atomicAdd(found + slot / 2, 1u << slot % 2 * 16); }

  // Adds the number of times that each of the row's ids was found to its count. All threads of the group call.
  __device__ __forceinline__ void add_counts(const Group& g, const AId* ids, u64 n, u64* counts) const {
    for (u64 k = g.rank; k < n; k += g.size) {
      const AId id = load_host_cached(ids + k, 0);
      u32 slot;
      const u32 times = find(id, slot) ? found[slot / 2] >> slot % 2 * 16 & 0xffffu : 0;
      if (times) atomicAdd(counts + id, (u64)times);
    }
  }
};

struct Operands {
  Matrix<AId, A> a;
  Matrix<BId, B> b;      // the rows of B'
  const MId* m_ids;      // of the mask's entries
  const u32* allowed;    // null: all of these count; else one bit each
  u32 edge;              // 31 where B' is read over the link, a line at a time; else 0
  Z* sums;
  u32* bits;
  u64* counts;           // with CORNERS: of each row, column and shared id
};

// A row of A and the mask's entries begin .. end-1 in it.
struct Task {
  u64 row, from, to;  // A's entries
  u64 begin, end;
};

// One sum: a row of B' of n entries from `at` on. `swapped`: A's row is walked and this one searched, else the reverse.
struct Pair {
  u64 col, at, n;
  bool swapped;
};

__device__ __forceinline__ Pair shuffle(const Pair& p, u32 lane) {
  return {__shfl_sync(ALL, p.col, lane), __shfl_sync(ALL, p.at, lane), __shfl_sync(ALL, p.n, lane),
          __shfl_sync(ALL, (int)p.swapped, lane) != 0};
}

__device__ __forceinline__ u32 steps(u64 n) { return 64u - (u32)__clzll((i64)n); }

__device__ __forceinline__ Pair pair_of(const Operands& o, const Task& t, u64 col, bool tabled) {
  const u64 at = (u64)o.b.indptr[col], n = (u64)o.b.indptr[col + 1] - at, na = t.to - t.from;
  return {col, at, n, na * steps(n) * (tabled ? BISECTION : 1) < n * (tabled ? 1 : steps(na))};
}

__device__ __forceinline__ Z multiply_entries(const Operands& o, const Task& t, u64 col, u64 a, u64 b, u64 shared) {
  return multiply(o.a.template value<READS_A, ISO_A>(a), o.b.template value<READS_B, ISO_B>(b), t.row, shared, col);
}

// The product of entry `at` of B', whose id is `shared`, if A's row has that id.
__device__ __forceinline__ bool look(const Operands& o, const Task& t, const RowTable& table, u64 col, u64 at, u64 shared, Z& z) {
  bool hit;
  u64 a = t.from;
  if (table.slots) {
    u32 slot = 0;
    hit = (sizeof(BId) <= sizeof(AId) || shared == (u64)(AId)shared) && table.find((AId)shared, slot);
    if (PLACES && hit) a += table.places[slot];
    if (CORNERS && hit) table.count(slot);
  } else {
    a = o.a.find(t.from, t.to, shared, hit);
    if (CORNERS && hit) atomicAdd(o.counts + shared, 1ull);
  }
  if (hit) z = multiply_entries(o, t, col, a, at, shared);
  return hit;
}

// The product of entry `at` of A, if the pair's row of B' has its id.
__device__ __forceinline__ bool look_back(const Operands& o, const Task& t, const Pair& p, u64 at, Z& z) {
  const u64 shared = (u64)load_host(o.a.ids + at, 0);
  bool hit;
  const u64 b = o.b.find(p.at, p.at + p.n, shared, hit);
  if (CORNERS && hit) atomicAdd(o.counts + shared, 1ull);
  if (hit) z = multiply_entries(o, t, p.col, at, b, shared);
  return hit;
}

__device__ __forceinline__ void join(Z z, Z& sum, bool& has) {
  sum = has ? (ANY ? sum : add(sum, z)) : z;
  has = true;
}

// The sum of one pair, by a whole warp; every lane has it at the end. Several slices are requested at once, as the
// number of requests in flight is the limit.
__device__ __forceinline__ void walk(const Operands& o, const Task& t, const RowTable& table, const Pair& p, Z& sum, bool& has) {
  const u64 end = p.at + p.n;
  for (u64 base = p.at & ~(u64)o.edge; base < end; base += 32 * SLICES) {
    const u64 first = base + lane_id();
    BId ids[SLICES];
#pragma unroll
    for (u32 k = 0; k < SLICES; ++k)
      ids[k] = first + 32 * k >= p.at && first + 32 * k < end ? load_host(o.b.ids + first + 32 * k, 0) : 0;
#pragma unroll
    for (u32 k = 0; k < SLICES; ++k) {
      if (base + 32 * k >= end) break;
      const u64 at = first + 32 * k;
      Z z = identity();
      if (at >= p.at && at < end && look(o, t, table, p.col, at, (u64)ids[k], z)) join(z, sum, has);
    }
    if ((ANY || TERMINAL) && __any_sync(ALL, has && (ANY || terminal(sum)))) break;
  }
  for (int d = 16; d; d >>= 1) {
    const Z z = __shfl_xor_sync(ALL, sum, d);
    if (__shfl_xor_sync(ALL, (int)has, d)) join(z, sum, has);
  }
}

// The sums of pairs, one a lane; the entries that the pairs walk are spread over the lanes. A lane without a pair has n = 0.
__device__ __forceinline__ void walk_together(const Operands& o, const Task& t, const RowTable& table, const Pair& mine, u64 n, Z& sum,
                                              bool& has) {
  u64 upto = n;
  for (u32 d = 1; d < 32; d <<= 1) {
    const u64 left = __shfl_up_sync(ALL, upto, d);
    if (lane_id() >= d) upto += left;
  }
  const u64 total = __shfl_sync(ALL, upto, 31);
  u32 done = 0;
  for (u64 slice = 0; slice < total; slice += 32) {
    const u64 k = slice + lane_id();
    u32 owner = 0;  // the number of pairs that end at or before k
    for (u32 d = 16; d; d >>= 1) {
      const u64 ends = __shfl_sync(ALL, upto, owner + d - 1);
      if (ends <= k) owner += d;
    }
    const Pair p = shuffle(mine, owner);
    const u64 begin = __shfl_sync(ALL, upto - n, owner);
    Z z = identity();
    bool hit = false;
    if (k < total && !has_bit(done, owner)) {
      const u64 at = (p.swapped ? t.from : p.at) + (k - begin);
      hit = p.swapped ? look_back(o, t, p, at, z) : look(o, t, table, p.col, at, (u64)load_host(o.b.ids + at, 0), z);
    }
    const u64 lo = upto - n > slice ? upto - n - slice : 0, hi = upto > slice ? upto - slice : 0;
    const u32 range = lo < hi && lo < 32 ? bit_range((u32)lo, hi < 32 ? (u32)hi : 32) : 0;
    fold(begin > slice ? (u32)(begin - slice) : 0, range, hit, z, sum, has);
    done = __ballot_sync(ALL, has && (ANY || (TERMINAL && terminal(sum))));
  }
}

// With CORNERS, a sum as the number of its products; a template, as some types of sums convert to no number.
template <class T> __device__ __forceinline__ u64 number(T sum) {
  if constexpr (CORNERS) return (u64)sum;
  else return 0;
}

// The sums of up to 32 entries of the mask, from `base` on; entries outside of the task are skipped.
__device__ __forceinline__ void do_entries(const Operands& o, const Task& t, const RowTable& table, u64 base, u32 count) {
  const u32 lane = lane_id();
  const u64 m = base + lane;
  Pair mine = {0, 0, 0, false};
  if (lane < count && m >= t.begin && m < t.end && present(o.allowed, m)) mine = pair_of(o, t, (u64)o.m_ids[m], table.slots != 0);
  Z sum = identity();
  bool has = false;
  const bool alone = mine.n > SHORT && !mine.swapped;
  for (u32 left = __ballot_sync(ALL, alone); left; left &= left - 1) {
    const u32 owner = (u32)__ffs((int)left) - 1;
    const Pair p = shuffle(mine, owner);
    Z s = identity();
    bool h = false;
    walk(o, t, table, p, s, h);
    if (lane == owner) {
      sum = s;
      has = h;
    }
  }
  const u64 n = alone || !mine.n ? 0 : mine.swapped ? t.to - t.from : mine.n;
  if (__any_sync(ALL, n != 0)) walk_together(o, t, table, mine, n, sum, has);
  if (CORNERS) {
    if (has) atomicAdd(o.counts + mine.col, number(sum));
    add_lanes(number(sum), o.counts + t.row);
    return;
  }
  if (has) o.sums[m] = sum;
  const u32 found = __ballot_sync(ALL, has);
  if (lane == 0 && found) atomicOr(&o.bits[base >> 5], found << ((u32)base & 31u));
}

// Computes a task by the warps of a group, which take its mask's entries in turn, 32 at a time, or 8 where there are
// few.
__device__ __forceinline__ void do_task(const Operands& o, const Task& t, const Group& g, RowTable table, u32 most) {
  const u64 na = t.to - t.from, wanted = t.end - t.begin;
  if (2 * na <= most && na <= 64 * wanted) table.fill(g, o.a.ids + t.from, na, most);  // the table costs two look-ups for each id
  const u32 step = g.size > 32 && wanted < 512 ? 8 : 32;
  for (u64 base = (t.begin & ~(u64)(step - 1)) + (g.rank >> 5) * step; base < t.end; base += (g.size >> 5) * step)
    do_entries(o, t, table, base, step);
  g.sync();  // no thread still counts or reads the table
  if (CORNERS && table.slots) {
    table.add_counts(g, o.a.ids + t.from, na, o.counts);
    g.sync();
  }
}

// The tasks of a warp: with its block, chunks of long rows, while there are any; then rows alone.
struct Work {
  u64 first, last;
  const i64* m_indptr;
  u64 base;
  u64 nchunks;
  const u64* long_rows;
  const u64* long_first;
  const u32* chunk_slot;
  u64 chunk;

  __device__ __forceinline__ Task row(const Operands& o, u64 row) const {
    return {row, (u64)o.a.indptr[row], (u64)o.a.indptr[row + 1], (u64)m_indptr[row] - base, (u64)m_indptr[row + 1] - base};
  }

  __device__ __forceinline__ Task part(const Operands& o, u64 c) const {
    const u32 slot = chunk_slot[c];
    Task t = row(o, long_rows[slot]);
    t.begin += (c - long_first[slot]) * chunk;
    if (t.end - t.begin > chunk) t.end = t.begin + chunk;
    return t;
  }
};

// For rows first .. last-1: the mask's entries from `base` on, whose ids are m_ids[0 ..]. Long rows are also given as
// chunks of the mask's entries. `most_slots` is 0 where an id may equal EMPTY. `counters` and `bits` hold zeros on
// entry.
extern "C" __global__ void __launch_bounds__(256, 6)
    KERNEL(u64 first, u64 last, const i64* m_indptr, const MId* m_ids, u64 base, const u32* allowed, const i64* a_indptr,
           const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids, const B* b_values, u32 edge,
           u32 most_slots, u64 nchunks, const u64* long_rows, const u64* long_first, const u32* chunk_slot, u64 chunk,
           u64* counters, Z* sums, u32* bits, u64* counts) {
  __shared__ AId keys[SLOTS];
  __shared__ u32 found[CORNERS ? SLOTS / 2 : 1];
  __shared__ u32 places[PLACES ? SLOTS : 1];
  __shared__ u64 taken;
  const Operands o = {{a_indptr, a_ids, a_values}, {b_indptr, b_ids, b_values}, m_ids, allowed, edge, sums, bits, counts};
  const Work work = {first, last, m_indptr, base, nchunks, long_rows, long_first, chunk_slot, chunk};
  Group group = {threadIdx.x, blockDim.x};
  RowTable table = {{keys, 0}, places, found};
  Task mine = {0, 0, 0, 0, 0}, now;
  u32 left = 0;  // the rows of a word that are still to do
  for (;;) {
    if (group.size > 32) {
      const u64 c = take_together(counters, &taken);
      if (c < nchunks) {
        now = work.part(o, c);
      } else {
        const u32 part = SLOTS / 8 * (threadIdx.x >> 5);
        table = {{keys + part, 0}, places + (PLACES ? part : 0), found + (CORNERS ? part / 2 : 0)};
        group = {lane_id(), 32};
        most_slots /= 8;
        continue;
      }
    } else {
      while (!left) {
        const u64 word = take(counters + 1, 1), row = first + 32 * word + lane_id();
        if (32 * word >= last - first) return;
        if (row < last) mine = work.row(o, row);
        const u64 na = mine.to - mine.from, wanted = mine.end - mine.begin;
        left = __ballot_sync(ALL, row < last && na && wanted && na <= WARP_ROW && wanted <= WARP_MASK);
      }
      const u32 lane = (u32)__ffs((int)left) - 1;
      left &= left - 1;
      now = {__shfl_sync(ALL, mine.row, lane), __shfl_sync(ALL, mine.from, lane), __shfl_sync(ALL, mine.to, lane),
             __shfl_sync(ALL, mine.begin, lane), __shfl_sync(ALL, mine.end, lane)};
    }
    do_task(o, now, group, table, most_slots);
  }
}

}  // namespace szc
