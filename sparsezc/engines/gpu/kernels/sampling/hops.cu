// A hop of sampling: the vertices at drawn positions get local numbers, in the order in which they are first met.
//
// Who calls: engines/gpu/sampling/hops.py, in this order: `know` for the seeds, then meet, count_fresh, number and
// locate for each hop. The host waits for no result in between: `range` is on the device, and range[0] .. range[1] - 1
// are the local numbers of the vertices, in `node`, whose rows were drawn from. `at`: the drawn positions, a slot each,
// ~0 where a row has no more. With `k`, slot s belongs to row s / k, and there are range[1] - range[0] rows; without,
// to row owner[s], and there are `count` slots. The edges of this hop are numbers edges[0] .. edges[1] - 1 of `row`,
// `col` and `edge`.
//
// The table maps ids to local numbers: open addressing, linear probing, 2^bits entries of two words, ~0 where empty:
// the id, and its number, or FRESH + s while slot s is the first in which this hop met it. The prelude supplies Id.
#include "portability.cuh"

namespace szc {

constexpr u64 EMPTY = ~0ull, FRESH = 1ull << 63;

__device__ __forceinline__ u64 slots_of(u64 count, u64 k, const i64* range) {
  return k ? (u64)(range[1] - range[0]) * k : count;
}

// Returns the table's entry of an id, inserting it if needed; its number becomes the smallest that it was given.
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

// know: inserts the vertices `node` that have the numbers range[0] .. range[1] - 1; of equal vertices the first counts.
extern "C" __global__ void __launch_bounds__(256) know(const i64* range, const i64* node, u64* table, u32 bits) {
  for (u64 i = (u64)range[0] + (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (u64)range[1]; i += (u64)gridDim.x * blockDim.x)
    put(table, bits, (u64)node[i], i);
}

// meet: reads the id at each position, and inserts it into the table.
extern "C" __global__ void __launch_bounds__(256)
    meet(u64 count, u64 k, const i64* range, const u64* at, const Id* indices, u64* table, u32 bits, u64* entry) {
  const u64 slots = slots_of(count, k, range);
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < slots; slot += (u64)gridDim.x * blockDim.x)
    entry[slot] = at[slot] == EMPTY ? EMPTY : put(table, bits, (u64)load_host(indices + at[slot], 0), FRESH + slot);
}

// count_fresh: for each of `count` slots, 1 if it has a position, and 2^32 more if it is the first that met its vertex.
extern "C" __global__ void __launch_bounds__(256)
    count_fresh(u64 count, u64 k, const i64* range, const u64* entry, const u64* table, i64* counts) {
  const u64 slots = slots_of(count, k, range);
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < count; slot += (u64)gridDim.x * blockDim.x) {
    const bool there = slot < slots && entry[slot] != EMPTY;
    counts[slot] = !there ? 0 : table[2 * entry[slot] + 1] == FRESH + slot ? (1ll << 32) + 1 : 1;
  }
}

// number: with the running sums of these counts, numbers the vertices that were first met, and lists the edges without
// gaps; in `row` each has the table's entry of its vertex. Sets range[2] to the end of all numbers, edges[1] to that of
// all edges.
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

// locate: replaces the table's entries in `row` by the numbers of their vertices.
extern "C" __global__ void __launch_bounds__(256) locate(const i64* edges, const u64* table, i64* row) {
  for (i64 e = edges[0] + (i64)blockIdx.x * blockDim.x + threadIdx.x; e < edges[1]; e += (i64)gridDim.x * blockDim.x)
    row[e] = (i64)table[2 * row[e] + 1];
}

}  // namespace szc
