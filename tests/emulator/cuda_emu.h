// cuda_emu.h -- CUDA's names for g++, with which a kernel text compiles as C++ and runs under the emulator.
//
// Thin names only.  The runtime behind them (threads as fibres, rendezvous, request counts) is cuda_emu_rt.cpp.
// device.py precompiles this header and includes it once, before all kernel texts of a translation unit.  Overload sets
// are CUDA's own (no atomicAdd on a signed 64-bit integer, for one), so that a text which compiles here compiles there.
#pragma once
#ifdef SZC_EMU_MACHINE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#else
// The functions of C that CUDA has, for double and for float. Each compilation would load the headers of C and C++
// anew, which takes 5 ms.
extern "C" {
void* memcpy(void*, const void*, __SIZE_TYPE__) noexcept;
void* memset(void*, int, __SIZE_TYPE__) noexcept;
}
#define SZC_ONE(F) extern "C" { double F(double) noexcept; float F##f(float) noexcept; } inline float F(float x) { return F##f(x); }
#define SZC_TWO(F) extern "C" { double F(double, double) noexcept; float F##f(float, float) noexcept; } inline float F(float x, float y) { return F##f(x, y); }
#define SZC_ASK(F) inline bool F(double x) { return __builtin_##F(x); } inline bool F(float x) { return __builtin_##F(x); }
SZC_ONE(acos) SZC_ONE(acosh) SZC_ONE(asin) SZC_ONE(asinh) SZC_ONE(atan) SZC_ONE(atanh) SZC_ONE(cbrt) SZC_ONE(ceil)
SZC_ONE(cos) SZC_ONE(cosh) SZC_ONE(erf) SZC_ONE(erfc) SZC_ONE(exp) SZC_ONE(exp2) SZC_ONE(expm1) SZC_ONE(fabs)
SZC_ONE(floor) SZC_ONE(lgamma) SZC_ONE(log) SZC_ONE(log10) SZC_ONE(log1p) SZC_ONE(log2) SZC_ONE(rint) SZC_ONE(round)
SZC_ONE(sin) SZC_ONE(sinh) SZC_ONE(sqrt) SZC_ONE(tan) SZC_ONE(tanh) SZC_ONE(tgamma) SZC_ONE(trunc)
SZC_TWO(atan2) SZC_TWO(copysign) SZC_TWO(fmax) SZC_TWO(fmin) SZC_TWO(fmod) SZC_TWO(hypot) SZC_TWO(nextafter) SZC_TWO(pow)
SZC_TWO(remainder)
SZC_ASK(isfinite) SZC_ASK(isinf) SZC_ASK(isnan) SZC_ASK(signbit)
extern "C" {
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
int abs(int) noexcept;
}
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float frexp(float x, int* e) { return frexpf(x, e); }
inline long abs(long x) { return __builtin_labs(x); }
inline long long abs(long long x) { return __builtin_llabs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
#undef SZC_ONE
#undef SZC_TWO
#undef SZC_ASK
#endif

#define SZC_EMU 1
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline
#ifndef SZC_EMU_MACHINE            // the headers that the runtime includes use this name otherwise
#define __noinline__ __attribute__((noinline))
#endif
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
// One block runs at a time, on one OS thread, so a block's shared memory is a static.  All of it is in one section:
// the runtime fills it with garbage before each block, because a GPU does not clear it either, and keeps a copy of it while
// the block waits for the others.
#define __shared__ static __attribute__((section("szc_shared")))

struct uint3 { unsigned x, y, z; };
constexpr int warpSize = 32;

namespace szc_emu {

enum Op : unsigned char { RUNNING, DONE, SYNCWARP, SHUFFLE, VOTE, MATCH, REDUCE, BARRIER, GRID };
enum ShuffleKind { IDX, UP, DOWN, XOR };
enum ReduceKind { ADD, MIN_UNSIGNED, MAX_UNSIGNED, MIN_SIGNED, MAX_SIGNED, AND_BITS, OR_BITS, XOR_BITS };
enum BarrierKind { COUNT, ALL, ANY };

struct Context { uint3 thread, block, block_size, grid_size; };   // of the lane that runs now

// One call of a collective by one lane.  `file` and `line` identify it: lanes that wait in different calls have diverged.
struct Call { Op op; unsigned mask; unsigned long long value; int argument, width, kind; const char* file; int line; };

}  // namespace szc_emu

extern "C" {
extern szc_emu::Context szc_emu_context;
// A lane's call of a collective: it returns when all lanes of the mask have called it.
unsigned long long szc_emu_meet(szc_emu::Op op, unsigned mask, unsigned long long value, int kind, const char* file, int line);
unsigned long long szc_emu_shuffle(unsigned mask, unsigned long long value, int argument, int width, int kind, const char* file, int line);
unsigned szc_emu_active();                                           // lanes that run together now
void szc_emu_load(const void* p, unsigned size, int site);           // a read of host memory
void szc_emu_interleave(int sleeps);                                 // a point where another lane may run first
void szc_emu_trap(const char* what, const char* file, int line);
}

#define threadIdx (szc_emu_context.thread)
#define blockIdx  (szc_emu_context.block)
#define blockDim  (szc_emu_context.block_size)
#define gridDim   (szc_emu_context.grid_size)

// Each call passes its file and line. The functions are small calls into the runtime and mostly not inlined: hundreds of
// kernels compile quickly because g++ generates little code.
// ---- collectives ----------------------------------------------------------------------------------------------------
#define SZC_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SZC_FN inline
#define SZC_ONCE inline __attribute__((noinline))   // one copy for all kernels of a library
namespace szc_emu {
template <class T> SZC_FN unsigned long long bits(T v) {
  static_assert(sizeof(T) <= 8, "a collective takes values of up to 8 bytes");
  unsigned long long b = 0;
  memcpy(&b, &v, sizeof v);
  return b;
}
template <class T> SZC_FN T unbits(unsigned long long b) { T v; memcpy(&v, &b, sizeof v); return v; }
template <class T> SZC_FN T shuffle(unsigned m, T v, int arg, int width, int kind, const char* file, int line) {
  return unbits<T>(szc_emu_shuffle(m, bits(v), arg, width, kind, file, line));
}
template <class T> SZC_FN unsigned match(unsigned m, T v, const char* file, int line) { return (unsigned)szc_emu_meet(MATCH, m, bits(v), 0, file, line); }
SZC_FN unsigned vote(unsigned m, int p, const char* file, int line) { return (unsigned)szc_emu_meet(VOTE, m, p != 0, 0, file, line); }
SZC_FN unsigned reduce(unsigned m, unsigned v, int kind, const char* file, int line) { return (unsigned)szc_emu_meet(REDUCE, m, v, kind, file, line); }
SZC_FN int barrier(int p, int kind, const char* file, int line) { return (int)szc_emu_meet(BARRIER, 0, p != 0, kind, file, line); }
}  // namespace szc_emu

SZC_FN void __syncthreads(SZC_WHERE) { szc_emu::barrier(0, szc_emu::COUNT, file, line); }
SZC_FN int __syncthreads_count(int p, SZC_WHERE) { return szc_emu::barrier(p, szc_emu::COUNT, file, line); }
SZC_FN int __syncthreads_and(int p, SZC_WHERE) { return szc_emu::barrier(p, szc_emu::ALL, file, line); }
SZC_FN int __syncthreads_or(int p, SZC_WHERE) { return szc_emu::barrier(p, szc_emu::ANY, file, line); }
SZC_FN void szc_emu_sync_grid(SZC_WHERE) { szc_emu_meet(szc_emu::GRID, 0, 0, szc_emu::COUNT, file, line); }
SZC_FN void __syncwarp(unsigned m = 0xffffffffu, SZC_WHERE) { szc_emu_meet(szc_emu::SYNCWARP, m, 0, 0, file, line); }
template <class T> SZC_FN T __shfl_sync(unsigned m, T v, int source, int width = 32, SZC_WHERE) { return szc_emu::shuffle(m, v, source, width, szc_emu::IDX, file, line); }
template <class T> SZC_FN T __shfl_up_sync(unsigned m, T v, unsigned delta, int width = 32, SZC_WHERE) { return szc_emu::shuffle(m, v, (int)delta, width, szc_emu::UP, file, line); }
template <class T> SZC_FN T __shfl_down_sync(unsigned m, T v, unsigned delta, int width = 32, SZC_WHERE) { return szc_emu::shuffle(m, v, (int)delta, width, szc_emu::DOWN, file, line); }
template <class T> SZC_FN T __shfl_xor_sync(unsigned m, T v, int lanes, int width = 32, SZC_WHERE) { return szc_emu::shuffle(m, v, lanes, width, szc_emu::XOR, file, line); }
SZC_FN unsigned __ballot_sync(unsigned m, int p, SZC_WHERE) { return szc_emu::vote(m, p, file, line); }
SZC_FN int __any_sync(unsigned m, int p, SZC_WHERE) { return szc_emu::vote(m, p, file, line) != 0; }
SZC_FN int __all_sync(unsigned m, int p, SZC_WHERE) { return szc_emu::vote(m, p == 0, file, line) == 0; }
template <class T> SZC_FN unsigned __match_any_sync(unsigned m, T v, SZC_WHERE) { return szc_emu::match(m, v, file, line); }
template <class T> SZC_FN unsigned __match_all_sync(unsigned m, T v, int* same, SZC_WHERE) {
  const unsigned equal = szc_emu::match(m, v, file, line);
  *same = szc_emu::vote(m, equal != m, file, line) == 0;
  return *same ? m : 0;
}
SZC_FN unsigned __reduce_add_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::ADD, file, line); }
SZC_FN unsigned __reduce_min_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::MIN_UNSIGNED, file, line); }
SZC_FN unsigned __reduce_max_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::MAX_UNSIGNED, file, line); }
SZC_FN int __reduce_add_sync(unsigned m, int v, SZC_WHERE) { return (int)szc_emu::reduce(m, (unsigned)v, szc_emu::ADD, file, line); }
SZC_FN int __reduce_min_sync(unsigned m, int v, SZC_WHERE) { return (int)szc_emu::reduce(m, (unsigned)v, szc_emu::MIN_SIGNED, file, line); }
SZC_FN int __reduce_max_sync(unsigned m, int v, SZC_WHERE) { return (int)szc_emu::reduce(m, (unsigned)v, szc_emu::MAX_SIGNED, file, line); }
SZC_FN unsigned __reduce_and_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::AND_BITS, file, line); }
SZC_FN unsigned __reduce_or_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::OR_BITS, file, line); }
SZC_FN unsigned __reduce_xor_sync(unsigned m, unsigned v, SZC_WHERE) { return szc_emu::reduce(m, v, szc_emu::XOR_BITS, file, line); }
SZC_FN unsigned __activemask() { return szc_emu_active(); }
SZC_FN void __trap(SZC_WHERE) { szc_emu_trap("__trap()", file, line); }
SZC_FN void __nanosleep(unsigned) { szc_emu_interleave(1); }

// ---- bits, conversions, loads, fences -------------------------------------------------------------------------------
SZC_FN int __popc(unsigned v) { return __builtin_popcount(v); }
SZC_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SZC_FN int __ffs(int v) { return __builtin_ffs(v); }
SZC_FN int __ffsll(long long v) { return __builtin_ffsll(v); }
SZC_FN int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
SZC_FN int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
SZC_ONCE unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (v >> i & 1u) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long v) { return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32)); }
SZC_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
SZC_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
SZC_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return (unsigned)((((unsigned long long)hi << 32 | lo) << (s & 31)) >> 32); }
SZC_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31)); }
SZC_FN float __int_as_float(int v) { return szc_emu::unbits<float>((unsigned)v); }
SZC_FN int __float_as_int(float v) { return (int)szc_emu::bits(v); }
SZC_FN float __uint_as_float(unsigned v) { return szc_emu::unbits<float>(v); }
SZC_FN unsigned __float_as_uint(float v) { return (unsigned)szc_emu::bits(v); }
SZC_FN double __longlong_as_double(long long v) { return szc_emu::unbits<double>((unsigned long long)v); }
SZC_FN long long __double_as_longlong(double v) { return (long long)szc_emu::bits(v); }
// Not inlined, so that g++ contracts no product and sum across the call.
SZC_ONCE double __dmul_rn(double a, double b) { return a * b; }
SZC_ONCE double __dadd_rn(double a, double b) { return a + b; }
template <class T> SZC_FN T __ldg(const T* p) { return *p; }
template <class T> SZC_FN T __ldcs(const T* p) { return *p; }
template <class T> SZC_FN T __ldcg(const T* p) { return *p; }
template <class T> SZC_FN void __stcs(T* p, T v) { *p = v; }
template <class T> SZC_FN void __stcg(T* p, T v) { *p = v; }
SZC_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SZC_FN void __threadfence_block() { __threadfence(); }
SZC_FN void __threadfence_system() { __threadfence(); }

#define SZC_MINMAX(R, A, B) \
  SZC_FN R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  SZC_FN R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
SZC_MINMAX(int, int, int)
SZC_MINMAX(unsigned, unsigned, unsigned)
SZC_MINMAX(unsigned, int, unsigned)
SZC_MINMAX(unsigned, unsigned, int)
SZC_MINMAX(long, long, long)
SZC_MINMAX(unsigned long, unsigned long, unsigned long)
SZC_MINMAX(long long, long long, long long)
SZC_MINMAX(unsigned long long, unsigned long long, unsigned long long)
SZC_MINMAX(unsigned long long, long long, unsigned long long)
SZC_MINMAX(unsigned long long, unsigned long long, long long)
#undef SZC_MINMAX
SZC_FN float min(float a, float b) { return fminf(a, b); }
SZC_FN float max(float a, float b) { return fmaxf(a, b); }
SZC_FN double min(double a, double b) { return fmin(a, b); }
SZC_FN double max(double a, double b) { return fmax(a, b); }
SZC_FN double min(float a, double b) { return fmin(a, b); }
SZC_FN double max(float a, double b) { return fmax(a, b); }
SZC_FN double min(double a, float b) { return fmin(a, b); }
SZC_FN double max(double a, float b) { return fmax(a, b); }
SZC_FN float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SZC_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
SZC_FN float __fdividef(float a, float b) { return a / b; }

// ---- atomics: exactly the types that CUDA has -----------------------------------------------------------------------
// The runtime defines them for all kernels; under AddressSanitizer, which checks their loads, each kernel has its own.
#if defined(SZC_EMU_MACHINE) || defined(__SANITIZE_ADDRESS__)
namespace szc_emu {
template <class T, class F> SZC_FN T update(T* p, F next) {
  szc_emu_interleave(0);
  T old, wanted;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do wanted = next(old);
  while (!__atomic_compare_exchange(p, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
}  // namespace szc_emu
#ifdef SZC_EMU_MACHINE
#define SZC_SHARED __attribute__((used)) __attribute__((noinline))
#else
#define SZC_SHARED SZC_ONCE
#endif
#define SZC_ATOMIC(NAME, T, NEXT) SZC_SHARED T NAME(T* p, T v) { return szc_emu::update(p, [v](T old) { return (T)(NEXT); }); }
#define SZC_CAS(T) SZC_SHARED T atomicCAS(T* p, T expected, T v) { \
  szc_emu_interleave(0); \
  __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
  return expected; }
#else
#define SZC_ATOMIC(NAME, T, NEXT) T NAME(T* p, T v);
#define SZC_CAS(T) T atomicCAS(T* p, T expected, T v);
#endif
#define SZC_INTEGER_ATOMICS(T) \
  SZC_ATOMIC(atomicMin, T, v < old ? v : old) SZC_ATOMIC(atomicMax, T, old < v ? v : old) \
  SZC_ATOMIC(atomicAnd, T, old & v) SZC_ATOMIC(atomicOr, T, old | v) SZC_ATOMIC(atomicXor, T, old ^ v)
SZC_INTEGER_ATOMICS(int)
SZC_INTEGER_ATOMICS(unsigned)
SZC_INTEGER_ATOMICS(long long)
SZC_INTEGER_ATOMICS(unsigned long long)
SZC_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)v))
SZC_ATOMIC(atomicAdd, unsigned, old + v)
SZC_ATOMIC(atomicAdd, unsigned long long, old + v)
SZC_ATOMIC(atomicAdd, float, old + v)
SZC_ATOMIC(atomicAdd, double, old + v)
SZC_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)v))
SZC_ATOMIC(atomicSub, unsigned, old - v)
SZC_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
SZC_ATOMIC(atomicExch, int, v)
SZC_ATOMIC(atomicExch, unsigned, v)
SZC_ATOMIC(atomicExch, unsigned long long, v)
SZC_ATOMIC(atomicExch, float, v)
SZC_CAS(int)
SZC_CAS(unsigned)
SZC_CAS(unsigned long long)
SZC_CAS(unsigned short)

// ---- exports of a compiled kernel: its entry, and its parameters' types for the launcher's checks ------------------
namespace szc_emu {
struct Parameter { char kind; unsigned size, pointee; };   // kind: p pointer, i u f b as NumPy's, s anything else
struct Kernel { void (*entry)(void** arguments); int count; const Parameter* parameters; char *shared_begin, *shared_end; };

template <class T> struct Kind { static constexpr char value = T(-1) < T(0) ? 'i' : 'u'; };
template <> struct Kind<float> { static constexpr char value = 'f'; };
template <> struct Kind<double> { static constexpr char value = 'f'; };
template <> struct Kind<bool> { static constexpr char value = 'b'; };
template <class T, bool = __is_class(T) || __is_union(T)> struct Describe { static constexpr Parameter value = {Kind<T>::value, sizeof(T), 0}; };
template <class T> struct Describe<T, true> { static constexpr Parameter value = {'s', sizeof(T), 0}; };
template <class T> struct Describe<T*, false> { static constexpr Parameter value = {'p', 8, sizeof(T)}; };
template <> struct Describe<void*, false> { static constexpr Parameter value = {'p', 8, 0}; };
template <> struct Describe<const void*, false> { static constexpr Parameter value = {'p', 8, 0}; };

template <int... I> struct Sequence {};
template <auto F> struct Export;
template <class... A, void (*F)(A...)> struct Export<F> {
  static constexpr Parameter parameters[] = {Describe<A>::value..., {0, 0, 0}};
  template <int... I> static void call(void** a, Sequence<I...>) { F(*(A*)a[I]...); }
  static void entry(void** a) { call(a, Sequence<__integer_pack((int)sizeof...(A))...>()); }
};
}  // namespace szc_emu

extern "C" {   // the linker's bounds of this library's shared memory; null where no kernel has any
extern char __start_szc_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_szc_shared[] __attribute__((weak, visibility("hidden")));
}
#define SZC_EMU_EXPORT(SYMBOL, FUNCTION) \
  extern "C" __attribute__((visibility("default"))) const szc_emu::Kernel SYMBOL = {szc_emu::Export<&FUNCTION>::entry, \
    sizeof(szc_emu::Export<&FUNCTION>::parameters) / sizeof(szc_emu::Parameter) - 1, szc_emu::Export<&FUNCTION>::parameters, \
    __start_szc_shared, __stop_szc_shared};
