// Elementwise work on vectors: w<mask> = accum(w, f(u, v, s)), for every operation that makes entry i from entry i.
//
// Who calls: engines/gpu/elementwise.py (apply, select, ewise_add/mult/union, assign, extract, dup, casts, merges).
// What a warp does: it looks at 32 presence words at once and goes on with those where something can change; a word is
// 32 entries, one a lane, and one aligned request a type of 4 bytes. Everything lies on the device.
//
// The prelude supplies U, V, S, Z, W (types of the two operands, the scalar, result, output), `W accumulate(W, Z)` and
// `bool compute(U u, V v, bool has_u, bool has_v, S s, S s2, u64 i, Z& z)`: the result of entry i and whether there is one;
// the flags READS_U, READS_V (values needed), NEEDS_U, NEEDS_V (no result without an entry there), GATHER (u is read at index[i]), COUNTS (the
// scalar is *number, which the device changes) and ACCUM. An operand that the operation lacks
// has READS_* false and no bits, which counts as present.
#include "write.cuh"

namespace szc {

// Can anything change in this word, or must it be written at all?
__device__ __forceinline__ bool wanted(const Output& out, u64 word, u64 size) {
  if (out.bits != out.old_bits) return true;
  return allowed_word(out, word, size) != 0 || (out.replace && out.old_bits[word] != 0);
}

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const U* u, const u32* u_bits, const V* v, const u32* v_bits, const u64* index, S s, S s2,
           const i64* number, const u32* region, W* w, u32* w_bits, const W* old_w, const u32* old_bits, const u32* mask, u32 flip, u32 replace) {
  const Output out = {w, w_bits, old_w, old_bits, mask, flip, replace};
  if (COUNTS) s = (S)*number;
  const u32 lane = lane_id();
  const u64 nwords = (size + 31) / 32;
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5);
  for (u64 base = 32 * (((u64)blockIdx.x * blockDim.x + threadIdx.x) >> 5); base < nwords; base += 32 * warps) {
    u32 todo = __ballot_sync(ALL, base + lane < nwords && wanted(out, base + lane, size));
    for (; todo; todo &= todo - 1) {
      const u64 word = base + (u32)__ffs((int)todo) - 1;
      const u64 i = 32 * word + lane;
      const u32 allowed = allowed_word(out, word, size);
      Z z = Z();
      bool has = false;
      if (has_bit(allowed, lane)) {
        const u64 j = GATHER ? index[i] : i;
        const bool has_u = present(u_bits, j), has_v = present(v_bits, i);
        if ((has_u || !NEEDS_U) && (has_v || !NEEDS_V))
          has = compute(READS_U && has_u ? u[j] : U(), READS_V && has_v ? v[i] : V(), has_u, has_v, s, s2, i, z);
      }
      write_word(out, word, allowed, region ? region[word] : ALL, __ballot_sync(ALL, has), z, ALL);
    }
  }
}

}  // namespace szc
