// Push-relabel in rounds: vertices with excess push it to neighbours that are one hop nearer to the target.
//
// Who calls: engines/gpu/graphs/flow.py. Memory: `indices` in host memory (zero-copy) or on the device, all else on the
// device. What does the work: a warp, or for a long row a block, takes a row. A round is `push`, which reads the ids of
// vertices with excess, and `gather`, which reads no ids: the flow that a vertex receives is stored at the vertex's own
// entries, so sums have one order whatever the timing. Only one end of an edge pushes in a round, as heights differ by
// one, and all heights change after all pushes.
// Source: A. Goldberg, R. Tarjan, A new approach to the maximum-flow problem, JACM 35, 1988, section 7,
// doi:10.1145/48014.61051.
//
// `back`: for each entry (i, j) the position of the entry (j, i). `residual`: residual capacities. `got`: the flow that an
// entry's row has received over it in this round, else 0. `excess`, `height`: of each vertex; height FAR where the
// target cannot be reached. `raised`: the height after the round of a vertex that keeps excess. `mark`: the bits KEEPS
// and RECEIVES, 0 between rounds. `listed`, `most`, `tally`: the rows of a launch, the entries that a list can hold,
// and the numbers of short and of long rows in it; `next`, `next_tally`: those of the launch that follows;
// `later_tally` is set to 0 for the launch after that. `target`: the vertex that excess is pushed to; `wall`: the
// vertex that it must not pass. `source`: the vertex whose edges are saturated.
//
// The prelude supplies Id, Key and Place, the types of ids, of listed rows and of positions of entries; T, of
// capacities; LONG_ROW, the entries of a row beyond which a block takes it.
#include "row_lists.cuh"

namespace szc {

constexpr u32 FAR = 0xffffffffu, KEEPS = 1, RECEIVES = 2;

// Sums of capacities; integer sums are limited to the type's largest value.
__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ i64 plus(i64 a, i64 b) {
  const u64 sum = (u64)a + (u64)b, most = ~(u64)0 >> 1;
  return (i64)(sum < most ? sum : most);
}

__device__ __forceinline__ bool is_long(const i64* indptr, u64 row) { return (u64)(indptr[row + 1] - indptr[row]) > LONG_ROW; }

// Sums of the threads' numbers: of the threads before each, and of all. `shared`: 8 numbers.
__device__ __forceinline__ void sums(const Group& g, T own, T* shared, T& before, T& all) {
  T through = own;
  for (u32 d = 1; d < 32; d *= 2) {
    const T other = __shfl_up_sync(ALL, through, d);
    if (lane_id() >= d) through = plus(other, through);
  }
  before = __shfl_up_sync(ALL, through, 1);
  if (lane_id() == 0) before = 0;
  all = __shfl_sync(ALL, through, 31);
  if (g.size == 32) return;
  if (lane_id() == 0) shared[g.warp()] = all;
  __syncthreads();
  T earlier = 0;
  all = 0;
  for (u32 w = 0; w < 8; ++w) {
    if (w == g.warp()) earlier = all;
    all = plus(all, shared[w]);
  }
  before = plus(earlier, before);
  __syncthreads();
}

__device__ __forceinline__ void clear(u64* tally) {
  if (blockIdx.x == 0 && threadIdx.x < 2) tally[threadIdx.x] = 0;
}

// leave: saturates the edges of one vertex.
extern "C" __global__ void __launch_bounds__(256)
    leave(u64 source, const i64* indptr, const Id* indices, const Place* back, T* residual, T* excess) {
  const u64 end = (u64)indptr[source + 1];
  for (u64 at = (u64)indptr[source] + (u64)blockIdx.x * blockDim.x + threadIdx.x; at < end; at += (u64)gridDim.x * blockDim.x) {
    const T all = residual[at];
    if (!(all > 0)) continue;
    residual[at] = 0;
    residual[back[at]] += all;
    excess[load_host(indices + at, 0)] = all;
  }
}

// search: one level of the search that sets heights: lists the vertices that have residual capacity towards the listed ones and
// no height yet.
extern "C" __global__ void __launch_bounds__(256)
    search(Key* listed, u64 most, u64* tally, Key* next, u64* next_tally, u64* later_tally, u64 wall, const i64* indptr,
           const Id* indices, const Place* back, const T* residual, u32* height) {
  clear(later_tally);
  const Listed found = {next, most, next_tally};
  Listed{listed, most, tally}.each([&](u64 row, const Group& g) {
    const u64 to = (u64)indptr[row + 1];
    const u32 above = height[row] + 1;
    for (u64 at = (u64)indptr[row] + g.rank; at < to; at += g.size) {
      const u64 col = (u64)load_host(indices + at, 0);
      if (*(volatile u32*)(height + col) != FAR || col == wall || !(residual[back[at]] > 0)) continue;
      if (atomicCAS(height + col, FAR, above) == FAR) found.add(col, is_long(indptr, col));
    }
    g.sync();
  });
}

// list_active: lists the vertices with excess from which the target can be reached.
extern "C" __global__ void __launch_bounds__(256)
    list_active(u64 size, u64 most, Key* next, u64* next_tally, u64 target, u64 wall, const i64* indptr, const T* excess,
                const u32* height) {
  const Listed found = {next, most, next_tally};
  for (u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x; v < size; v += (u64)gridDim.x * blockDim.x)
    if (excess[v] > 0 && height[v] != FAR && v != target && v != wall) found.add(v, is_long(indptr, v));
}

// push: pushes along each listed row's edges, in their order; lists the rows that keep excess or receive some.
extern "C" __global__ void __launch_bounds__(256, 4)
    push(Key* listed, u64 most, u64* tally, Key* next, u64* next_tally, u64* later_tally, u64 target, u64 wall, const i64* indptr,
         const Id* indices, const Place* back, T* residual, T* got, T* excess, const u32* height, u32* raised, u32* mark) {
  __shared__ T of_warps[8];
  __shared__ u32 least_of_warps[8];
  clear(later_tally);
  const Listed found = {next, most, next_tally};
  Listed{listed, most, tally}.each([&](u64 row, const Group& g) {
    const u64 to = (u64)indptr[row + 1];
    const u32 own = height[row];
    u32 least = FAR;
    T left = excess[row];
    for (u64 first = (u64)indptr[row]; first < to && left > 0; first += g.size) {
      const u64 at = first + g.rank;
      T open = at < to ? residual[at] : (T)0;
      u64 col = 0;
      if (open > 0) {
        col = (u64)load_host(indices + at, 0);
        const u32 other = height[col];
        if (other + 1 != own) {
          open = 0;
          if (other != FAR && other + 1 < least) least = other + 1;
        }
      }
      T before, all;
      sums(g, open, of_warps, before, all);
      if (open > 0 && before < left) {
        const T given = open < left - before ? open : left - before;
        const u64 place = (u64)back[at];
        residual[at] -= given;
        if (col == target || col == wall) residual[place] += given;
        else {
          got[place] = given;
          if (atomicOr(mark + col, RECEIVES) == 0) found.add(col, is_long(indptr, col));
        }
      }
      left = all < left ? left - all : (T)0;
      __syncwarp();
    }
    if (left > 0) {
      least = ~largest(~least);
      if (g.size != 32) {
        if (lane_id() == 0) least_of_warps[g.warp()] = least;
        __syncthreads();
        for (u32 w = 0; w < 8; ++w) least = least_of_warps[w] < least ? least_of_warps[w] : least;
      }
    }
    if (g.rank == 0) {
      excess[row] = left;
      raised[row] = least;
      if (left > 0 && atomicOr(mark + row, KEEPS) == 0) found.add(row, is_long(indptr, row));
    }
    g.sync();
  });
}

// gather: adds up the flow that listed rows have received, raises those that kept excess, and lists all that have
// excess and can reach the target.
extern "C" __global__ void __launch_bounds__(256)
    gather(Key* listed, u64 most, u64* tally, Key* next, u64* next_tally, u64* later_tally, const i64* indptr, T* residual, T* got,
           T* excess, u32* height, const u32* raised, u32* mark) {
  __shared__ T of_warps[8];
  clear(later_tally);
  const Listed found = {next, most, next_tally};
  Listed{listed, most, tally}.each([&](u64 row, const Group& g) {
    const u32 marked = mark[row];
    T mine = 0, before, all = 0;
    if (marked & RECEIVES) {
      const u64 to = (u64)indptr[row + 1];
      for (u64 at = (u64)indptr[row] + g.rank; at < to; at += g.size) {
        const T given = got[at];
        if (!(given > 0)) continue;
        got[at] = 0;
        residual[at] += given;
        mine += given;
      }
      sums(g, mine, of_warps, before, all);
    }
    g.sync();
    if (g.rank == 0) {
      excess[row] += all;
      mark[row] = 0;
      u32 above = height[row];
      if (marked & KEEPS) {
        // a neighbour that has pushed is one hop farther than this row was
        const u32 most_after = marked & RECEIVES ? above + 2 : FAR;
        above = raised[row] < most_after ? raised[row] : most_after;
        height[row] = above;
      }
      if (above != FAR) found.add(row, is_long(indptr, row));
    }
    g.sync();
  });
}

}  // namespace szc
