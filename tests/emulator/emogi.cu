// emogi.cu -- the three ways to read a CSR's rows from host memory that EMOGI compares (Min et al., VLDB 2021, sections
// 3.2 and 4.2), alone: sums[row] is the sum of the row's ids. Tests count the requests of each pattern.
//
// Who calls: test_emogi.py and the resource gate. The prelude supplies Id, the type of an id. All arrays are in device
// memory but `indices`, which begins at a multiple of 128 bytes.
#include "portability.cuh"

namespace szc {

__device__ __forceinline__ u64 thread_index() { return blockIdx.x * (u64)blockDim.x + threadIdx.x; }

__device__ __forceinline__ void write_sum(u64 row, u64 sum, u64* sums) {
  for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if ((threadIdx.x & 31u) == 0) sums[row] = sum;
}

// Naive: one thread a row. Neighbouring lanes read far apart, so each load is a request of its own.
extern "C" __global__ void naive(u64 nrows, const i64* indptr, const Id* indices, u64* sums) {
  const u64 row = thread_index();
  if (row >= nrows) return;
  u64 sum = 0;
  for (i64 at = indptr[row]; at < indptr[row + 1]; ++at) sum += (u64)load_host(indices + at, SITE_INDICES);
  sums[row] = sum;
}

// Merged: one warp a row, from the row's first entry. Neighbouring lanes read neighbours, but across lines.
extern "C" __global__ void merged(u64 nrows, const i64* indptr, const Id* indices, u64* sums) {
  const u64 row = thread_index() >> 5;
  if (row >= nrows) return;
  u64 sum = 0;
  for (i64 at = indptr[row] + (threadIdx.x & 31u); at < indptr[row + 1]; at += 32)
    sum += (u64)load_host(indices + at, SITE_INDICES);
  write_sum(row, sum, sums);
}

// Merged and aligned: the warp starts at the 128-byte line in which the row begins; lanes before the row do not load.
extern "C" __global__ void merged_aligned(u64 nrows, const i64* indptr, const Id* indices, u64* sums) {
  const u64 row = thread_index() >> 5;
  if (row >= nrows) return;
  constexpr i64 LINE = 128 / sizeof(Id);
  const i64 begin = indptr[row];
  u64 sum = 0;
  for (i64 at = (begin & ~(LINE - 1)) + (threadIdx.x & 31u); at < indptr[row + 1]; at += 32)
    if (at >= begin) sum += (u64)load_host(indices + at, SITE_INDICES);
  write_sum(row, sum, sums);
}

}  // namespace szc
