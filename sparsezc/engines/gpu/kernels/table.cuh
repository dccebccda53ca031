// A hash table of one row's ids in shared memory, for a warp or for a whole block: open addressing, linear probing.
//
// Who includes it supplies AId, the type of the ids, and PLACES. No id may be NOBODY.
#pragma once
#include "warp.cuh"

namespace szc {

constexpr AId NOBODY = (AId)~(AId)0;

// The threads that share a table: a warp, or all of a block.
struct Group {
  u32 rank, size;
  __device__ __forceinline__ void sync() const {
    if (size == 32) __syncwarp(); else __syncthreads();
  }
};

struct Table {
  AId* keys;    // in shared memory
  u32* places;  // which of the row's entries a key is, where PLACES says that somebody asks
  u32 shift;    // 2^(32 - shift) slots; 32: there is no table

  __device__ __forceinline__ bool exists() const { return shift < 32; }
  __device__ __forceinline__ u32 slots() const { return 1u << (32 - shift); }
  __device__ __forceinline__ u32 home(AId id) const {
    return (((u32)id ^ (u32)((u64)id >> 32)) * 2654435769u) >> shift;  // Fibonacci hashing: Knuth, vol. 3, section 6.4
  }
  __device__ __forceinline__ u32 after(u32 slot) const { return (slot + 1) & (slots() - 1); }

  // Makes the table that of n ids, at least four slots an id as far as `most` slots reach. All of the group call.
  __device__ __forceinline__ void fill(const Group& g, const AId* ids, u64 n, u32 most) {
    shift = 27;
    while (slots() < most && slots() < 4 * n) --shift;
    for (u32 slot = g.rank; slot < slots(); slot += g.size) keys[slot] = NOBODY;
    g.sync();
    for (u64 k = g.rank; k < n; k += g.size) {
      const AId id = load_host_cached(ids + k, 0);
      u32 slot = home(id);
      while (atomicCAS(keys + slot, NOBODY, id) != NOBODY) slot = after(slot);
      if (PLACES) places[slot] = (u32)k;
    }
    g.sync();
  }

  // Where an id is; `slot` is its slot.
  __device__ __forceinline__ bool find(AId id, u32& slot) const {
    for (slot = home(id);; slot = after(slot)) {
      const AId key = keys[slot];
      if (key == id) return true;
      if (key == NOBODY) return false;
    }
  }
};

}  // namespace szc
