// Presence words: 32 entries of a vector packed into a u32. Three small kernels, none of them specialised.
//
// Who calls: engines/gpu/launch.py. All memory lies on the device.
#include "warp.cuh"

namespace szc {

__device__ __forceinline__ void add_lanes(u64 v, u64* total) {
  for (u32 d = 16; d; d >>= 1) v += __shfl_xor_sync(ALL, v, d);
  if (lane_id() == 0 && v) atomicAdd(total, v);
}

// count: how many entries are present; *total is 0 on entry.
extern "C" __global__ void count(u64 nwords, const u32* bits, u64* total) {
  u64 mine = 0;
  for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += (u64)gridDim.x * blockDim.x)
    mine += (u32)__popc(bits[word]);
  add_lanes(mine, total);
}

// work: what a push and a pull would have to read. totals (zeros on entry): frontier rows, their entries, rows that the
// mask lets through, the entries in the first 32 of each, their entries.
extern "C" __global__ void work(u64 size, const i64* push_indptr, const i64* pull_indptr, const u32* frontier, u64 nrows,
                                const u32* mask, u32 flip, u64* totals) {
  u64 n[5] = {0, 0, 0, 0, 0};
  const u64 most = size > nrows ? size : nrows;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < ((most + 31) & ~(u64)31); i += (u64)gridDim.x * blockDim.x) {
    if (i < size && present(frontier, i)) {
      ++n[0];
      n[1] += (u64)(push_indptr[i + 1] - push_indptr[i]);
    }
    if (i < nrows && (!mask || has_bit(mask[i >> 5] ^ flip, (u32)i & 31u))) {
      const u64 entries = (u64)(pull_indptr[i + 1] - pull_indptr[i]);
      ++n[2];
      n[3] += entries < 32 ? entries : 32;
      n[4] += entries;
    }
  }
  for (int k = 0; k < 5; ++k) add_lanes(n[k], totals + k);
}

// mark: sets the bits of a list of entries; `bits` holds zeros on entry.
extern "C" __global__ void mark(u64 count, const u64* index, u32* bits) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    atomicOr(&bits[index[k] >> 5], bit((u32)index[k] & 31u));
}

}  // namespace szc
