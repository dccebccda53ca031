// collectives.cu -- one kernel for each family of CUDA functions, for the emulator's own tests; test_emulator.py
// computes the results in NumPy. Each kernel is launched with whole warps; thread t writes out[k * threads + t].
#include "grid_sync.cuh"

namespace szc {

extern "C" __global__ void shuffles(const i64* in, i64* out) {
  const u32 t = threadIdx.x, n = blockDim.x;
  const i64 v = in[t];
  out[t] = __shfl_sync(ALL, v, (int)(t * 7) & 31);
  out[n + t] = __shfl_up_sync(ALL, v, 3);
  out[2 * n + t] = __shfl_down_sync(ALL, v, 5, 16);
  out[3 * n + t] = __shfl_xor_sync(ALL, v, 9);
  out[4 * n + t] = (i64)__shfl_sync(ALL, (double)v, 2, 8);
  out[5 * n + t] = __shfl_up_sync(ALL, (short)v, 1, 4);
}

extern "C" __global__ void votes(const i64* in, u32* out) {
  const u32 t = threadIdx.x, n = blockDim.x;
  const i64 v = in[t];
  out[t] = __ballot_sync(ALL, v & 1);
  out[n + t] = (u32)__any_sync(ALL, v == 5);
  out[2 * n + t] = (u32)__all_sync(ALL, v >= 0);
  out[3 * n + t] = __match_any_sync(ALL, v);
  u32 odd = 0;  // a vote of the odd lanes only
  if (t & 1) odd = __ballot_sync(0xaaaaaaaau, v & 2);
  out[4 * n + t] = odd;
}

extern "C" __global__ void reductions(const int* in, int* out) {
  const u32 t = threadIdx.x, n = blockDim.x;
  const int v = in[t];
  out[t] = __reduce_add_sync(ALL, v);
  out[n + t] = __reduce_min_sync(ALL, v);
  out[2 * n + t] = __reduce_max_sync(ALL, v);
  out[3 * n + t] = (int)__reduce_min_sync(ALL, (u32)v);
  out[4 * n + t] = (int)__reduce_and_sync(ALL, (u32)v);
  out[5 * n + t] = (int)__reduce_or_sync(ALL, (u32)v);
  out[6 * n + t] = (int)__reduce_xor_sync(ALL, (u32)v);
  out[7 * n + t] = __syncthreads_count(v > 0);
  out[8 * n + t] = __syncthreads_or(v == 12345) + 2 * __syncthreads_and(v < 1000);
}

extern "C" __global__ void bits(const u32* in, u32* out) {
  const u32 t = threadIdx.x, n = blockDim.x, v = in[t];
  out[t] = (u32)__popc(v);
  out[n + t] = (u32)__ffs((int)v);
  out[2 * n + t] = (u32)__clz((int)v);
  out[3 * n + t] = __brev(v);
  out[4 * n + t] = (u32)__popcll((u64)v << 32 | v);
  out[5 * n + t] = (u32)__clzll((i64)v);
}

// Many blocks add to few cells; the block that arrives last writes the total by a ticket.
template <class T> __device__ void all_atomics(T* cell, T v) {
  atomicAdd(cell + 0, v);
  for (T old = cell[1];;) {  // a maximum by compare-and-swap on the bits
    if (!(old < v)) break;
    const u64 seen = atomicCAS((u64*)(cell + 1), (u64)__double_as_longlong((double)old), (u64)__double_as_longlong((double)v));
    if (seen == (u64)__double_as_longlong((double)old)) break;
    old = (T)__longlong_as_double((i64)seen);
  }
}
extern "C" __global__ void atomics(const int* in, int count, double* doubles, float* floats, int* ints, u64* longs,
                                   u16* shorts, u32* ticket, int* total) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    all_atomics(doubles, (double)in[i]);
    atomicAdd(floats, (float)in[i]);
    atomicAdd(ints + 0, in[i]);
    atomicMin(ints + 1, in[i]);
    atomicMax(ints + 2, in[i]);
    atomicAdd(longs + 0, (u64)in[i]);
    atomicXor(longs + 1, (u64)in[i]);
    atomicOr(longs + 2, (u64)in[i]);
    for (u16 old = shorts[0], seen;; old = seen)
      if ((seen = atomicCAS(shorts, old, (u16)(old + 1))) == old) break;
  }
  __threadfence();
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (last && threadIdx.x == 0) *total = ints[0];
}

// A lock that lanes of one warp take in turn, and a work counter that persistent warps share.
extern "C" __global__ void lock_and_work(u64* counter, int* lock, int* protected_count, int* done, u64 items) {
  for (;;) {
    u64 item = 0;
    if ((threadIdx.x & 31u) == 0) item = atomicAdd(counter, 1ull);
    item = __shfl_sync(ALL, item, 0);
    if (item >= items) break;
    if ((threadIdx.x & 31u) == 0) atomicAdd(&done[item], 1);
  }
  while (atomicCAS(lock, 0, 1)) __nanosleep(10);
  *protected_count += 1;
  __threadfence();
  atomicExch(lock, 0);
}

struct Pair {
  double a;
  int b;
};
extern "C" __global__ void by_value(i8 a, u64 b, float c, bool d, Pair pair, const void* nothing, double* out) {
  out[0] = a, out[1] = (double)b, out[2] = c, out[3] = d, out[4] = pair.a, out[5] = pair.b, out[6] = nothing == nullptr;
}

// Each block passes a number to the next block, `turns` times, and keeps one in shared memory between turns.
extern "C" __global__ void round_table(i64* seats, u64* wait, u32 turns) {
  __shared__ i64 own;
  if (threadIdx.x == 0) own = (i64)blockIdx.x;
  __syncthreads();
  for (u32 turn = 0; turn < turns; ++turn) {
    if (threadIdx.x == 0) seats[blockIdx.x] = own;
    szc::sync_grid(wait);
    if (threadIdx.x == 0) own += seats[(blockIdx.x + 1) % gridDim.x];
    szc::sync_grid(wait);
  }
  if (threadIdx.x == 33) seats[blockIdx.x] = own;
}

}  // namespace szc
