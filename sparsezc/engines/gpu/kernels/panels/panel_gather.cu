// A vector or panel made of another's entries, by arithmetic on positions; and entries written into another.
//
// Who calls: engines/gpu/elementwise/panel_parts.py. All memory on the device. Entry `at` of the smaller object is at
// row at / width and column at % width; in the larger one it is at base + row * row_step + column * column_step, with
// `rows` at rows[row] instead of row. What a thread does: it moves one entry; a warp takes a presence word. `gather`
// writes all of the smaller object, `put` those entries of the larger object that correspond to the smaller one's.
//
// `u_bits`, `out_bits`: presence words of both.
//
// The prelude supplies T, the type of both.
#include "warp.cuh"

namespace szc {

struct Places {
  u64 width, base, row_step, column_step;
  const i64* rows;  // null: they are in order

  __device__ __forceinline__ u64 of(u64 at) const {
    const u64 row = at / width;
    return base + (rows ? (u64)rows[row] : row) * row_step + (at - row * width) * column_step;
  }
};

extern "C" __global__ void __launch_bounds__(256)
    gather(u64 size, const T* u, const u32* u_bits, u64 width, u64 base, u64 row_step, u64 column_step, const i64* rows, T* out, u32* out_bits) {
  const Places places = {width, base, row_step, column_step, rows};
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at - lane_id() < size; at += (u64)gridDim.x * blockDim.x) {
    const u64 from = at < size ? places.of(at) : 0;
    const bool has = at < size && present(u_bits, from);
    if (has) out[at] = u[from];
    const u32 found = __ballot_sync(ALL, has);
    if (lane_id() == 0) out_bits[at >> 5] = found;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    put(u64 size, const T* u, const u32* u_bits, u64 width, u64 base, u64 row_step, u64 column_step, T* out, u32* out_bits) {
  const Places places = {width, base, row_step, column_step, nullptr};
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += (u64)gridDim.x * blockDim.x) {
    const u64 to = places.of(at);
    const bool has = present(u_bits, at);
    if (has) out[to] = u[at];
    const u32 mine = bit((u32)to & 31u);
    if (((((volatile u32*)out_bits)[to >> 5] & mine) != 0) == has) continue;
    if (has) atomicOr(&out_bits[to >> 5], mine);
    else atomicAnd(&out_bits[to >> 5], ~mine);
  }
}

}  // namespace szc
