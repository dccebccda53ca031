// vxm by frontier (push): t = v' (+).(x) A over the rows of A where v has an entry, into a dense t.
//
// Who calls: engines/gpu/spmv.py, which then writes t into the output by mask, accumulator and replace (or makes t the
// output, where those change nothing). Where things lie: as in mxv.cu. What a warp does: it takes presence words of the
// frontier in ascending order and streams the rows that are present (rows.cuh); each entry's target is asked of the mask
// before the entry's value is read, then combined into t by an atomic. Rows longer than LONG are cut into chunks, so that
// many warps share a hub. `t` holds the monoid's identity and `t_bits` zeros on entry.
//
// The prelude supplies what mxv.cu's does, and ATOMIC. With PACKED, `indices` holds ids and values in one word (pack.cu).
#include "atomics.cuh"
#include "ids.cuh"
#include "rows.cuh"

namespace szc {

struct Push {
  const A* values;
  u32 id_bits;  // with PACKED: ids in the low `id_bits`, values above
  const u32* mask;  // null: none
  u32 flip;
  Z* t;
  u32* t_bits;
};

// One entry of a row of the frontier: what `ids` gave for it. `x` is the frontier's value there.
__device__ __forceinline__ void push(const Push& p, Id read, u64 at, u64 row, X x) {
  const u64 id = PACKED ? read & ((Id(1) << p.id_bits) - 1) : read;
  const u64 word = id >> 5;
  const u32 mine = bit((u32)id & 31u);
  if (p.mask && !((p.mask[word] ^ p.flip) & mine)) return;
  const bool seen = (*(volatile u32*)&p.t_bits[word] & mine) != 0;
  if (ANY && seen) return;
  A a = A();
  if (READS_VALUES) a = ISO ? p.values[0] : PACKED ? (A)(read >> p.id_bits) : load_host(p.values + at, 1);
  const Z z = multiply(a, x, id, row);
  if (ANY) p.t[id] = z;
  else combine(&p.t[id], z);
  if (!seen) atomicOr(&p.t_bits[word], mine);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const A* values, const X* x, const u32* x_bits, const u32* mask,
           u32 flip, Z* t, u32* t_bits, u32 id_bits, u64* counters, u64 piece, u64 nchunks, const u64* long_rows, const u64* long_first,
           const u32* chunk_slot, u32 spread) {
  __shared__ u8 owners[8][32];
  const u32 lane = lane_id();
  const Push p = {values, id_bits, mask, flip, t, t_bits};

  for_chunks(counters, nchunks, spread, [&](u64 c) { return present(x_bits, long_rows[chunk_slot[c]]); }, [&](u64 c) {
    const u64 row = long_rows[chunk_slot[c]];
    const u64 begin = (u64)indptr[row] + (c - long_first[chunk_slot[c]]) * LONG, row_end = (u64)indptr[row + 1];
    const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
    const X value = READS_VECTOR ? x[row] : X();
    Ids ids(indices);
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane;
      const bool active = at >= begin && at < end;
      const Id read = ids.load(at, active);
      if (active) push(p, read, at, row, value);
    }
  });

  // A warp looks at `piece` (at most 32) words of the frontier at once, one a lane, and goes on with those not empty.
  const u64 nwords = (nrows + 31) / 32;
  for_pieces(counters ? counters + 1 : nullptr, nwords, piece, [&](u64 first) {
    u32 loaded = 0;
    if (lane < piece && first + lane < nwords) loaded = x_bits ? x_bits[first + lane] : ALL;
    u32 todo = __ballot_sync(ALL, loaded != 0);
    for (; todo; todo &= todo - 1) {
      const u32 k = (u32)__ffs((int)todo) - 1;
      const u32 frontier = __shfl_sync(ALL, loaded, (int)k);
      const u64 row = 32 * (first + k) + lane;
      u64 begin = 0, end = 0;
      X value = X();
      if (has_bit(frontier, lane) && row < nrows) {
        begin = (u64)indptr[row];
        end = (u64)indptr[row + 1];
        if (READS_VECTOR) value = x[row];
      }
      const u32 rows = __ballot_sync(ALL, begin < end && end - begin <= LONG);
      Ids ids(indices);
      stream_rows(begin, end, rows, owners[threadIdx.x >> 5], [&](const Slice& s) {
        const X y = READS_VECTOR ? (X)__shfl_sync(ALL, value, (int)s.row) : X();
        const Id read = ids.load(s.at, s.active);
        if (s.active) push(p, read, s.at, 32 * (first + k) + s.row, y);
        return false;
      });
    }
  });
}

}  // namespace szc
