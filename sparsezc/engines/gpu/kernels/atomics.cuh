// Combining a result into memory by any monoid, from many threads at once.
//
// The prelude supplies the type Z, `Z add(Z, Z)` and `constexpr int ATOMIC`: 1 add, 2 min, 3 max, where the hardware's own
// atomic does the monoid on this type; 0 elsewhere. All else is a compare-and-swap on the 4 or 8 bytes that hold the value; it stops as soon as the
// combination would change nothing, so idempotent monoids (min, max, lor ...) mostly cost one read.
#pragma once
#include "warp.cuh"

namespace szc {

enum { ATOMIC_NONE, ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX };

// The unsigned word that holds a value of N bytes.
template <int N> struct holder { typedef u32 type; };
template <> struct holder<8> { typedef u64 type; };

// *p = add(*p, z), atomically.
__device__ __forceinline__ void combine_by_swap(Z* p, Z z) {
  typedef holder<sizeof(Z)>::type Word;
  constexpr u32 bits = 8 * sizeof(Z);
  const u64 address = (u64)p;
  Word* word = (Word*)(address & ~(u64)(sizeof(Word) - 1));
  const u32 shift = 8u * (u32)(address & (sizeof(Word) - 1));  // not 0 only for values of 1 or 2 bytes
  const Word field = (Word)(~(Word)0 >> (8 * sizeof(Word) - bits)) << shift;
  Word seen = *(volatile Word*)word;
  for (;;) {
    Z old, sum;
    const Word part = (seen & field) >> shift;
    memcpy(&old, &part, sizeof(Z));
    sum = add(old, z);
    Word next = 0;
    memcpy(&next, &sum, sizeof(Z));
    next = (seen & ~field) | (next << shift);
    if (next == seen) return;
    const Word before = atomicCAS(word, seen, next);
    if (before == seen) return;
    seen = before;
  }
}

template <class T> __device__ __forceinline__ void add_at(T* p, T z) { atomicAdd(p, z); }
__device__ __forceinline__ void add_at(i64* p, i64 z) { atomicAdd((u64*)p, (u64)z); }  // two's complement: the same bits

// *p = add(*p, z). A min or max that would change nothing costs a read only.
template <class T> __device__ __forceinline__ void combine(T* p, T z) {
  if constexpr (ATOMIC == ATOMIC_ADD) {
    add_at(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MIN) {
    if (z < *(volatile T*)p) atomicMin(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MAX) {
    if (z > *(volatile T*)p) atomicMax(p, z);
  } else {
    combine_by_swap(p, z);
  }
}

}  // namespace szc
