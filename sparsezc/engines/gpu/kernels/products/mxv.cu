// mxv by rows (pull): w<mask> = accum(w, A (+).(x) v), for the rows of A that the mask lets through.
//
// Who calls: engines/gpu/products/spmv.py. Memory: `indices` and `values` in host memory (zero-copy) or on the device,
// all else on the device. What a warp does: it takes rows in ascending order, ROWS_PER_WARP at once (all of a presence
// word, or one), reads the mask, streams the allowed rows (rows.cuh) and writes their results (write.cuh). Rows of more
// than LONG entries are cut into chunks: a warp takes LONG entries of one long row, and the warp that finishes a row's
// last chunk folds the partial results in chunk order, so results do not depend on timing. Early exit: a row ends at
// the monoid's terminal value. With HEADS a warp first reads the row-head cache in device memory (head_cache.cu): most
// rows then end before they are read over the host link. With SKIPS (32 rows a warp), for matrices in which most words
// of rows have no entries, a warp first reads one offset of each word of its piece, in one request, and then the other
// offsets only of words that have entries. With HUBS (one block a multiprocessor, for the whole launch) the values of
// the first columns, which have most entries (hub_columns.py), are in shared memory, where a read takes 4 or 8 bytes
// and not a sector of 32; hub_rows.cuh then reads the rows.
//
// The prelude supplies: Id, A, X, Z, W (types of ids, values, vector, result, output); `Z multiply(A a, X x, u64 row,
// u64 id)`, `Z add(Z, Z)`, `Z identity()`, `bool terminal(Z)`, `W accumulate(W, Z)`; the flags READS_IDS, READS_VALUES,
// READS_VECTOR (the operands that the multiply needs), ISO (one value for all), ANY (the monoid keeps whichever operand
// comes first), TERMINAL, ACCUM, HEADS, PACKED, SKIPS; LONG; THREADS of a block; HUBS, the number of values that a
// block's shared memory holds (0: none, else the vector is full); and what part.cuh says.
#include "fold.cuh"
#include "head_cache.cuh"
#include "hub_rows.cuh"
#include "part.cuh"
#include "rows.cuh"
#include "write.cuh"

namespace szc {

struct Rows {
  u64 nrows;
  const i64* indptr;
  const Id* indices;
  const A* values;
  u32 id_bits;  // with PACKED: `indices` holds ids in the low `id_bits`, values above (packed_values.cu)
  const X* x;
  const u32* x_bits;  // null: the vector is full
  const Id* heads;    // the row-head cache: k slots a row
  const A* head_values;
  u32 k;
  const X* hub_values;  // with HUBS: those of ids below `hubs`, in shared memory
  u32 hubs;
  Part part;
};

// The product of one entry. All lanes call; returns whether there is one (the vector has an entry at this id).
__device__ __forceinline__ bool product(const Rows& m, PartIds& ids, u64 at, bool active, u64 row, Z& z) {
  z = identity();
  if (!PartIds::TOGETHER && !active) return false;
  const bool full = m.x_bits == nullptr;
  A a = A();
  if (READS_VALUES && !ISO && !PACKED && full && active) a = read(m.values, m.part.value_segments, at, 1);  // both requests are in flight together
  u64 id = 0;
  if (PACKED) {
    const Id both = ids.load(at, active);
    id = both & ((Id(1) << m.id_bits) - 1);
    a = (A)(both >> m.id_bits);
  } else if (READS_IDS || !full) {
    id = (u64)ids.load(at, active);
  }
  if (!active) return false;
  if (!full && !present(m.x_bits, id)) return false;
  if (READS_VALUES) {
    if (ISO) a = m.values[0];
    else if (!full && !PACKED) a = read(m.values, m.part.value_segments, at, 1);
  }
  z = multiply(a, READS_VECTOR ? m.x[id] : X(), row, id);
  return true;
}

// Folds the heads of the rows in `asked`: lane r those of row r, until its sum is terminal. Returns the rows that must
// be read; the sums of the others are final.
__device__ __forceinline__ u32 look_at_heads(const Rows& m, u64 word, u32 asked, Z& sum, bool& has) {
  const u32 lane = lane_id();
  bool looking = has_bit(asked, lane), done = false;
  for (u32 j = 0; j < m.k && __any_sync(ALL, looking); ++j) {
    if (!looking) continue;
    const u64 slot = (word * m.k + j) * 32 + lane;
    const Id id = m.heads[slot];
    done = id == head_none<Id>();
    looking = !done && id != head_more<Id>();
    if (!looking || !present(m.x_bits, id)) continue;
    const A a = READS_VALUES ? (ISO ? m.values[0] : m.head_values[slot]) : A();
    const Z z = multiply(a, READS_VECTOR ? m.x[id] : X(), 32 * word + lane, id);
    sum = has && !ANY ? add(sum, z) : z;
    has = true;
    done = ANY || (TERMINAL && terminal(sum));
    looking = !done;
  }
  return asked & ~__ballot_sync(ALL, done);
}

// With SKIPS: those of `count` (at most 32) words from `first` on that have entries.
__device__ __forceinline__ u32 words_with_entries(const Rows& m, u64 first, u64 count) {
  if (!SKIPS) return ALL;
  const u64 row = 32 * (first + lane_id());
  return __ballot_sync(ALL, lane_id() < count && m.indptr[row] < m.indptr[m.nrows - row < 32 ? m.nrows : row + 32]);
}

// Computes the rows of `word` whose bits are set in `mine`; `some`: whether they may have entries.
__device__ __forceinline__ void do_rows(const Rows& m, PartIds& ids, const Output& out, u64 word, u32 mine, bool some, volatile u8* owner) {
  const u64 row = 32 * word + lane_id();
  const u32 taken = in_part(m.part, word, mine), allowed = allowed_word(out, word, m.nrows) & taken;
  Z sum = identity();
  bool has = false;
  const u32 asked = HEADS ? look_at_heads(m, word, allowed, sum, has) : allowed;
  u64 begin = 0, end = 0;
  if (some && has_bit(asked, lane_id())) {
    begin = (u64)m.indptr[row];
    end = (u64)m.indptr[row + 1];
  }
  const u32 longs = __ballot_sync(ALL, end - begin > LONG);
  const u32 rows = __ballot_sync(ALL, HEADS ? end - begin > m.k : begin < end) & ~longs;  // shorter rows are whole in the heads
  if (HEADS && has_bit(rows, lane_id())) {  // the row's entries include its heads again
    sum = identity();
    has = false;
  }
  if constexpr (HUBS > 0) {
    for (u32 left = rows; left;) {  // rows up to the next long one are one run of entries
      const u32 before = longs & ~(left ^ (left - 1)), run = left & (before ? bit((u32)__ffs((int)before) - 1) - 1 : ALL);
      stream_run(m, begin, end, run, sum, has);
      left &= ~run;
    }
  } else {
    stream_rows(begin, end, rows, owner, [&](const Slice& s) {
      Z z;
      const bool hit = product(m, ids, s.at, s.active, 32 * word + s.row, z);
      fold(s.head, s.range, hit, z, sum, has);
      return has && (ANY || (TERMINAL && terminal(sum)));
    });
  }
  write_word(out, word, allowed, ALL, __ballot_sync(ALL, has), sum, taken & ~longs);
}

// The long rows, cut into chunks of LONG entries.
struct Chunks {
  u64 begin, end;      // of this launch
  const u64* rows;     // the long rows, ascending
  const u64* first;    // first chunk of each long row, and the end
  const u32* slot;     // of each chunk: the place of its row in `rows`
  Z* partial;          // a result a chunk, and whether it has one
  u8* partial_has;
  u32* arrived;        // a long row: chunks finished so far
  u32* finished;       // a long row: not 0 once a terminal value was met
};

// Folds 32 lanes into lane 0, keeping lane order.
__device__ __forceinline__ void fold_lanes(Z& z, bool& has) {
  for (u32 d = 1; d < 32; d <<= 1) {
    const Z right = __shfl_down_sync(ALL, z, d);
    const bool right_has = __shfl_down_sync(ALL, (int)has, d) != 0;
    if (lane_id() + d < 32 && right_has) z = has ? (ANY ? z : add(z, right)) : right;
    if (lane_id() + d < 32) has |= right_has;
  }
}

__device__ __forceinline__ void read_chunk(const Rows& m, PartIds& ids, u64 row, u64 begin, u64 end, Z& sum, bool& has) {
  const u64 start = begin & ~(u64)31;
  if constexpr (HUBS > 0) {
    each_slice(m, start, (u32)(begin - start), (u32)(end - start), [&](u32, bool in, Z z) {
      if (in) sum = has ? add(sum, z) : z;
      has |= in;
    });
    return;
  }
  for (u64 base = start; base < end; base += 32) {
    const u64 at = base + lane_id();
    Z z;
    const bool hit = product(m, ids, at, at >= begin && at < end, row, z);
    if (hit) sum = has ? (ANY ? sum : add(sum, z)) : z;
    has |= hit;
    if ((ANY || TERMINAL) && __any_sync(ALL, has && (ANY || terminal(sum)))) break;
  }
}

// Whether a chunk has work: its row is allowed; or it is the row's first chunk, which then writes that there is no result.
__device__ __forceinline__ bool has_chunk(const Rows& m, const Output& out, const Chunks& c, u64 chunk) {
  const u64 row = c.rows[c.slot[chunk]];
  if (!is_in_part(m.part, row)) return false;
  return has_bit(allowed_word(out, row >> 5, m.nrows), (u32)row & 31u) || chunk == c.first[c.slot[chunk]];
}

__device__ __forceinline__ void do_chunk(const Rows& m, PartIds& ids, const Output& out, const Chunks& c, u64 chunk) {
  const u32 slot = c.slot[chunk], lane = lane_id();
  const u64 row = c.rows[slot], word = row >> 5, first = c.first[slot], last = c.first[slot + 1];
  const u32 mine = bit((u32)row & 31u);
  const u32 allowed = allowed_word(out, word, m.nrows) & mine;
  Z sum = identity();
  bool has = false;
  if (!allowed) {
    write_word(out, word, 0, ALL, 0, sum, mine);
    return;
  }
  if (!*(volatile u32*)&c.finished[slot]) {
    const u64 begin = (u64)m.indptr[row] + (chunk - first) * LONG, row_end = (u64)m.indptr[row + 1];
    read_chunk(m, ids, row, begin, row_end - begin < LONG ? row_end : begin + LONG, sum, has);
    fold_lanes(sum, has);
  }
  u32 is_last = 0;
  if (lane == 0) {
    c.partial[chunk] = sum;
    c.partial_has[chunk] = has;
    if (has && (ANY || (TERMINAL && terminal(sum)))) c.finished[slot] = 1;
    __threadfence();
    is_last = atomicAdd(&c.arrived[slot], 1u) + 1 == (u32)(last - first);
  }
  if (!__shfl_sync(ALL, is_last, 0)) return;
  __threadfence();
  // The last warp of the row: lane i folds a contiguous part of the partial results, then the lanes are folded in order.
  const u64 share = (last - first + 31) / 32;
  sum = identity();
  has = false;
  for (u64 i = first + lane * share; i < last && i < first + (lane + 1) * share; ++i) {
    if (!((volatile u8*)c.partial_has)[i]) continue;
    const Z z = ((volatile Z*)c.partial)[i];
    sum = has ? (ANY ? sum : add(sum, z)) : z;
    has = true;
  }
  fold_lanes(sum, has);
  // The owner of the row's bit writes; the value must be in the lane of the row.
  sum = __shfl_sync(ALL, sum, 0);
  const u32 result = __shfl_sync(ALL, (int)has, 0) ? mine : 0;
  write_word(out, word, allowed, ALL, result, sum, mine);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const A* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const u32* x_bits, W* w, u32* w_bits, const W* old_w,
           const u32* old_bits, const u32* mask, u32 flip, u32 replace, u64* counters, u64 piece, u32 spread, Z* partial,
           u8* partial_has, u32* arrived, u32* finished, const Id* heads, const A* head_values, u32 k, u32 id_bits, u32 hubs) {
  __shared__ u8 owners[THREADS / 32][32];
  DYNAMIC_SHARED(hub_bytes, HUBS * sizeof(X) + 1);
  X* const hub_values = (X*)hub_bytes;
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Rows m = {nrows, indptr, indices, values, id_bits, x, x_bits, heads, head_values, k, hub_values, hubs, part};
  const Output out = {w, w_bits, old_w, old_bits, mask, flip, replace};
  const Chunks c = {first_chunk, end_chunk, long_rows, long_first, chunk_slot, partial, partial_has, arrived, finished};
  PartIds ids(indices, part);
  if (HUBS) {
    for (u32 i = threadIdx.x; i < hubs; i += THREADS) hub_values[i] = x[i];
    __syncthreads();
  }
  for_chunks(counters, c.begin, c.end, spread, [&](u64 i) { return has_chunk(m, out, c, i); },
             [&](u64 i) { do_chunk(m, ids, out, c, i); });
  const u64 begin = first_word(part), count = (end_word(part, nrows) - begin) * (32 / ROWS_PER_WARP);
  for_pieces(counters ? counters + 1 : nullptr, count, piece, [&](u64 first) {
    const u32 some = words_with_entries(m, begin + first, count - first < piece ? count - first : piece);
    for (u64 item = first; item < count && item < first + piece; ++item)
      do_rows(m, ids, out, begin + word_of_item(item), rows_of_item(item), !SKIPS || has_bit(some, (u32)(item - first)),
              owners[threadIdx.x >> 5]);
  });
}

}  // namespace szc
