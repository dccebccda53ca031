// The only portability layer of the kernels: one text for NVRTC and for the CPU emulator of the tests.
//
// Every kernel text includes this file first. On a GPU it is compiled by NVRTC, which has no headers: the fixed-width
// names are defined here and nothing else is included, because each header costs compile time in every specialised
// kernel. The emulator (tests/emulator/cuda_emu.h) precedes the text, defines SZC_EMU and supplies CUDA's own names.
//
// Kernels read host memory (zero-copy) only through load_host() and load_host_cached(), which set cache hints and, in
// the emulator, count the requests that would cross the host link.
//
// Kernels are launched with arguments by name (sparsezc/device/launcher.py). Where a file does not say otherwise:
//   nrows, indptr, indices, values     a CSR: offsets (nrows + 1, on the device), column ids, values (one if iso-valued)
//   size, nwords, nvals, count         entries of a vector, its presence words, entries of a matrix, items of a list
//   x, x_bits; u, u_bits; v, v_bits; t, t_bits; y, y_bits        a vector's values, and its presence words; null: it is full
//   w, w_bits, old_w, old_bits         a vector's result, and its content before; null: nothing
//   mask, flip, replace                presence words of a mask's true entries, each xor `flip`; null: no mask;
//                                      whether entries outside the mask are deleted
//   first .. last (or stop, end)       the rows or entries that a launch processes, without the last; `base`: the
//                                      entry with which the arrays of a launch part begin
//   first_row .. end_row, first_chunk .. end_chunk, subset, id_segments, value_segments        see part.cuh
//   nchunks, long_rows, long_first, chunk_slot         chunks of long rows: how many, the rows, the first chunk of each and
//                                      the end, the row of each chunk as its place in long_rows (chunks.cuh)
//   partial, partial_has, arrived, finished            a result for each chunk or block, and whether it has one; for
//                                      each long row the chunks that are done, and whether a terminal value was met
//   counters (counter)                 pieces and chunks given out so far, zeros on entry; null: warps stride instead
//   piece, spread                      words of rows, and chunks, that a warp takes at once
//   heads, head_values, k (slots), id_bits             the row-head cache (head_cache.cu); bits of an id in a packed word
//   hubs                               ids below it have their values in shared memory; 0: none
//   a_indptr, a_ids, a_values, b_indptr, b_ids, b_values         the matrices A and B of a product
#pragma once

namespace szc {

typedef signed char        i8;
typedef short              i16;
typedef int                i32;
typedef long long          i64;
typedef unsigned char      u8;
typedef unsigned short     u16;
typedef unsigned int       u32;
typedef unsigned long long u64;

// The array that a load reads: the emulator counts the requests of each.
constexpr int SITE_INDICES = 0;
constexpr int SITE_VALUES = 1;
constexpr int SITE_NEAR = 2;  // either, in device memory

// The bits of `value` as a value of another type of the same size.
template <class T, class Value> __device__ __forceinline__ T bit_cast(Value value) {
  static_assert(sizeof(T) == sizeof(Value), "bit_cast keeps the size");
  T cast;
  memcpy(&cast, &value, sizeof cast);
  return cast;
}

// Shared memory whose size the launch sets (Launcher.resize), as a declared array cannot exceed 48 KB. The emulator
// takes the size from the declaration.
#ifdef SZC_EMU
#define DYNAMIC_SHARED(name, nbytes) alignas(16) __shared__ u8 name[nbytes]
#else
#define DYNAMIC_SHARED(name, nbytes) extern __shared__ __align__(16) u8 name[]
#endif

#ifdef SZC_EMU

// Each operation is rounded by itself: otherwise the compiler of the GPU would fuse a product and a sum into one
// operation.
__device__ __forceinline__ double multiply_rounded(double a, double b) { return a * b; }
__device__ __forceinline__ double subtract_rounded(double a, double b) { return a - b; }

template <class T> __device__ __forceinline__ T load_host(const T* p, int site) {
  szc_emu_load(p, sizeof(T), site);
  return *p;
}
template <class T> __device__ __forceinline__ T load_host_cached(const T* p, int site) { return load_host(p, site); }
template <class T> __device__ __forceinline__ T load_near(const T* p) { return load_host(p, SITE_NEAR); }

#else

__device__ __forceinline__ double multiply_rounded(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double subtract_rounded(double a, double b) { return __dsub_rn(a, b); }

#ifdef SZC_COUNT
// Requests (lines of 128 bytes) and sectors that warps read from host memory; sectors read from segments in device
// memory.
extern "C" {
__device__ u64 szc_traffic[3];
}

__device__ __forceinline__ void count_load(const void* p, bool near) {
  const u32 active = __activemask(), lane = threadIdx.x & 31u;
  const u32 sector = __match_any_sync(active, (u64)p >> 5), line = __match_any_sync(active, (u64)p >> 7);
  const u32 sectors = __popc(__ballot_sync(active, (u32)__ffs((int)sector) - 1 == lane));
  const u32 lines = __popc(__ballot_sync(active, (u32)__ffs((int)line) - 1 == lane));
  if ((u32)__ffs((int)active) - 1 != lane) return;
  if (!near) atomicAdd(&szc_traffic[0], (u64)lines);
  atomicAdd(&szc_traffic[near ? 2 : 1], (u64)sectors);
}
#else
__device__ __forceinline__ void count_load(const void*, bool) {}
#endif

// One load instruction for each size, with and without L1 caching.  The asm is not volatile: a value that the
// kernel does not use is not loaded.  The non-coherent path is right because no kernel writes what it reads here.
template <int BYTES> struct HostLoad;
template <> struct HostLoad<1> {
  static __device__ __forceinline__ u8 once(const void* p) { u16 r; asm("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=h"(r) : "l"(p)); return (u8)r; }
  static __device__ __forceinline__ u8 cached(const void* p) { u16 r; asm("ld.global.nc.u8 %0, [%1];" : "=h"(r) : "l"(p)); return (u8)r; }
};
template <> struct HostLoad<2> {
  static __device__ __forceinline__ u16 once(const void* p) { u16 r; asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(r) : "l"(p)); return r; }
  static __device__ __forceinline__ u16 cached(const void* p) { u16 r; asm("ld.global.nc.u16 %0, [%1];" : "=h"(r) : "l"(p)); return r; }
};
template <> struct HostLoad<4> {
  static __device__ __forceinline__ u32 once(const void* p) { u32 r; asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
  static __device__ __forceinline__ u32 cached(const void* p) { u32 r; asm("ld.global.nc.u32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
};
template <> struct HostLoad<8> {
  static __device__ __forceinline__ u64 once(const void* p) { u64 r; asm("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(r) : "l"(p)); return r; }
  static __device__ __forceinline__ u64 cached(const void* p) { u64 r; asm("ld.global.nc.u64 %0, [%1];" : "=l"(r) : "l"(p)); return r; }
};

struct alignas(16) TwoWords { u64 low, high; };
template <> struct HostLoad<16> {
  static __device__ __forceinline__ TwoWords once(const void* p) { TwoWords r; asm("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];" : "=l"(r.low), "=l"(r.high) : "l"(p)); return r; }
  static __device__ __forceinline__ TwoWords cached(const void* p) { TwoWords r; asm("ld.global.nc.v2.u64 {%0, %1}, [%2];" : "=l"(r.low), "=l"(r.high) : "l"(p)); return r; }
};

// For data that is read once: streamed arrays, whose lines would evict others from L1.
template <class T> __device__ __forceinline__ T load_host(const T* p, int) {
  count_load(p, false);
  return bit_cast<T>(HostLoad<sizeof(T)>::once(p));
}
// For data that this block reads again soon: the line stays in L1.
template <class T> __device__ __forceinline__ T load_host_cached(const T* p, int) {
  count_load(p, false);
  return bit_cast<T>(HostLoad<sizeof(T)>::cached(p));
}
// Reads an entry in device memory of an array that is partly in host memory.
template <class T> __device__ __forceinline__ T load_near(const T* p) {
  count_load(p, true);
  return *p;
}

#endif

}  // namespace szc
