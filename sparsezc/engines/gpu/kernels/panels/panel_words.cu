// The vertices of a panel of Booleans that have any bit, with a 64-bit word each, as processes exchange frontiers.
//
// Who calls: engines/gpu/several_processes/search_step.py and search_levels.py. All memory on the device. What a thread
// does: it takes a vertex of `size`, or one of a list of `count`; `width` is at most 64. Of `owners` ranks, rank r
// has the vertices bounds[r] .. bounds[r + 1] - 1; those of rank `skipped` are left out. The order of a rank's vertices
// depends on the timing of atomics.
#include "multi_source_bfs.cuh"

namespace szc {

// The rank that has a vertex; lanes of a warp take neighbours, so that their loops are mostly equally long.
__device__ __forceinline__ u32 owner_of(const i64* bounds, u32 owners, u64 vertex) {
  u32 r = 0;
  while (r + 1 < owners && (u64)bounds[r + 1] <= vertex) ++r;
  return r;
}

// Calls visit(vertex, word, owner, wants) for all vertices that have a bit, `wants` being the lanes whose vertices have
// this owner; lanes of a warp call together, for one owner after another.
template <class Visit>
__device__ __forceinline__ void each_vertex(u64 size, const u32* bits, u64 width, const i64* bounds, u32 owners, u32 skipped, Visit visit) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i - lane_id() < size; i += stride) {
    const u64 word = i < size ? load_bits(bits, width, i, 0) : 0;
    const u32 mine = word ? owner_of(bounds, owners, i) : owners;
    for (u32 left = __ballot_sync(ALL, mine != owners && mine != skipped); left;) {
      const u32 r = __shfl_sync(ALL, mine, __ffs((int)left) - 1);
      const u32 same = __ballot_sync(ALL, mine == r);
      visit(i, word, r, same);
      left &= ~same;
    }
  }
}

// count_rows: adds to counts[r] the number of vertices of rank r that have a bit.
extern "C" __global__ void count_rows(u64 size, const u32* bits, u64 width, const i64* bounds, u32 owners, u32 skipped, u64* counts) {
  each_vertex(size, bits, width, bounds, owners, skipped, [&](u64, u64, u32 r, u32 same) {
    if (lane_id() == 0) atomicAdd(counts + r, (u64)__popc(same));
  });
}

// list_rows: lists these vertices, numbered from `first` on, and their words, rank r's from places[r] on (advanced).
extern "C" __global__ void list_rows(u64 size, const u32* bits, u64 width, const i64* bounds, u32 owners, u32 skipped, u64* places,
                                     u64 first, Id* at, u64* words) {
  each_vertex(size, bits, width, bounds, owners, skipped, [&](u64 i, u64 word, u32 r, u32 same) {
    u64 place = 0;
    if (lane_id() == 0) place = atomicAdd(places + r, (u64)__popc(same));
    place = __shfl_sync(ALL, place, 0) + (u64)__popc(same & (bit(lane_id()) - 1));
    if (has_bit(same, lane_id())) {
      at[place] = (Id)(first + i);
      words[place] = word;
    }
  });
}

// put_words: sets the bits of words[k] at vertex at[k], numbered from `first` on; bits that are set already stay.
extern "C" __global__ void put_words(u64 count, const Id* at, const u64* words, u64 first, u64 width, u32* bits) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    set_bits(bits, width, (u64)at[k] - first, 0, words[k]);
}

// turn_rows: adds the bits that are reached and not yet seen to `seen`, and writes them to `front` (zeros on entry,
// unless ALIGNED). `totals` (zeros on entry): the vertices of `front`, then the Reads of the next step along the rows
// that the offsets give. Without `push_indptr` a row counts as one entry; without `pull_indptr` none is pulled.
extern "C" __global__ void __launch_bounds__(256)
    turn_rows(u64 size, const u32* reached, u64 width, u32* seen, u32* front, const i64* push_indptr, const i64* pull_indptr,
              u64* totals) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  Reads reads = {};
  u64 found = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i - lane_id() < size; i += stride) {
    u64 before = 0, entries = 0;
    Bits fresh = {};
    if (i < size) {
      before = load_bits((const volatile u32*)seen, width, i, 0);  // others may set other vertices' bits of a word
      fresh.word[0] = load_bits(reached, width, i, 0) & ~before;
      if (ALIGNED) ((u64*)front)[i] = fresh.word[0];
      if (pull_indptr && (before | fresh.word[0]) != whole(width, 0)) reads.pull((u64)(pull_indptr[i + 1] - pull_indptr[i]));
    }
    if (fresh.word[0]) {
      ++found;
      entries = push_indptr ? (u64)(push_indptr[i + 1] - push_indptr[i]) : 1;
      set_bits(seen, width, i, 0, fresh.word[0]);
      if (!ALIGNED) set_bits(front, width, i, 0, fresh.word[0]);
    }
    reads.push(fresh, entries);
  }
  add_lanes(found, totals);
  reads.add_to(totals + 1);
}

// write_levels: writes the level depth + k for each bit of front k of `count`, at most 8; `fronts` begin `stride`
// 4-byte words apart. A pair of a search and a vertex is in at most one of them.
extern "C" __global__ void __launch_bounds__(256)
    write_levels(u64 size, u64 width, const u32* fronts, u64 stride, u32 count, int depth, int* levels) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  const u32 lane = lane_id();
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i - lane < size; i += step) {
    u64 any = 0, digit[3] = {};  // the binary digits of the number of the front that has a bit
    for (u32 k = 0; k < count; ++k) {
      const u64 word = i < size ? load_bits(fronts + k * stride, width, i, 0) : 0;
      any |= word;
      for (u32 b = 0; b < 3; ++b) digit[b] |= (k >> b) & 1 ? word : 0;
    }
    for (u32 left = __ballot_sync(ALL, any != 0); left; left &= left - 1) {  // all lanes write a vertex's levels
      const int t = __ffs((int)left) - 1;
      u64 word = __shfl_sync(ALL, any, t), bits[3];
      for (u32 b = 0; b < 3; ++b) bits[b] = __shfl_sync(ALL, digit[b], t);
      const u64 at = (i - lane + (u64)t) * width;
      for (u32 search = lane; search < width; search += 32) {
        if (!((word >> search) & 1)) continue;
        u32 k = 0;
        for (u32 b = 0; b < 3; ++b) k |= (u32)((bits[b] >> search) & 1) << b;
        levels[at + search] = depth + (int)k;
      }
    }
  }
}

}  // namespace szc
