// Rows whose columns have labels: the label that scores most in each row, or what each row has within one label.
//
// Who calls: engines/gpu/products/labels.py, which lists the rows by their lengths. Where things lie: `indices` and `values` in
// host memory (zero-copy) or on the device, all else on the device. A warp or a block takes a row and adds what its entries weigh to
// sums by label in a hash table: in shared memory or, for rows that have too many entries for that, in device memory,
// where each block has a table of its own. Lanes that read the same label add once where entries count as one each. Then each
// thread scores the labels in its part of the table: sum - scale * shares[row] * totals[label]. Sums do not depend on timing where weights are whole numbers.
// Source: S. Sahu, GVE-Louvain, 2023, doi:10.48550/arXiv.2312.04876 (a table a row; on GPUs: M. Naim, F. Manne, M. Halappanavar,
// A. Tumeo, IPDPS 2017, doi:10.1109/IPDPS.2017.16).
//
// The prelude supplies Id, A (types of ids and values), Key (u32 or u64, of labels); READS_A, ISO_A; BLOCKS: a block takes a row, else
// a warp; GLOBAL: its table is in device memory; SLOTS of a block's table; WITHIN, PENALTY: whether these are given; SUM:
// whether sums within one label are wanted.
#include "operands.cuh"
#include "hash_table.cuh"

namespace szc {

struct Choice {
  double score;
  u64 label;
};

// The choice of all threads of a group; of equal scores the row's own label, where it stays, or else the smallest.
struct Rule {
  u64 own;
  bool stays;

  __device__ __forceinline__ bool beats(const Choice& a, const Choice& b) const {
    if (a.score > b.score) return true;
    if (!(a.score == b.score)) return false;
    if (stays && (a.label == own || b.label == own)) return a.label == own && b.label != own;
    return a.label < b.label;
  }
};

__device__ __forceinline__ Choice best_of_warp(const Rule& rule, Choice mine) {
  for (int d = 16; d; d >>= 1) {
    const Choice other = {__shfl_xor_sync(ALL, mine.score, d), __shfl_xor_sync(ALL, mine.label, d)};
    if (rule.beats(other, mine)) mine = other;
  }
  return mine;
}

// What the labels of a row add up to.
struct Sums {
  Table table;
  double* sums;

  // All of the group call.
  __device__ __forceinline__ void clear(const Group& g, u64 entries, u32 most) {
    table.clear(g, 2 * entries, most);
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) sums[slot] = 0.0;
    g.sync();
  }

  // The lanes of a warp that have an entry call together.
  __device__ __forceinline__ void add(Key label, double weight) {
    bool fresh;
    if (READS_A) {
      atomicAdd(&sums[table.insert(label, fresh)], weight);
      return;
    }
    const u32 same = __match_any_sync(__activemask(), label);
    if ((u32)__ffs((int)same) - 1 == lane_id()) atomicAdd(&sums[table.insert(label, fresh)], (double)__popc(same));
  }

  // What was added by other threads may not be in this one's cache.
  __device__ __forceinline__ Key key(u32 slot) const { return *(volatile Key*)(table.keys + slot); }
  __device__ __forceinline__ double sum(u32 slot) const { return *(volatile double*)(sums + slot); }
};

struct Operands {
  Matrix<Id, A> a;
  const i64* label;
  const i64* within;
  const double* shares;
  const double* totals;
  double scale;

  // Calls visit(label, weight) for the entries of a row that count; lanes that have one call together.
  template <class Visit> __device__ __forceinline__ void each_entry(const Group& g, u64 row, Visit visit) const {
    const u64 from = (u64)a.indptr[row], to = (u64)a.indptr[row + 1];
    const i64 group = WITHIN ? within[row] : 0;
    for (u64 at = (from & ~(u64)31) + g.rank; at < to; at += g.size) {
      if (at < from) continue;
      const u64 col = (u64)load_host(a.ids + at, 0);
      if (col != row && (!WITHIN || within[col] == group)) visit(label[col], READS_A ? (double)a.template value<READS_A, ISO_A>(at) : 1.0);
    }
  }

  // Rounded after each step, as on every engine.
  __device__ __forceinline__ double score(double sum, u64 row, u64 label, bool own) const {
    if (!PENALTY) return sum;
    const double share = multiply_rounded(scale, shares[row]);
    return subtract_rounded(sum, multiply_rounded(share, own ? subtract_rounded(totals[label], shares[row]) : totals[label]));
  }
};

// The best label of a row, by a group; each thread returns the best of its part of the table.
__device__ __forceinline__ Choice choose(const Operands& o, const Group& g, Sums table, u64 row, const Rule& rule, u64 entries, u32 most) {
  table.clear(g, entries, most);
  bool fresh;
  if (g.rank == 0) table.table.insert((Key)rule.own, fresh);  // staying is a choice
  o.each_entry(g, row, [&](i64 label, double weight) { table.add((Key)label, weight); });
  g.sync();
  Choice mine = {__longlong_as_double(0xfff0000000000000ll), rule.own};  // minus infinity
  for (u32 slot = g.rank; slot < table.table.slots; slot += g.size) {
    const Key key = table.key(slot);
    if (key == EMPTY) continue;
    const Choice other = {o.score(table.sum(slot), row, (u64)key, key == (Key)rule.own), (u64)key};
    if (rule.beats(other, mine)) mine = other;
  }
  return best_of_warp(rule, mine);
}

// What a row has within a label, by a group; valid in every lane for that lane's warp.
__device__ __forceinline__ double add_within(const Operands& o, const Group& g, u64 row, i64 wanted) {
  double sum = 0.0;
  o.each_entry(g, row, [&](i64 label, double weight) {
    if (label == wanted) sum += weight;
  });
  return add_lanes(sum);
}

// `rows`: count of them. `own`: the labels of rows. `keys`, `sums`: a table of `slots` for each block, where GLOBAL. `best`, `weight`: of each
// of the rows, as SUM says which.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 count, const u64* rows, const i64* indptr, const Id* indices, const A* values, const i64* label, const i64* own,
           const i64* within, const double* shares, const double* totals, double scale, u32 stays, Key* keys, double* sums,
           u32 slots, u64* counter, i64* best, double* weight) {
  __shared__ Key near_keys[SUM || GLOBAL ? 1 : SLOTS];
  __shared__ double near_sums[SUM || GLOBAL ? 1 : SLOTS];
  __shared__ Choice choices[8];
  __shared__ u64 taken;
  const u32 warp = threadIdx.x / 32, part = BLOCKS ? 0 : SLOTS / 8 * warp;
  const Operands o = {{indptr, indices, values}, label, within, shares, totals, scale};
  const Group g = {BLOCKS ? threadIdx.x : lane_id(), BLOCKS ? 256u : 32u};
  const u64 first = (u64)slots * blockIdx.x;
  Sums table = {{GLOBAL ? keys + first : near_keys + part, 0}, GLOBAL ? sums + first : near_sums + part};
  for (;;) {
    const u64 k = BLOCKS ? take_together(counter, &taken) : take(counter, 1);
    if (k >= count) return;
    const u64 row = rows[k], mine = (u64)own[row];
    const Rule rule = {mine, stays != 0};
    Choice choice;
    if (SUM) choice = {add_within(o, g, row, (i64)mine), 0};
    else choice = choose(o, g, table, row, rule, (u64)(indptr[row + 1] - indptr[row]), GLOBAL ? slots : BLOCKS ? SLOTS : SLOTS / 8);
    if (BLOCKS) {
      if (lane_id() == 0) choices[warp] = choice;
      __syncthreads();
      for (u32 w = 0; w < 8; ++w) {
        const Choice other = choices[w];
        if (w == warp) continue;
        if (SUM) choice.score += other.score;
        else if (rule.beats(other, choice)) choice = other;
      }
    }
    if (g.rank == 0) {
      if (SUM) weight[k] = choice.score;
      else best[k] = (i64)choice.label;
    }
    g.sync();
  }
}

}  // namespace szc
