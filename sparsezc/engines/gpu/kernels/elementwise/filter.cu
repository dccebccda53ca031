// Compaction: the second half of select, which moves the entries whose bits are set and computes the rows' new offsets;
// and gathers and a scatter of arrays.
//
// Who calls: engines/gpu/runtime/gather_scatter.py (gather, gather_rows, shift_rows, place) and
// engines/gpu/elementwise/filter.py (the rest). `before`: for each 32 entries, the number of entries kept before them.
// `moved` gets the ids that are kept, and `moved_values` their values, null where the matrix is iso-valued. The prelude
// supplies Id and A.
#include "bisect.cuh"
#include "compaction.cuh"

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

// Row k of out = row at[k] of values; rows have `width` elements, read by 2^bits neighbouring threads, so that a row
// takes no more requests than it has lines. `order`: the k in the order in which rows are read; null: ascending.
extern "C" __global__ void gather_rows(u64 count, u64 width, u32 bits, const i64* at, const i64* order, const A* values, A* out) {
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, groups = (u64)gridDim.x * blockDim.x >> bits;
  for (u64 k = thread >> bits; k < count; k += groups) {
    const u64 to = order ? (u64)order[k] : k;
    const A* row = values + (u64)at[to] * width;
    for (u64 j = thread & ((1u << bits) - 1); j < width; j += 1u << bits) out[to * width + j] = load_host(row + j, 1);
  }
}

// out[at + shift[r]] = values[at] for the entries `at` of each row r.
extern "C" __global__ void shift_rows(u64 nvals, u64 nrows, const i64* indptr, const i64* shift, const A* values, A* out) {
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < 32 * words(nvals); at += (u64)gridDim.x * blockDim.x) {
    const u64 row = last_not_above_together(indptr, 0, nrows, at);
    if (at < nvals) out[at + (u64)shift[row]] = load_host(values + at, 1);
  }
}

// out[to[k]] = values[k], for distinct positions; `out` may be in host memory.
extern "C" __global__ void place(u64 count, const u64* to, const A* values, A* out) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    out[to[k]] = values[k];
}

}  // namespace szc
