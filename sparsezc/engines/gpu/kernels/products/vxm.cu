// vxm by frontier (push): t = v' (+).(x) A over the rows of A where v has an entry, into a dense t.
//
// Who calls: engines/gpu/products/spmv.py, which then writes t to the output by mask, accumulator and replace (or makes
// t the output, where those change nothing). Memory: as in mxv.cu. What a warp does: it takes rows of the frontier in
// ascending order, ROWS_PER_WARP at once, and streams those that are present (rows.cuh); for each entry it checks the
// mask at the target, then reads the entry's value and combines the product into t by an atomic. Rows longer than LONG
// are cut into chunks, so that many warps share a hub. `t` holds the monoid's identity and `t_bits` zeros on entry.
// With HEADS, a row of at most `slots` entries is not read: its ids are in the row-head cache (head_cache.cu).
//
// The prelude is that of mxv.cu, and ATOMIC. With PACKED, `indices` holds ids and values in one word
// (packed_values.cu).
#include "atomics.cuh"
#include "part.cuh"
#include "rows.cuh"

namespace szc {

struct Push {
  const A* values;
  u32 id_bits;  // with PACKED: ids in the low `id_bits`, values above
  const u32* mask;  // null: none
  u32 flip;
  Z* t;
  u32* t_bits;
  Part part;
};

// Pushes one entry of a row of the frontier: `entry` as loaded from `indices`, `x` the frontier's value at the row.
__device__ __forceinline__ void push(const Push& p, Id entry, u64 at, u64 row, X x) {
  const u64 id = PACKED ? entry & ((Id(1) << p.id_bits) - 1) : entry;
  const u64 word = id >> 5;
  const u32 mine = bit((u32)id & 31u);
  if (p.mask && !((p.mask[word] ^ p.flip) & mine)) return;
  const bool seen = (*(volatile u32*)&p.t_bits[word] & mine) != 0;
  if (ANY && seen) return;
  A a = A();
  if (READS_VALUES) a = ISO ? p.values[0] : PACKED ? (A)(entry >> p.id_bits) : read(p.values, p.part.value_segments, at, 1);
  const Z z = multiply(a, x, id, row);
  if (ANY) p.t[id] = z;
  else combine(&p.t[id], z);
  if (!seen) atomicOr(&p.t_bits[word], mine);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const A* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const u32* x_bits, const u32* mask, u32 flip, Z* t,
           u32* t_bits, u32 id_bits, const Id* heads, u32 slots, u64* counters, u64 piece, u32 spread) {
  __shared__ u8 owners[8][32];
  const u32 lane = lane_id();
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Push p = {values, id_bits, mask, flip, t, t_bits, part};
  PartIds ids(indices, part);

  const auto wanted = [&](u64 c) { return is_in_part(part, long_rows[chunk_slot[c]]) && present(x_bits, long_rows[chunk_slot[c]]); };
  for_chunks(counters, first_chunk, end_chunk, spread, wanted, [&](u64 c) {
    const u64 row = long_rows[chunk_slot[c]];
    const u64 begin = (u64)indptr[row] + (c - long_first[chunk_slot[c]]) * LONG, row_end = (u64)indptr[row + 1];
    const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
    const X value = READS_VECTOR ? x[row] : X();
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const Id entry = ids.load(at, active);
      if (active) push(p, entry, at, row, value);
    }
  });

  // A warp loads `piece` (at most 32) words of the frontier, or rows, at once, one a lane, and continues with those
  // that are not empty.
  const u64 start = first_word(part), count = (end_word(part, nrows) - start) * (32 / ROWS_PER_WARP);
  for_pieces(counters ? counters + 1 : nullptr, count, piece, [&](u64 item) {
    u32 loaded = 0;
    if (lane < piece && item + lane < count)
      loaded = (x_bits ? x_bits[start + word_of_item(item + lane)] : ALL) & rows_of_item(item + lane);
    u32 todo = __ballot_sync(ALL, loaded != 0);
    for (; todo; todo &= todo - 1) {
      const u32 k = (u32)__ffs((int)todo) - 1;
      const u64 word = start + word_of_item(item + k);
      const u32 frontier = in_part(part, word, __shfl_sync(ALL, loaded, (int)k));
      const u64 row = 32 * word + lane;
      u64 begin = 0, end = 0;
      X value = X();
      if (has_bit(frontier, lane) && row < nrows) {
        begin = (u64)indptr[row];
        end = (u64)indptr[row + 1];
        if (READS_VECTOR) value = x[row];
      }
      const bool whole = HEADS && end - begin <= slots;
      for (u64 j = 0; whole && j < end - begin; ++j)
        push(p, heads[(word * slots + j) * 32 + lane], begin + j, row, value);
      const u32 rows = __ballot_sync(ALL, begin < end && end - begin <= LONG && !whole);
      stream_rows(begin, end, rows, owners[threadIdx.x >> 5], [&](const Slice& s) {
        const X y = READS_VECTOR ? (X)__shfl_sync(ALL, value, (int)s.row) : X();
        const Id entry = ids.load(s.at, s.active);
        if (s.active) push(p, entry, s.at, 32 * word + s.row, y);
        return false;
      });
    }
  });
}

}  // namespace szc
