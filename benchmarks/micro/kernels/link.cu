// link.cu -- ways in which a kernel can read an array in host memory, bare, to measure the link between host and device.
//
// Who calls: benchmarks/micro/link.py, with portability.cuh and a prelude before this text. The prelude supplies Word
// (u32, u64 or Quad), the unit of a lane's load in `stream`, and BYTES, the size of one request in `random_requests`.
// `words` is host memory that begins at a multiple of 128 bytes (or, for `stream`, 32 bytes past one, to see what that
// costs); `sums` is device memory, one entry a thread. Every kernel adds up the 32-bit words that it reads, so that
// what was read can be held against what is there. One load is in flight a thread (unroll 1): the occupancy hides the
// latency.
// Source: S. Min et al., EMOGI, VLDB 2021, section 3.3 (strided, merged, merged and aligned).

namespace szc {

struct alignas(16) Quad { u32 a, b, c, d; };

__device__ __forceinline__ u64 sum_of(u32 w) { return w; }
__device__ __forceinline__ u64 sum_of(u64 w) { return (w & 0xffffffffull) + (w >> 32); }

template <class T> __device__ __forceinline__ u64 fetch(const T* p) { return sum_of(load_host(p, SITE_INDICES)); }

template <> __device__ __forceinline__ u64 fetch<Quad>(const Quad* p) {
#ifdef SZC_EMU
  szc_emu_load(p, sizeof(Quad), SITE_INDICES);
  return (u64)p->a + p->b + p->c + p->d;
#else
  u32 a, b, c, d;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
  return (u64)a + b + c + d;
#endif
}

__device__ __forceinline__ u64 thread_index() { return blockIdx.x * (u64)blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return gridDim.x * (u64)blockDim.x; }

// Neighbouring lanes read neighbouring words: a warp asks for 32 * sizeof(Word) bytes in a row.
extern "C" __global__ void __launch_bounds__(256) stream(u64 count, const Word* words, u64* sums) {
  u64 sum = 0;
#pragma unroll 1
  for (u64 at = thread_index(); at < count; at += thread_count()) sum += fetch(words + at);
  sums[thread_index()] = sum;
}

// Each thread scans 128 bytes of its own, a word at a time: neighbouring lanes read 128 bytes apart. The loads may stay
// in L1, as any kernel's would, which saves a part of the repeated requests for one sector.
extern "C" __global__ void __launch_bounds__(256) strided(u64 lines, const u32* words, u64* sums) {
  u64 sum = 0;
#pragma unroll 1
  for (u64 line = thread_index(); line < lines; line += thread_count())
#pragma unroll 1
    for (u64 at = 32 * line; at < 32 * line + 32; ++at) sum += load_host_cached(words + at, SITE_INDICES);
  sums[thread_index()] = sum;
}

// SplitMix64's finaliser: the number of a request to a place that looks random.
__device__ __forceinline__ u64 scatter(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Requests of BYTES bytes at random places; `mask` is their number in the working set, less 1 (a power of two less 1).
extern "C" __global__ void __launch_bounds__(256) random_requests(u64 requests, u64 mask, const u32* words, u64* sums) {
  constexpr u32 LANES = BYTES / 4;
  u64 sum = 0;
#pragma unroll 1
  for (u64 request = thread_index() / LANES; request < requests; request += thread_count() / LANES)
    sum += load_host(words + (scatter(request) & mask) * LANES + threadIdx.x % LANES, SITE_INDICES);
  sums[thread_index()] = sum;
}

}  // namespace szc
