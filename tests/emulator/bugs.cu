// bugs.cu -- kernels with one planted bug each, for the tests of the emulator: undefined behaviour must be found.
// Every kernel but the last is launched with one block; `out` has an item a thread.
#include "grid_sync.cuh"

namespace szc {

extern "C" __global__ void divergent_barrier(int* out) {
  if (threadIdx.x < 16) __syncthreads();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void different_barriers(int* out) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void divergent_shuffle(int* out) {
  int v = (int)threadIdx.x;
  if (v < 16)
    v = __shfl_down_sync(ALL, v, 1);
  else
    v = __shfl_up_sync(ALL, v, 1);
  out[threadIdx.x] = v;
}

extern "C" __global__ void exited_lane(int* out, int n) {
  const int t = (int)threadIdx.x;
  if (t >= n) return;
  out[t] = __shfl_down_sync(ALL, t, 1);
}

extern "C" __global__ void unnamed_lane(int* out) { out[threadIdx.x] = (int)__ballot_sync(0x0000ffffu, 1); }

extern "C" __global__ void partial_mask(int* out) {
  int v = 0;
  if (threadIdx.x < 8) v = __shfl_sync(0x000000ffu, (int)threadIdx.x, 9);
  out[threadIdx.x] = v;
}

extern "C" __global__ void deadlock(int* out) {
  if (threadIdx.x == 3)
    __syncwarp();
  else
    __ballot_sync(ALL, 1);
  out[threadIdx.x] = 1;
}

// Every lane of a warp takes a lock by spinning: with no lock owner allowed to run on, it never ends.
extern "C" __global__ void endless(int* out) {
  while (((volatile int*)out)[0] == 0) {
  }
}

extern "C" __global__ void out_of_bounds(int* out, const int* in, int first) {
  out[threadIdx.x] = load_host(in + first + (int)threadIdx.x, SITE_INDICES);
}

extern "C" __global__ void overflows_shared(int* out) {
  __shared__ int s[32];
  s[threadIdx.x + 1] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// Reads what another thread writes, with no barrier between: the answer depends on the order.
extern "C" __global__ void race(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = (int)threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// The same race within a warp, which lockstep alone would hide.
extern "C" __global__ void race_in_warp(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = (int)threadIdx.x;
  out[threadIdx.x] = s[31 - threadIdx.x];
}

// Counts with a load and a store: atomics of other threads in between are lost.
extern "C" __global__ void lost_update(int* out) {
  const int old = atomicAdd(&out[0], 0);
  atomicExch(&out[0], old + 1);
}

extern "C" __global__ void uncleared_shared(int* out) {
  __shared__ int count;
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

extern "C" __global__ void traps(int* out) {
  if (threadIdx.x == 7) __trap();
  out[threadIdx.x] = 1;
}

__device__ __noinline__ int deep(int n) {
  volatile int room[64];
  room[n & 63] = n;
  return n == 0 ? 0 : deep(n - 1) + room[n & 63];
}
extern "C" __global__ void overflows_stack(int* out) { out[threadIdx.x] = deep(1 << 20); }

extern "C" __global__ void leaves_the_grid(int* out, u64* wait) {
  if (blockIdx.x == 1) return;
  szc::sync_grid(wait);
  out[threadIdx.x] = 1;
}

}  // namespace szc
