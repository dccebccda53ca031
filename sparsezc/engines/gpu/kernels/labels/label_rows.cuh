// Rows whose columns have labels: the sums of a row by label in a hash table, what labels score, and the best of them.
//
// The prelude supplies Id, A (types of ids and values), Key (u32 or u64, of labels in a table), Label (the type of stored
// labels), Sum (u32, where no sum of a row reaches 2^32, or double); READS_A, ISO_A; WITHIN, PENALTY: whether these are
// given; LOOPS: entries on the diagonal count; JOINS: whether rows may join a label only under the conditions of `Joins`.
#pragma once
#include "operands.cuh"
#include "hash_table.cuh"

namespace szc {

__device__ __forceinline__ double worst() { return __longlong_as_double(0xfff0000000000000ll); }  // minus infinity

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

  // The best of groups of `lanes` neighbouring lanes, in each of them.
  __device__ __forceinline__ Choice best(Choice mine, u32 lanes) const {
    for (u32 d = lanes / 2; d; d >>= 1) {
      const Choice other = {__shfl_xor_sync(ALL, mine.score, d), __shfl_xor_sync(ALL, mine.label, d)};
      if (beats(other, mine)) mine = other;
    }
    return mine;
  }
};

// The turn of a vertex, of eight: its number hashed twice by multipliers that chance made (engines: expr/draws.py).
__device__ __forceinline__ u32 turn_of(u64 vertex, u64 a, u64 b) {
  const u64 mixed = vertex * a;
  return (u32)(((mixed ^ (mixed >> 32)) * b) >> 61);
}

// What a row may join: a label that is as well connected to the rest of its group as scale s(c) (total - s(c)), and that is
// not the label of a vertex alone whose turn is this one too.
struct Joins {
  const double* cut;    // what each label has to the rest of its group
  const double* whole;  // the sums of groups
  const u8* alone;
  u64 a, b;
  u32 turn;
};

// The rows of a turn, listed by their lengths: class c from first[c] on, counts[c] of them.
constexpr u32 CLASSES = 5;          // rows of at most 8 entries, of 32, of a warp's table, of a block's, all others
constexpr u32 SHORT = 5, LONG = 6;  // counts of rows that moved, by who reads them again: a warp, a block
constexpr u32 TAKEN = 8;            // from here on: rows taken, by class

struct Operands {
  Matrix<Id, A> a;
  const Label* label;
  const Label* within;
  const double* shares;
  const double* totals;
  double scale;
  Joins joins;

  // Calls visit(column, weight) for the entries of a row that count; lanes that have one call together.
  template <class Visit> __device__ __forceinline__ void each_column(const Group& g, u64 row, Visit visit) const {
    const u64 from = (u64)a.indptr[row], to = (u64)a.indptr[row + 1];
    const Label group = WITHIN ? within[row] : 0;
    for (u64 at = (from & ~(u64)31) + g.rank; at < to; at += g.size) {
      if (at < from) continue;
      const u64 col = (u64)load_host(a.ids + at, 0);
      if ((LOOPS || col != row) && (!WITHIN || within[col] == group)) visit(col, weight(at));
    }
  }

  __device__ __forceinline__ Sum weight(u64 at) const { return READS_A ? (Sum)a.template value<READS_A, ISO_A>(at) : (Sum)1; }

  // Rounded after each step, as on every engine.
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

// What the labels of a row add up to, by label: in a table in shared memory. Entries whose labels find no room there spill into a list
// in device memory and are added once the table has been read and cleared. Once a label's slots are taken all its entries
// spill, so each label is in one table.
struct Sums {
  static constexpr u32 PROBES = 8;
  Table table;
  Sum* sums;
  Key* spill;      // two lists of `room` entries each, which take turns
  Sum* spill_sums;
  u64 room;        // 0: the table has room for all
  u32* spilled;    // in shared memory: the entries of both lists
  u32 list;        // which of them is being filled

  // All of the group call.
  __device__ __forceinline__ void clear(const Group& g, u64 entries, u32 most) {
    if (room && g.rank == 0) spilled[list] = 0;
    table.clear(g, 2 * entries, most);
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) sums[slot] = 0;
    g.sync();
  }

  // The lanes of a warp that have an entry call together.
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
    if (!room) {
      atomicAdd(sums + table.insert(label, fresh), weight);
    } else if (table.insert_near(label, PROBES, slot)) {
      atomicAdd(sums + slot, weight);
    } else {
      const u32 here = __activemask(), first = (u32)__ffs((int)here) - 1;
      u32 at = 0;
      if (lane_id() == first) at = atomicAdd(spilled + list, (u32)__popc(here));
      at = __shfl_sync(here, at, (int)first) + (u32)__popc(here & (bit(lane_id()) - 1));
      spill[room * list + at] = label;
      spill_sums[room * list + at] = weight;
    }
  }

  // Calls visit(label, sum) for the labels in this thread's part of the table. What was added by other threads may not be
  // in this one's cache.
  template <class Visit> __device__ __forceinline__ void each_here(const Group& g, Visit visit) const {
    for (u32 slot = g.rank; slot < table.slots; slot += g.size) {
      const Key key = *(volatile Key*)(table.keys + slot);
      if (key != EMPTY) visit(key, *(volatile Sum*)(sums + slot));
    }
  }

  // The same for all labels of a row of so many entries, those of this thread; all of the group call. `own`: a label that is there in
  // any case, or EMPTY.
  template <class Visit>
  __device__ __forceinline__ void each(const Operands& o, const Group& g, u64 row, u64 entries, u32 most, Key own, Visit visit) {
    list = 0;
    clear(g, entries, most);
    if (g.rank == 0 && own != EMPTY) add_one(own, 0);
    o.each_column(g, row, [&](u64 col, Sum weight) { add((Key)o.label[col], weight); });
    g.sync();
    each_here(g, visit);
    if (!room) return;
    for (;;) {
      const u32 count = *(volatile u32*)(spilled + list), full = list;
      g.sync();  // all have read the table and the count
      if (!count) return;
      list = 1 - full;
      clear(g, entries, most);
      for (u32 k = g.rank; k < count; k += g.size) add_one(spill[room * full + k], spill_sums[room * full + k]);
      g.sync();
      each_here(g, visit);
    }
  }
};

// The best label of a row, by a group; each lane returns the best of its warp's part of the table.
__device__ __forceinline__ Choice choose(const Operands& o, const Group& g, Sums table, u64 row, const Rule& rule, u64 entries, u32 most) {
  Choice mine = {worst(), rule.own};
  // staying is a choice
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
