// The steps of a label turn besides the choice: list the rows that have it, move rows, and activate their neighbours.
//
// Who calls: engines/gpu/products/label_moves.py. Memory: `indices` and `values` in host memory (zero-copy) or on the
// device, all else on the device. `list_turn` lists the active rows of the turn by length class; `move_rows` writes the
// new labels of the rows that move, and lists these; `wake` activates their neighbours; `join_cuts` updates the weight
// between each label and the rest of its group. Totals are sums of whole numbers, which no order of atomics changes.
//
// The prelude supplies what label_rows.cuh needs, and WARP_MOST, BLOCK_MOST: the most entries of a row for a warp's
// table and for a block's.
#include "label_rows.cuh"

namespace szc {

constexpr u64 LONG_ROW = 2048;  // entries; a block, not a warp, reads a longer row again

// Calls visit(i) for all i below n; lanes of a warp call together, with i beyond n in the last.
template <class Visit> __device__ __forceinline__ void each_below(u64 n, Visit visit) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i - lane_id() < n; i += stride) visit(i);
}

// A place for each lane that wants one, after those taken from the counter so far. All lanes of a warp call.
__device__ __forceinline__ u64 place_of(bool want, u64* counter) {
  const u32 all = __ballot_sync(ALL, want);
  if (!all) return 0;
  u64 before = 0;
  if (lane_id() == 0) before = atomicAdd(counter, (u64)__popc(all));
  return __shfl_sync(ALL, before, 0) + (u64)__popc(all & (bit(lane_id()) - 1));
}

// `listed`, `first`, `counts`: the rows of this turn (label_rows.cuh). `active`: of the n rows; with `clears` reset for
// those that are listed. `given`: the turns of rows; null: turn_of(row, a, b).
extern "C" __global__ void __launch_bounds__(256)
    list_turn(u64 n, const i64* indptr, u8* active, u32 clears, const i64* given, u64 a, u64 b, u32 turn, const u64* first, u64* counts, Key* listed) {
  each_below(n, [&](u64 i) {
    const bool mine = i < n && active[i] && (given ? (u32)given[i] : turn_of(i, a, b)) == turn;
    const u64 length = mine ? (u64)(indptr[i + 1] - indptr[i]) : 0;
    const u32 kind = length <= 8 ? 0 : length <= 32 ? 1 : length <= WARP_MOST ? 2 : length <= BLOCK_MOST ? 3 : 4;
    for (u32 c = 0; c < CLASSES; ++c) {
      const bool want = mine && kind == c;
      const u64 at = place_of(want, counts + c);
      if (want) listed[first[c] + at] = (Key)i;
    }
    if (mine && clears) active[i] = 0;
  });
}

// `best`: the label of each listed row. `shares`, `totals`: of rows, and their sums by label. `moved`: the rows that
// move, in `capacity` entries: from the front those that a warp reads again, from the end the longer ones. `alone`, with
// JOINS: rows that have not moved and labels that no row has joined.
extern "C" __global__ void __launch_bounds__(256)
    move_rows(const Key* listed, const Key* best, const u64* first, u64* counts, const i64* indptr, const double* shares, Key* label,
              double* totals, u8* alone, Key* moved, u64 capacity) {
  for (u32 c = 0; c < CLASSES; ++c) {
    each_below(counts[c], [&](u64 k) {
      const bool mine = k < counts[c];
      const u64 row = mine ? (u64)listed[first[c] + k] : 0;
      const Key to = mine ? best[first[c] + k] : 0, from = mine ? label[row] : 0;
      const bool moves = mine && to != from, longer = moves && (u64)(indptr[row + 1] - indptr[row]) > LONG_ROW;
      if (moves) {
        if (PENALTY) {
          atomicAdd(totals + from, -shares[row]);
          atomicAdd(totals + to, shares[row]);
        }
        label[row] = to;
        if (JOINS) alone[row] = alone[to] = 0;
      }
      const u64 front = place_of(moves && !longer, counts + SHORT), back = place_of(longer, counts + LONG);
      if (moves) moved[longer ? capacity - 1 - back : front] = (Key)row;
    });
  }
}

// Calls visit(row, group) for the rows that moved. All threads of a block call together for the long ones.
template <class Visit> __device__ __forceinline__ void each_moved(const Key* moved, u64 capacity, const u64* counts, Visit visit) {
  for (u64 k = blockIdx.x; k < counts[LONG]; k += gridDim.x) visit((u64)moved[capacity - 1 - k], Group{threadIdx.x, 256u});
  const u64 warps = (u64)gridDim.x * 8;
  for (u64 k = (u64)blockIdx.x * 8 + threadIdx.x / 32; k < counts[SHORT]; k += warps) visit((u64)moved[k], Group{lane_id(), 32u});
}

// wake: activates the neighbours of the rows that moved; if these are more than `many`, all n rows.
extern "C" __global__ void __launch_bounds__(256)
    wake(u64 n, u64 many, const Key* moved, u64 capacity, const u64* counts, const i64* indptr, const Id* indices, const A* values, u8* active) {
  const Operands o = {{indptr, indices, values}, nullptr, nullptr, nullptr, nullptr, 0.0, {}};
  if (counts[SHORT] + counts[LONG] > many) {
    each_below(n, [&](u64 i) {
      if (i < n) active[i] = 1;
    });
    return;
  }
  each_moved(moved, capacity, counts, [&](u64 row, const Group& g) {
    const u64 from = (u64)indptr[row], to = (u64)indptr[row + 1];
    for (u64 at = (from & ~(u64)31) + g.rank; at < to; at += g.size) {
      if (at < from) continue;
      const u64 col = (u64)load_host(indices + at, 0);
      if (col != row && !active[col]) active[col] = 1;
    }
  });
}

// join_cuts: updates cut[C] of labels C that rows have joined: adds each row's weight to its group (`inside`; groups:
// `within`), less twice its weight to rows of C, or once to those that joined in this turn, which subtract it, too.
extern "C" __global__ void __launch_bounds__(256)
    join_cuts(const Key* moved, u64 capacity, const u64* counts, const i64* indptr, const Id* indices, const A* values, const Key* label,
              const Key* within, const double* inside, u64 a, u64 b, u32 turn, double* cut) {
  const Operands o = {{indptr, indices, values}, label, within, nullptr, nullptr, 0.0, {}};
  each_moved(moved, capacity, counts, [&](u64 row, const Group& g) {
    const Key joined = label[row];
    double sum = 0.0;
    struct Neighbour {
      Key vertex, label;
    };
    o.each_column(g, row, [&](u64 col) { return Neighbour{(Key)col, label[col]}; }, [&](const Neighbour& other, Sum weight) {
      if (other.label != joined) return;
      const bool came = other.label != other.vertex && turn_of((u64)other.vertex, a, b) == turn;  // in this turn, as a row has only one
      sum += (came ? 1.0 : 2.0) * (double)weight;
    });
    sum = add_lanes(sum);
    if (lane_id() == 0) atomicAdd(cut + joined, (g.rank == 0 ? inside[row] : 0.0) - sum);
  });
}

}  // namespace szc
