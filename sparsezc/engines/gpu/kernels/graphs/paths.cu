// Shortest paths in one launch: delta-stepping with all rounds and buckets on the device, without the host.
//
// Who calls: engines/gpu/graphs/paths.py, with all blocks running at once (grid.cuh). All memory is on the device. `dirty` marks the
// vertices whose distances fell since their edges were read. A round *takes* those within the limit, and then reads their edges,
// which lower distances and mark their vertices; rows longer than LONG are read by chunks. `least` of the state follows the least
// distance that is marked: beyond the limit it ends the bucket, and the next limit is `step` beyond it.
// Source: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003,
// doi:10.1016/S0196-6774(03)00076-2.
//
// The prelude supplies Id, A, Z (distances: i32, i64, f32 or f64), Bits (the integer of Z's size in which atomics order distances:
// signed for integers, else unsigned), S (limits: i64 or f64); the flag ISO; LONG and ROWS_PER_WARP as for mxv.cu.
#include "grid.cuh"
#include "work.cuh"

namespace szc {

struct State {
  S limit;
  u64 round, ended;
  Z least[3];  // of this round, the next, and the one after, which is set to `never`
};

constexpr u32 TOGETHER = 2;  // entries that a lane loads together

struct Paths {
  Shares shares;
  Side side;
  const A* values;
  Z* distance;
  u32* near;   // the vertices that this round takes
  u32* dirty;
  Z never;
};

__device__ __forceinline__ Bits to_bits(Z z) {
  Bits bits;
  memcpy(&bits, &z, sizeof z);
  return bits;
}
__device__ __forceinline__ Z from_bits_of(Bits bits) {
  Z z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

struct Edge {
  Id id;
  A length;
};

__device__ __forceinline__ void take(const Paths& p, Z limit, Z& least) {
  each_word(p.shares, [&](u64 word) {
    const u32 marked = p.dirty[word];
    if (!marked) p.near[word] = 0;
    return marked;
  }, [&](u64 word, u32 marked) {
    const bool is_marked = has_bit(marked, lane_id());
    const Z d = is_marked ? p.distance[32 * word + lane_id()] : p.never;
    const bool within = is_marked && d <= limit;
    const u32 taken = __ballot_sync(ALL, within);
    if (!within && d < least) least = d;
    if (lane_id() != 0) return;
    p.near[word] = taken;
    p.dirty[word] = marked & ~taken;
  });
}

__device__ __forceinline__ void read_edges(const Paths& p, Z& least) {
  const u32 lane = lane_id();
  const auto load = [&](u64 at) {
    return Edge{load_host(p.side.indices + at, 0), ISO ? p.values[0] : load_host(p.values + at, 1)};
  };
  const auto look = [&](const Edge& edge) { return p.distance[edge.id]; };  // an old one of a cache is larger: then the atomic decides
  const auto relax = [&](const Edge& edge, Z before, Z from) {
    const Z z = from + (Z)edge.length;
    if (!(z < before && z < from_bits_of(atomicMin((Bits*)(p.distance + edge.id), to_bits(z))))) return;
    const u32 mine = bit((u32)edge.id & 31u);
    if (!(*(volatile u32*)&p.dirty[edge.id >> 5] & mine)) atomicOr(&p.dirty[edge.id >> 5], mine);
    if (z < least) least = z;
  };
  each_long(p.shares, p.side, [&](u64 row) { return present(p.near, row); },
            [&](u64 row, u64 begin, u64 end) { stream_one<TOGETHER>(begin, end, p.distance[row], load, look, relax); });
  each_rows(p.shares, [&](u64 word) { return p.near[word]; }, [&](u64 word, u32 taken) {
    u64 begin = 0, end = 0;
    Z from = p.never;
    if (has_bit(taken, lane)) {
      begin = (u64)p.side.indptr[32 * word + lane];
      end = (u64)p.side.indptr[32 * word + lane + 1];
      from = p.distance[32 * word + lane];
    }
    stream_together<TOGETHER>(begin, end - begin > LONG ? begin : end, from, load, look, relax);
  });
}

// Lowers `block_least`, then that of the round in the state.
__device__ __forceinline__ void finish(u64* wait, Z* of_round, Z* block_least, Z least, Z never) {
  for (u32 lanes = 16; lanes; lanes >>= 1) {
    const Z other = __shfl_xor_sync(ALL, least, lanes);
    if (other < least) least = other;
  }
  if (lane_id() == 0) block_least[threadIdx.x >> 5] = least;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (u32 warp = 1; warp < blockDim.x >> 5; ++warp) if (block_least[warp] < least) least = block_least[warp];
    if (least < never) atomicMin((Bits*)of_round, to_bits(least));
  }
  sync_grid(wait);
}

// `dirty`: where paths start; `distance`: 0 there, else `never`. At most `rounds` rounds. `target`: a vertex beyond whose distance none is
// needed; `size`: none. `step`: the width of a bucket; `last`: the largest limit; `near`: the vertices that a round takes. A warp takes
// `piece` items of rows or `words` words. `state`: zeros, but for its limit and least distances, before the first launch; `wait`: zeros.
extern "C" __global__ void __launch_bounds__(256, 8)
    KERNEL(u64 size, const i64* indptr, const Id* indices, const A* values, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot, Z* distance, u32* near, u32* dirty, State* state, u64* wait, S step, S last, Z never, u64 target,
           u64 rounds, u32 piece, u32 words, u32 spread) {
  __shared__ Z block_least[8];
  __shared__ S limit;
  __shared__ u32 ended;
  const Side side = {indptr, indices, nchunks, long_rows, long_first, chunk_slot};
  const Paths p = {{(size + 31) / 32, piece, words, spread}, side, values, distance, near, dirty, never};
  if (threadIdx.x == 0) {
    limit = state->limit;
    ended = 0;
  }
  u64 round = state->round;
  __syncthreads();
  for (u64 number = 0; number < rounds && !ended; ++number, ++round) {
    Z least = never;
    Z* of_round = &state->least[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) state->least[(round + 1) % 3] = never;
    take(p, (Z)limit, least);
    finish(wait, of_round, block_least, least, never);
    least = never;
    read_edges(p, least);
    finish(wait, of_round, block_least, least, never);
    if (threadIdx.x == 0) {
      const Z found = *(volatile Z*)of_round;
      S most = last;
      if (target < size && (S)*(volatile Z*)(distance + target) < most) most = (S)*(volatile Z*)(distance + target);
      if (found < (Z)0 || !(found < never) || (S)found > most) ended = 1;
      else if ((S)found > limit) limit = most - (S)found > step ? (S)found + step : most;
      else if (limit > most) limit = most;
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
