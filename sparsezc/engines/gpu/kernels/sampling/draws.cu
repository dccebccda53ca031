// Positions drawn from rows, all entries of a row alike: no entry is read.
//
// Who calls: engines/gpu/sampling/picks.py. All memory on the device. `listed`: the rows, of which number r draws from
// stream `first` + r, as expr/draws.py says. `at`: positions in the matrix, ~0 where a row has fewer: draw c of row r at
// c * count + r (floyd), so that lanes write side by side, or at r * k + c (with_replacement).
#include "philox.cuh"

namespace szc {

struct Row { u64 begin, size; };

__device__ __forceinline__ Row row_of(const i64* indptr, const i64* listed, u64 r) {
  const u64 row = (u64)listed[r], begin = (u64)indptr[row];
  return {begin, (u64)indptr[row + 1] - begin};
}

// A thread takes a row: Floyd's sample of k out of d, each number looked for among those before it.
extern "C" __global__ void __launch_bounds__(256) floyd(u64 count, u64 k, u64 first, const i64* listed, const i64* indptr, u64 seed, u64* at) {
  for (u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x; r < count; r += (u64)gridDim.x * blockDim.x) {
    const Row row = row_of(indptr, listed, r);
    Pair pair = {0, 0};
    for (u64 c = 0; c < k; ++c) {
      u64 chosen = c;
      if (row.size > k) {
        if (!(c & 1)) pair = random_pair(c >> 1, 0, first + r, seed);
        const u64 last = row.size - k + c;
        chosen = below(c & 1 ? pair.odd : pair.even, last + 1);
        for (u64 b = 0; b < c; ++b)
          if (at[b * count + r] == row.begin + chosen) chosen = last;
      }
      at[c * count + r] = chosen < row.size ? row.begin + chosen : ~0ull;
    }
  }
}

// A thread takes a draw.
extern "C" __global__ void __launch_bounds__(256)
    with_replacement(u64 count, u64 k, u64 first, const i64* listed, const i64* indptr, u64 seed, u64* at) {
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < count * k; slot += (u64)gridDim.x * blockDim.x) {
    const u64 r = slot / k;
    const Row row = row_of(indptr, listed, r);
    at[slot] = row.size ? row.begin + below(random_number(slot % k, 0, first + r, seed), row.size) : ~0ull;
  }
}

}  // namespace szc
