// A sparse matrix times a panel of at most 4 columns: Y(i, c) = (+) over s of M(i, s) (x) X(s, c), under a mask.
//
// Who calls: engines/gpu/products/spmm.py. Memory: as in spmm.cu. What a warp does: it streams the rows of a presence
// word (rows.cuh), and each lane computes all products of one entry of a slice: it reads a whole row of X at once, so
// 32 rows are in flight. A segmented scan folds the products of each column; lane r keeps the sums of row r, and the
// word's results are written together. A row ends early where all its sums are terminal. Rows longer than LONG are cut
// into chunks, which any warp may take; the warp that finishes last adds the chunks' sums in order, so results do not
// depend on timing.
//
// The prelude supplies what spmm.cuh says, WIDTH, the columns of the panel, and ALIGNED_X, whether the panel begins at
// a multiple of 16 bytes.
#include "fold.cuh"
#include "spmm.cuh"

namespace szc {

// The products of one entry, or the sums of one row, by columns.
struct Products {
  Z z[WIDTH];
  u32 has;  // a bit each

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (u32 q = 0; q < WIDTH; ++q) z[q] = identity();
    has = 0;
  }
  __device__ __forceinline__ void join(u32 q, Z other) {
    z[q] = has_bit(has, q) ? (ANY ? z[q] : add(z[q], other)) : other;
    has |= bit(q);
  }
};

// The columns of a row that the mask allows; with SAMPLED, whose weights take most registers, ALL if it allows any.
__device__ __forceinline__ u32 wanted_columns(const Operands& o, u64 row) {
  const u32 allowed = bits_from(o.mask, o.flip, row * WIDTH, WIDTH);
  return SAMPLED && allowed ? ALL : allowed;
}

// The products of entry `at`, of one row and with this id, in the columns that the row wants. All lanes call.
__device__ __forceinline__ Products products(const Operands& o, u64 at, u64 row, u64 id, bool active, u32 wanted) {
  const Weight w = weight(o, at, row, id, active);
  Products made;
  made.clear();
  if (!active || (DROPS && !w.has)) return made;
  // X's presence words fit into L2 where its values do not, so they are read first
  const u32 there = wanted & bits_from(o.x_bits, 0, id * WIDTH, WIDTH);
  X x[WIDTH];
  if (READS_X && there) read_row<WIDTH, ALIGNED_X>(o.x + id * WIDTH, x);
#pragma unroll
  for (u32 q = 0; q < WIDTH; ++q) {
    const u32 k = weight_of(q);
    if (!has_bit(there, q) || (DROPS && !has_bit(w.has, k))) continue;
    made.z[q] = multiply(READS_A ? w.a[k] : A(), READS_X ? x[q] : X(), row, id, q);
    made.has |= bit(q);
  }
  return made;
}

// Whether further entries cannot change the sums of the lane's row.
__device__ __forceinline__ bool finished(const Operands& o, u64 row, const Products& s) {
  if (!ANY && !TERMINAL) return false;
#pragma unroll
  for (u32 q = 0; q < WIDTH; ++q)
    if (!(has_bit(s.has, q) && (ANY || terminal(s.z[q]))) && o.allowed(row * WIDTH + q)) return false;
  return true;
}

// Writes the sums of each lane's row and sets their presence bits, in words that other warps share. All lanes call.
__device__ __forceinline__ void write(const Operands& o, u64 row, const Products& s) {
  u32 marks = 0;
#pragma unroll
  for (u32 q = 0; q < WIDTH; ++q)
    if (has_bit(s.has, q) && o.allowed(row * WIDTH + q)) {
      o.y[row * WIDTH + q] = s.z[q];
      marks |= bit(q);
    }
  const u64 first = (row & ~(u64)31) * WIDTH, place = row * WIDTH;
  const u64 both = (u64)marks << (place & 31u);
#pragma unroll
  for (u32 k = 0; k < WIDTH; ++k) {
    const u64 word = (first >> 5) + k;
    const u32 mine = word == place >> 5 ? (u32)both : word == (place >> 5) + 1 ? (u32)(both >> 32) : 0;
    const u32 all = or_lanes(mine);
    if (lane_id() == 0 && all) atomicOr(&o.y_bits[word], all);
  }
}

__device__ __forceinline__ void do_chunk(const Operands& o, PartIds& ids, const i64* indptr, const Chunks& c, u64 chunk) {
  const u32 slot = c.slot[chunk], lane = lane_id();
  const u64 row = c.rows[slot], first = c.first[slot], last = c.first[slot + 1];
  const u32 wanted = is_in_part(o.part, row) ? wanted_columns(o, row) : 0;
  if (!wanted) return;
  const u64 begin = (u64)indptr[row] + (chunk - first) * LONG, row_end = (u64)indptr[row + 1];
  const u64 end = row_end - begin < LONG ? row_end : begin + LONG;
  Products s;
  s.clear();
  for (u64 base = begin & ~(u64)31; base < end; base += 32) {
    const u64 at = base + lane;
    const bool active = at >= begin && at < end;
    const u64 id = (u64)ids.load(at, active);
    const Products made = products(o, at, row, id, active, wanted);
#pragma unroll
    for (u32 q = 0; q < WIDTH; ++q)
      if (has_bit(made.has, q)) s.join(q, made.z[q]);
    if ((ANY || TERMINAL) && __any_sync(ALL, finished(o, row, s))) break;
  }
  for (u32 d = 1; d < 32; d <<= 1) {
    const u32 has = __shfl_down_sync(ALL, s.has, d);
#pragma unroll
    for (u32 q = 0; q < WIDTH; ++q) {
      const Z right = __shfl_down_sync(ALL, s.z[q], d);
      if (lane + d < 32 && has_bit(has, q)) s.join(q, right);
    }
  }
  u32 is_last = 0;
  if (lane == 0) {
#pragma unroll
    for (u32 q = 0; q < WIDTH; ++q) {
      c.partial[chunk * WIDTH + q] = s.z[q];
      c.partial_has[chunk * WIDTH + q] = has_bit(s.has, q);
    }
    __threadfence();
    is_last = atomicAdd(&c.arrived[slot], 1u) + 1 == (u32)(last - first);
  }
  if (!__shfl_sync(ALL, is_last, 0)) return;
  __threadfence();
  s.clear();
  if (lane == ((u32)row & 31u))
    for (u64 k = first; k < last; ++k)
#pragma unroll
      for (u32 q = 0; q < WIDTH; ++q)
        if (((volatile u8*)c.partial_has)[k * WIDTH + q]) s.join(q, ((volatile Z*)c.partial)[k * WIDTH + q]);
  write(o, (row & ~(u64)31) + lane, s);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const i64* indptr, const Id* indices, const Own* values, const u64* id_segments, const u64* value_segments,
           const u32* subset, u64 first_row, u64 end_row, u64 first_chunk, u64 end_chunk, const u64* long_rows,
           const u64* long_first, const u32* chunk_slot, const X* x, const u32* x_bits, const u32* mask, u32 flip, u64 width,
           Z* y, u32* y_bits, u64* counters, Z* partial, u8* partial_has, u32* arrived, const L* left, const R* right, u64 inner) {
  __shared__ u8 owners[8][32];
  const Part part = {id_segments, value_segments, subset, first_row, end_row};
  const Operands o = {values, x, x_bits, mask, flip, width, 1, y, y_bits, part, left, right, inner};
  const Chunks c = {long_rows, long_first, chunk_slot, partial, partial_has, arrived};
  PartIds ids(indices, part);
  const auto do_word = [&](u64 word) {
    const OwnRow own = own_row(part, nrows, indptr, word, [&](u64 row) { return wanted_columns(o, row); });
    Products s;
    s.clear();
    stream_rows(own.begin, own.end, __ballot_sync(ALL, own.is_streamed()), owners[threadIdx.x >> 5], [&](const Slice& slice) {
      const u64 id = (u64)ids.load(slice.at, slice.active);
      const Products made = products(o, slice.at, 32 * word + slice.row, id, slice.active, SAMPLED ? ALL : __shfl_sync(ALL, own.wanted, slice.row));
#pragma unroll
      for (u32 q = 0; q < WIDTH; ++q) {
        bool has = has_bit(s.has, q);
        fold(slice.head, slice.range, has_bit(made.has, q), made.z[q], s.z[q], has);
        if (has) s.has |= bit(q);
      }
      return own.row < nrows && finished(o, own.row, s);
    });
    write(o, own.row, s);
  };
  for_chunks_and_words(part, nrows, first_chunk, end_chunk, counters, [&](u64 chunk) { do_chunk(o, ids, indptr, c, chunk); }, do_word);
}

}  // namespace szc
