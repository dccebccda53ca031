// A row of a product with very many products, which all blocks share: the walk through a range of them, in order. The
// row of A has `count` entries from `start` on; entry start + k makes products starts[k] .. starts[k + 1] - 1.
//
// The prelude supplies AId, A (types of A's ids and values); READS_A, ISO_A.
#pragma once
#include "bisect.cuh"
#include "operands.cuh"
#include "warp.cuh"

namespace szc {

// A row of A: its entries from .. from + count - 1. Entry from + k makes products starts[k] .. starts[k + 1] - 1.
struct HeavyRow {
  u64 from, count;
  const i64* starts;

  __device__ __forceinline__ u64 products() const { return (u64)starts[count]; }
};

// Calls visit(shared, begin, end, x) for the parts of B's rows that make products first .. last-1: entries begin ..
// end-1 of B meet A's value x. All lanes of the warp call, and visit is called for all of them together.
template <class Visit>
__device__ __forceinline__ void each_part(const HeavyRow& row, const Matrix<AId, A>& a, const i64* b_indptr, u64 first, u64 last,
                                          Visit visit) {
  for (u64 base = last_not_above(row.starts, 0, row.count, first); base < row.count && (u64)row.starts[base] < last; base += 32) {
    const u64 k = base + lane_id();
    u64 shared = 0, begin = 0, end = 0;
    A x = A();
    if (k < row.count) {
      const u64 start = (u64)row.starts[k], stop = (u64)row.starts[k + 1];
      const u64 lo = start > first ? start : first, hi = stop < last ? stop : last;
      if (lo < hi) {
        shared = (u64)load_host(a.ids + row.from + k, 0);
        begin = (u64)b_indptr[shared] + (lo - start);
        end = begin + (hi - lo);
        x = a.template value<READS_A, ISO_A>(row.from + k);
      }
    }
    for (u32 left = __ballot_sync(ALL, begin < end); left; left &= left - 1) {
      const u32 t = (u32)__ffs((int)left) - 1;
      visit(__shfl_sync(ALL, shared, t), __shfl_sync(ALL, begin, t), __shfl_sync(ALL, end, t),
            READS_A ? (A)__shfl_sync(ALL, x, t) : A());
    }
  }
}

}  // namespace szc
