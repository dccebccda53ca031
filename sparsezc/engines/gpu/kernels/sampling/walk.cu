// Random walks: each step follows an edge drawn with equal probability, by weight, or by node2vec's bias.
//
// Who calls: engines/gpu/sampling/walks.py, by the rules in expr/sampling.py. Memory: `indices` and `values` in host
// memory (zero-copy) or on the device, all else on the device. What a thread does: it takes a walk. A step reads two
// offsets, and one id over the link; by weight, also an id or a value for each try. Where no try succeeds, the warp
// reads that row together. With node2vec's p and q a try may have to find out whether an edge exists: by bisection, and
// only where the answer decides the try.
// Walk w of a launch begins at `starts` and draws from stream `first` + w; a walk whose start is no vertex is empty.
// With GOES_ON it draws from stream `numbers[w]`, and its first step has the number `step`; its vertex before that was
// `before[w]` (null: the walk begins here), whose row is row `place[w]` of `older_indptr` and `older_indices`.
// `met`: vertex s of walk w at w * (length + 1) + s, -1 where the walk has ended. `lengths`: the number of vertices of
// each walk. `top`: the largest weight of each row; `by`: weights by column. back, close, far: the shares, of 2^64 - 1,
// of an edge's weight that count.
//
// The prelude supplies Id, A (types of ids and values), ISO, WEIGHTS (0: all edges alike, 1: by value, 2: by `by`),
// BIASED, TRIES, GOES_ON: the rows of the vertices before a step are not those of its own vertices.
#include "philox.cuh"
#include "warp.cuh"

namespace szc {

// The vertex before the present one of a walk, and its row among the older rows.
struct Past {
  i64 vertex, place;
};

struct Graph {
  const i64* indptr;
  const Id* indices;
  const A* values;
  const double* top;
  const double* by;
  u64 back, close, far;
  const i64* older_indptr;
  const Id* older_indices;

  __device__ __forceinline__ u64 id(u64 at) const { return (u64)load_host_cached(indices + at, 0); }
  __device__ __forceinline__ u64 older(u64 at) const {
    return (u64)load_host_cached((GOES_ON ? older_indices : indices) + at, 0);
  }
  __device__ __forceinline__ double weight(u64 at) const {
    return WEIGHTS == 2 ? by[id(at)] : ISO ? (double)values[0] : (double)load_host_cached(values + at, 1);
  }
  __device__ __forceinline__ bool has(i64 row, u64 column) const {
    const i64* offsets = GOES_ON ? older_indptr : indptr;
    u64 low = (u64)offsets[row], high = (u64)offsets[row + 1];
    const u64 end = high;
    while (low < high) {
      const u64 middle = (low + high) / 2;
      if (older(middle) < column) low = middle + 1; else high = middle;
    }
    return low < end && older(low) == column;
  }
  // The share of its weight that an edge to `target` counts with, after this past vertex (-1: the walk has just begun).
  __device__ __forceinline__ u64 share(const Past& past, u64 target) const {
    if (!BIASED || past.vertex < 0) return ~0ull;
    if (target == (u64)past.vertex) return back;
    return close != far && has(GOES_ON ? past.place : past.vertex, target) ? close : far;
  }
  // Whether a try accepts the entry `at` of row v.
  __device__ __forceinline__ bool accepts(u64 at, i64 v, const Past& before, u64 chance) const {
    u64 part = ~0ull;
    if (WEIGHTS) {
      const double w = weight(at), most = top[v];
      if (!(w > 0)) return false;
      if (w < most) part = (u64)(w / most * 0x1p63) << 1;
      if (chance > part) return false;
    }
    if (!BIASED || before.vertex < 0) return true;
    const u64 target = id(at);
    if (target != (u64)before.vertex) {  // no search for the edge where both answers decide alike
      const u64 least = share_of(part, close < far ? close : far), most = share_of(part, close < far ? far : close);
      if (chance <= least) return true;
      if (chance > most) return false;
    }
    return chance <= share_of(part, share(before, target));
  }
  __device__ __forceinline__ u64 whole(u64 at, i64 v, const Past& before, u64 d) const {
    const double w = WEIGHTS ? weight(at) : 1.0;
    if (!(w > 0)) return 0;
    return share_of(whole_number(w, WEIGHTS ? top[v] : 1.0, d), BIASED && before.vertex >= 0 ? share(before, id(at)) : ~0ull);
  }
};

// The entry of row v that a random number chooses by the whole numbers of all entries. All lanes call.
__device__ __forceinline__ u64 read_whole(const Graph& g, i64 v, const Past& before, u64 number) {
  const u64 begin = (u64)g.indptr[v], end = (u64)g.indptr[v + 1], d = end - begin;
  u64 total = 0;
  for (u64 at = begin + lane_id(); at < end; at += 32) total += g.whole(at, v, before, d);
  const u64 place = below(number, add_lanes(total));
  u64 passed = 0;
  for (u64 base = begin; base < end; base += 32) {
    const u64 at = base + lane_id();
    u64 reach = at < end ? g.whole(at, v, before, d) : 0;
    for (u32 s = 1; s < 32; s <<= 1) {
      const u64 other = __shfl_up_sync(ALL, reach, s);
      if (lane_id() >= s) reach += other;
    }
    reach += passed;
    const u32 beyond = __ballot_sync(ALL, reach > place);
    if (beyond) return base + (u32)__ffs((int)beyond) - 1;
    passed = __shfl_sync(ALL, reach, 31);
  }
  return begin;
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, u64 first, const u64* numbers, u64 step, u64 length, u64 nrows, const i64* indptr, const Id* indices,
           const A* values, const double* top, const double* by, u64 back, u64 close, u64 far, u64 seed, const i64* starts,
           const i64* before, const i64* place, const i64* older_indptr, const Id* older_indices, i64* met, i64* lengths) {
  const Graph g = {indptr, indices, values, top, by, back, close, far, older_indptr, older_indices};
  const u64 threads = (u64)gridDim.x * blockDim.x;
  for (u64 walk = (u64)blockIdx.x * blockDim.x + threadIdx.x; walk - lane_id() < count; walk += threads) {
    i64 v = walk < count ? starts[walk] : -1;
    if ((u64)v >= nrows) v = -1;
    Past past = {-1, -1};
    if (GOES_ON && before && walk < count) past = {before[walk], place[walk]};
    const u64 stream = !GOES_ON ? first + walk : walk < count ? numbers[walk] : 0;
    i64* to = met + walk * (length + 1);
    Pair pair = {0, 0};
    u64 drawn = ~0ull;  // the draw that `pair` is
    u64 vertices = v >= 0;
    if (walk < count) to[0] = v;
    for (u64 k = 0; k < length; ++k) {
      const u64 s = GOES_ON ? step + k : k;
      u64 begin = 0, d = 0, at = 0;
      if (v >= 0) {
        begin = (u64)indptr[v];
        d = (u64)indptr[v + 1] - begin;
        if (WEIGHTS && d && !(top[v] > 0)) d = 0;
      }
      if (!WEIGHTS && !BIASED) {
        if (d > 1 && drawn != s >> 1) {
          drawn = s >> 1;
          pair = random_pair(drawn, 0, stream, seed);
        }
        at = begin + below(s & 1 ? pair.odd : pair.even, d);
      } else {
        bool chosen = d == 0;
        for (u32 t = 0; t < TRIES && !chosen; ++t) {
          const Pair x = random_pair(t, s + 1, stream, seed);
          at = begin + below(x.even, d);
          chosen = g.accepts(at, v, past, x.odd);
        }
        for (u32 rest = __ballot_sync(ALL, !chosen); rest; rest &= rest - 1) {
          const u32 whose = (u32)__ffs((int)rest) - 1;
          const u64 number = random_pair(TRIES, s + 1, __shfl_sync(ALL, stream, whose), seed).even;
          const i64 was = __shfl_sync(ALL, past.vertex, whose);
          const Past theirs = {was, GOES_ON ? __shfl_sync(ALL, past.place, whose) : was};
          const u64 found = read_whole(g, __shfl_sync(ALL, v, whose), theirs, number);
          if (lane_id() == whose) at = found;
        }
      }
      past = {v, v};
      v = d ? (i64)g.id(at) : -1;
      vertices += v >= 0;
      if (walk < count) to[k + 1] = v;
    }
    if (walk < count) lengths[walk] = (i64)vertices;
  }
}

}  // namespace szc
