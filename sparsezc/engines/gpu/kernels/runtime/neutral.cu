// Starts the next recorded round, as `turn` of presence_words.cu does, for arrays that the next push writes: their
// entries are deleted and their values reset to the monoid's neutral value.
//
// Who calls: engines/gpu/runtime/array_pool.py. All memory on the device. Absent positions hold the neutral value
// already, so only the entries that a round wrote are reset. `number`: the round's number, which is raised by 1; may be
// null. The prelude supplies Z and `Z identity()`.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 nwords, u32* bits, Z* values, i64* number) {
  for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += (u64)gridDim.x * blockDim.x) {
    u32 todo = bits[word];
    if (!todo) continue;
    for (; todo; todo &= todo - 1) values[32 * word + (u32)__ffs((int)todo) - 1] = identity();
    bits[word] = 0;
  }
  if (number && blockIdx.x == 0 && threadIdx.x == 0) ++*number;
}

}  // namespace szc
