// A value mask as presence words: the entries that are present and not zero.
//
// Who calls: engines/gpu/launch.py. What a warp does: 32 entries, one a lane, make one word by a vote. The prelude supplies X.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 size, const X* x, const u32* x_bits, u32* bits) {
  const u64 nwords = (size + 31) / 32;
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; word < nwords; word += ((u64)gridDim.x * blockDim.x) >> 5) {
    const u64 i = 32 * word + lane_id();
    const u32 now = __ballot_sync(ALL, i < size && present(x_bits, i) && x[i] != X(0));
    if (lane_id() == 0) bits[word] = now;
  }
}

}  // namespace szc
