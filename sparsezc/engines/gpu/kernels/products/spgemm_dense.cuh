// Shared by the kernels that count and fill rows of a product with a place in shared memory for each column, a part of
// the columns at a time: the walk along the parts of B's rows at the columns of a row of A.
//
// The prelude supplies what spgemm.cuh needs. Source: the dense accumulator of J. Gilbert, C. Moler, R. Schreiber, SIAM
// J. Matrix Anal. Appl. 13, 1992, doi:10.1137/0613024; parts of columns: M. Patwary and others, ISC 2015,
// doi:10.1007/978-3-319-20119-1_4.
#pragma once
#include "spgemm.cuh"

namespace szc {

// The columns lo .. hi-1; `whole`: there are no others.
struct Part {
  u64 lo, hi;
  bool whole;
};

// Calls visit(shared, begin, end, x) for those of A's entries from, from + step, .. below `to` whose row of B has entries
// within the part: begin .. end-1; x is A's value. A warp calls, and visit is called for all of its lanes together.
template <class T, class Visit>
__device__ __forceinline__ void each_cut(const Matrix<AId, A>& a, const Matrix<BId, T>& b, u64 from, u64 to, u32 step, const Part& part,
                                         Visit visit) {
  for (u64 base = from; base < to; base += 32 * step) {
    const u64 at = base + step * lane_id();
    u64 shared = 0, begin = 0, end = 0;
    A x = A();
    if (at < to) {
      shared = (u64)load_host(a.ids + at, 0);
      begin = (u64)b.indptr[shared];
      end = (u64)b.indptr[shared + 1];
      if (!part.whole && begin < end) {
        bool hit;
        begin = b.find(begin, end, part.lo, hit);
        end = b.find(begin, end, part.hi, hit);
      }
      x = a.template value<READS_A, ISO_A>(at);
    }
    for (u32 left = __ballot_sync(ALL, begin < end); left; left &= left - 1) {
      const u32 t = (u32)__ffs((int)left) - 1;
      visit(__shfl_sync(ALL, shared, t), __shfl_sync(ALL, begin, t), __shfl_sync(ALL, end, t), READS_A ? (A)__shfl_sync(ALL, x, t) : A());
    }
  }
}

// Calls visit(at, column) for entries begin .. end-1, one a lane; several are requested at once.
template <class Visit> __device__ __forceinline__ void each_id(const BId* ids, u64 begin, u64 end, Visit visit) {
  for (u64 at = begin + lane_id(); at < end; at += 128) {
    BId col[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) col[k] = at + 32 * k < end ? load_host_cached(ids + at + 32 * k, 0) : 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k)
      if (at + 32 * k < end) visit(at + 32 * k, (u64)col[k]);
  }
}

// Sets the bit of a column, counted from the part's first.
__device__ __forceinline__ void mark(u32* bits, u32 col) {
  const u32 mine = bit(col & 31u);
  if (!(*(volatile u32*)&bits[col >> 5] & mine)) atomicOr(&bits[col >> 5], mine);
}

}  // namespace szc
