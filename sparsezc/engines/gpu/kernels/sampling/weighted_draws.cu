// Positions drawn from rows with replacement, in proportion to the entries' weights.
//
// Who calls: engines/gpu/sampling/selectk.py. Memory: `values` in host memory (zero-copy) or on the device, all else on
// the device. What a warp does: it takes a row and streams its weights, 32 entries that begin at a multiple of 32 at a
// time: once for the largest, once for the sum of the weights as whole numbers, then once for every 32 draws, one a
// lane. `listed`: the rows. `at`: draw c of row r at r * k + c; ~0 where a row has no weight. `bad` is set where a
// weight is negative, NaN or infinite.
//
// The prelude supplies A, the type of values, and ISO.
#include "philox.cuh"
#include "warp.cuh"

namespace szc {

struct Weights {
  const A* values;
  u64 begin, end;

  // The weight of this lane's entry of a slice, 0 outside the row.
  __device__ __forceinline__ double load(u64 base) const {
    const u64 at = base + lane_id();
    return at < begin || at >= end ? 0.0 : (double)(ISO ? values[0] : load_host_cached(values + at, 1));
  }
  template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
    for (u64 base = begin & ~(u64)31; base < end; base += 32) visit(base, load(base));
  }
};

// The running sum of the lanes up to this one.
__device__ __forceinline__ u64 running(u64 v) {
  for (u32 d = 1; d < 32; d <<= 1) {
    const u64 other = __shfl_up_sync(ALL, v, d);
    if (lane_id() >= d) v += other;
  }
  return v;
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, u64 k, u64 first, const i64* listed, const i64* indptr, const A* values, u64 seed, u64* at, u32* bad) {
  const u64 warps = (u64)gridDim.x * blockDim.x / 32;
  const u32 lane = lane_id();
  for (u64 r = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; r < count; r += warps) {
    const u64 row = (u64)listed[r];
    const Weights weights = {values, (u64)indptr[row], (u64)indptr[row + 1]};
    const u64 d = weights.end - weights.begin;
    double top = 0;
    bool wrong = false;
    weights.each([&](u64, double w) {
      wrong |= !(w >= 0) || w - w != 0;
      top = w > top ? w : top;
    });
    for (u32 s = 16; s; s >>= 1) {
      const double other = __shfl_xor_sync(ALL, top, s);
      top = other > top ? other : top;
    }
    if (wrong) *bad = 1;
    u64 total = 0;
    if (top > 0) weights.each([&](u64, double w) { total += w > 0 ? whole_number(w, top, d) : 0; });
    total = add_lanes(total);
    for (u64 done = 0; done < k; done += 32) {
      const u64 c = done + lane;
      const u64 place = c < k ? below(random_number(c, 3, first + r, seed), total) : 0;
      u64 found = ~0ull, before = 0;
      if (top > 0)
        weights.each([&](u64 base, double w) {
          const u64 reach = before + running(w > 0 ? whole_number(w, top, d) : 0), all = __shfl_sync(ALL, reach, 31);
          for (u32 here = __ballot_sync(ALL, c < k && place >= before && place < all); here; here &= here - 1) {
            const u32 whose = (u32)__ffs((int)here) - 1;
            const u32 beyond = __ballot_sync(ALL, reach > __shfl_sync(ALL, place, whose));
            if (lane == whose) found = base + (u32)__ffs((int)beyond) - 1;
          }
          before = all;
        });
      if (c < k) at[r * k + c] = found;
    }
  }
}

}  // namespace szc
