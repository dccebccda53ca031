// Rows whose columns have labels: the sums of a row by label in a hash table, the scores of labels, and the best label.
//
// The prelude supplies Id, A (types of ids and values), Key (u32 or u64, of labels in a table), Label (the type of
// stored labels), Sum (u32, where no sum of a row reaches 2^32, or double); READS_A, ISO_A; WITHIN, PENALTY: whether
// `within`, or `shares` and `totals`, are given; LOOPS: entries on the diagonal count; JOINS: whether rows may join a
// label only under the conditions of `Joins`.
#pragma once
#include "operands.cuh"
#include "hash_table.cuh"

namespace szc {

__device__ __forceinline__ double worst() { return __longlong_as_double(0xfff0000000000000ll); }  // minus infinity

// Blocks on a multiprocessor: with labels of 8 bytes 4, whose threads have the registers that they need; 0: as many as
// the tables allow.
constexpr int RESIDENT = sizeof(Key) == 8 ? 4 : 0;

struct Choice {
  double score;
  u64 label;
};

// The rule for the best choice: of equal scores the row's own label, if it `stays`, or else the smallest.
struct Rule {
  u64 own;
  bool stays;

  __device__ __forceinline__ bool beats(const Choice& a, const Choice& b) const {
    if (a.score > b.score) return true;
    if (!(a.score == b.score)) return false;
    if (stays && (a.label == own || b.label == own)) return a.label == own && b.label != own;
    return a.label < b.label;
  }

  // The best choice of each group of `lanes` neighbouring lanes, in all of them.
  __device__ __forceinline__ Choice best(Choice mine, u32 lanes) const {
    for (u32 d = lanes / 2; d; d >>= 1) {
      const Choice other = {__shfl_xor_sync(ALL, mine.score, d), __shfl_xor_sync(ALL, mine.label, d)};
      if (beats(other, mine)) mine = other;
    }
    return mine;
  }
};

// The label turn of a vertex, of eight: its number hashed twice with random multipliers (expr/label_turns.py).
__device__ __forceinline__ u32 turn_of(u64 vertex, u64 a, u64 b) {
  const u64 mixed = vertex * a;
  return (u32)(((mixed ^ (mixed >> 32)) * b) >> 61);
}

// Conditions for a label C that a row joins: the weight between C and the rest of its group is at least scale s (total
// - s), with s the total of C and `total` its group's, and C is not the label of a single vertex that has the same
// turn.
struct Joins {
  const double* cut;    // the weight between each label and the rest of its group
  const double* whole;  // the sums of groups
  const u8* alone;      // labels of one vertex, which has not moved
  u64 a, b;             // the multipliers of turn_of
  u32 turn;
};

// The rows of a label turn, listed by length class: class c from first[c] on, counts[c] of them.
constexpr u32 CLASSES = 5;          // rows of at most 8 entries, of 32, of a warp's table, of a block's, all others
constexpr u32 SHORT = 5, LONG = 6;  // counts of rows that moved: those that a warp reads again, and those for a block
constexpr u32 TAKEN = 8;            // counts from here on: rows taken, by class

struct Operands {
  Matrix<Id, A> a;
  const Label* label;
  const Label* within;
  const double* shares;
  const double* totals;
  double scale;
  Joins joins;

  // Calls visit(read(column), weight) for the entries of a row that count; lanes that have an entry call together. Each
  // thread loads several ids, then reads for all of them: otherwise a long row is a chain of waits.
  template <class Read, class Visit>
  __device__ __forceinline__ void each_column(const Group& g, u64 row, Read read, Visit visit) const {
    constexpr u32 AHEAD = 4;  // ids; with 8, registers do not suffice for four blocks of 256 threads a multiprocessor
    const u64 from = (u64)a.indptr[row], to = (u64)a.indptr[row + 1];
    const Label group = WITHIN ? within[row] : 0;
    for (u64 first = (from & ~(u64)31) + g.rank; first < to; first += AHEAD * g.size) {
      Id cols[AHEAD];
      bool has[AHEAD];
      decltype(read((u64)0)) found[AHEAD];
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) {
        const u64 at = first + k * g.size;
        has[k] = at >= from && at < to;
        cols[k] = has[k] ? load_host(a.ids + at, 0) : Id();
      }
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) has[k] = has[k] && (LOOPS || (u64)cols[k] != row) && (!WITHIN || within[cols[k]] == group);
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k)
        if (has[k]) found[k] = read((u64)cols[k]);
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k)
        if (has[k]) visit(found[k], weight(first + k * g.size));
    }
  }

  __device__ __forceinline__ Sum weight(u64 at) const { return READS_A ? (Sum)a.template value<READS_A, ISO_A>(at) : (Sum)1; }

  // The score of a label, rounded after each operation, as on every engine.
  __device__ __forceinline__ double score(Sum sum, u64 row, u64 label, bool own) const {
    if (!PENALTY) return (double)sum;
    if (JOINS && !own && !joinable(row, label)) return worst();
    const double share = multiply_rounded(scale, shares[row]);
    return subtract_rounded((double)sum, multiply_rounded(share, own ? subtract_rounded(totals[label], shares[row]) : totals[label]));
  }

  __device__ __forceinline__ bool joinable(u64 row, u64 label) const {
    if (joins.alone[label] && turn_of(label, joins.a, joins.b) == joins.turn) return false;
    const double s = totals[label], rest = subtract_rounded(joins.whole[within[row]], s);
    return subtract_rounded(joins.cut[label], multiply_rounded(multiply_rounded(rest, s), scale)) >= 0.0;
  }
};

// The sums of a row by label, in a table in shared memory. Entries whose labels find no slot spill to a list in device
// memory, which is divided by the labels' hashes into parts whose labels fit the table; each part is added to the table
// once the table has been read and cleared. Once the slots of a label are taken all its entries spill, so each label is
// in one table only.
struct Sums {
  static constexpr u32 PROBES = 8, PARTS = 128;  // 128 parts of a table of 9,216 slots: 590,000 labels at a time
  static constexpr u32 COUNTS = 1 + PARTS;       // of `counts`
  Table table;
  Sum* sums;
  Key* spill;      // two lists of `capacity` entries each: those that have spilled, and the same by parts
  Sum* spill_sums;
  u64 capacity;    // 0: the table holds all
  u32* counts;     // in shared memory: the number of entries that have spilled; the ends of the parts
  bool near;       // whether a label may use PROBES slots only, or any

  // Empties the table. All threads of the group call.
  __device__ __forceinline__ void clear(const Group& g, u64 entries, u32 most) {
    table.clear(g, 2 * entries, most);
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) sums[slot] = 0;
    g.sync();
  }

  // Adds an entry. The lanes of a warp that have an entry call together.
  __device__ __forceinline__ void add(Key label, Sum weight) {
    if (READS_A) {
      add_one(label, weight);
      return;
    }
    const u32 same = __match_any_sync(__activemask(), label);
    if ((u32)__ffs((int)same) - 1 == lane_id()) add_one(label, (Sum)__popc(same));
  }

  __device__ __forceinline__ void add_one(Key label, Sum weight) {
    u32 slot;
    bool fresh;
    if (!near) {
      atomicAdd(sums + table.insert(label, fresh), weight);
    } else if (table.insert_near(label, PROBES, slot)) {
      atomicAdd(sums + slot, weight);
    } else {
      const u32 here = __activemask(), first = (u32)__ffs((int)here) - 1;
      u32 at = 0;
      if (lane_id() == first) at = atomicAdd(counts, (u32)__popc(here));
      at = __shfl_sync(here, at, (int)first) + (u32)__popc(here & (bit(lane_id()) - 1));
      spill[at] = label;
      spill_sums[at] = weight;
    }
  }

  // Calls visit(label, sum) for the labels in this thread's part of the table. Reads are volatile: other threads' sums
  // may not be in this thread's cache.
  template <class Visit> __device__ __forceinline__ void each_here(const Group& g, Visit visit) const {
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) {
      const Key key = *(volatile Key*)(table.keys + slot);
      if (key != EMPTY) visit(key, *(volatile Sum*)(sums + slot));
    }
  }

  // The number of a label's part, of `parts`. Its hash has other bits than the label's place in the table, and others
  // at each depth.
  __device__ __forceinline__ u32 part_of(Key label, u32 depth, u32 parts) const {
    const u32 mixed = ((u32)label ^ (u32)((u64)label >> 32)) * 0x85ebca6bu + depth * 0x9e3779b9u;
    return __umulhi((mixed ^ mixed >> 15) * 0xc2b2ae35u, parts);
  }

  // Moves the spilled entries to the second list, part by part. All threads of the block call.
  __device__ __forceinline__ void divide(const Group& g, u32 entries, u32 depth, u32 parts) {
    u32* ends = counts + 1;
    for (u32 p = g.rank; p < parts; p += g.size) ends[p] = 0;
    g.sync();
    for (u32 k = g.rank; k < entries; k += g.size) atomicAdd(ends + part_of(spill[k], depth, parts), 1u);
    g.sync();
    if (g.rank == 0) {
      u32 before = 0;
      for (u32 p = 0; p < parts; ++p) {
        const u32 count = ends[p];
        ends[p] = before;
        before += count;
      }
      *counts = 0;
    }
    g.sync();
    for (u32 k = g.rank; k < entries; k += g.size) {  // the ends of parts follow
      const Key label = spill[k];
      const u32 at = atomicAdd(ends + part_of(label, depth, parts), 1u);
      spill[capacity + at] = label;
      spill_sums[capacity + at] = spill_sums[k];
    }
    g.sync();
  }

  // Adds a row of so many entries, and calls visit(label, sum) for all its labels, each thread for a part of them; all
  // threads of the group call. `own`: a label that is visited in any case, or EMPTY.
  template <class Visit>
  __device__ __forceinline__ void each(const Operands& o, const Group& g, u64 row, u64 entries, u32 most, Key own, Visit visit) {
    near = capacity != 0;
    if (near && g.rank == 0) *counts = 0;
    clear(g, entries, most);
    if (g.rank == 0 && own != EMPTY) add_one(own, 0);
    o.each_column(g, row, [&](u64 col) { return (Key)o.label[col]; }, [&](Key label, Sum weight) { add(label, weight); });
    g.sync();
    each_here(g, visit);
    if (!capacity) return;
    for (u32 depth = 0;; ++depth) {
      const u32 spilled = *(volatile u32*)counts;
      g.sync();  // all have read the table and the count
      if (!spilled) return;
      const u32 wanted = spilled / (most / 2) + 1, parts = wanted < PARTS ? wanted : PARTS;
      divide(g, spilled, depth, parts);
      for (u32 p = 0, from = 0; p < parts; ++p) {
        const u32 to = counts[1 + p];
        clear(g, to - from, most);
        near = (u64)4 * (to - from) > (u64)3 * table.slots;
        for (u32 k = from + g.rank; k < to; k += g.size) add_one(spill[capacity + k], spill_sums[capacity + k]);
        g.sync();
        each_here(g, visit);
        g.sync();
        from = to;
      }
    }
  }
};

// The best label of a row, by a group; each lane returns the best of its warp's part of the table.
__device__ __forceinline__ Choice choose(const Operands& o, const Group& g, Sums table, u64 row, const Rule& rule, u64 entries, u32 most) {
  Choice mine = {worst(), rule.own};
  // own label: a choice even where no neighbour has it
  table.each(o, g, row, entries, most, (Key)rule.own, [&](Key label, Sum sum) {
    const Choice other = {o.score(sum, row, (u64)label, label == (Key)rule.own), (u64)label};
    if (rule.beats(other, mine)) mine = other;
  });
  return rule.best(mine, 32);
}

// The best label of a row of at most LANES entries, by LANES neighbouring lanes, one an entry; all lanes of the warp call.
template <u32 LANES>
__device__ __forceinline__ Choice choose_short(const Operands& o, bool valid, u64 row, const Rule& rule) {
  const u64 from = valid ? (u64)o.a.indptr[row] : 0, to = valid ? (u64)o.a.indptr[row + 1] : 0;
  const u64 at = from + lane_id() % LANES;
  u64 label = rule.own;
  Sum weight = 0;
  bool has = at < to;
  if (has) {
    const u64 col = (u64)load_host(o.a.ids + at, 0);
    has = col != row && (!WITHIN || o.within[col] == o.within[row]);
    if (has) {
      label = (u64)o.label[col];
      weight = o.weight(at);
    }
  }
  Sum sum = 0, staying = 0;
  for (u32 d = 0; d < LANES; ++d) {
    const u64 other = __shfl_sync(ALL, label, d, LANES);
    const Sum adds = __shfl_sync(ALL, weight, d, LANES);
    if (other == label) sum += adds;
    if (other == rule.own) staying += adds;
  }
  Choice mine = {worst(), rule.own};
  if (has) mine = {o.score(sum, row, label, label == rule.own), label};
  if (valid && lane_id() % LANES == 0) {
    const Choice stay = {o.score(staying, row, rule.own, true), rule.own};
    if (rule.beats(stay, mine)) mine = stay;
  }
  return rule.best(mine, LANES);
}

}  // namespace szc
