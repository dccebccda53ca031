// Builds the row-head cache: the k entries of each row whose columns are the largest hubs; pulls read these first.
//
// Who calls: engines/gpu/layouts/head_cache.py. `indices` and `values` may be in host memory and are read once; heads
// are in device memory: slot j of row r of word w at (w * k + j) * 32 + r, so that the 32 rows of a presence word are
// one request. Hubs come first. A row that ends before slot k has NONE there. A row of more than LONG entries, which
// mxv.cu reads by chunks, has MORE in its first slot. What a warp does: it takes a word of 32 rows, one row after
// another, a slice of 32 entries at a time: entries whose columns have more neighbours replace the smallest hubs kept
// so far. A slice that several rows share is read once.
// Source: K. Iwabuchi, H. Sato, Y. Yasui, K. Fujisawa, S. Matsuoka, NVM-based hybrid BFS with memory efficient data
// structure, IEEE Big Data 2014, doi:10.1109/BigData.2014.7004270 (there the tail of each row is in flash memory).
//
// The prelude supplies Id, A, LONG and the flag KEEPS_VALUES.
#include "head_cache.cuh"
#include "ids.cuh"

namespace szc {

__device__ __forceinline__ u32 first_lane(bool which) { return (u32)__ffs((int)__ballot_sync(ALL, which)) - 1; }

// Lane j's candidate for slot j of a row. `rank` 0: none yet.
struct Kept {
  u32 rank;
  Id id;
  u64 at;
};

// Merges a slice into the candidates. `rank` is at least 1 where the lane has an entry, else 0.
__device__ __forceinline__ void keep(Kept& kept, u32 k, u32 rank, Id id, u64 at) {
  for (;;) {
    const u32 best = largest(rank);
    const u32 least = ~largest(lane_id() < k ? ~kept.rank : 0);
    if (best <= least) return;
    const u32 from = first_lane(rank == best), to = first_lane(lane_id() < k && kept.rank == least);
    const Id best_id = (Id)__shfl_sync(ALL, id, (int)from);
    const u64 best_at = __shfl_sync(ALL, at, (int)from);
    if (lane_id() == to) kept = Kept{best, best_id, best_at};
    if (lane_id() == from) rank = 0;
  }
}

// `hubs`: offsets whose differences are the columns' degrees; null: all columns rank alike.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const A* values, const i64* hubs, u32 k, Id* heads,
           A* head_values, u64* counter) {
  const u32 lane = lane_id();
  Ids ids(indices);
  for (u64 word = take(counter, 1); word < (nrows + 31) / 32; word = take(counter, 1)) {
    const u64 mine = 32 * word + lane;
    const u64 my_begin = mine < nrows ? (u64)indptr[mine] : 0, my_end = mine < nrows ? (u64)indptr[mine + 1] : 0;
    const u64 first = (u64)indptr[32 * word], last = (u64)indptr[nrows - 32 * word < 32 ? nrows : 32 * word + 32];
    u64 held = ~(u64)0;  // the first entry of the slice that the warp holds
    Id slice = 0;
    for (u32 r = 0; r < 32; ++r) {
      const u64 begin = __shfl_sync(ALL, my_begin, (int)r), end = __shfl_sync(ALL, my_end, (int)r);
      Kept kept = {0, head_none<Id>(), 0};
      if (end - begin > LONG) {
        if (lane == 0) kept = Kept{1, head_more<Id>(), 0};
      } else {
        for (u64 base = begin & ~(u64)31; base < end; base += 32) {
          const u64 at = base + lane;
          const bool active = at >= begin && at < end;
          if (base != held) slice = ids.load(at, at >= first && at < last);
          held = base;
          u64 rank = active ? 1 : 0;
          if (active && hubs) rank += (u64)(hubs[slice + 1] - hubs[slice]);
          keep(kept, k, rank > ALL ? ALL : (u32)rank, slice, at);
        }
      }
      u32 slot = 0;  // larger hubs first
      for (u32 j = 0; j < k; ++j) {
        const u32 other = __shfl_sync(ALL, kept.rank, (int)j);
        if (other > kept.rank || (other == kept.rank && j < lane)) ++slot;
      }
      if (lane < k) {
        const u64 to = (word * k + slot) * 32 + r;
        heads[to] = kept.id;
        if (KEEPS_VALUES && kept.rank && kept.id != head_more<Id>()) head_values[to] = load_host(values + kept.at, 1);
      }
    }
  }
}

}  // namespace szc
