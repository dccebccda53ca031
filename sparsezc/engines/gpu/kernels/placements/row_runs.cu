// Gathered runs: the entries of each wanted row that has any, in the order in which they are gathered.
//
// Who calls: engines/gpu/placements/row_runs.py. All memory on the device, except the list, which is written to host
// memory. `wanted` are presence words of rows, each flipped by `flip`; a warp takes a word of rows at a time. `entries`
// and `runs` count the wanted entries and runs before each word of rows, and in all; `entries_before` and `runs_before`
// are the counts before the first row of list_runs.
//
// The prelude supplies Bound: i32, or i64 where ids take 8 bytes.
#include "warp.cuh"

namespace szc {

struct Run {
  Bound begin, end;
};

__device__ __forceinline__ u64 wanted_of(u64 nrows, const i64* indptr, u32 asked, u64 row) {
  return row < nrows && has_bit(asked, lane_id()) ? (u64)(indptr[row + 1] - indptr[row]) : 0;
}

// count_runs: entries[w + 1] and runs[w + 1] are the counts of wanted entries and runs in word w; entries[0] and
// runs[0] are 0.
extern "C" __global__ void __launch_bounds__(256)
    count_runs(u64 nrows, const i64* indptr, const u32* wanted, u32 flip, i64* entries, i64* runs) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; 32 * word < nrows; word += warps) {
    const u32 asked = wanted[word] ^ flip;
    u64 sum = 0;
    u32 some = 0;
    if (asked) {
      const u64 mine = wanted_of(nrows, indptr, asked, 32 * word + lane_id());
      sum = add_lanes(mine);
      some = __ballot_sync(ALL, mine != 0);
    }
    if (lane_id()) continue;
    entries[word + 1] = (i64)sum;
    runs[word + 1] = (i64)__popc(some);
    if (word == 0) entries[0] = runs[0] = 0;
  }
}

// runs_before: the numbers of wanted entries (before[k]) and runs (before[count + k]) before each row of a list. A warp
// takes a row at a time; for a row that begins a word, which may be the one after the last row, it reads no offsets.
extern "C" __global__ void __launch_bounds__(256)
    runs_before(u64 nrows, const i64* indptr, const u32* wanted, u32 flip, const i64* entries, const i64* runs, u64 count,
                const i64* row, i64* before) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 k = ((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; k < count; k += warps) {
    const u64 word = (u64)row[k] >> 5;
    const u32 bits = (u32)row[k] & 31u;
    const u32 asked = bits ? (wanted[word] ^ flip) & bit_range(0, bits) : 0;
    const u64 mine = wanted_of(nrows, indptr, asked, 32 * word + lane_id());
    const u64 sum = add_lanes(mine);
    const u32 some = __ballot_sync(ALL, mine != 0);
    if (lane_id()) continue;
    before[k] = entries[word] + (i64)sum;
    before[count + k] = runs[word] + (i64)__popc(some);
  }
}

// list_runs: for rows first .. end-1; entries_before and runs_before count those before row `first`. Wanted rows of
// their words outside this range do not count: an earlier turn of the gather may have written the words that mark them.
// `offsets` (unless null): the start of each row of these words of rows once gathered, from `start` on, and the last
// row's end; `list` (unless null): the position of each run in host memory, counted from entry `base`.
extern "C" __global__ void __launch_bounds__(256)
    list_runs(u64 nrows, const i64* indptr, const u32* wanted, u32 flip, const i64* entries, const i64* runs, u64 first, u64 end,
              i64 entries_before, i64 runs_before, i64 start, i64* offsets, i64 base, Run* list) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), first_word = first >> 5, end_word = (end + 31) >> 5;
  for (u64 word = first_word + (((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5); word < end_word; word += warps) {
    const u64 row = 32 * word + lane_id();
    const u64 mine = row >= first && row < end ? wanted_of(nrows, indptr, wanted[word] ^ flip, row) : 0;
    u64 upto = mine;
    for (int d = 1; d < 32; d <<= 1) {
      const u64 left = __shfl_up_sync(ALL, upto, d);
      if ((int)lane_id() >= d) upto += left;
    }
    if (offsets) {
      const i64 before = entries[word] - entries_before, end_of_row = start + (before < 0 ? 0 : before) + (i64)upto;
      if (row <= nrows) offsets[row - 32 * first_word] = end_of_row - (i64)mine;
      if (lane_id() == 31 && row < nrows && word + 1 == end_word) offsets[row + 1 - 32 * first_word] = end_of_row;
    }
    const u32 some = __ballot_sync(ALL, mine != 0);
    if (list && mine) {
      const i64 before = runs[word] - runs_before, k = (before < 0 ? 0 : before) + (i64)__popc(some & (bit(lane_id()) - 1));
      list[k] = Run{(Bound)(indptr[row] - base), (Bound)(indptr[row + 1] - base)};
    }
  }
}

}  // namespace szc
