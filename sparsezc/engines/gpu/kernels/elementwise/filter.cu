// Compaction: the second half of select, which moves the entries whose bits are set and computes the rows' new offsets;
// and a gather and a scatter.
//
// Who calls: engines/gpu/elementwise/matrix_index.py (gather), transpose.py (place) and matrix_map.py (the rest, with `before`: for each 32
// entries, how many are kept before them). The prelude supplies Id and A. `moved` takes the ids that are kept, and
// `moved_values` the values; it is null where the matrix is iso-valued.
#include "kept.cuh"

namespace szc {

extern "C" __global__ void move(u64 nvals, const u32* bits, const i64* before, const Id* indices, const A* values, Id* moved,
                                A* moved_values) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < nvals; at += (u64)gridDim.x * blockDim.x) {
    if (!present(bits, at)) continue;
    const u64 to = kept_before(bits, before, 0, at);
    moved[to] = load_host(indices + at, 0);
    if (moved_values) moved_values[to] = load_host(values + at, 1);
  }
}

extern "C" __global__ void offsets(u64 nrows, const i64* indptr, const u32* bits, const i64* before, i64* moved) {
  for (u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x; row <= nrows; row += (u64)gridDim.x * blockDim.x)
    moved[row] = (i64)kept_before(bits, before, 0, (u64)indptr[row]);
}

// out[k] = values[at[k]], for any type of A's size.
extern "C" __global__ void gather(u64 count, const u64* at, const A* values, A* out) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    out[k] = load_host(values + at[k], 1);
}

// out[to[k]] = values[k], for distinct positions; `out` may be in host memory.
extern "C" __global__ void place(u64 count, const u64* to, const A* values, A* out) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    out[to[k]] = values[k];
}

}  // namespace szc
