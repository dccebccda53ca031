// A barrier for all threads of a launch, in kernels whose blocks all run at once (Launcher.launch_together).
//
// Writes of any thread before it are visible to all threads after it; loads may use L1, which the fence invalidates.
#pragma once
#include "warp.cuh"

namespace szc {

// Indices in `wait`: the number of blocks that arrived, and of those that may proceed. Blocks poll the second, which is
// a line of 128 bytes away from the first, so that polling does not slow down arrivals.
constexpr u32 CAME = 0, MAY_GO = 16;

// All threads call. `wait`: 32 numbers, zeros when a search begins. Their 64 bits are needed: a search for paths may
// have more rounds than 2^32 / blocks.
__device__ __forceinline__ void sync_grid(u64* wait) {
#ifdef SZC_EMU
  szc_emu_sync_grid();
#else
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const u64 came = atomicAdd(wait + CAME, (u64)1) + 1, all = (came + gridDim.x - 1) / gridDim.x * gridDim.x;
    if (came == all) *(volatile u64*)(wait + MAY_GO) = all;
    while (*(volatile u64*)(wait + MAY_GO) < all) {}
    __threadfence();
  }
  __syncthreads();
#endif
}

}  // namespace szc
