// A hop of sampling: the vertices behind drawn positions get local numbers, in the order in which they are met.
//
// Who calls: engines/gpu/sampling/hops.py, a hop at a time, in this order: know for the seeds, then meet, count_fresh, number and
// locate of each hop. The host waits for no result in between: `range` is on the device, and range[0] .. range[1] - 1 are the
// local numbers of the vertices whose rows were drawn from, in `node`. `at`: the drawn positions, ~0 where a row has no more.
// With `k`, slot s belongs to row s / k, and there are range[1] - range[0] rows; without, to row owner[s], and there are
// `count` slots. The edges of this hop go from edges[0] to edges[1] of `row`, `col` and `edge`.
//
// The table maps ids to local numbers: open addressing, linear probing, 2^bits entries of two words, ~0 where empty: the id,
// and its number, or FRESH + s while slot s is the first in which this hop met it. The prelude supplies Id.
#include "portability.cuh"

namespace szc {

constexpr u64 EMPTY = ~0ull, FRESH = 1ull << 63;

__device__ __forceinline__ u64 slots_of(u64 count, u64 k, const i64* range) {
  return k ? (u64)(range[1] - range[0]) * k : count;
}

// The entry of an id, which is inserted if it is not in the table; its number becomes the least that it was given.
__device__ __forceinline__ u64 put(u64* table, u32 bits, u64 id, u64 number) {
  const u64 last = (1ull << bits) - 1;
  u64 entry = id * 0x9E3779B97F4A7C15ull >> (64 - bits);  // Fibonacci hashing: Knuth, vol. 3, section 6.4
  for (;; entry = (entry + 1) & last) {
    u64 before = *(volatile u64*)(table + 2 * entry);
    if (before == EMPTY) before = atomicCAS(table + 2 * entry, EMPTY, id);
    if (before == EMPTY || before == id) break;
  }
  if (number < *(volatile u64*)(table + 2 * entry + 1)) atomicMin(table + 2 * entry + 1, number);
  return entry;
}

// Vertices that have numbers, which begin with range[0]; of equal ones the first counts.
extern "C" __global__ void __launch_bounds__(256) know(const i64* range, const i64* node, u64* table, u32 bits) {
  for (u64 i = (u64)range[0] + (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (u64)range[1]; i += (u64)gridDim.x * blockDim.x)
    put(table, bits, (u64)node[i], i);
}

// Reads the id behind each position, and finds its entry.
extern "C" __global__ void __launch_bounds__(256)
    meet(u64 count, u64 k, const i64* range, const u64* at, const Id* indices, u64* table, u32 bits, u64* entry) {
  const u64 slots = slots_of(count, k, range);
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < slots; slot += (u64)gridDim.x * blockDim.x)
    entry[slot] = at[slot] == EMPTY ? EMPTY : put(table, bits, (u64)load_host(indices + at[slot], 0), FRESH + slot);
}

// For each of `count` slots 1 if it has a position, and 2^32 more if it is the first that met its vertex.
extern "C" __global__ void __launch_bounds__(256)
    count_fresh(u64 count, u64 k, const i64* range, const u64* entry, const u64* table, i64* counts) {
  const u64 slots = slots_of(count, k, range);
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < count; slot += (u64)gridDim.x * blockDim.x) {
    const bool there = slot < slots && entry[slot] != EMPTY;
    counts[slot] = !there ? 0 : table[2 * entry[slot] + 1] == FRESH + slot ? (1ll << 32) + 1 : 1;
  }
}

// With the running sums of these: numbers the vertices met first, and lists the edges without gaps, their rows as entries of
// the table. range[2] becomes the end of all numbers, edges[1] that of all edges.
extern "C" __global__ void __launch_bounds__(256)
    number(u64 count, u64 k, i64* range, const u64* at, const i64* owner, const i64* sums, u64* table, const u64* entry,
           i64* edges, i64* node, i64* row, i64* col, i64* edge) {
  const u64 slots = slots_of(count, k, range), first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (first == 0) {
    range[2] = range[1] + (sums[count - 1] >> 32);
    edges[1] = edges[0] + (sums[count - 1] & 0xFFFFFFFF);
  }
  for (u64 slot = first; slot < slots; slot += (u64)gridDim.x * blockDim.x) {
    const u64 e = entry[slot];
    if (e == EMPTY) continue;
    const i64 to = edges[0] + (sums[slot] & 0xFFFFFFFF) - 1;
    row[to] = (i64)e;
    col[to] = range[0] + (k ? (i64)(slot / k) : owner[slot]);
    edge[to] = (i64)at[slot];
    if (*(volatile u64*)(table + 2 * e + 1) != FRESH + slot) continue;
    const i64 own = range[1] + (sums[slot] >> 32) - 1;
    node[own] = (i64)table[2 * e];
    table[2 * e + 1] = (u64)own;
  }
}

// The numbers of the vertices that edges met.
extern "C" __global__ void __launch_bounds__(256) locate(const i64* edges, const u64* table, i64* row) {
  for (i64 e = edges[0] + (i64)blockIdx.x * blockDim.x + threadIdx.x; e < edges[1]; e += (i64)gridDim.x * blockDim.x)
    row[e] = (i64)table[2 * row[e] + 1];
}

}  // namespace szc
