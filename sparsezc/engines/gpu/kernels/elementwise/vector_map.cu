// Elementwise operations on vectors: w<mask> = accum(w, f(u, v, s)); entry i is computed from entry i of u and v.
//
// Who calls: engines/gpu/elementwise/vector_map.py (apply, select, ewise_add/mult/union, assign, extract, dup, casts,
// merges). What a warp does: it reads `piece` (at most 32) presence words at once, one a lane, and continues with those
// where an entry can change, several at a time so that their operands are in flight together; a word is 32 entries, one
// a lane, and one aligned request for a type of 4 bytes. So a sparse vector costs little more than its presence words.
// All memory on the device.
//
// The prelude supplies U, V, S, Z, W (types of the two operands, the scalar, result, output), `W accumulate(W, Z)` and
// `bool compute(U u, V v, bool has_u, bool has_v, S s, S s2, u64 i, Z& z)`: the result of entry i and whether there is
// one; the flags READS_U, READS_V (values needed), NEEDS_U, NEEDS_V (no result without an entry there), GATHER (u is
// read at index[i]), COUNTS (the scalar is *number, which kernels change) and ACCUM. An operand that the operation
// lacks has READS_* false and no bits, which counts as present. Where neither operand has an entry there is no result.
// `region`: presence words of the assigned positions; null: all.
#include "write.cuh"

namespace szc {

constexpr u32 AHEAD = sizeof(U) + sizeof(V) + sizeof(W) <= 16 ? 4 : 2;  // words whose operands are requested at once

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(u64 size, const U* u, const u32* u_bits, const V* v, const u32* v_bits, const u64* index, S s, S s2,
           const S* number, const u32* region, W* w, u32* w_bits, const W* old_w, const u32* old_bits, const u32* mask, u32 flip, u32 replace, u32 piece) {
  const Output out = {w, w_bits, old_w, old_bits, mask, flip, replace};
  if (COUNTS) s = *number;
  const u32 lane = lane_id();
  const u64 nwords = (size + 31) / 32;
  for (u64 base = (u64)piece * ((blockIdx.x * blockDim.x + threadIdx.x) >> 5); base < nwords; base += piece * gridDim.x * (blockDim.x >> 5)) {
    const u64 mine = lane < piece ? base + lane : nwords;  // the word whose presence bits this lane reads and writes
    const bool there = mine < nwords;
    const u32 allowed = there ? allowed_word(out, mine, size) : 0, assigned = there && region ? region[mine] : ALL;
    const u32 old = there && old_bits ? old_bits[mine] : 0;
    const u32 in_u = there && u_bits && !GATHER ? u_bits[mine] : ALL, in_v = there && v_bits ? v_bits[mine] : ALL;
    const u32 inputs = NEEDS_U && NEEDS_V ? in_u & in_v : NEEDS_U ? in_u : NEEDS_V ? in_v : in_u | in_v;
    // Words where no entry can change are not written, unless the output needs all of its words.
    const bool todo = there && (w_bits != old_bits || allowed || (replace && old));
    u32 now = 0;
    for (u32 left = __ballot_sync(ALL, todo && (old || (allowed & assigned & inputs))); left;) {
      u32 word[AHEAD];
      U x[AHEAD];
      V y[AHEAD];
      W before[AHEAD];
      bool has_u[AHEAD], has_v[AHEAD], asked[AHEAD];
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) {
        word[k] = left ? (u32)__ffs((int)left) - 1 : 32;
        left &= left - 1;
        const u32 from = word[k] & 31u;
        const u64 i = 32 * (base + from) + lane;
        asked[k] = has_bit(__shfl_sync(ALL, allowed & assigned, (int)from), lane) && word[k] < 32;
        const u64 j = GATHER && asked[k] ? index[i] : i;
        has_u[k] = GATHER ? asked[k] && present(u_bits, j) : has_bit(__shfl_sync(ALL, in_u, (int)from), lane);
        has_v[k] = has_bit(__shfl_sync(ALL, in_v, (int)from), lane);
        asked[k] &= (has_u[k] || !NEEDS_U) && (has_v[k] || !NEEDS_V);
        x[k] = READS_U && asked[k] && has_u[k] ? u[j] : U();
        y[k] = READS_V && asked[k] && has_v[k] ? v[i] : V();
        const u32 were = ACCUM ? __shfl_sync(ALL, old, (int)from) : 0;
        before[k] = asked[k] && has_bit(were, lane) ? old_w[i] : W();
      }
#pragma unroll
      for (u32 k = 0; k < AHEAD; ++k) {
        if (word[k] == 32) break;
        Z z = Z();
        const bool has = asked[k] && compute(x[k], y[k], has_u[k], has_v[k], s, s2, 32 * (base + word[k]) + lane, z);
        const u32 from = word[k], lets = __shfl_sync(ALL, allowed, (int)from), where = __shfl_sync(ALL, assigned, (int)from);
        const u32 bits = write_values(out, base + from, __shfl_sync(ALL, old, (int)from), lets, where, __ballot_sync(ALL, has), z, ALL,
                                      &before[k]);
        if (lane == from) now = bits;
      }
    }
    if (todo) out.bits[mine] = now;
  }
}

}  // namespace szc
