// The k entries with the smallest keys in each piece of a row; of equal keys the first.
//
// Who calls: engines/gpu/sampling/selectk.py. Memory: `values` in host memory (zero-copy) or on the device, all else on
// the device. A key is an entry's value in the requested order, or a random number by its weight; ids are not read.
// What a warp does: it takes a piece, at most `piece_length` entries of a row, and streams their values, 32 entries
// that begin at a multiple of 32 at a time. Entries whose keys are below the k-th smallest so far are added to a list
// in shared memory, which is sorted and cut to k when it is full. Piece p: row `row` of the result, entries begin ..
// end-1, of a row that begins at `row_begin`. The entries that are found are at p * k in `keys` and `at`, by position;
// ~0 in `at` where there are fewer. `bad` is set where a weight is negative, NaN or infinite.
//
// The prelude supplies A, the type of values; ISO; HOW (0: largest first, 1: smallest first, 2: by weight, 3: with
// equal probability); and K, at least `k`, a power of two from 32 on.
#include "philox.cuh"
#include "warp.cuh"

namespace szc {

constexpr u32 CAPACITY = 2 * K;  // entries that a warp's list holds
constexpr u64 NONE = ~0ull;

// Bits whose unsigned order is that of the values.
__device__ __forceinline__ u64 ordered(double v) {
  const u64 bits = (u64)__double_as_longlong(v == 0 ? 0.0 : v);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ __forceinline__ u64 ordered(float v) { return ordered((double)v); }
template <class T> __device__ __forceinline__ u64 ordered(T v) { return T(-1) < T(0) ? (u64)(i64)v ^ 1ull << 63 : (u64)v; }

// The key of an entry; `counts`: whether the entry takes part; `wrong`: set by a weight that is not allowed.
__device__ __forceinline__ u64 key_of(A value, u64 row, u64 draw, u64 seed, bool& counts, bool& wrong) {
  counts = true;
  if (HOW == 3) return random_number(draw, 1, row, seed);
  if (HOW == 2) {
    const double w = (double)value;
    wrong |= !(w >= 0) || w - w != 0;
    counts = w > 0;
    return counts ? (u64)__double_as_longlong(exponential(random_number(draw, 2, row, seed)) / w) : NONE;
  }
  return value != value ? NONE : HOW == 0 ? ~ordered(value) : ordered(value);
}

struct List {
  u64* keys;
  u64* at;

  // Whether entry a of the list precedes entry b.
  __device__ __forceinline__ bool before(u32 a, u32 b, bool by_place) const {
    return (!by_place && keys[a] != keys[b]) ? keys[a] < keys[b] : at[a] < at[b];
  }
  // Sorts all CAPACITY entries, by a warp (bitonic): by key and then position, or by position alone.
  __device__ __forceinline__ void sort(bool by_place) const {
    for (u32 size = 2; size <= CAPACITY; size <<= 1)
      for (u32 step = size >> 1; step; step >>= 1) {
        __syncwarp();
        for (u32 t = lane_id(); t < CAPACITY / 2; t += 32) {
          const u32 a = 2 * t - (t & (step - 1)), b = a + step;
          if (before(b, a, by_place) == !(a & size)) {
            const u64 key = keys[a], place = at[a];
            keys[a] = keys[b];
            at[a] = at[b];
            keys[b] = key;
            at[b] = place;
          }
        }
      }
    __syncwarp();
  }
  // Empties the entries from number `first` on.
  __device__ __forceinline__ void clear(u32 first) const {
    __syncwarp();
    for (u32 t = first + lane_id(); t < CAPACITY; t += 32) keys[t] = at[t] = NONE;
    __syncwarp();
  }
};

extern "C" __global__ void __launch_bounds__(256)
    smallest_keys(u64 count, u64 k, const u64* row, const u64* begin, const u64* end, const u64* row_begin, const A* values,
                  u64 seed, u64* keys, u64* at, u32* bad) {
  __shared__ u64 all_keys[8][CAPACITY], all_places[8][CAPACITY];
  const List list = {all_keys[threadIdx.x >> 5], all_places[threadIdx.x >> 5]};
  const u64 warps = (u64)gridDim.x * blockDim.x / 32;
  const u32 lane = lane_id();
  for (u64 p = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; p < count; p += warps) {
    const u64 stop = end[p];
    u32 held = 0;
    u64 worst = NONE;
    bool full = false, wrong = false;  // full: k entries are known, and worst is the last of their keys
    list.clear(0);
    for (u64 base = begin[p] & ~(u64)31; base < stop; base += 32) {
      const u64 entry = base + lane;
      const bool active = entry >= begin[p] && entry < stop;
      bool counts = false;
      u64 key = NONE;
      if (active) {
        const A value = HOW == 3 ? A() : ISO ? values[0] : load_host(values + entry, 1);
        key = key_of(value, row[p], entry - row_begin[p], seed, counts, wrong);
      }
      const u32 wanted = __ballot_sync(ALL, counts && (!full || key < worst));
      if (has_bit(wanted, lane)) {
        const u32 to = held + (u32)__popc(wanted & (bit(lane) - 1));
        list.keys[to] = key;
        list.at[to] = entry;
      }
      held += (u32)__popc(wanted);
      if (held + 32 > CAPACITY) {
        list.sort(false);
        list.clear((u32)k);
        held = (u32)k;  // the list had more than k: CAPACITY is at least k + 32
        full = true;
        worst = list.keys[k - 1];
      }
    }
    if (wrong) *bad = 1;
    list.sort(false);
    list.clear((u32)k);
    list.sort(true);
    for (u32 c = lane; c < k; c += 32) {
      keys[p * k + c] = list.keys[c];
      at[p * k + c] = list.at[c];
    }
    __syncwarp();
  }
}

// keys_of_entries: the same keys for single entries, for k beyond any list: entry `at` is number `draw` of row `row`.
// `part`: whether the entry takes part.
extern "C" __global__ void __launch_bounds__(256)
    keys_of_entries(u64 count, const u64* row, const u64* at, const u64* draw, const A* values, u64 seed, u64* keys, u8* part,
                    u32* bad) {
  for (u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += (u64)gridDim.x * blockDim.x) {
    bool counts, wrong = false;
    const A value = HOW == 3 ? A() : ISO ? values[0] : load_host(values + at[e], 1);
    keys[e] = key_of(value, row[e], draw[e], seed, counts, wrong);
    part[e] = counts;
    if (wrong) *bad = 1;
  }
}

}  // namespace szc
