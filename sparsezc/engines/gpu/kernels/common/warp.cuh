// Small warp-wide helpers. All 32 lanes of a warp call each function together.
#pragma once
#include "portability.cuh"

namespace szc {

constexpr u32 ALL = 0xffffffffu;  // every lane; also: every bit of a presence word

__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31u; }
__device__ __forceinline__ u32 bit(u32 i) { return 1u << i; }
__device__ __forceinline__ bool has_bit(u32 word, u32 i) { return (word >> i) & 1u; }

// Whether entry i is present. `bits` packs 32 entries a word; a null pointer means that every entry is present.
__device__ __forceinline__ bool present(const u32* bits, u64 i) {
  return bits == nullptr || has_bit(bits[i >> 5], (u32)i & 31u);
}

// The bits lo .. hi-1, for 0 <= lo < hi <= 32.
__device__ __forceinline__ u32 bit_range(u32 lo, u32 hi) { return (ALL >> (32u - (hi - lo))) << lo; }

__device__ __forceinline__ u32 or_lanes(u32 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_or_sync(ALL, v);
#else
  for (int d = 16; d; d >>= 1) v |= __shfl_xor_sync(ALL, v, d);
  return v;
#endif
}

// The largest of all lanes' numbers.
__device__ __forceinline__ u32 largest(u32 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_max_sync(ALL, v);
#else
  for (int d = 16; d; d >>= 1) {
    const u32 other = __shfl_xor_sync(ALL, v, d);
    v = other > v ? other : v;
  }
  return v;
#endif
}

__device__ __forceinline__ u64 larger(u64 a, u64 b) { return a > b ? a : b; }
__device__ __forceinline__ u64 largest(u64 v) {
  for (int d = 16; d; d >>= 1) v = larger(v, __shfl_xor_sync(ALL, v, d));
  return v;
}

// The sum of all lanes' numbers.
template <class T> __device__ __forceinline__ T add_lanes(T v) {
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(ALL, v, d);
  return v;
}
__device__ __forceinline__ u32 add_lanes(u32 v) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, v);
#else
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(ALL, v, d);
  return v;
#endif
}
__device__ __forceinline__ void add_lanes(u64 v, u64* total) {
  v = add_lanes(v);
  if (lane_id() == 0 && v) atomicAdd(total, v);
}

// Takes the next `count` items of a work list that all warps share, in ascending order, and returns the first of them.
// Ascending order keeps concurrent reads of host pages close together.
__device__ __forceinline__ u64 take(u64* counter, u64 count) {
  u64 first = 0;
  if (lane_id() == 0) first = atomicAdd(counter, count);
  return __shfl_sync(ALL, first, 0);
}

// Visits `count` items, `piece` at a time, by visit(first item). With a counter, warps take pieces in ascending order;
// without one (null) each warp strides through them, which saves the atomic where there is little work. One loop serves
// both, so that the compiler emits the body once.
template <class Visit>
__device__ __forceinline__ void for_pieces(u64* counter, u64 count, u64 piece, Visit visit) {
  const u64 stride = piece * gridDim.x * (blockDim.x >> 5);
  u64 first = counter ? take(counter, piece) : piece * (((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
  while (first < count) {
    visit(first);
    first = counter ? take(counter, piece) : first + stride;
  }
}

}  // namespace szc
