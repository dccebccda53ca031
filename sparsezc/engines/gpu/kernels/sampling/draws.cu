// Positions drawn from rows with equal probability for all entries of a row; no entry is read.
//
// Who calls: engines/gpu/sampling/selectk.py and hops.py. All memory on the device. `listed`: the rows; row number r of
// the list draws from stream `first` + r, by the rules in expr/sampling.py. `count`: the number of rows; with `range`
// (null: not used) they are listed[range[0]] .. listed[range[1] - 1], bounds that the host does not have yet. `at`:
// positions in the matrix, k for row r from r * k on, ~0 where it has fewer; ascending (floyd), or draw c at r * k + c
// (with_replacement).
#include "philox.cuh"

namespace szc {


struct Row { u64 begin, size; };

__device__ __forceinline__ Row row_of(const i64* indptr, const i64* listed, u64 r) {
  const u64 row = (u64)listed[r], begin = (u64)indptr[row];
  return {begin, (u64)indptr[row + 1] - begin};
}

// A thread takes a row: Floyd's sample of k of its d entries, kept in ascending order.
extern "C" __global__ void __launch_bounds__(256)
    floyd(u64 count, const i64* range, u64 k, u64 first, const i64* listed, const i64* indptr, u64 seed, u64* at) {
  if (range) {
    count = (u64)(range[1] - range[0]);
    listed += range[0];
  }
  for (u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x; r < count; r += (u64)gridDim.x * blockDim.x) {
    const Row row = row_of(indptr, listed, r);
    u64* own = at + r * k;
    Pair pair = {0, 0};
    for (u64 c = 0; c < k; ++c) {
      if (row.size <= k) {
        own[c] = c < row.size ? row.begin + c : ~0ull;
        continue;
      }
      if (!(c & 1)) pair = random_pair(c >> 1, 0, first + r, seed);
      const u64 last = row.size - k + c, place = row.begin + below(c & 1 ? pair.odd : pair.even, last + 1);
      u64 to = c;
      while (to > 0 && own[to - 1] > place) --to;
      const bool met = to > 0 && own[to - 1] == place;  // then `last` is drawn instead, which is above all others
      for (u64 s = c; !met && s > to; --s) own[s] = own[s - 1];
      own[met ? c : to] = met ? row.begin + last : place;
    }
  }
}

// A thread takes one draw.
extern "C" __global__ void __launch_bounds__(256)
    with_replacement(u64 count, const i64* range, u64 k, u64 first, const i64* listed, const i64* indptr, u64 seed, u64* at) {
  if (range) {
    count = (u64)(range[1] - range[0]);
    listed += range[0];
  }
  for (u64 slot = (u64)blockIdx.x * blockDim.x + threadIdx.x; slot < count * k; slot += (u64)gridDim.x * blockDim.x) {
    const u64 r = slot / k;
    const Row row = row_of(indptr, listed, r);
    at[slot] = row.size ? row.begin + below(random_number(slot % k, 0, first + r, seed), row.size) : ~0ull;
  }
}

}  // namespace szc
