// The rows of a product A B: the second look at the products, after mxm_count.cu said how many entries each row has.
//
// Who calls: engines/gpu/gustavson.py. Where things lie: `ids` and `values` of A and B in host memory (zero-copy) or on the
// device, all else on the device. A row of few entries is a warp's: it takes A's entries one after another and adds the
// products of each to sums in a hash table in shared memory, which are sorted by column in the end. A row of many entries
// is a block's: it maps its columns, so that each product knows its place, and adds them where the result lies.
// Floating-point sums are added in the order of A's entries, whatever the timing: a warp, or with ORDERED a block, is done
// with the products of one before it begins the next, and no two of them have a column in common.
// Source: M. Parger and others, spECK, PPoPP 2020, doi:10.1145/3332466.3374521.
//
// The prelude supplies what gustavson.cuh and table.cuh need, and B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; the
// monoid (add, identity; ANY, ATOMIC); READS_B, ISO_B; VALUES, whether values are wanted; ORDERED; SLOTS of the block's table.
#include "atomics.cuh"
#include "gustavson.cuh"
#include "table.cuh"

namespace szc {

struct Operands {
  Matrix<AId, A> a;
  Matrix<BId, B> b;
  const u64* names;  // the columns that B's ids stand for; null: themselves
  BId* ids;          // of the result, and its values
  Z* values;

  __device__ __forceinline__ Z product(u64 row, u64 shared, A x, u64 at, u64 col) const {
    return multiply(x, b.value<READS_B, ISO_B>(at), row, shared, names ? names[col] : col);
  }
};

// Rows that a map orders, in the place where the result lies.
__device__ __forceinline__ void fill_large(const Operands& o, const Map& map, u64 row, u64 start, u64 n, u32* totals) {
  const u32 lane = lane_id(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const u64 from = (u64)o.a.indptr[row], to = (u64)o.a.indptr[row + 1];
  each_row(o.a, o.b.indptr, from, to, [&](u32 t, u64, u64 begin, u64 end, A) {
    if (t % warps != warp) return;
    for (u64 at = begin + lane; at < end; at += 32) map.mark((u64)load_host(o.b.ids + at, 0));
  });
  if (VALUES && !ANY)
    for (u64 k = threadIdx.x; k < n; k += blockDim.x) o.values[start + k] = identity();
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
    u64 to = start + (map.words[w].before = before + upto - (u32)__popc(bits));
    for (u32 left = bits; left; left &= left - 1) o.ids[to++] = (BId)(32 * w + (u32)__ffs((int)left) - 1);
    before += __shfl_sync(ALL, upto, 31);
  });
  __syncthreads();
  if (VALUES) {
    const u32 first = ORDERED ? threadIdx.x : lane, step = ORDERED ? blockDim.x : 32;
    each_row(o.a, o.b.indptr, from, to, [&](u32 t, u64 shared, u64 begin, u64 end, A x) {
      if (ORDERED || t % warps == warp)
        for (u64 at = begin + first; at < end; at += step) {
          const u64 col = (u64)load_host(o.b.ids + at, 0);
          Z* sum = o.values + start + map.rank(col);
          const Z z = o.product(row, shared, x, at, col);
          if (ANY) *sum = z;
          else if (ORDERED) *sum = add(*sum, z);
          else combine(sum, z);
        }
      if (ORDERED) __syncthreads();
    });
    __syncthreads();
  }
  map.each_part(true, [](u64) {});
  __syncthreads();
}

// Orders n slots by their keys; the list has room for the next power of two. All lanes of the warp call.
__device__ __forceinline__ void sort(const Key* keys, u16* slots, u32 n) {
  u32 size = 1;
  while (size < n) size *= 2;
  for (u32 k = n + lane_id(); k < size; k += 32) slots[k] = 0xffff;
  __syncwarp();
  const auto key = [&](u32 slot) { return slot == 0xffff ? NOBODY : keys[slot]; };
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d; d /= 2) {
      for (u32 k = lane_id(); k < size / 2; k += 32) {
        const u32 lo = 2 * k - (k & (d - 1)), hi = lo + d;
        const u16 left = slots[lo], right = slots[hi];
        if ((key(left) > key(right)) == !(lo & run)) {
          slots[lo] = right;
          slots[hi] = left;
        }
      }
      __syncwarp();
    }
}

// A row of n entries, by one warp.
__device__ __forceinline__ void fill_small(const Operands& o, Table table, Z* sums, u16* slots, u64 row, u64 from, u64 to, u64 start,
                                           u64 n) {
  const u32 lane = lane_id();
  const Group own = {lane, 32};
  table.clear(own, 4 * n, SLOTS / 8);
  each_row(o.a, o.b.indptr, from, to, [&](u32, u64 shared, u64 begin, u64 end, A x) {
    for (u64 at = begin + lane; at < end; at += 32) {
      bool fresh;
      const Key col = (Key)load_host(o.b.ids + at, 0);
      const u32 slot = table.insert(col, fresh);
      if (VALUES && (fresh || !ANY)) {
        const Z z = o.product(row, shared, x, at, (u64)col);
        sums[slot] = fresh ? z : add(sums[slot], z);
      }
    }
    __syncwarp();
  });
  u32 count = 0;
  for (u32 slot = lane; slot < table.slots(); slot += 32) {
    const u32 taken = __ballot_sync(ALL, table.keys[slot] != NOBODY);
    if (has_bit(taken, lane)) slots[count + (u32)__popc(taken & (bit(lane) - 1))] = (u16)slot;
    count += (u32)__popc(taken);
  }
  __syncwarp();
  sort(table.keys, slots, count);
  for (u32 k = lane; k < count; k += 32) {
    o.ids[start + k] = table.keys[slots[k]];
    if (VALUES) o.values[start + k] = sums[slots[k]];
  }
  __syncwarp();
}

// Rows first .. last-1; `offsets`: where rows of the result begin, `base` being the first of these. The rows whose bits are
// in `large` are made by maps, of which there are nmaps.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 first, u64 last, const i64* offsets, u64 base, const i64* a_indptr, const AId* a_ids, const A* a_values,
           const i64* b_indptr, const BId* b_ids, const B* b_values, const u64* names, u64 nlarge, const u64* large_rows,
           const u32* large, u64 nmaps, Word* maps, u32* summaries, u64 summary, u64* counters, BId* ids, Z* values) {
  __shared__ Key keys[SLOTS];
  __shared__ Z sums[VALUES ? SLOTS : 1];
  __shared__ u16 slots[SLOTS];
  __shared__ u32 totals[8];
  __shared__ u64 taken;
  const Operands o = {{a_indptr, a_ids, a_values}, {b_indptr, b_ids, b_values}, names, ids, values};
  const u32 lane = lane_id(), part = SLOTS / 8 * (threadIdx.x / 32);
  if (blockIdx.x < nmaps) {
    const Map map = {maps + 1024 * summary * blockIdx.x, summaries + summary * blockIdx.x, summary};
    for (u64 k = take_together(counters, &taken); k < nlarge; k = take_together(counters, &taken)) {
      const u64 row = large_rows[k];
      fill_large(o, map, row, (u64)offsets[row] - base, (u64)(offsets[row + 1] - offsets[row]), totals);
    }
  }
  for (u64 word = take(counters + 1, 1); 32 * word < last - first; word = take(counters + 1, 1)) {
    const u64 row = first + 32 * word + lane;
    u64 start = 0, n = 0, from = 0, to = 0;
    if (row < last && !(large && present(large, row))) {
      start = (u64)offsets[row];
      n = (u64)offsets[row + 1] - start;
      from = (u64)a_indptr[row];
      to = (u64)a_indptr[row + 1];
    }
    for (u32 left = __ballot_sync(ALL, n != 0); left; left &= left - 1) {
      const u32 t = (u32)__ffs((int)left) - 1;
      fill_small(o, {keys + part, 32}, sums + (VALUES ? part : 0), slots + part, first + 32 * word + t, __shfl_sync(ALL, from, t),
                 __shfl_sync(ALL, to, t), __shfl_sync(ALL, start, t) - base, __shfl_sync(ALL, n, t));
    }
  }
}

}  // namespace szc
