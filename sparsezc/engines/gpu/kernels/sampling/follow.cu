// Walks along a vector of positions: a vertex has at most one edge, to the position that is its entry of the vector.
//
// Who calls: engines/gpu/sampling/walks.py. All arrays are on the device. What a thread does: it takes a walk; each
// step reads a presence word and a position.
// `next`, `bits`: the vector; `bits` null: it is full. Walk w begins at `starts[w]`. `met`: vertex s of walk w at w *
// (length + 1) + s, -1 where the walk has ended. `lengths`: the number of vertices of each walk.
#include "warp.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    follow(u64 count, u64 length, const i64* next, const u32* bits, const i64* starts, i64* met, i64* lengths) {
  const u64 threads = (u64)gridDim.x * blockDim.x;
  for (u64 walk = (u64)blockIdx.x * blockDim.x + threadIdx.x; walk < count; walk += threads) {
    i64 v = starts[walk], vertices = 1;
    i64* to = met + walk * (length + 1);
    to[0] = v;
    for (u64 k = 1; k <= length; ++k) {
      if (v >= 0) v = present(bits, (u64)v) ? next[v] : -1;
      to[k] = v;
      vertices += v >= 0;
    }
    lengths[walk] = vertices;
  }
}

}  // namespace szc
