// Assignment to a list of positions, first half: t(index[k]) = u(k). The second half is vector_map.cu with t as its
// operand and the positions of the list as those that it assigns (`region`).
//
// Who calls: engines/gpu/elementwise/vector_index.py. All memory on the device; `u_bits` null: u is full; `t_bits` and
// `region` hold zeros on entry. A position that is listed twice gets one of its values, which GraphBLAS leaves
// undefined. The prelude supplies U (the type of u and t).
#include "warp.cuh"

namespace szc {

extern "C" __global__ void KERNEL(u64 count, const u64* index, const U* u, const u32* u_bits, U* t, u32* t_bits, u32* region) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x) {
    const u64 i = index[k];
    atomicOr(&region[i >> 5], bit((u32)i & 31u));
    if (!present(u_bits, k)) continue;
    t[i] = u[k];
    atomicOr(&t_bits[i >> 5], bit((u32)i & 31u));
  }
}

}  // namespace szc
