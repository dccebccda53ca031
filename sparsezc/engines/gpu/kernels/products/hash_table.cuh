// A hash table of one row's ids in shared memory, for a warp or for a block: open addressing, linear probing.
//
// The prelude supplies Key, the type of the ids. No id may be EMPTY.
#pragma once
#include "warp.cuh"

namespace szc {

constexpr Key EMPTY = (Key)~(Key)0;

// The threads that share a table: a warp, or all of a block.
struct Group {
  u32 rank, size;

  __device__ __forceinline__ u32 warp() const { return rank >> 5; }
  __device__ __forceinline__ u32 warps() const { return size >> 5; }
  __device__ __forceinline__ void sync() const {
    if (size == 32) __syncwarp(); else __syncthreads();
  }
  __device__ __forceinline__ bool any(bool value) const {
    return size == 32 ? __any_sync(ALL, value) : __syncthreads_or(value);
  }
};

// Takes the next number of a counter that all blocks share, for the whole block. All its threads call.
__device__ __forceinline__ u64 take_together(u64* counter, u64* shared) {
  if (threadIdx.x == 0) *shared = atomicAdd(counter, 1ull);
  __syncthreads();
  const u64 taken = *shared;
  __syncthreads();
  return taken;
}

struct Table {
  Key* keys;  // in shared memory
  u32 slots;  // 0: there is no table

  __device__ __forceinline__ u32 home(Key id) const {  // Fibonacci hashing: Knuth, vol. 3, section 6.4
    return __umulhi(((u32)id ^ (u32)((u64)id >> 32)) * 2654435769u, slots);
  }
  __device__ __forceinline__ u32 after(u32 slot) const { return slot + 1 < slots ? slot + 1 : 0; }

  // Makes an empty table of `wanted` slots, or of `most` if that is less. All threads of the group call.
  __device__ __forceinline__ void clear(const Group& g, u64 wanted, u32 most) {
    slots = wanted < most ? (u32)wanted : most;
    for (u32 slot = g.rank; slot < slots; slot += g.size) keys[slot] = EMPTY;
    g.sync();
  }

  // Returns the slot of an id, inserting it if needed; `fresh`: it was inserted.
  __device__ __forceinline__ u32 insert(Key id, bool& fresh) {
    for (u32 slot = home(id);; slot = after(slot)) {
      Key before = *(volatile Key*)(keys + slot);
      if (before == EMPTY) before = atomicCAS(keys + slot, EMPTY, id);
      fresh = before == EMPTY;
      if (fresh || before == id) return slot;
    }
  }

  // The same in at most `probes` steps; returns false if all these slots have other ids, as they then do until the
  // table is cleared.
  __device__ __forceinline__ bool insert_near(Key id, u32 probes, u32& slot) {
    slot = home(id);
    for (u32 k = 0; k < probes; ++k, slot = after(slot)) {
      Key before = *(volatile Key*)(keys + slot);
      if (before == EMPTY) before = atomicCAS(keys + slot, EMPTY, id);
      if (before == EMPTY || before == id) return true;
    }
    return false;
  }

  // Finds the slot of an id; returns whether the table has it.
  __device__ __forceinline__ bool find(Key id, u32& slot) const {
    for (slot = home(id);; slot = after(slot)) {
      const Key key = keys[slot];
      if (key == id) return true;
      if (key == EMPTY) return false;
    }
  }
};

}  // namespace szc
