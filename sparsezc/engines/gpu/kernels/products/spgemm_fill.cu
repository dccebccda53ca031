// The rows of a product A B: the second pass over the products, after spgemm_count.cu counted each row's entries.
//
// Who calls: engines/gpu/products/spgemm_rows.py. Memory: ids and values of A and B in host memory (zero-copy) or on
// the device, all else on the device. What does the work: a warp or a block adds the products of a row to sums in a
// hash table in shared memory, and sorts the table by column at the end. For a row of too many entries a block first
// maps the columns, which gives each product its place, and adds the products to the result in memory.
// Sums do not depend on timing: warps that share a table compute their products concurrently, but add them one warp
// after another, and no two products of a row of B have a column in common; with a map, floating-point sums are added
// one row of B after another.
// Source: M. Parger and others, spECK, PPoPP 2020, doi:10.1145/3332466.3374521.
//
// The prelude supplies what spgemm.cuh needs, and B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; the
// monoid (add, identity; ANY, ATOMIC); READS_B, ISO_B; VALUES, whether values are wanted; ORDERED, whether sums depend
// on their order; SLOTS, the size of a block's table.
#include "atomics.cuh"
#include "spgemm.cuh"

namespace szc {

struct Operands {
  Matrix<AId, A> a;
  Matrix<BId, B> b;
  const u64* names;  // the columns that B's ids stand for; null: the ids themselves
  BId* ids;          // of the result, and its values
  Z* values;

  __device__ __forceinline__ Z product(u64 row, u64 shared, A x, u64 at, u64 col) const {
    return multiply(x, b.value<READS_B, ISO_B>(at), row, shared, names ? names[col] : col);
  }
};

// A row of the result: n entries from `start` on, of the products of A's entries from .. to-1.
struct Task {
  u64 row, from, to, start, n;
};

// Fills the map with a row's columns, counts the columns before each word, and writes the ids.
__device__ __forceinline__ void map_columns(const Operands& o, const Map& map, const Task& t, u32* totals) {
  const u32 lane = lane_id(), warp = threadIdx.x / 32;
  each_row({threadIdx.x, blockDim.x}, o.a, o.b.indptr, t.from, t.to, [&](u64, u64 begin, u64 end, A) {
    for (u64 at = begin + lane; at < end; at += 32) map.mark((u64)load_host(o.b.ids + at, 0));
  });
  __syncthreads();
  u32 before = 0;
  map.each_part(false, [&](u64 w) { before += (u32)__popc(map.words[w].bits); });
  before = add_lanes(before);
  if (lane == 0) totals[warp] = before;
  __syncthreads();
  before = 0;
  for (u32 w = 0; w < warp; ++w) before += totals[w];
  map.each_part(false, [&](u64 w) {
    const u32 bits = map.words[w].bits;
    u32 upto = (u32)__popc(bits);
    for (u32 d = 1; d < 32; d <<= 1) {
      const u32 left = __shfl_up_sync(ALL, upto, d);
      if (lane >= d) upto += left;
    }
    u64 to = t.start + (map.words[w].before = before + upto - (u32)__popc(bits));
    for (u32 left = bits; left; left &= left - 1) o.ids[to++] = (BId)(32 * w + (u32)__ffs((int)left) - 1);
    before += __shfl_sync(ALL, upto, 31);
  });
  __syncthreads();
}

__device__ __forceinline__ void add_mapped(const Operands& o, const Map& map, const Task& t, u64 shared, A x, u64 at) {
  const u64 col = (u64)load_host(o.b.ids + at, 0);
  Z* sum = o.values + t.start + map.rank(col);
  const Z z = o.product(t.row, shared, x, at, col);
  if (ANY) *sum = z;
  else if (ORDERED) *sum = add(*sum, z);
  else combine(sum, z);
}

// Computes a row with a map, by all threads of a block.
__device__ __forceinline__ void fill_mapped(const Operands& o, const Map& map, const Task& t, u32* totals) {
  if (VALUES && !ANY)
    for (u64 k = threadIdx.x; k < t.n; k += blockDim.x) o.values[t.start + k] = identity();
  map_columns(o, map, t, totals);
  if (VALUES && ORDERED) {  // every warp visits all entries; the block shares a row of B
    each_row({lane_id(), 32}, o.a, o.b.indptr, t.from, t.to, [&](u64 shared, u64 begin, u64 end, A x) {
      for (u64 at = begin + threadIdx.x; at < end; at += blockDim.x) add_mapped(o, map, t, shared, x, at);
      __syncthreads();
    });
  } else if (VALUES) {
    each_row({threadIdx.x, blockDim.x}, o.a, o.b.indptr, t.from, t.to, [&](u64 shared, u64 begin, u64 end, A x) {
      for (u64 at = begin + lane_id(); at < end; at += 32) add_mapped(o, map, t, shared, x, at);
    });
  }
  __syncthreads();
  map.each_part(true, [](u64) {});
  __syncthreads();
}

// Sorts n slots by their keys: a bitonic network whose comparisons all have one direction, so n may be any number.
__device__ __forceinline__ void sort(const Group& g, const Key* keys, u16* slots, u32 n) {
  const auto compare = [&](u32 lo, u32 hi) {
    if (hi >= n) return;
    const u16 left = slots[lo], right = slots[hi];
    if (keys[left] <= keys[right]) return;
    slots[lo] = right;
    slots[hi] = left;
  };
  for (u32 run = 2; run / 2 < n; run *= 2) {
    for (u32 k = g.rank; 2 * k < n + run; k += g.size) {
      const u32 first = k / (run / 2) * run, at = k % (run / 2);
      compare(first + at, first + run - 1 - at);
    }
    g.sync();
    for (u32 d = run / 4; d; d /= 2) {
      for (u32 k = g.rank; 2 * k < n + run; k += g.size) compare(2 * k - (k & (d - 1)), 2 * k - (k & (d - 1)) + d);
      g.sync();
    }
  }
}

// Collects the used slots in `slots`; `totals` belongs to the block.
__device__ __forceinline__ void list_slots(const Group& g, const Table& table, u16* slots, u32* totals) {
  const u32 lane = lane_id(), part = (table.slots + g.warps() - 1) / g.warps(), begin = part * g.warp();
  const u32 end = begin + part < table.slots ? begin + part : table.slots;
  u32 count = 0;
  if (g.size > 32) {
    for (u32 slot = begin + lane; slot < end; slot += 32) count += table.keys[slot] != EMPTY;
    count = add_lanes(count);
    if (lane == 0) totals[g.warp()] = count;
    g.sync();
    count = 0;
    for (u32 w = 0; w < g.warp(); ++w) count += totals[w];
  }
  for (u32 base = begin; base < end; base += 32) {
    const u32 taken = __ballot_sync(ALL, base + lane < end && table.keys[base + lane] != EMPTY);
    if (has_bit(taken, lane)) slots[count + (u32)__popc(taken & (bit(lane) - 1))] = (u16)(base + lane);
    count += (u32)__popc(taken);
  }
  g.sync();
}

// Computes a row with a table of `most` slots at most, by a group.
__device__ __forceinline__ void fill_tabled(const Operands& o, const Group& g, Table table, Z* sums, u16* slots, u32* totals,
                                            const Task& t, u32 most) {
  table.clear(g, 4 * t.n, most);
  if (VALUES && !ANY) {
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) sums[slot] = identity();
    g.sync();
  }
  each_row(g, o.a, o.b.indptr, t.from, t.to, [&](u64 shared, u64 begin, u64 end, A x) {
    for (u64 base = begin; g.any(base < end); base += 32) {
      const u64 at = base + lane_id();
      u32 slot = 0;
      Z z = identity();
      if (at < end) {
        bool fresh;
        const Key col = (Key)load_host(o.b.ids + at, 0);
        slot = table.insert(col, fresh);
        if (VALUES) z = o.product(t.row, shared, x, at, (u64)col);
      }
      if (VALUES && ANY && at < end) sums[slot] = z;
      if (VALUES && !ANY)
        for (u32 w = 0; w < g.warps(); ++w) {
          if (w == g.warp() && at < end) sums[slot] = add(sums[slot], z);
          g.sync();
        }
    }
  });
  g.sync();
  list_slots(g, table, slots, totals);
  sort(g, table.keys, slots, (u32)t.n);
  for (u32 k = g.rank; k < t.n; k += g.size) {
    o.ids[t.start + k] = table.keys[slots[k]];
    if (VALUES) o.values[t.start + k] = sums[slots[k]];
  }
  g.sync();
}

// Rows first .. last-1; `offsets`: the starts of the result's rows, `base` that of the first of these. Blocks compute
// the listed rows; the first nmaps blocks compute the mapped ones among them.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 first, u64 last, const i64* offsets, u64 base, const i64* a_indptr, const AId* a_ids, const A* a_values,
           const i64* b_indptr, const BId* b_ids, const B* b_values, const u64* names, u64 nmapped, u64 ntabled, const u64* rows,
           const u32* listed, u64 nmaps, Word* maps, u32* summaries, u64 summary, u64* counters, BId* ids, Z* values) {
  __shared__ Key keys[SLOTS];
  __shared__ Z sums[VALUES ? SLOTS : 1];
  __shared__ u16 slots[SLOTS];
  __shared__ u32 totals[8];
  __shared__ u64 taken;
  const Operands o = {{a_indptr, a_ids, a_values}, {b_indptr, b_ids, b_values}, names, ids, values};
  const Listed list = {nmapped, ntabled, rows, listed};
  const u32 lane = lane_id(), part = SLOTS / 8 * (threadIdx.x / 32);
  const auto task = [&](u64 row) -> Task {
    const u64 start = (u64)offsets[row];
    return {row, (u64)a_indptr[row], (u64)a_indptr[row + 1], start - base, (u64)offsets[row + 1] - start};
  };
  if (blockIdx.x < nmaps) {
    const Map map = {maps + 1024 * summary * blockIdx.x, summaries + summary * blockIdx.x, summary};
    for (u64 k = take_together(counters, &taken); k < nmapped; k = take_together(counters, &taken))
      fill_mapped(o, map, task(rows[k]), totals);
  }
  Group g = {threadIdx.x, blockDim.x};
  Table table = {keys, 0};
  Task mine = {0, 0, 0, 0, 0};
  u64 word = 0;
  for (u32 left = 0;;) {  // first listed rows by blocks, then the other rows by warps
    Task t;
    if (g.size > 32) {
      const u64 k = take_together(counters + 1, &taken);
      if (k >= ntabled) {
        g = {lane, 32};
        table.keys += part;
        continue;
      }
      t = task(rows[nmapped + k]);
    } else {
      while (!left) {
        word = take(counters + 2, 1);
        const u64 row = first + 32 * word + lane;
        if (32 * word >= last - first) return;
        mine.n = 0;
        if (list.mine(row, last)) mine = task(row);
        left = __ballot_sync(ALL, mine.n != 0);
      }
      const u32 of = (u32)__ffs((int)left) - 1;
      left &= left - 1;
      t = {first + 32 * word + of, __shfl_sync(ALL, mine.from, of), __shfl_sync(ALL, mine.to, of), __shfl_sync(ALL, mine.start, of),
           __shfl_sync(ALL, mine.n, of)};
    }
    const u32 own = g.size > 32 ? 0 : part;
    fill_tabled(o, g, table, sums + (VALUES ? own : 0), slots + own, totals, t, g.size > 32 ? SLOTS : SLOTS / 8);
  }
}

}  // namespace szc
