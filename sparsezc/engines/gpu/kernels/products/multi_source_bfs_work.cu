// The reads that one step of many searches would need, counted before the host divides searches into push and pull.
//
// Who calls: engines/gpu/products/multi_source_bfs.py. All memory on the device. What a warp does: it takes 32
// vertices, one a lane; `totals` (zeros on entry) are those of Reads (multi_source_bfs.cuh). `push_indptr` and
// `pull_indptr` are the offsets of the rows to push and to pull; without `push_indptr` a row counts as one entry. The
// active searches are the bits of a, b, c, d.
#include "multi_source_bfs.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const i64* push_indptr, u64 nrows, const i64* pull_indptr, const u32* x, const u32* mask, u32 flip, u64 width,
           u64 a, u64 b, u64 c, u64 d, u64* totals) {
  const Panel p = {nullptr, x, mask, flip, width, given(a, b, c, d), nullptr};
  const u32 lane = lane_id();
  const u64 most = size > nrows ? size : nrows, warps = (u64)gridDim.x * blockDim.x / 32;
  Reads reads = {};
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * word < most; word += warps) {
    const u64 i = 32 * word + lane;
    Bits bits = {};
    u64 entries = 0;
    if (i < size) bits = p.frontier(i);
    if (bits.any()) entries = push_indptr ? (u64)(push_indptr[i + 1] - push_indptr[i]) : 1;
    reads.push(bits, entries);
    bool wanted = false;
    if (pull_indptr && i < nrows)
      for (u32 w = 0; w < WORDS; ++w) wanted |= p.wanted(i, w) != 0;
    if (wanted) reads.pull((u64)(pull_indptr[i + 1] - pull_indptr[i]));
  }
  reads.add_to(totals);
}

}  // namespace szc
