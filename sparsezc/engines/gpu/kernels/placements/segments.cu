// Segments: 2^SEGMENT_BITS consecutive entries of a matrix, which a placement moves between the host and the device.
//
// Who calls: engines/gpu/placements/segments.py. Memory: copies come from host memory; all else is on the device.
//
// The prelude supplies SEGMENT_BITS and, for copy, A: the type of an entry.
#include "warp.cuh"

namespace szc {

// touch: adds to counts[s] the number of entries of wanted rows in segment s, at most `most` of each row. A warp takes
// a word of rows: rows within one segment, as most are, are summed first; the lanes share a row of several segments.
extern "C" __global__ void __launch_bounds__(256)
    touch(u64 nrows, const i64* indptr, const u32* wanted, u32 flip, u64 most, u32* counts) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < nrows; word += warps) {
    const u32 asked = wanted ? wanted[word] ^ flip : ALL;
    if (!asked) continue;
    const u64 row = 32 * word + lane_id();
    u64 begin = 0, end = 0;
    if (row < nrows && has_bit(asked, lane_id())) {
      begin = (u64)indptr[row];
      end = (u64)indptr[row + 1];
      if (end - begin > most) end = begin + most;
    }
    const u64 first = begin >> SEGMENT_BITS, last = begin < end ? (end - 1) >> SEGMENT_BITS : first;
    u32 within = __ballot_sync(ALL, begin < end && first == last);
    u32 across = __ballot_sync(ALL, first < last);
    while (within) {
      const u64 segment = __shfl_sync(ALL, first, __ffs((int)within) - 1);
      const bool mine = has_bit(within, lane_id()) && first == segment;
      const u32 sum = add_lanes(mine ? (u32)(end - begin) : 0);
      if (lane_id() == 0) atomicAdd(&counts[segment], sum);
      within &= ~__ballot_sync(ALL, mine);
    }
    for (; across; across &= across - 1) {
      const int r = __ffs((int)across) - 1;
      const u64 from = __shfl_sync(ALL, begin, r), to = __shfl_sync(ALL, end, r);
      for (u64 s = (from >> SEGMENT_BITS) + lane_id(); s << SEGMENT_BITS < to; s += 32) {
        const u64 lo = s << SEGMENT_BITS, hi = lo + ((u64)1 << SEGMENT_BITS);
        atomicAdd(&counts[s], (u32)((to < hi ? to : hi) - (from > lo ? from : lo)));
      }
    }
  }
}

// resident: presence words of the rows whose segments are all in device memory; rows without entries are among them.
extern "C" __global__ void __launch_bounds__(256) resident(u64 nrows, const i64* indptr, const u64* segments, u32* bits) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < nrows; word += warps) {
    const u64 row = 32 * word + lane_id();
    bool all = true;
    if (row < nrows) {
      const u64 begin = (u64)indptr[row], end = (u64)indptr[row + 1];
      for (u64 s = begin >> SEGMENT_BITS; all && begin < end && s << SEGMENT_BITS < end; ++s) all = segments[s] & 1;
    }
    const u32 found = __ballot_sync(ALL, all);
    if (lane_id() == 0) bits[word] = found;
  }
}

// copy: copies segment which[i] of the host's array into slot to[i] of `kept`, for `nsegments` i. A warp takes a
// segment at a time, in the order of the list, and keeps four requests of at least 128 bytes in flight. `count`:
// entries of the array.
extern "C" __global__ void __launch_bounds__(256)
    copy(u64 nsegments, const u64* which, const u64* to, const A* array, u64 count, A* kept, u64* counter) {
  constexpr u64 SIZE = (u64)1 << SEGMENT_BITS;
  for (u64 i = take(counter, 1); i < nsegments; i = take(counter, 1)) {
    const u64 from = which[i] * SIZE, end = from + SIZE < count ? from + SIZE : count;
    A* target = kept + to[i] * SIZE;
    for (u64 at = from + lane_id(); at < end; at += 128) {
      A some[4];
#pragma unroll
      for (u32 k = 0; k < 4; ++k)
        if (at + 32 * k < end) some[k] = load_host(array + at + 32 * k, 0);
#pragma unroll
      for (u32 k = 0; k < 4; ++k)
        if (at + 32 * k < end) target[at - from + 32 * k] = some[k];
    }
  }
}

}  // namespace szc
