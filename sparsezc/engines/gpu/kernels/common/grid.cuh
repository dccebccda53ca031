// A wait of all threads of a launch for each other, in kernels whose blocks all run at once (Launcher.launch_together).
//
// What any thread wrote before is seen by all threads after; loads may use the L1 cache, which the fence empties.
#pragma once
#include "warp.cuh"

namespace szc {

// All threads call. `arrived`: 0 when the launch begins; 64 bits, as a search of a path waits more often than 2^32 / blocks times.
__device__ __forceinline__ void sync_grid(u64* arrived) {
#ifdef SZC_EMU
  szc_emu_sync_grid();
#else
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const u64 ticket = atomicAdd(arrived, (u64)1), all = (ticket / gridDim.x + 1) * gridDim.x;
    while (*(volatile u64*)arrived < all) {}
    __threadfence();
  }
  __syncthreads();
#endif
}

}  // namespace szc
