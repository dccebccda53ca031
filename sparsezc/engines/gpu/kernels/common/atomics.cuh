// Atomic combination into memory by any monoid.
//
// The prelude supplies the type Z, `Z add(Z, Z)` and `constexpr int ATOMIC`: 1 add, 2 min, 3 max, where the hardware's
// own atomic does the monoid on this type; otherwise 0. All else is a compare-and-swap on the 4 or 8 bytes that hold
// the value; it stops as soon as the combination would change nothing, so idempotent monoids (min, max, lor ...) mostly
// cost one read. Values of 16 bytes, which only sm_90 and later swap at once, are locked instead: a thread exchanges
// their first word for TAKEN.
#pragma once
#include "warp.cuh"

namespace szc {

enum { ATOMIC_NONE, ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX };

// The unsigned word that holds a value of N bytes.
template <int N> struct holder { typedef u32 type; };
template <> struct holder<8> { typedef u64 type; };

// Marks the first word of a value that a thread holds: a NaN that no computation produces.
constexpr u64 TAKEN = 0xfff7a5a5a5a5a5a5ull;

// *p = add(*p, z) for 16 bytes: a thread that finds TAKEN waits. A thread locks and releases the value in one iteration
// of the loop, so that lanes of one warp can wait for each other.
template <class T> __device__ __forceinline__ void combine_in_turn(T* p, T z) {
  static_assert(sizeof(T) == 16, "two words");
  volatile u64* words = (volatile u64*)p;
  for (bool done = false; !done;) {
    u64 seen[2] = {atomicExch((u64*)p, TAKEN), 0};
    if (seen[0] == TAKEN) {
      __nanosleep(20);
      continue;
    }
    __threadfence();  // see what the value's last owner wrote
    seen[1] = words[1];
    T sum;
    memcpy(&sum, seen, sizeof sum);
    sum = add(sum, z);
    memcpy(seen, &sum, sizeof sum);
    words[1] = seen[1];
    __threadfence();
    atomicExch((u64*)p, seen[0] == TAKEN ? ~(u64)0 : seen[0]);
    done = true;
  }
}

// *p = add(*p, z), atomically; with `before`, an earlier value of *p, the first read is saved.
__device__ __forceinline__ void combine_by_swap(Z* p, Z z, const Z* before = nullptr) {
  typedef holder<sizeof(Z)>::type Word;
  constexpr u32 bits = 8 * sizeof(Z);
  const u64 address = (u64)p;
  Word* word = (Word*)(address & ~(u64)(sizeof(Word) - 1));
  const u32 shift = 8u * (u32)(address & (sizeof(Word) - 1));  // not 0 only for values of 1 or 2 bytes
  const Word field = (Word)(~(Word)0 >> (8 * sizeof(Word) - bits)) << shift;
  Word seen;
  if (before && sizeof(Z) == sizeof(Word)) memcpy(&seen, before, sizeof(Z));
  else seen = *(volatile Word*)word;
  for (;;) {
    Z old, sum;
    const Word part = (seen & field) >> shift;
    memcpy(&old, &part, sizeof(Z));
    sum = add(old, z);
    Word next = 0;
    memcpy(&next, &sum, sizeof(Z));
    next = (seen & ~field) | (next << shift);
    if (next == seen) return;
    const Word found = atomicCAS(word, seen, next);
    if (found == seen) return;
    seen = found;
  }
}

template <class T> __device__ __forceinline__ void add_at(T* p, T z) { atomicAdd(p, z); }
__device__ __forceinline__ void add_at(i64* p, i64 z) { atomicAdd((u64*)p, (u64)z); }  // two's complement: the same bits

// *p = add(*p, z). A min or max that would change nothing costs only a read.
template <class T> __device__ __forceinline__ void combine(T* p, T z) {
  if constexpr (ATOMIC == ATOMIC_ADD) {
    add_at(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MIN) {
    if (z < *(volatile T*)p) atomicMin(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MAX) {
    if (z > *(volatile T*)p) atomicMax(p, z);
  } else if constexpr (sizeof(T) == 16) {
    combine_in_turn(p, z);
  } else {
    combine_by_swap(p, z);
  }
}

// The same in two steps, so that many reads are in flight together: look() reads the value, combine_after() combines.
// Only monoids that stop once nothing changes look first (LOOKS_FIRST).
constexpr bool LOOKS_FIRST = ATOMIC != ATOMIC_ADD && sizeof(Z) >= 4 && sizeof(Z) <= 8;
template <class T> __device__ __forceinline__ T look(T* p) {
  if constexpr (LOOKS_FIRST) return *(volatile T*)p;
  else return T();
}
template <class T> __device__ __forceinline__ void combine_after(T* p, T z, T seen) {
  if constexpr (!LOOKS_FIRST) {
    combine(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MIN) {
    if (z < seen) atomicMin(p, z);
  } else if constexpr (ATOMIC == ATOMIC_MAX) {
    if (z > seen) atomicMax(p, z);
  } else {
    combine_by_swap(p, z, &seen);
  }
}

}  // namespace szc
