// Breadth-first search in one launch: every level, by push or pull, without the host.
//
// Who calls: engines/gpu/graphs/search.py, with all blocks running at once (grid_sync.cuh). Memory: ids in host memory
// (zero-copy) or on the device, all else on the device. What a level does: it *expands* the frontier, which marks
// vertices in `seen`; then it *settles* the new ones: the level of each is written, and their number and that of their
// edges decide how the next level expands. A push streams the rows of the frontier (rows.cuh), rows longer than LONG by
// chunks. A pull looks for one neighbour in the frontier for each open vertex: a lane searches the row-head cache
// (HEADS), or the first entries of its row where these are on the device (NEAR); the rest is streamed. A vertex without
// entries is closed by the first pull that meets it.
// A search for a component of an undirected graph needs no levels: there a pull takes any neighbour that was met so far
// (GROWS), and may leave the last vertices to components.cu: then pulls read heads alone (BY_HEADS).
// Source: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012,
// doi:10.1109/SC.2012.50.
//
// The prelude supplies Id; W, the type of results; the flags PARENTS and LEVEL (a result is the vertex before, or the
// level; with neither there is none), GROWS (rows are those of the transpose, and there are no results), HEADS (rows,
// or the transpose's rows, may have them), NEAR; LONG and ROWS_PER_WARP as for mxv.cu; PUSH_COST and PULL_COST, the
// costs of an entry of a push and of a pull where a row costs 1.
#include "grid_sync.cuh"
#include "head_cache.cuh"
#include "frontier_rows.cuh"

namespace szc {

constexpr u32 TOGETHER = 2;  // entries that a lane of a push loads together
constexpr u32 SETTLED = 4;   // words that a warp settles together
constexpr u32 LOOKED = 16;   // entries of its row that a lane of a pull reads before the warp streams it
// With BY_HEADS a search pulls once the frontier has more than 1 vertex in MANY. It ends with a level that finds fewer
// than 1 in FEW, or fewer than 1 for each ENOUGH that remain: reading the rows of these takes less time than more
// levels.
constexpr u32 MANY = 256;
constexpr u32 FEW = 1024;
constexpr u32 ENOUGH = 16;

// Numbers in `state`: vertices met; vertices that were pushed from; entries that pulls streamed; vertices met before
// the frontier; vertices closed without entries; entries of the vertices met, and of those before the frontier; levels.
enum { MET, PUSHED, READ, BEFORE, EMPTY, ENTRIES, ENTRIES_BEFORE, LEVELS };

struct Progress {  // the same in all blocks
  u64 met, entries;  // of all vertices before the frontier
  u64 pushed, level, left;  // `left`: levels that this launch may still expand
  u32 next;                 // how the frontier is expanded
};

struct Counts {  // of a block
  u32 met, empty, read;
  u64 entries;
};

struct Heads {  // the row-head cache
  const Id* ids;
  u32 k;  // slots a row; 0: there is none
};

struct Search {
  u64 size;
  Shares shares;
  u32* near;    // the frontier
  u32* seen;    // vertices that are met or closed, which no expansion looks for
  u32* before;  // `seen` when the frontier was made
  W* w;
  u32* w_bits;
  const W* x;  // results of the first frontier; null: its level

  // Whether a pull takes a neighbour. With GROWS a neighbour that the same pull has met counts, if the cache shows it;
  // a closed vertex has no edges, so it is no neighbour.
  __device__ __forceinline__ bool takes(u64 id) const { return present(GROWS ? seen : near, id); }
};

// Marks the neighbours of the frontier. `seen` may be an old copy in a cache: then a bit is set twice.
__device__ __forceinline__ void push(const Search& s, const Side& side, const Heads& heads, volatile u8* owner) {
  const u32 lane = lane_id();
  const auto load = [&](u64 at) { return load_host(side.indices + at, 0); };
  const auto look = [&](Id id) { return s.seen[id >> 5]; };
  const auto meet = [&](Id id, u32 word, u64 row) {
    if (has_bit(word, (u32)id & 31u)) return;
    atomicOr(&s.seen[id >> 5], bit((u32)id & 31u));
    if (PARENTS) s.w[id] = (W)row;
  };
  each_long(s.shares, side, [&](u64 row) { return present(s.near, row); },
            [&](u64 row, u64 begin, u64 end) { stream_one<TOGETHER>(begin, end, row, load, look, meet); });
  each_rows(s.shares, [&](u64 word) { return s.near[word]; }, [&](u64 word, u32 frontier) {
    const u64 row = 32 * word + lane;
    u64 begin = 0, end = 0;
    if (has_bit(frontier, lane)) {
      begin = (u64)side.indptr[row];
      end = (u64)side.indptr[row + 1];
    }
    if (end - begin > LONG) end = begin;
    if (HEADS && end - begin <= heads.k) {  // whole in the heads
      for (; begin < end; --end) {
        const Id id = heads.ids[(word * heads.k + (end - begin - 1)) * 32 + lane];
        meet(id, look(id), row);
      }
    }
    if (NEAR) {
      stream_together<TOGETHER>(begin, end, row, load, look, meet);
    } else {
      stream_rows(begin, end, __ballot_sync(ALL, begin < end), owner, [&](const Slice& slice) {
        if (!slice.active) return false;
        const Id id = load(slice.at);
        meet(id, look(id), 32 * word + slice.row);
        return false;
      });
    }
  });
}

// The result of a lane's search in its row.
struct Found {
  bool hit;
  bool over;  // no further entries need to be read
  u64 from;   // the neighbour
};

// Searches the heads of the rows that are `asked`, one a lane. Returns whether the row has no entries.
__device__ __forceinline__ bool look_at_heads(const Search& s, const Heads& heads, u64 word, bool asked, Found& found) {
  bool looking = asked, empty = false;
  for (u32 j = 0; j < heads.k && __any_sync(ALL, looking); ++j) {
    if (!looking) continue;
    const Id id = heads.ids[(word * heads.k + j) * 32 + lane_id()];
    found.over = id == head_none<Id>();
    empty = found.over && j == 0;
    looking = !found.over && id != head_more<Id>();
    if (!looking || !s.takes(id)) continue;
    found = Found{true, true, id};
    looking = false;
  }
  return empty;
}

// Searches the first entries of the rows; returns the position of the first entry that was not read.
__device__ __forceinline__ u64 look_at_first(const Search& s, const Side& side, u64 begin, u64 end, Found& found) {
  for (u32 turn = 0; turn < LOOKED && !found.over; ++turn) {
    const Id id = load_host_cached(side.indices + begin, 0);
    found.hit = s.takes(id);
    if (found.hit) found.from = id;
    found.over = found.hit || ++begin == end;
  }
  return begin;
}

// `whole`: rows are read further where the heads end.
__device__ __forceinline__ void pull(const Search& s, const Side& side, const Heads& heads, bool whole, volatile u8* owner, Counts& counts) {
  const u32 lane = lane_id();
  u32 read = 0, empty = 0;
  const auto not_seen = [&](u64 word) { return ~s.seen[word] & (s.size - 32 * word >= 32 ? ALL : ALL >> (32u - (u32)(s.size - 32 * word))); };
  each_rows(s.shares, not_seen, [&](u64 word, u32 open) {
    const u64 row = 32 * word + lane;
    Found found = {false, !has_bit(open, lane), 0};
    bool is_empty = HEADS && look_at_heads(s, heads, word, !found.over, found);
    u64 begin = 0, end = 0;
    if (!found.over && whole) {
      begin = (u64)side.indptr[row];
      end = (u64)side.indptr[row + 1];
      is_empty = begin == end;
      found.over = HEADS ? end - begin <= heads.k : is_empty;  // shorter rows are whole in the heads
    }
    if (NEAR && !HEADS && ROWS_PER_WARP == 32) begin = look_at_first(s, side, begin, end, found);
    const u32 closed = __ballot_sync(ALL, is_empty);
    stream_rows(begin, end, __ballot_sync(ALL, !found.over && whole && end - begin <= LONG), owner, [&](const Slice& slice) {
      const Id id = slice.active ? load_host(side.indices + slice.at, 0) : Id();
      const u32 hits = __ballot_sync(ALL, slice.active && s.takes(id)) & slice.range;
      if (PARENTS) {
        const Id first = (Id)__shfl_sync(ALL, id, hits ? __ffs((int)hits) - 1 : (int)lane);
        if (hits && !found.hit) found.from = first;
      }
      found.hit |= hits != 0;
      read += slice.active;
      return found.hit;
    });
    if (PARENTS && found.hit) s.w[row] = (W)found.from;
    const u32 hits = __ballot_sync(ALL, found.hit);
    if (lane == 0 && (hits | closed)) atomicOr(&s.seen[word], hits | closed);
    if (lane == 0 && closed) {
      atomicOr(&s.before[word], closed);  // so that they are not new
      empty += (u32)__popc(closed);
    }
  });
  if (whole) each_long(s.shares, side, [&](u64 row) { return !present(s.seen, row); }, [&](u64 row, u64 begin, u64 end) {
    for (u64 base = begin & ~(u64)31; base < end && !(*(volatile u32*)&s.seen[row >> 5] >> (row & 31) & 1); base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const Id id = active ? load_host(side.indices + at, 0) : Id();
      const u32 hits = __ballot_sync(ALL, active && s.takes(id));
      read += active;
      if (!hits) continue;
      if (lane == (u32)__ffs((int)hits) - 1) {
        if (PARENTS) s.w[row] = (W)id;
        atomicOr(&s.seen[row >> 5], bit((u32)row & 31u));
      }
      break;
    }
  });
  read = add_lanes(read);
  if (lane == 0 && read) atomicAdd(&counts.read, read);
  if (lane == 0 && empty) atomicAdd(&counts.empty, empty);
}

// Makes the new vertices the frontier.
__device__ __forceinline__ void settle(const Search& s, const i64* indptr, i64 level, bool first, Counts& counts) {
  const u32 lane = lane_id();
  u32 rows = 0;
  u64 entries = 0;
  for_pieces(nullptr, s.shares.nwords, s.shares.words, [&](u64 start) {
    const u64 word = start + lane;
    u32 fresh = 0;
    if (lane < s.shares.words && word < s.shares.nwords) {
      const u32 now = s.seen[word];
      fresh = now & ~s.before[word];
      s.near[word] = fresh;
      if (fresh) {
        s.before[word] = now;
        s.w_bits[word] |= fresh;
      }
    }
    const u32 todo = __ballot_sync(ALL, fresh != 0);
    for (u32 k = 0; k < 32 && todo >> k; k += SETTLED) {
      if (!(todo >> k & (bit(SETTLED) - 1))) continue;
      bool mine[SETTLED];
      u64 length[SETTLED];
#pragma unroll
      for (u32 j = 0; j < SETTLED; ++j) {
        mine[j] = has_bit(__shfl_sync(ALL, fresh, (int)(k + j)), lane);
        const i64* at = indptr + 32 * (start + k + j) + lane;
        length[j] = mine[j] ? (u64)(at[1] - at[0]) : 0;
      }
#pragma unroll
      for (u32 j = 0; j < SETTLED; ++j) {
        const u64 i = 32 * (start + k + j) + lane;
        if (LEVEL && mine[j]) s.w[i] = (W)level;
        if (PARENTS && mine[j] && first) s.w[i] = s.x[i];
        rows += mine[j];
        entries += length[j];
      }
    }
  });
  rows = add_lanes(rows);
  entries = add_lanes(entries);
  if (lane == 0 && rows) {
    atomicAdd(&counts.met, rows);
    atomicAdd(&counts.entries, entries);
  }
}

// Adds the block's counts to `state`, and waits for all blocks.
__device__ __forceinline__ void finish(u64* state, u64* wait, Counts& counts) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (counts.met) atomicAdd(&state[MET], (u64)counts.met);
    if (counts.empty) atomicAdd(&state[EMPTY], (u64)counts.empty);
    if (counts.read) atomicAdd(&state[READ], (u64)counts.read);
    if (counts.entries) atomicAdd(&state[ENTRIES], counts.entries);
    counts.met = counts.empty = counts.read = 0;
    counts.entries = 0;
  }
  sync_grid(wait);
}

// Whether a pull is expected to cost less than a push. `rows`, `entries`: those of the frontier; `open`, `rest`: the
// vertices that are not met, and their entries; `sliced`: see KERNEL.
__device__ __forceinline__ bool prefers_pull(float rows, float entries, float open, float rest, float nvals, float sliced, u32 heads) {
  const float hit = entries / nvals < 1.0f ? entries / nvals : 1.0f, mean = open > 0.0f ? rest / open : 0.0f;
  float looked = GROWS ? 1.0f - logf(hit) : 1.0f / hit;  // the mean of 1 / hit while it grows to 1
  if (!NEAR) looked = looked > 32.0f ? mean * sliced * looked / 32.0f : mean * sliced;  // in slices, one at least
  if (looked > mean) looked = mean;
  if (HEADS) for (u32 j = 0; j < heads; ++j) looked *= 1.0f - hit;
  return open * (1.0f + PULL_COST * looked) < rows + PUSH_COST * entries;
}

constexpr u32 PUSH = 0, PULL = 1, END = 2;
constexpr u32 BY_HEADS = 2;  // of `pulls`

// The next step of a search by heads alone: `fresh` vertices are its frontier, `open` remain.
__device__ __forceinline__ u32 next_by_heads(u32 last, u64 fresh, u64 open, u64 size) {
  if (last == PULL) return fresh < size / FEW || ENOUGH * fresh < open ? END : PULL;
  return fresh > size / MANY ? PULL : PUSH;
}

// `state`: zeros before the first launch. At most `levels` levels are expanded. With `started` the frontier of an
// earlier launch is expanded further; else `seen` is the frontier, of level 0, and its results are `x` (null: the
// level). `near`, `before`: see Search. `wait`: zeros. `sliced`: the share of entries that are among the first 32 of
// their rows. `pulls`: 0 if there are no rows to pull, BY_HEADS if pulls read heads only. These rows are the
// transpose's, b_indptr, b_ids, with chunks (b_nchunks, b_long_rows, b_long_first, b_chunk_slot) and heads (b_heads,
// b_k) of their own. A warp takes `piece` items of rows or `words` words.
extern "C" __global__ void __launch_bounds__(256, 8)
    KERNEL(u64 size, u64 nvals, const i64* indptr, const Id* indices, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot, const Id* heads, u32 k, const i64* b_indptr, const Id* b_ids, u64 b_nchunks,
           const u64* b_long_rows, const u64* b_long_first, const u32* b_chunk_slot, const Id* b_heads, u32 b_k, u32* near, u32* seen, u32* before, W* w,
           u32* w_bits, const W* x, u64* state, u64* wait, u64 levels, float sliced, u32 started, u32 pulls, u32 piece, u32 words, u32 spread) {
  __shared__ u8 owners[8][32];
  __shared__ Counts counts;
  __shared__ Progress now;
  const Search s = {size, {(size + 31) / 32, piece, words, spread}, near, seen, before, w, w_bits, x};
  volatile u8* owner = owners[threadIdx.x >> 5];
  if (threadIdx.x == 0) {
    counts.met = counts.empty = counts.read = 0;
    counts.entries = 0;
    now = Progress{state[BEFORE], state[ENTRIES_BEFORE], state[PUSHED], state[LEVELS], levels, END};
  }
  __syncthreads();
  if (!started) {
    settle(s, indptr, 0, true, counts);
    finish(state, wait, counts);
  }
  for (;;) {
    if (threadIdx.x == 0) {
      const volatile u64* totals = state;
      const u64 met = totals[MET], entries = totals[ENTRIES];
      const u32 last = now.next;
      now.next = END;
      if (met != now.met && now.left) {
        const float open = (float)(size - met - totals[EMPTY]), rest = (float)(nvals - entries);
        const float rows = (float)(met - now.met), of_rows = (float)(entries - now.entries);
        if (pulls == BY_HEADS) now.next = next_by_heads(last, met - now.met, size - met - totals[EMPTY], size);
        else now.next = pulls && prefers_pull(rows, of_rows, open, rest, (float)nvals, sliced, b_k) ? PULL : PUSH;
        if (now.next == PUSH) now.pushed += met - now.met;
        now.met = met;
        now.entries = entries;
        ++now.level;
        --now.left;
      }
    }
    __syncthreads();
    const u32 next = now.next;
    if (next == END) break;
    if (next == PULL) pull(s, Side{b_indptr, b_ids, b_nchunks, b_long_rows, b_long_first, b_chunk_slot}, Heads{b_heads, b_k}, pulls != BY_HEADS, owner, counts);
    else push(s, Side{indptr, indices, nchunks, long_rows, long_first, chunk_slot}, Heads{heads, k}, owner);
    sync_grid(wait);  // counts are added after settle(): until then a late block may still read the old ones
    settle(s, indptr, (i64)now.level, false, counts);
    finish(state, wait, counts);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state[BEFORE] = now.met;
    state[ENTRIES_BEFORE] = now.entries;
    state[PUSHED] = now.pushed;
    state[LEVELS] = now.level;
  }
}

}  // namespace szc
