// Finds one of the longest rows: the hub from which components are searched.
//
// Who calls: engines/gpu/graphs/components.py. All memory on the device. A thread reads several rows' offsets at once.
#include "warp.cuh"

namespace szc {

constexpr u32 NUMBER_BITS = 40;  // low bits for a row's number, below its length: the offsets of 2^40 rows take 8 TiB
constexpr u32 TOGETHER = 4;      // rows whose lengths a thread loads together

// Marks the row in `seen`, presence words. `state`, zeros on entry: the row's length (limited to the bits above its
// number) and number; the number of blocks that are done.
extern "C" __global__ void __launch_bounds__(256) hub(u64 nrows, const i64* indptr, u64* state, u32* seen) {
  __shared__ u64 of_warps[8];
  const u64 stride = (u64)gridDim.x * blockDim.x, most = ((u64)1 << (64 - NUMBER_BITS)) - 1;
  u64 best = 0;
  for (u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x; first < nrows; first += TOGETHER * stride) {
    u64 length[TOGETHER];
#pragma unroll
    for (u32 j = 0; j < TOGETHER; ++j) {
      const u64 row = first + j * stride;
      length[j] = row < nrows ? (u64)(indptr[row + 1] - indptr[row]) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < TOGETHER; ++j)
      if (length[j]) best = larger(best, (length[j] < most ? length[j] : most) << NUMBER_BITS | (first + j * stride));
  }
  best = largest(best);
  if (lane_id() == 0) of_warps[threadIdx.x >> 5] = best;
  __syncthreads();
  if (threadIdx.x) return;
  for (u32 w = 1; w < 8; ++w) best = larger(best, of_warps[w]);
  atomicMax(&state[0], best);
  __threadfence();
  if (atomicAdd(&state[1], (u64)1) != gridDim.x - 1) return;
  const u64 row = atomicMax(&state[0], (u64)0) & (((u64)1 << NUMBER_BITS) - 1);
  atomicOr(&seen[row >> 5], bit((u32)row & 31u));
}

}  // namespace szc
