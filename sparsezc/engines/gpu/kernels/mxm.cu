// Matrix times matrix, in two ways.
//
// Who calls: engines/gpu/mxm.py. Where things lie: `indices` and `values` of A and B in host memory (zero-copy) or on the
// device, all else on the device.
//
// `products` makes every product A(i, k) B(k, j) of some rows of A (Gustavson, ACM TOMS 1978, by expansion), each with
// the key of its place; the caller sorts and folds them. A thread makes a product; neighbours read neighbouring entries of
// B's rows.
// `dots` makes the sums at the entries of a mask only: a warp takes 32 of them, lays the products of the shorter of each
// pair of rows, A(i, :) and B'(j, :), side by side, looks for each one's partner in the longer row, and folds slices of 32.
//
// The prelude supplies AId, BId, MId, A, B, Z; `Z multiply(A a, B b, u64 row, u64 shared, u64 col)`; the monoid (add,
// identity, terminal; ANY, TERMINAL); READS_A, READS_B (what the multiply needs), ISO_A, ISO_B, CONSTANT (products not kept).
#include "fold.cuh"

namespace szc {

// The last k with offsets[k] <= at, for lo <= k < hi.
__device__ __forceinline__ u64 last_not_above(const i64* offsets, u64 lo, u64 hi, u64 at) {
  while (hi - lo > 1) {
    const u64 mid = (lo + hi) / 2;
    if ((u64)offsets[mid] <= at) lo = mid; else hi = mid;
  }
  return lo;
}

__device__ __forceinline__ A value_of_a(const A* values, u64 at) {
  return !READS_A ? A() : ISO_A ? values[0] : load_host(values + at, 1);
}

__device__ __forceinline__ B value_of_b(const B* values, u64 at) {
  return !READS_B ? B() : ISO_B ? values[0] : load_host(values + at, 1);
}

// Entries start .. start + nentries - 1 of A, in rows first .. last-1; `before`: products before each of them.
extern "C" __global__ void __launch_bounds__(256)
    products(u64 nproducts, u64 nentries, const i64* before, u64 start, u64 first, u64 last, const i64* a_indptr,
             const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids, const B* b_values, u64 ncols,
             u64* keys, Z* results) {
  for (u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x; t < nproducts; t += (u64)gridDim.x * blockDim.x) {
    const u64 entry = last_not_above(before, 0, nentries, t), at = start + entry;
    const u64 shared = (u64)load_host_cached(a_ids + at, 0);
    const u64 b_at = (u64)b_indptr[shared] + (t - (u64)before[entry]);
    const u64 row = last_not_above(a_indptr, first, last, at), col = (u64)load_host(b_ids + b_at, 0);
    keys[t] = (row - first) * ncols + col;
    if (!CONSTANT) results[t] = multiply(value_of_a(a_values, at), value_of_b(b_values, b_at), row, shared, col);
  }
}

template <class Id> __device__ __forceinline__ u64 find(const Id* ids, u64 lo, u64 hi, u64 id, bool& hit) {
  const u64 end = hi;
  while (lo < hi) {
    const u64 mid = (lo + hi) / 2;
    if ((u64)load_host_cached(ids + mid, 0) < id) lo = mid + 1; else hi = mid;
  }
  hit = lo < end && (u64)load_host_cached(ids + lo, 0) == id;
  return lo;
}

__device__ __forceinline__ u64 scan_lanes(u64 n) {
  for (u32 d = 1; d < 32; d <<= 1) {
    const u64 left = __shfl_up_sync(ALL, n, d);
    if (lane_id() >= d) n += left;
  }
  return n;
}

// One pair of rows, a lane each.
struct Pair {
  u64 row, col;
  u64 walk, from, to;  // where the shorter row begins; the longer one
  bool swapped;        // the shorter one is B's
};

__device__ __forceinline__ Pair shuffle(const Pair& p, u32 lane) {
  return {__shfl_sync(ALL, p.row, lane), __shfl_sync(ALL, p.col, lane), __shfl_sync(ALL, p.walk, lane),
          __shfl_sync(ALL, p.from, lane), __shfl_sync(ALL, p.to, lane), __shfl_sync(ALL, (int)p.swapped, lane) != 0};
}

// Entries base .. base + count - 1 of the mask, in rows first .. last-1, with ids m_ids[0 .. count-1]; b_*: rows of B'.
extern "C" __global__ void __launch_bounds__(256)
    dots(u64 count, u64 base, u64 first, u64 last, const i64* m_indptr, const MId* m_ids, const i64* a_indptr,
         const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids, const B* b_values, u64* counter,
         Z* sums, u32* bits) {
  const u32 lane = lane_id();
  for (u64 word = take(counter, 1); 32 * word < count; word = take(counter, 1)) {
    const u64 m = 32 * word + lane;
    Pair mine = {0, 0, 0, 0, 0, false};
    u64 n = 0;
    if (m < count) {
      mine.row = last_not_above(m_indptr, first, last, base + m);
      mine.col = (u64)m_ids[m];
      const u64 a = (u64)a_indptr[mine.row], na = (u64)a_indptr[mine.row + 1] - a;
      const u64 b = (u64)b_indptr[mine.col], nb = (u64)b_indptr[mine.col + 1] - b;
      mine.swapped = nb < na;
      mine.walk = mine.swapped ? b : a;
      mine.from = mine.swapped ? a : b;
      mine.to = mine.from + (mine.swapped ? na : nb);
      n = mine.swapped ? nb : na;
    }
    const u64 upto = scan_lanes(n), total = __shfl_sync(ALL, upto, 31);
    Z sum = identity();
    bool has = false;
    u32 done = 0;
    for (u64 slice = 0; slice < total; slice += 32) {
      const u64 t = slice + lane;
      u32 owner = 0;  // how many pairs end at or before t
      for (u32 d = 16; d; d >>= 1) {
        const u64 ends = __shfl_sync(ALL, upto, owner + d - 1);
        if (ends <= t) owner += d;
      }
      const Pair p = shuffle(mine, owner);
      const u64 begin = __shfl_sync(ALL, upto - n, owner);
      Z z = identity();
      bool hit = false;
      if (t < total && !has_bit(done, owner)) {
        const u64 at = p.walk + (t - begin);
        const u64 shared = p.swapped ? (u64)load_host(b_ids + at, 0) : (u64)load_host(a_ids + at, 0);
        const u64 other = p.swapped ? find(a_ids, p.from, p.to, shared, hit) : find(b_ids, p.from, p.to, shared, hit);
        if (hit) z = multiply(value_of_a(a_values, p.swapped ? other : at), value_of_b(b_values, p.swapped ? at : other),
                              p.row, shared, p.col);
      }
      const u64 lo = upto - n > slice ? upto - n - slice : 0, hi = upto > slice ? upto - slice : 0;
      const u32 range = lo < hi && lo < 32 ? bit_range((u32)lo, hi < 32 ? (u32)hi : 32) : 0;
      fold(begin > slice ? (u32)(begin - slice) : 0, range, hit, z, sum, has);
      done = __ballot_sync(ALL, has && (ANY || (TERMINAL && terminal(sum))));
    }
    if (has) sums[m] = sum;
    const u32 found = __ballot_sync(ALL, has);
    if (lane == 0) bits[word] = found;
  }
}

}  // namespace szc
