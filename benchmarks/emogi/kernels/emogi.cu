// emogi.cu -- breadth-first search, shortest paths and components as EMOGI does them (Min et al., VLDB 2021, section 4):
// one round a launch, one worker a vertex, and a worker that is active reads its whole row from host memory.
//
// Who calls: benchmarks/emogi/variants.py, with portability.cuh and a prelude before this text. The prelude supplies Id
// (of an id), Length (of an edge), PATTERN: NAIVE (the worker is a thread), MERGED (a warp that loads 32 entries from
// the row's first on), ALIGNED (from the line in which the row begins; lanes before the row do not load). `indices` and
// `lengths` are host memory that begins at a line; all else is device memory. `changed` is 0 on entry.
// Sources of the algorithms: P. Harish, P. Narayanan, HiPC 2007, doi:10.1007/978-3-540-77220-0_21 (search, shortest
// paths); J. Soman, K. Kishore, P. Narayanan, IPDPSW 2010, doi:10.1109/IPDPSW.2010.5470817 (hooking, pointer jumping).

namespace szc {

enum Pattern { NAIVE, MERGED, ALIGNED };

__device__ __forceinline__ u64 thread_index() { return blockIdx.x * (u64)blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 worker() { return PATTERN == NAIVE ? thread_index() : thread_index() >> 5; }

// Calls visit(position) for each entry of the worker's row; lanes share the entries.
template <class Visit>
__device__ __forceinline__ void visit_row(u64 row, const i64* indptr, Visit visit) {
  const u64 begin = (u64)indptr[row], end = (u64)indptr[row + 1];
  if (PATTERN == NAIVE) {
    for (u64 at = begin; at < end; ++at) visit(at);
    return;
  }
  constexpr u64 LINE = 128 / sizeof(Id);
  for (u64 base = PATTERN == ALIGNED ? begin & ~(LINE - 1) : begin; base < end; base += 32) {
    const u64 at = base + (threadIdx.x & 31u);
    if (at >= begin && at < end) visit(at);
    __syncwarp();
  }
}

// The vertices of one depth give the next to those neighbours that have none (-1).
extern "C" __global__ void __launch_bounds__(256)
    bfs(u64 nrows, const i64* indptr, const Id* indices, i32* level, i32 depth, u32* changed) {
  const u64 row = worker();
  if (row >= nrows || level[row] != depth) return;
  visit_row(row, indptr, [&](u64 at) {
    const u64 id = load_host_cached(indices + at, SITE_INDICES);
    if (level[id] == -1) {
      level[id] = depth + 1;
      *changed = 1;
    }
  });
}

// The active vertices offer their neighbours a way; whose distance falls is active in the next round.
extern "C" __global__ void __launch_bounds__(256)
    sssp(u64 nrows, const i64* indptr, const Id* indices, const Length* lengths, u32* distance, const u8* active, u8* next,
         u32* changed) {
  const u64 row = worker();
  if (row >= nrows || !active[row]) return;
  const u32 mine = distance[row];
  visit_row(row, indptr, [&](u64 at) {
    const u64 id = load_host_cached(indices + at, SITE_INDICES);
    const u32 through = mine + (u32)load_host_cached(lengths + at, SITE_VALUES);
    if (through < atomicMin(&distance[id], through)) {
      next[id] = 1;
      *changed = 1;
    }
  });
}

// The active vertices hook the larger of two components that an edge joins into the smaller.
extern "C" __global__ void __launch_bounds__(256)
    hook(u64 nrows, const i64* indptr, const Id* indices, u32* component, const u8* active, u32* changed) {
  const u64 row = worker();
  if (row >= nrows || !active[row]) return;
  const u32 mine = component[row];
  visit_row(row, indptr, [&](u64 at) {
    const u32 other = component[load_host_cached(indices + at, SITE_INDICES)];
    if (other == mine) return;
    atomicMin(&component[other > mine ? other : mine], other > mine ? mine : other);
    *changed = 1;
  });
}

// Each vertex follows the hooks to their end; those that moved are active in the next round.
extern "C" __global__ void __launch_bounds__(256) jump(u64 nrows, u32* component, u32* before, u8* active) {
  const u64 row = thread_index();
  if (row >= nrows) return;
  u32 mine = component[row];
  for (u32 above = ((volatile u32*)component)[mine]; above != mine; above = ((volatile u32*)component)[mine]) mine = above;
  component[row] = mine;
  active[row] = mine != before[row];
  before[row] = mine;
}

}  // namespace szc
