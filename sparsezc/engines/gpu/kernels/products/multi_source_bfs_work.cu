// The reads that one step of many searches would need, counted before searches are divided into push and pull.
//
// Who calls: engines/gpu/products/multi_source_bfs.py. All memory on the device. What a warp does: it takes 32
// vertices, one a lane; then lane i adds up the rows that searches i, 32 + i ... would push. totals (zeros on entry):
// the entries of the rows in any frontier; the rows that a search may still reach, the entries in the first 32 of each,
// and all their entries; then, for each search, the entries of the rows in its frontier. `push_indptr` and
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
  u64 n[4] = {0, 0, 0, 0}, own[2 * WORDS] = {};
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * word < most; word += warps) {
    const u64 i = 32 * word + lane;
    Bits bits = {};
    u64 entries = 0;
    if (i < size) bits = p.frontier(i);
    if (bits.any()) entries = push_indptr ? (u64)(push_indptr[i + 1] - push_indptr[i]) : 1;
    n[0] += entries;
    for (u32 left = __ballot_sync(ALL, entries != 0); left; left &= left - 1) {
      const int t = __ffs((int)left) - 1;
      const u64 weight = __shfl_sync(ALL, entries, t);
      for (u32 w = 0; w < WORDS; ++w) {
        const u64 of = __shfl_sync(ALL, bits.word[w], t);
        own[2 * w] += (of >> lane) & 1 ? weight : 0;
        own[2 * w + 1] += (of >> (32 + lane)) & 1 ? weight : 0;
      }
    }
    bool wanted = false;
    if (pull_indptr && i < nrows)
      for (u32 w = 0; w < WORDS; ++w) wanted |= p.wanted(i, w) != 0;
    if (wanted) {
      const u64 row = (u64)(pull_indptr[i + 1] - pull_indptr[i]);
      ++n[1];
      n[2] += row < 32 ? row : 32;
      n[3] += row;
    }
  }
  for (u32 k = 0; k < 4; ++k) add_lanes(n[k], totals + k);
  for (u32 k = 0; k < 2 * WORDS; ++k)
    if (own[k]) atomicAdd(&totals[4 + 32 * k + lane], own[k]);
}

}  // namespace szc
