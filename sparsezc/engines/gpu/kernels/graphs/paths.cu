// Shortest paths in one launch: delta-stepping with all rounds and buckets on the device, without the host.
//
// Who calls: engines/gpu/graphs/paths.py, with all blocks running at once (grid_sync.cuh). All memory is on the device.
// `dirty` marks the vertices whose distances fell since their edges were read. A round *takes* those within the limit,
// and then reads their edges, which lower the distances of other vertices and mark these; rows longer than LONG are
// read by chunks. `least` in the state is the smallest distance of a marked vertex: once it is beyond the limit the
// bucket ends, and the next limit is `step` beyond it. With BOUNDS each vertex has a byte, its distance in units,
// rounded up, and these bytes stay in the cache: most edges of a push end at vertices that they do not lower, and then
// nothing else is read. A round *pulls* where that costs less: it reads the transpose's rows of all vertices that may
// still fall, which are those beyond the smallest marked distance plus the smallest length, and no entry needs an
// atomic.
// Source: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003,
// doi:10.1016/S0196-6774(03)00076-2.
//
// The prelude supplies Id, A, Z (distances: i32, i64, f32 or f64), Bits (the integer of Z's size in which atomics order
// distances: signed for integers, else unsigned), S (limits: i64 or f64), Seen (u8 with BOUNDS, else Z); the flags ISO
// and BOUNDS; LONG and ROWS_PER_WARP as for mxv.cu; PUSH_COST, the cost of an entry of a push where an entry of a pull
// costs 1.
#include "grid_sync.cuh"
#include "frontier_rows.cuh"

namespace szc {

struct State {
  S limit;
  u64 round, ended;
  u64 entries, first;  // of the vertices taken, and of those taken for the first time
  Z least[3];  // of this round, the next, and the one after, which is set to `never`
};

constexpr u32 TOGETHER = 2;  // entries that a lane loads together

constexpr bool WHOLE = (Z)1 / (Z)2 == (Z)0;  // integers: a distance exceeds the next lower bound by 1 at least
constexpr u32 FAR = 254, UNREACHED = 255;  // bounds of a distance that exceeds a byte, and of `never`

struct Paths {
  u64 size;
  Shares shares;
  Z* distance;
  u8* bounds;
  u32* near;   // the vertices that this round takes
  u32* dirty;
  u32* met;    // the vertices that were taken before
  Z never, unit;
};

__device__ __forceinline__ Z least_of_lanes(Z z) {
  for (u32 lanes = 16; lanes; lanes >>= 1) {
    const Z other = __shfl_xor_sync(ALL, z, lanes);
    if (other < z) z = other;
  }
  return z;
}

struct Edge {
  Id id;
  A length;
};

// The smallest bound that is not below a distance. Of stores that race, the older, larger one may remain until `take`.
__device__ __forceinline__ u8 bound_of(const Paths& p, Z z) {
  if (!(z <= (Z)(FAR - 1) * p.unit)) return (u8)FAR;
  if (z < (Z)0) return 0;
  const u32 units = (u32)(z / p.unit);
  return (u8)(units + ((Z)units * p.unit < z));
}

// The value that a push reads of the vertex where an edge ends: its bound or its distance, perhaps an older, larger one
// from a cache.
__device__ __forceinline__ Seen look_at(const Paths& p, Id id) {
  if constexpr (BOUNDS) return p.bounds[id];
  else return p.distance[id];
}
__device__ __forceinline__ bool may_lower(const Paths& p, Z z, Seen seen) {
  if constexpr (BOUNDS) return seen >= FAR || z < (Z)seen * p.unit;
  else return z < seen;
}

__device__ __forceinline__ void lower(const Paths& p, u64 id, Z z, Z& least) {
  if (!(z < bit_cast<Z>(atomicMin((Bits*)(p.distance + id), bit_cast<Bits>(z))))) return;
  if constexpr (BOUNDS) p.bounds[id] = bound_of(p, z);
  atomicOr(&p.dirty[id >> 5], bit((u32)id & 31u));  // a read before it would save nothing
  if (z < least) least = z;
}

// The length of the shortest path by an edge from a vertex, or any value not below `than`. A bound is exact, or is that
// of a distance that fell in this round: the vertex is then marked, and a later round reads its edges.
__device__ __forceinline__ Z sum_by(const Paths& p, const Edge& edge, u8 seen, Z than) {
  const Z length = (Z)edge.length;
  if (seen == UNREACHED) return than;
  if (seen < FAR) {
    const Z most = (Z)seen * p.unit, least = (Z)((i32)seen - 1) * p.unit + (Z)WHOLE;
    if (!(least + length < than)) return than;
    if (least == most) return most + length;
  }
  const Z from = p.distance[edge.id];
  return from + length;
}

// Takes the marked vertices within the limit, and counts their entries (`first`: of vertices not taken before).
__device__ __forceinline__ void take(const Paths& p, const i64* indptr, Z limit, Z& least, u64& entries, u64& first) {
  const u32 lane = lane_id();
  each_word(p.shares, [&](u64 word) {
    const u32 marked = p.dirty[word];
    if (!marked) p.near[word] = 0;
    return marked;
  }, [&](u64 word, u32 marked) {
    const bool is_marked = has_bit(marked, lane);
    const Z d = is_marked ? p.distance[32 * word + lane] : p.never;
    const bool within = is_marked && d <= limit;
    if (BOUNDS && is_marked) p.bounds[32 * word + lane] = bound_of(p, d);
    const u32 taken = __ballot_sync(ALL, within), met = BOUNDS ? p.met[word] : 0;
    if (BOUNDS && within) {
      const u64 length = (u64)(indptr[32 * word + lane + 1] - indptr[32 * word + lane]);
      entries += length;
      if (!has_bit(met, lane)) first += length;
    }
    if (!within && d < least) least = d;
    __syncwarp();
    if (lane != 0) return;
    p.near[word] = taken;
    p.dirty[word] = marked & ~taken;
    if (BOUNDS) p.met[word] = met | taken;
  });
}

__device__ __forceinline__ void push(const Paths& p, const Side& side, const A* values, Z& least) {
  const u32 lane = lane_id();
  const auto load = [&](u64 at) { return Edge{load_host(side.indices + at, 0), ISO ? values[0] : load_host(values + at, 1)}; };
  const auto look = [&](const Edge& edge) { return look_at(p, edge.id); };
  const auto relax = [&](const Edge& edge, Seen seen, Z from) {
    const Z z = from + (Z)edge.length;
    if (may_lower(p, z, seen)) lower(p, edge.id, z, least);
  };
  each_long(p.shares, side, [&](u64 row) { return present(p.near, row); },
            [&](u64 row, u64 begin, u64 end) { stream_one<TOGETHER>(begin, end, p.distance[row], load, look, relax); });
  each_rows(p.shares, [&](u64 word) { return p.near[word]; }, [&](u64 word, u32 taken) {
    u64 begin = 0, end = 0;
    Z from = p.never;
    if (has_bit(taken, lane)) {
      begin = (u64)side.indptr[32 * word + lane];
      end = (u64)side.indptr[32 * word + lane + 1];
      from = p.distance[32 * word + lane];
    }
    stream_together<TOGETHER>(begin, end - begin > LONG ? begin : end, from, load, look, relax);
  });
}

// `settled`: distances up to it fall no more. `best`: of the rows of a warp, in shared memory.
__device__ __forceinline__ void pull(const Paths& p, const Side& side, const A* values, Z settled, Z* best, Z& least) {
  const u32 lane = lane_id();
  const auto load = [&](u64 at) { return Edge{load_host(side.indices + at, 0), ISO ? values[0] : load_host(values + at, 1)}; };
  const auto look = [&](const Edge& edge) { return p.bounds[edge.id]; };
  each_long(p.shares, side, [&](u64 row) { return p.distance[row] > settled; }, [&](u64 row, u64 begin, u64 end) {
    Z found = p.never;
    stream_one<TOGETHER>(begin, end, 0u, load, look, [&](const Edge& edge, u8 seen, u32) {
      const Z z = sum_by(p, edge, seen, found);
      if (z < found) found = z;
    });
    found = least_of_lanes(found);
    if (lane == 0 && found < p.distance[row]) lower(p, row, found, least);
  });
  for_pieces(nullptr, p.shares.nwords, p.shares.words, [&](u64 start) {
    for (u64 word = start; word < start + p.shares.words && word < p.shares.nwords; ++word) {
      const u64 row = 32 * word + lane;
      const Z before = row < p.size ? p.distance[row] : settled;
      if (!__any_sync(ALL, before > settled)) continue;
      u64 begin = 0, end = 0;
      if (before > settled) {
        begin = (u64)side.indptr[row];
        end = (u64)side.indptr[row + 1];
      }
      best[lane] = before;
      __syncwarp();
      if (end - begin > LONG) end = begin;
      if constexpr (ROWS_PER_WARP == 1) {
        for (u32 rows = __ballot_sync(ALL, begin < end); rows; rows &= rows - 1) {
          const int one = __ffs((int)rows) - 1;
          Z found = __shfl_sync(ALL, before, one);
          stream_one<TOGETHER>(__shfl_sync(ALL, begin, one), __shfl_sync(ALL, end, one), 0u, load, look, [&](const Edge& edge, u8 seen, u32) {
            const Z z = sum_by(p, edge, seen, found);
            if (z < found) found = z;
          });
          found = least_of_lanes(found);
          if ((int)lane == one) best[lane] = found;
        }
      } else {
        stream_together<TOGETHER>(begin, end, lane, load, look, [&](const Edge& edge, u8 seen, u32 owner) {
          const Z than = *(volatile Z*)&best[owner], z = sum_by(p, edge, seen, than);
          if (z < than) atomicMin((Bits*)&best[owner], bit_cast<Bits>(z));
        });
      }
      __syncwarp();
      const Z z = best[lane];
      if (z < before) {
        p.distance[row] = z;
        p.bounds[row] = bound_of(p, z);
        if (z < least) least = z;
      }
      const u32 fell = __ballot_sync(ALL, z < before);
      if (lane == 0 && fell) atomicOr(&p.dirty[word], fell);
    }
  });
}

// The results of a block in a round.
struct Found {
  Z least[8];  // of its warps
  u64 entries, first;
};

// Adds the block's results to the state, and waits for all blocks.
__device__ __forceinline__ void finish(u64* wait, State* state, Z* of_round, Found& found, Z least, Z never) {
  least = least_of_lanes(least);
  if (lane_id() == 0) found.least[threadIdx.x >> 5] = least;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (u32 warp = 1; warp < blockDim.x >> 5; ++warp) if (found.least[warp] < least) least = found.least[warp];
    if (least < never) atomicMin((Bits*)of_round, bit_cast<Bits>(least));
    if (found.entries) atomicAdd(&state->entries, found.entries);
    if (found.first) atomicAdd(&state->first, found.first);
    found.entries = found.first = 0;
  }
  sync_grid(wait);
}

// Whether a pull is expected to cost less than a push of `entries`: of `rest`, the entries of vertices that were not
// taken before this round, it reads all but about half of those taken in this round (`fresh`).
__device__ __forceinline__ bool prefers_pull(u64 size, float entries, float fresh, float rest) {
  return (float)size / 8.0f + rest - fresh / 2.0f < PUSH_COST * entries;
}

// `dirty`: the vertices where paths start; `distance`: 0 there, else `never`. At most `rounds` rounds. `target`: no
// distance beyond this vertex's is needed; `size`: all are. `step`: the width of a bucket; `last`: the largest limit;
// `shortest`: the smallest length; `near`: the vertices that a round takes; `met`: zeros before the first launch.
// `bounds`: UNREACHED each, in units of `unit`. `pulls`: 0 if there are no rows to pull; these are the transpose's:
// b_indptr, b_ids, b_values, with chunks (b_nchunks, b_long_rows, b_long_first, b_chunk_slot). A warp takes `piece`
// items of rows or `words` words. `state`: before the first launch zeros, except its limit and smallest distances;
// `wait`: zeros.
extern "C" __global__ void __launch_bounds__(256, 8)
    KERNEL(u64 size, u64 nvals, const i64* indptr, const Id* indices, const A* values, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot, const i64* b_indptr, const Id* b_ids, const A* b_values, u64 b_nchunks, const u64* b_long_rows,
           const u64* b_long_first, const u32* b_chunk_slot, Z* distance, u8* bounds, u32* near, u32* dirty, u32* met, State* state, u64* wait,
           S step, S last, Z shortest, Z unit, Z never, u64 target, u64 rounds, u32 pulls, u32 piece, u32 words, u32 spread) {
  __shared__ Found of_block;
  __shared__ Z best[8][32];
  __shared__ S limit;
  __shared__ Z settled;
  __shared__ u32 ended, pulled;
  const Paths p = {size, {(size + 31) / 32, piece, words, spread}, distance, bounds, near, dirty, met, never, unit};
  if (threadIdx.x == 0) {
    limit = state->limit;
    settled = shortest;
    ended = pulled = 0;
    of_block.entries = of_block.first = 0;
  }
  u64 round = state->round, entries_before = state->entries, first_before = state->first;  // thread 0 follows the last two
  sync_grid(wait);  // all have read these before a block adds to them
  for (u64 number = 0; number < rounds && !ended; ++number, ++round) {
    Z least = never;
    u64 entries = 0, first = 0;
    Z* of_round = &state->least[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) state->least[(round + 1) % 3] = never;
    take(p, indptr, (Z)limit, least, entries, first);
    if (BOUNDS) {
      add_lanes(entries, &of_block.entries);
      add_lanes(first, &of_block.first);
    }
    finish(wait, state, of_round, of_block, least, never);
    if (BOUNDS && threadIdx.x == 0) {
      const u64 all = *(volatile u64*)&state->entries, all_first = *(volatile u64*)&state->first;
      pulled = pulls && prefers_pull(size, (float)(all - entries_before), (float)(all_first - first_before), (float)(nvals - first_before));
      entries_before = all;
      first_before = all_first;
    }
    __syncthreads();
    least = never;
    if (BOUNDS && pulled) pull(p, Side{b_indptr, b_ids, b_nchunks, b_long_rows, b_long_first, b_chunk_slot}, b_values, settled, best[threadIdx.x >> 5], least);
    else push(p, Side{indptr, indices, nchunks, long_rows, long_first, chunk_slot}, values, least);
    finish(wait, state, of_round, of_block, least, never);
    if (threadIdx.x == 0) {
      const Z found = *(volatile Z*)of_round;
      S most = last;
      if (target < size && (S)*(volatile Z*)(distance + target) < most) most = (S)*(volatile Z*)(distance + target);
      if (found < (Z)0 || !(found < never) || (S)found > most) ended = 1;
      else if ((S)found > limit) limit = most - (S)found > step ? (S)found + step : most;
      else if (limit > most) limit = most;
      settled = found < never - shortest ? found + shortest : never;
    }
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->limit = limit;
    state->round = round;
    state->ended = ended;
  }
}

}  // namespace szc
