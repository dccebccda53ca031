// The elementwise product of a matrix and a vector that is repeated as each of its rows, or as each of its columns.
//
// Who calls: engines/gpu/elementwise/broadcast.py. Memory: `indices` and `values` of the matrix in host memory
// (zero-copy) or on the device, `out` likewise, all else on the device. What a warp does: it streams the rows of a
// presence word (rows.cuh), or a chunk of a long row, and computes a value for each entry; where the vector lacks
// entries, it marks the entries that meet an entry of the vector. Entries before `first` and from `stop` on are
// skipped; `out` and `bits` begin with entry `first`, a multiple of 32.
//
// The prelude supplies Id, A, X, Z (types of ids, values, vector, result); `Z compute(A a, X x, u64 row, u64 col)`; the
// flags READS_IDS, READS_VALUES, READS_VECTOR (the operands that `compute` reads), ISO, COLUMNS (the vector is repeated
// as each row: entry (i, j) meets x(j); else x(i)); LONG, the length of chunks.
#include "chunks.cuh"
#include "ids.cuh"
#include "rows.cuh"

namespace szc {

struct Operands {
  const A* values;
  const X* x;
  const u32* x_bits;  // null: the vector is full
  u64 first;
  Z* out;
  u32* bits;          // zeros on entry; null where the vector is full
};

// One slice of entries. All lanes call.
__device__ __forceinline__ void visit(const Operands& o, Ids& ids, u64 at, bool active, u64 row) {
  bool meets = false;
  u64 col = 0;
  if ((READS_IDS || COLUMNS) && (Ids::TOGETHER || active)) col = (u64)ids.load(at, active);
  if (active) {
    const u64 k = COLUMNS ? col : row;
    meets = present(o.x_bits, k);
    const A a = !READS_VALUES ? A() : ISO ? o.values[0] : load_host(o.values + at, 1);
    if (meets) o.out[at - o.first] = compute(a, READS_VECTOR ? o.x[k] : X(), row, col);
  }
  if (!o.bits) return;
  const u32 met = __ballot_sync(ALL, meets);
  if (lane_id() == 0 && met) atomicOr(&o.bits[(at - o.first) >> 5], met);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 first, u64 stop, u64 nrows, const i64* indptr, const Id* indices, const A* values, const X* x, const u32* x_bits, Z* out, u32* bits,
           u64* counters, u64 nchunks, const u64* long_rows, const u64* long_first, const u32* chunk_slot) {
  __shared__ u8 owners[8][32];
  Ids ids(indices);
  const Operands o = {values, x, x_bits, first, out, bits};
  each_chunk({nchunks, long_rows, long_first, chunk_slot}, indptr, counters, [&](u64 row, u64 begin, u64 end) {
    begin = begin > first ? begin : first;
    end = end < stop ? end : stop;
    for (u64 base = begin & ~(u64)31; base < end; base += 32) {
      const u64 at = base + lane_id();
      visit(o, ids, at, at >= begin && at < end, row);
    }
  });
  for (u64 word = take(counters + 1, 1); 32 * word < nrows; word = take(counters + 1, 1)) {
    const u64 row = 32 * word + lane_id();
    u64 begin = row < nrows ? (u64)indptr[row] : 0, end = row < nrows ? (u64)indptr[row + 1] : 0;
    const bool is_long = end - begin > LONG;
    begin = begin > first ? begin : first;
    end = end < stop ? end : stop;
    const u32 rows = __ballot_sync(ALL, begin < end && !is_long);
    stream_rows(begin, end, rows, owners[threadIdx.x >> 5], [&](const Slice& s) {
      visit(o, ids, s.at, s.active, 32 * word + s.row);
      return false;
    });
  }
}

}  // namespace szc
