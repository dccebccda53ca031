// The number of ids that a row of A and a row of B' share, at the mask's entries in rows of A that have few columns:
// C(i, j) = A(i, :) (plus).(pair) B'(j, :).
//
// Who calls: engines/gpu/products/bit_dots.py. All memory on the device; bit_rows.cu made `a_ranks`, `a_hubs`,
// `a_reach` of A, whose rows have no other columns, and `b_ranks`, `b_bits`, `b_hubs` of B'. What a block does: it
// takes a row of A with a chunk of the mask's entries and sets the bits of the row's numbers, whose range is
// a_reach[row], in shared memory. A warp then takes the rows of B' at the columns of these entries, and reads each in
// the shorter of its two forms: the words of its bits in that range, which it compares 32 columns at a time, or the
// list of its numbers. The whole warp reads a long form, 8 lanes a short one.
// Sources: M. Bisson, M. Fatica, High performance exact triangle counting on GPUs, IEEE TPDS 2017,
// doi:10.1109/TPDS.2017.2735405 (bitmaps); A. Azad, A. Buluc, J. Gilbert, IPDPSW 2015, doi:10.1109/IPDPSW.2015.75.
//
// `m_indptr` and `m_ids` are the mask's rows, whose entries are given from `base` on; `allowed` marks the entries that
// count (null: all). `sums` and `bits_of_sums` as in spgemm_masked_dot.cu: this kernel writes those of its rows only.
//
// The prelude supplies MId, the type of the mask's ids, Z, of the sums; WORDS, the most words of a range.
#include "warp.cuh"

namespace szc {

constexpr u32 SLICES = 4;  // slices of 32 words or numbers that a warp requests at once
constexpr u32 SHORT = 32;  // words or numbers; EACH lanes read a row of no more
constexpr u32 EACH = 8;

// A row of B' in the form that is read: n `words` of bits, or n numbers.
struct Half {
  u64 at;
  u32 n;
  bool words;
};

__device__ __forceinline__ u32 matches(const u32* map, bool words, u32 k, u32 v) {
  return words ? (u32)__popc(map[k] & v) : map[v >> 5] >> (v & 31u) & 1u;
}

// The shared ids of a row that the whole warp reads; every lane has the sum.
__device__ __forceinline__ u32 count_long(const u32* map, const u32* from, const Half& b) {
  u32 sum = 0;
  for (u32 base = lane_id(); base - lane_id() < b.n; base += 32 * SLICES) {
    u32 v[SLICES];
#pragma unroll
    for (u32 k = 0; k < SLICES; ++k) v[k] = base + 32 * k < b.n ? from[b.at + base + 32 * k] : 0;
#pragma unroll
    for (u32 k = 0; k < SLICES; ++k)
      if (base + 32 * k < b.n) sum += matches(map, b.words, base + 32 * k, v[k]);
  }
  return add_lanes(sum);
}

// The shared ids of each lane's row of at most SHORT words or numbers.
__device__ __forceinline__ u32 count_short(const u32* map, const u32* ranks, const u32* bits, const Half& mine) {
  u32 sum = 0;
  for (u32 turn = 0; turn < EACH; ++turn) {  // a group of EACH lanes reads the row of one of its lanes
    const u32 owner = (lane_id() & ~(EACH - 1)) + turn, n = __shfl_sync(ALL, mine.n, owner);
    if (!__any_sync(ALL, n != 0)) continue;
    const u64 at = __shfl_sync(ALL, mine.at, owner);
    const bool words = __shfl_sync(ALL, (int)mine.words, owner) != 0;
    const u32* from = words ? bits : ranks;
    u32 found = 0;
    for (u32 k = lane_id() & (EACH - 1); k < n; k += EACH) found += matches(map, words, k, from[at + k]);
    for (u32 d = EACH / 2; d; d >>= 1) found += __shfl_xor_sync(ALL, found, d);
    if (lane_id() == owner) sum = found;
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(const i64* m_indptr, const MId* m_ids, u64 base, const u32* allowed, const i64* a_indptr, const u32* a_ranks,
           const u32* a_hubs, const u32* a_reach, const i64* b_indptr, const u32* b_ranks, const u32* b_bits, const u32* b_hubs,
           u64 nchunks, const u64* long_rows, const u64* long_first, const u32* chunk_slot, u64 chunk, u64* counter, Z* sums,
           u32* bits_of_sums) {
  __shared__ u32 map[WORDS];
  __shared__ u64 taken;
  const u32 lane = lane_id(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (;;) {
    if (threadIdx.x == 0) taken = atomicAdd(counter, 1ull);
    __syncthreads();  // and no thread still reads the last chunk's map
    const u64 c = taken;
    if (c >= nchunks) return;
    const u32 slot = chunk_slot[c];
    const u64 row = long_rows[slot], row_end = (u64)m_indptr[row + 1] - base;
    const u64 begin = (u64)m_indptr[row] - base + (c - long_first[slot]) * chunk;
    const u64 end = row_end - begin < chunk ? row_end : begin + chunk;
    const u64 a = (u64)a_indptr[row];
    const u32 words = (a_reach[row] + 31) / 32, na = a_hubs[row];
    for (u32 k = threadIdx.x; k < WORDS; k += blockDim.x) map[k] = 0;  // beyond the range, too, for numbers in lists
    __syncthreads();
    for (u32 k = threadIdx.x; k < na; k += blockDim.x) {
      const u32 number = a_ranks[a + k];
      atomicOr(map + (number >> 5), bit(number & 31u));
    }
    __syncthreads();
    for (u64 from = (begin & ~(u64)31) + 32 * warp; from < end; from += 32 * warps) {
      const u64 m = from + lane;
      Half mine = {0, 0, false};
      if (m >= begin && m < end && present(allowed, m)) {
        const u64 j = (u64)m_ids[m];
        const u32 h = b_hubs[j];
        mine = {(u64)b_indptr[j], words < h ? words : h, words <= h};
      }
      u32 sum = 0;
      const u32 alone = __ballot_sync(ALL, mine.n > SHORT);
      for (u32 left = alone; left; left &= left - 1) {
        const u32 owner = (u32)__ffs((int)left) - 1;
        const Half b = {__shfl_sync(ALL, mine.at, owner), __shfl_sync(ALL, mine.n, owner), __shfl_sync(ALL, (int)mine.words, owner) != 0};
        const u32 found = count_long(map, b.words ? b_bits : b_ranks, b);
        if (lane == owner) sum = found;
      }
      if (has_bit(alone, lane)) mine.n = 0;
      sum += count_short(map, b_ranks, b_bits, mine);
      if (sum) sums[m] = (Z)sum;
      const u32 found = __ballot_sync(ALL, sum != 0);
      if (lane == 0 && found) atomicOr(bits_of_sums + (from >> 5), found);
    }
    __syncthreads();  // all have read `taken`
  }
}

}  // namespace szc
