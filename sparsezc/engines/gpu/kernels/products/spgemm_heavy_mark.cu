// The columns of one row of a product that all blocks share: a bit each.
//
// Who calls: engines/gpu/products/spgemm_heavy_rows.py. Memory: ids of A and B in host memory (zero-copy) or on the
// device, all else on the device. What a warp does: it takes the next `piece` products, which may begin inside a row of
// B. `counter` and `bits` hold zeros on entry. The prelude supplies what spgemm_heavy_rows.cuh needs, and BId.
#include "spgemm_heavy_rows.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 start, u64 count, const i64* starts, const AId* a_ids, const A* a_values, const i64* b_indptr, const BId* b_ids,
           u64 piece, u64* counter, u32* bits) {
  const HeavyRow row = {start, count, starts};
  const Matrix<AId, A> a = {nullptr, a_ids, a_values};
  const u64 all = row.products();
  for_pieces(counter, all, piece, [&](u64 first) {
    each_part(row, a, b_indptr, first, first + piece < all ? first + piece : all, [&](u64, u64 begin, u64 end, A) {
      for (u64 at = begin + lane_id(); at < end; at += 32) {
        const u64 col = (u64)load_host(b_ids + at, 0);
        const u32 mine = bit((u32)col & 31u);
        if (!(*(volatile u32*)(bits + (col >> 5)) & mine)) atomicOr(&bits[col >> 5], mine);
      }
    });
  });
}

}  // namespace szc
