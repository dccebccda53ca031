// Random numbers determined by seed, stream, step and draw: Philox 4x32-10 (J. Salmon et al., SC 2011).
//
// engines/cpu/philox.py draws the same numbers; expr/sampling.py defines how they are used. Results are bit-identical
// on all engines: they are computed by integers, single divisions, and FP64 products and sums that are never fused.
#pragma once
#include "portability.cuh"

namespace szc {

struct Pair { u64 even, odd; };  // numbers 2 draw and 2 draw + 1

__device__ __forceinline__ Pair random_pair(u64 draw, u64 step, u64 stream, u64 seed) {
  u32 c0 = (u32)draw, c1 = (u32)step, c2 = (u32)stream, c3 = (u32)(stream >> 32), k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
  for (u32 round = 0; round < 10; ++round) {
    const u32 high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const u32 high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c2 = high0 ^ c3 ^ k1;
    c1 = low1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0 | (u64)c1 << 32, c2 | (u64)c3 << 32};
}

__device__ __forceinline__ u64 random_number(u64 draw, u64 step, u64 stream, u64 seed) {
  const Pair pair = random_pair(draw >> 1, step, stream, seed);
  return draw & 1 ? pair.odd : pair.even;
}

// Maps a random number to 0 .. n - 1.
__device__ __forceinline__ u64 below(u64 number, u64 n) { return __umul64hi(number, n); }

// -ln(u), where `number` represents a u in 0..1: with u = m 2^-e and v = 1 - m it is e ln 2 + 2 atanh(v / (2 - v)).
__device__ __forceinline__ double exponential(u64 number) {
  const u32 e = number ? (u32)__clzll((i64)number) : 63u;
  const double v = (double)~(number << e) * 0x1p-64, s = v / (2.0 - v), t = __dmul_rn(s, s);
  double total = 1.0 / 25;
#pragma unroll
  for (int k = 11; k >= 0; --k) total = __dadd_rn(__dmul_rn(total, t), 1.0 / (2 * k + 1));
  return __dadd_rn(__dmul_rn(2.0 * s, total), __dmul_rn((double)e, 0.6931471805599453));
}

// The weight `w`, at most `top`, scaled to a whole number; those of a row of d entries add up to less than 2^63.
__device__ __forceinline__ u64 whole_number(double w, double top, u64 d) {
  const u32 length = d > 1 ? 64u - (u32)__clzll((i64)(d - 1)) : 0u;
  return (u64)(w / top * (double)(1ull << (62u - length)));
}

// a b / 2^64, where 2^64 - 1 stands for 1.
__device__ __forceinline__ u64 share_of(u64 a, u64 b) { return b == ~0ull ? a : a == ~0ull ? b : __umul64hi(a, b); }

}  // namespace szc
