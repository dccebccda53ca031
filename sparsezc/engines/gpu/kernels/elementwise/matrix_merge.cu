// Two matrices merged entry by entry: the elementwise operations, and the write rule of a matrix (mask, accumulator,
// replace, assigned positions).
//
// Who calls: engines/gpu/elementwise/matrix_merge.py, for rows first .. last-1 of X, Y and the mask M, whose ids and
// values are in device memory. What a thread does: it takes one entry of X or Y and bisects the same row of the other
// for its partner; the thread of X's entry handles a pair. So work is spread evenly whatever the rows' lengths.
// The first launch marks the entries to keep (32 a word, those of X before those of Y). With the running sums `before`
// of these, the second launch moves each: its place is the number of kept entries of X and of Y before it.
//
// Each operand (x_indptr, x_ids, x_values, x_base, x_count; y_indptr, y_ids, y_values, y_base, y_count; m_indptr,
// m_ids, m_values, m_base, m_count) is a part of a matrix: see Side. `row_region` and `col_region` are presence words
// of the assigned rows and columns; null: all. `a` and `b` are the operation's scalars.
//
// The prelude supplies XId, YId, MId and X, Y, M (types of ids and values), Id (the result's ids), S (two scalars a,
// b), W (the result), and `bool compute(bool has_x, X x, bool has_y, Y y, bool allowed, bool inside, u64 row, u64 col,
// S a, S b, W& z)`, which returns whether there is a result; the flags ISO_X, ISO_Y, ISO_M, READS_X, READS_Y, MASKED,
// MASK_VALUES, REGION.
#include "bisect.cuh"
#include "compaction.cuh"

namespace szc {

// A part of a matrix: entry `at` of the whole matrix is at ids[at - base].
template <class Id, class T> struct Side {
  const i64* indptr;
  const Id* ids;
  const T* values;
  u64 base;
  u64 count;  // entries of the part

  // The first entry of `row` whose id is not below `col`, or the end of the row; `hit`: its id is `col`.
  __device__ __forceinline__ u64 find(u64 row, u64 col, bool& hit) const {
    u64 lo = (u64)indptr[row] - base;
    const u64 end = (u64)indptr[row + 1] - base;
    for (u64 hi = end; lo < hi;) {
      const u64 mid = (lo + hi) / 2;
      if ((u64)ids[mid] < col) lo = mid + 1; else hi = mid;
    }
    hit = lo < end && (u64)ids[lo] == col;
    return lo;
  }

  __device__ __forceinline__ T value(u64 k, bool reads, bool iso) const { return reads ? values[iso ? 0 : k] : T(); }
};

struct Operands {
  u64 first, last;
  Side<XId, X> x;
  Side<YId, Y> y;
  Side<MId, M> m;
  u32 flip;               // not 0: the mask is complemented
  const u32* row_region;  // null: every row
  const u32* col_region;
  S a, b;
};

struct Merged {
  bool keep;
  u64 here, there;  // the entry's position in its operand, and its place in the other
  u64 col;
  W z;
};

__device__ __forceinline__ Merged merge(const Operands& o, u64 word) {
  const bool from_y = word >= words(o.x.count);
  const u64 k = 32 * (from_y ? word - words(o.x.count) : word) + lane_id();
  Merged r = {false, k, 0, 0, W()};
  if (k >= (from_y ? o.y.count : o.x.count)) return r;
  const u64 row = last_not_above(from_y ? o.y.indptr : o.x.indptr, o.first, o.last, k + (from_y ? o.y.base : o.x.base));
  r.col = from_y ? (u64)o.y.ids[k] : (u64)o.x.ids[k];
  bool both = false, marked = false;
  r.there = from_y ? o.x.find(row, r.col, both) : o.y.find(row, r.col, both);
  if (from_y && both) return r;
  if (MASKED) {
    const u64 at = o.m.find(row, r.col, marked);
    if (MASK_VALUES) marked = marked && o.m.value(at, true, ISO_M) != M(0);
  }
  const bool allowed = !MASKED || marked != (o.flip != 0);
  const bool inside = !REGION || (present(o.row_region, row) && present(o.col_region, r.col));
  const X x = from_y ? X() : o.x.value(k, READS_X, ISO_X);
  const Y y = from_y ? o.y.value(k, READS_Y, ISO_Y) : both ? o.y.value(r.there, READS_Y, ISO_Y) : Y();
  r.keep = compute(!from_y, x, from_y || both, y, allowed, inside, row, r.col, o.a, o.b, r.z);
  return r;
}

// With `ids` null, marks the entries to keep and counts them by word; else moves them to their places.
extern "C" __global__ void __launch_bounds__(256)
    merge_entries(u64 first, u64 last, const i64* x_indptr, const XId* x_ids, const X* x_values, u64 x_base, u64 x_count,
                  const i64* y_indptr, const YId* y_ids, const Y* y_values, u64 y_base, u64 y_count,
                  const i64* m_indptr, const MId* m_ids, const M* m_values, u64 m_base, u64 m_count, u32 flip,
                  const u32* row_region, const u32* col_region, S a, S b, u32* bits, i64* before, Id* ids, W* values) {
  const Operands o = {first, last, {x_indptr, x_ids, x_values, x_base, x_count}, {y_indptr, y_ids, y_values, y_base, y_count},
                      {m_indptr, m_ids, m_values, m_base, m_count}, flip, row_region, col_region, a, b};
  const u64 words_x = words(x_count), nwords = words_x + words(y_count), warps = (u64)gridDim.x * blockDim.x / 32;
  for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; word < nwords; word += warps) {
    const Merged r = merge(o, word);
    if (ids) {
      if (!r.keep) continue;
      const bool from_y = word >= words_x;
      const u64 in_x = kept_before(bits, before, 0, from_y ? r.there : r.here);
      const u64 to = in_x + kept_before(bits, before, words_x, from_y ? r.here : r.there);
      ids[to] = (Id)r.col;
      if (values) values[to] = r.z;
    } else {
      const u32 kept = __ballot_sync(ALL, r.keep);
      if (lane_id() == 0) {
        bits[word] = kept;
        before[word] = (i64)__popc(kept);
      }
    }
  }
}

}  // namespace szc
