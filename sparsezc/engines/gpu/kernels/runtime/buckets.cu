// The next bucket of delta-stepping, chosen between two recorded rounds: if `near` is empty, the limit is raised.
//
// Who calls: engines/gpu/graph_replay.py, one kernel after another; each has to end before the next begins. All memory
// on the device. While `near` has entries, only the first kernel reads more than a few words: it writes the round's
// number to `busy`, and the others return. The prelude supplies Z (the distances' type; every vertex has one, `never`
// where it is not reached), its minimum as a monoid, and S (the limit's type, i64 or f64).
#include "atomics.cuh"

namespace szc {

// bucket_is_empty: writes the round to `busy` if `near` has an entry; resets `found` for the next kernel.
extern "C" __global__ void bucket_is_empty(u64 nwords, const u32* near, const i64* round, i64* busy, Z* found, Z never) {
  for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += (u64)gridDim.x * blockDim.x)
    if (near[word]) *busy = *round;  // every writing thread writes the same
  if (blockIdx.x == 0 && threadIdx.x == 0) *found = never;
}

// bucket_starts: writes the least distance beyond the limit to `found`.
extern "C" __global__ void bucket_starts(u64 size, const Z* distance, const i64* round, const i64* busy, const S* limit,
                                         Z* found, Z never) {
  if (*busy == *round) return;
  const Z edge = (Z)*limit;
  Z least = never;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += (u64)gridDim.x * blockDim.x) {
    const Z d = distance[i];
    if (d > edge && d < least) least = d;
  }
  for (u32 lanes = 16; lanes; lanes >>= 1) {
    const Z other = __shfl_down_sync(ALL, least, lanes);
    if (other < least) least = other;
  }
  if (lane_id() == 0 && least < never) combine(found, least);
}

// bucket_fills: raises the limit to `found` + `step`, at most `last`, and fills `near` (presence words: near_bits) with
// the vertices between the old limit and the new.
extern "C" __global__ void bucket_fills(u64 size, const Z* distance, const i64* round, const i64* busy, S* limit, S step,
                                        S last, const Z* found, Z never, Z* near, u32* near_bits) {
  if (*busy == *round || !(*found < never)) return;
  const Z from = *found;
  const S to = last - (S)from > step ? (S)from + step : last;
  const Z edge = (Z)to;
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < size; word += warps) {
    const u64 i = 32 * word + lane_id();
    const Z d = i < size ? distance[i] : never;
    const bool falls_in = d >= from && d <= edge;
    if (falls_in) near[i] = d;
    const u32 bits = __ballot_sync(ALL, falls_in);
    if (lane_id() == 0) near_bits[word] = bits;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *limit = to;
}

}  // namespace szc
