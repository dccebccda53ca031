// random_circulant.cu -- the rows of a symmetric random graph of any size, each made alone, sorted, from nothing but
// numbers.
//
// Who calls: benchmarks/micro/random_circulant.py, which says in NumPy what the graph is; portability.cuh comes before
// this text. The neighbours of v lie among (v + shifts[k]) mod n, where the sorted shifts have -s (mod n) for every s.
// An edge {u, v} is there if a hash of the pair is below weight(u) * weight(v); both ends compute the same. A warp
// makes a row: its lanes look at 32 shifts at a time, from the first that leads past n - 1 and back to 0 on, so the ids
// ascend.

namespace szc {

__device__ __forceinline__ u32 mixed(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// 0: an outlier, one vertex in 64. Others: the more leading zeros their hash has, the heavier.
__device__ __forceinline__ float weight_of(u32 v, const float* weights) {
  const u32 h = mixed(v);
  return (h & 63u) ? weights[__clz((int)h)] : 0.0f;
}

__device__ __forceinline__ bool joined(u32 u, float mine, u32 v, const float* weights, float outliers) {
  const float its = weight_of(v, weights);
  const float bound = mine == 0.0f && its == 0.0f ? outliers : mine * its;
  u64 x = u < v ? ((u64)u << 32) | v : ((u64)v << 32) | u;
  x *= 0x9e3779b97f4a7c15ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return (float)(u32)(x >> 32) < bound;
}

__device__ __forceinline__ u32 target(u32 v, u32 shift, u32 n) {
  const u32 id = v + shift;  // n is at most 2^31
  return id < n ? id : id - n;
}

__device__ __forceinline__ u64 warp_index() { return (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32; }
__device__ __forceinline__ u64 warp_count() { return gridDim.x * (u64)blockDim.x / 32; }

// degree[v], for every vertex.
extern "C" __global__ void __launch_bounds__(256)
degrees(u32 n, u32 count, const u32* shifts, const float* weights, float outliers, u32* degree) {
  const u32 lane = threadIdx.x & 31u;
  for (u64 v = warp_index(); v < n; v += warp_count()) {
    const float mine = weight_of((u32)v, weights);
    u32 found = 0;
    for (u32 at = lane; at < count; at += 32)
      found += joined((u32)v, mine, target((u32)v, shifts[at], n), weights, outliers);
    for (u32 d = 16; d; d >>= 1) found += __shfl_xor_sync(0xffffffffu, found, d);
    if (lane == 0) degree[v] = found;
  }
}

// The ids of rows first .. last - 1, at out[indptr[v] - indptr[first]] and on.
extern "C" __global__ void __launch_bounds__(256)
fill(u32 n, u32 count, const u32* shifts, const float* weights, float outliers, u64 first, u64 last, const i64* indptr,
     u32* out) {
  const u32 lane = threadIdx.x & 31u;
  const i64 base = indptr[first];
  for (u64 v = first + warp_index(); v < last; v += warp_count()) {
    const float mine = weight_of((u32)v, weights);
    u32 low = 0, high = count;  // the first shift that leads past n - 1
    while (low < high) {
      const u32 middle = (low + high) / 2;
      if (shifts[middle] < n - (u32)v) low = middle + 1;
      else high = middle;
    }
    u32* row = out + (indptr[v] - base);
    for (u32 at = 0; at < count; at += 32) {
      bool there = at + lane < count;
      u32 id = 0;
      if (there) {
        const u32 k = low + at + lane;
        id = target((u32)v, shifts[k < count ? k : k - count], n);
        there = joined((u32)v, mine, id, weights, outliers);
      }
      const u32 found = __ballot_sync(0xffffffffu, there);
      if (there) row[__popc(found & ((1u << lane) - 1u))] = id;
      row += __popc(found);
    }
  }
}

}  // namespace szc
