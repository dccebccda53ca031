// Reduction of all entries of a vector to one value: s = (+) v(i).
//
// Who calls: engines/gpu/elementwise/reduce.py. What a warp does: it reads entries 32 at a time, one a lane, and folds
// them in registers; each block writes one partial result, and the block that finishes last folds these in block order,
// so the result depends on the number of blocks and threads but never on timing.
//
// `partial` and `partial_has` have an entry a block, `arrived` (0 on entry) counts the blocks that are done; the kernel
// writes `result`, and `result_has`: whether there is a value.
//
// The prelude supplies X (the vector's type), Z, `Z add(Z, Z)`, `Z identity()`, `Z load(X)`.
#include "warp.cuh"

namespace szc {

constexpr u32 AHEAD = sizeof(X) <= 8 ? 4 : 2;  // entries that a thread requests at once

__device__ __forceinline__ void fold_block(Z& z, bool& has, Z* shared, u8* shared_has) {
  for (u32 pass = 0; pass < 2; ++pass) {  // lanes of a warp, then the warps' results in the first warp
    for (u32 d = 16; d; d >>= 1) {
      const Z other = __shfl_down_sync(ALL, z, d);
      const bool other_has = __shfl_down_sync(ALL, (int)has, d) != 0;
      if (lane_id() + d < 32 && other_has) z = has ? add(z, other) : other;
      if (lane_id() + d < 32) has |= other_has;
    }
    if (pass == 1) return;
    __syncthreads();
    if (lane_id() == 0) {
      shared[threadIdx.x >> 5] = z;
      shared_has[threadIdx.x >> 5] = has;
    }
    __syncthreads();
    const bool there = threadIdx.x < 32 && lane_id() < blockDim.x / 32;
    z = there ? shared[lane_id()] : identity();
    has = there && shared_has[lane_id()];
  }
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const X* x, const u32* x_bits, Z* partial, u8* partial_has, u32* arrived, Z* result, u8* result_has) {
  __shared__ Z shared[8];
  __shared__ u8 shared_has[8];
  __shared__ u32 last;
  Z z = identity();
  bool has = false;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x; first < size; first += AHEAD * stride) {
    bool there[AHEAD];
    X next[AHEAD];
#pragma unroll
    for (u32 k = 0; k < AHEAD; ++k) {
      const u64 i = first + k * stride;
      there[k] = i < size && present(x_bits, i);
      next[k] = there[k] ? x[i] : X();
    }
#pragma unroll
    for (u32 k = 0; k < AHEAD; ++k) {
      if (!there[k]) continue;
      z = has ? add(z, load(next[k])) : load(next[k]);
      has = true;
    }
  }
  fold_block(z, has, shared, shared_has);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = z;
    partial_has[blockIdx.x] = has;
    __threadfence();
    last = atomicAdd(arrived, 1u) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  z = identity();
  has = false;
  for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    if (!((volatile u8*)partial_has)[b]) continue;
    const Z next = ((volatile Z*)partial)[b];
    z = has ? add(z, next) : next;
    has = true;
  }
  fold_block(z, has, shared, shared_has);
  if (threadIdx.x == 0) {
    *result = z;
    *result_has = has;
  }
}

}  // namespace szc
