// Rows of a panel computed from rows of up to four others.
//
// Who calls: engines/gpu/elementwise/row_map.py. All memory on the device. What a thread does: it computes one of
// `nrows` rows of `out` from all numbers in that row of the operands a0, a1, a2 and a3 (0 where bits0, bits1, bits2 or
// bits3 has no entry). A row in which `mask` (each word flipped by `flip`; null: no mask) allows no entry is skipped,
// and has no entry in `out_bits`. A warp has 32 rows, so it writes whole presence words.
//
// The prelude supplies A0 .. A3, the types of the operands, W0 .. W3, their widths (0: there is none), OUT, the width
// of the result, and `void compute(const double* x, double* z)`.
#include "warp.cuh"

namespace szc {

constexpr u32 IN = W0 + W1 + W2 + W3;

template <class A> __device__ __forceinline__ void read_row(const A* a, const u32* bits, u64 row, u32 width, double* x) {
  for (u32 c = 0; c < width; ++c) x[c] = present(bits, row * width + c) ? (double)a[row * width + c] : 0.0;
}

// Whether the mask allows any entry of a row of the result.
__device__ __forceinline__ bool is_wanted(const u32* mask, u32 flip, u64 row) {
  bool any = mask == nullptr;
  for (u32 c = 0; c < OUT && !any; ++c) any = has_bit(mask[(row * OUT + c) >> 5] ^ flip, (u32)(row * OUT + c) & 31u);
  return any;
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 nrows, const A0* a0, const u32* bits0, const A1* a1, const u32* bits1, const A2* a2, const u32* bits2, const A3* a3,
           const u32* bits3, const u32* mask, u32 flip, double* out, u32* out_bits) {
  const u64 nwords = (nrows * OUT + 31) / 32;
  for (u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x; row - lane_id() < nrows; row += (u64)gridDim.x * blockDim.x) {
    const bool wanted = row < nrows && is_wanted(mask, flip, row);
    if (wanted) {
      double x[IN], z[OUT];
      read_row(a0, bits0, row, W0, x);
      read_row(a1, bits1, row, W1, x + W0);
      read_row(a2, bits2, row, W2, x + W0 + W1);
      read_row(a3, bits3, row, W3, x + W0 + W1 + W2);
      compute(x, z);
      for (u32 c = 0; c < OUT; ++c) out[row * OUT + c] = z[c];
    }
    const u32 rows = __ballot_sync(ALL, wanted);
    const u64 first = (row - lane_id()) / 32 * OUT;
    for (u32 w = lane_id(); w < OUT && first + w < nwords; w += 32) {
      u32 word = rows == ALL ? ALL : 0;
      for (u32 k = 0; k < 32 && rows && rows != ALL; ++k) word |= has_bit(rows, (32 * w + k) / OUT) ? bit(k) : 0;
      out_bits[first + w] = word;
    }
  }
}

}  // namespace szc
