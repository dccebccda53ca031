// Lists of rows that kernels take rows from and add rows to: a warp takes a short row, a block a long one.
//
// The prelude supplies Key, the type of listed rows.
#pragma once
#include "hash_table.cuh"

namespace szc {

// Listed rows: `counts[0]` short ones from the front, and `counts[1]` long ones from the end of the `capacity` entries.
struct Listed {
  Key* rows;
  u64 capacity;
  u64* counts;

  // Adds a row. The lanes of a warp that have a row call together.
  __device__ __forceinline__ void add(u64 row, bool is_long) const {
    if (is_long) rows[capacity - 1 - place(counts + 1)] = (Key)row;
    else rows[place(counts)] = (Key)row;
  }

  __device__ __forceinline__ u64 place(u64* counter) const {
    const u32 here = __activemask(), first = (u32)__ffs((int)here) - 1;
    u64 at = 0;
    if (lane_id() == first) at = atomicAdd(counter, (u64)__popc(here));
    return __shfl_sync(here, at, (int)first) + (u64)__popc(here & (bit(lane_id()) - 1));
  }

  // Calls visit(row, group) for each row; all threads of a block call together for the long ones.
  template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
    for (u64 k = blockIdx.x; k < counts[1]; k += gridDim.x) visit((u64)rows[capacity - 1 - k], Group{threadIdx.x, 256u});
    const u64 warps = (u64)gridDim.x * 8;
    for (u64 k = (u64)blockIdx.x * 8 + threadIdx.x / 32; k < counts[0]; k += warps) visit((u64)rows[k], Group{lane_id(), 32u});
  }
};

}  // namespace szc
