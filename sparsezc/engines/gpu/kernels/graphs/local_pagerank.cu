// l1-regularised PageRank around some vertices: all steps in one launch, and each row of a solution read once.
//
// Who calls: engines/gpu/graphs/local_pagerank.py, `solve` and then `later_ends` for the sweep. The threads that solve
// for a seed are its crowd: all blocks, which run at once (grid_sync.cuh), or, with ONE_EACH, one block for each of
// many seeds, whose threads wait for no other block.
// Memory: ids in host memory (zero-copy) or on the device, all else on the device; the arrays of all seeds follow each
// other. The steps are those of applications/local_clustering.py, Y = max((1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 -
// rho alpha, 0): most read only the edges between vertices of the solution, one in `every` also the neighbours of
// these. Sums are in units of 2^-62, so that no order of threads changes them: y of all neighbours of a vertex together
// is at most 1, and is rounded to the unit.
//
// The prelude supplies Id, ONE_EACH, and THREADS of a block.
#include "grid_sync.cuh"

namespace szc {

// Numbers in `state`: vertices and entries of the solution, how the launch ended, its steps, and the largest growth of
// a step as the bits of a double, three of them in rotation: one is written, one was read, one is cleared.
enum { FOUND, ENTRIES, ENDED, STEPS, GROWN };
enum { STOPPED, SETTLED, FULL };

constexpr u32 STATE = 8;  // numbers of a seed's `state`
constexpr double UNITS = 4611686018427387904.0;  // 2^62
constexpr u32 CLAIMED = 0xFFFFFFFFu;             // in `place` until the vertex has its position
constexpr Id EMPTY = (Id)~(Id)0;                 // in `key`
constexpr u32 IN_FLIGHT = ONE_EACH ? 8 : 4;      // entries that a thread copies together

// The vertices of the solution in the order in which they entered, and their entries, row after row.
struct Solution {
  u64* vertex;
  u64* begin;     // of a vertex's entries
  i64* degree;
  double* y;
  u64* come;      // y that a vertex gets from the solution in a step; zeros between steps
  u64 vertex_capacity;
  u32* owner;     // of an entry: the position of its row's vertex
  u32* number;    // of an entry: 1 + the position of its column's vertex, 0 if that is not in the solution
  u32* slot;      // of an entry: the table's slot of its column's vertex
  u64 entry_capacity;
};

// The columns of the solution's rows, and the seed: open addressing, linear probing. `place`: 1 + the vertex's position
// in the solution, or 0; `flow`: y that it gets from the solution in a step that looks at neighbours, else 0.
struct Table {
  Id* key;
  u32* place;
  u64* flow;
  u32 bits;       // the table has 2^bits slots

  // Returns the slot of a vertex, inserting it if needed.
  __device__ __forceinline__ u32 insert(Id v) const {
    const u32 last = (u32)((1ull << bits) - 1);
    u32 at = (u32)((u64)v * 0x9E3779B97F4A7C15ull >> (64 - bits));  // Fibonacci hashing: Knuth, vol. 3, section 6.4
    for (;; at = (at + 1) & last) {
      Id before = *(volatile Id*)(key + at);
      if (before == EMPTY) before = atomicCAS(key + at, EMPTY, v);
      if (before == EMPTY || before == v) return at;
    }
  }
};

// The crowd of a seed: the rank of this thread, the number of threads, and a barrier for all of them.
__device__ __forceinline__ u64 rank_in_crowd() { return ONE_EACH ? threadIdx.x : (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 crowd() { return ONE_EACH ? blockDim.x : (u64)gridDim.x * blockDim.x; }
__device__ __forceinline__ void sync_crowd(u64* wait) {
  if (ONE_EACH) __syncthreads(); else sync_grid(wait);
}

__device__ __forceinline__ u64 in_units(double y) { return (u64)(y * UNITS); }

// Raises *most to the largest of the lanes' numbers, which are not negative. All lanes call.
__device__ __forceinline__ void raise_to(u64* most, double mine) {
  const u64 best = largest(bit_cast<u64>(mine));  // ordered as the numbers are
  if (lane_id() == 0 && best) atomicMax(most, best);
}

// Calls visit(entry, active) for the first `count` entries, 32 neighbours at once, by all lanes of `threads` threads.
template <class Visit> __device__ __forceinline__ void each_entry(u64 count, u64 rank, u64 threads, Visit visit) {
  for (u64 base = rank & ~(u64)31; base < count; base += threads) visit(base + lane_id(), base + lane_id() < count);
}

// Adds each lane's value to the sum of its owner. All lanes call.
__device__ __forceinline__ void add_to_owners(u64* sums, u32 owner, u64 value) {
  const u32 first = __shfl_sync(ALL, owner, 0);
  if (!__all_sync(ALL, owner == first)) {
    if (value) atomicAdd(&sums[owner], value);
    return;
  }
  for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
  if (lane_id() == 0 && value) atomicAdd(&sums[first], value);
}

// Adds a vertex to the solution whose y grows from 0 to `far`; of several threads that call for it, one adds it.
__device__ __forceinline__ void enter(const Solution& s, u32* place, u64* state, u64 v, i64 degree, double far) {
  if (atomicCAS(place, 0u, CLAIMED) != 0) return;
  const u64 at = atomicAdd(&state[FOUND], (u64)1), begin = atomicAdd(&state[ENTRIES], (u64)degree);
  if (at >= s.vertex_capacity || begin + (u64)degree > s.entry_capacity) {
    atomicMax(&state[ENDED], (u64)FULL);
    return;
  }
  s.vertex[at] = v;
  s.begin[at] = begin;
  s.degree[at] = degree;
  s.y[at] = far;
  *place = (u32)at + 1;
}

// Copies the rows of the vertices from `first` on: a block copies a row, or with ONE_EACH a warp does.
__device__ __forceinline__ void copy_rows(const Solution& s, const Table& table, const i64* indptr, const Id* indices, u64 first, u64 count) {
  const u32 member = ONE_EACH ? lane_id() : threadIdx.x, members = ONE_EACH ? 32 : blockDim.x;
  const u64 mine = ONE_EACH ? threadIdx.x / 32 : blockIdx.x, all = ONE_EACH ? blockDim.x / 32 : gridDim.x;
  for (u64 at = first + mine; at < count; at += all) {
    const u64 begin = (u64)indptr[s.vertex[at]], end = begin + (u64)s.degree[at];
    for (u64 base = begin & ~(u64)31; base < end; base += IN_FLIGHT * members) {
      __syncwarp();  // lanes leave the table at different times; requests apart would read lines twice
      Id got[IN_FLIGHT];
#pragma unroll
      for (u32 j = 0; j < IN_FLIGHT; ++j) {
        const u64 k = base + j * members + member;
        got[j] = k >= begin && k < end ? load_host(indices + k, 0) : Id();
      }
#pragma unroll
      for (u32 j = 0; j < IN_FLIGHT; ++j) {
        const u64 k = base + j * members + member;
        if (k < begin || k >= end) continue;
        s.slot[s.begin[at] + (k - begin)] = table.insert(got[j]);
        s.owner[s.begin[at] + (k - begin)] = (u32)at;
      }
    }
  }
}

// `seeds`: a vertex for each block, or one. For each seed `vertex`, `begin`, `degree`, `y` and `come` have `vertex_capacity`
// elements, `owner`, `number` and `slot` have `entry_capacity`, `key`, `place` and `flow` 2^bits, and `state` has STATE. `key`:
// EMPTY. `place`, `flow`, `come`, `state`, `wait`: zeros. At the end state[ENDED] is SETTLED, FULL, or else STOPPED
// after max_iter steps, and state[GROWN] is then the growth of the last step.
extern "C" __global__ void __launch_bounds__(THREADS, ONE_EACH ? 2 : 4)
    solve(const i64* indptr, const Id* indices, const i64* seeds, double alpha, double rho, double most, u64 max_iter, u64 every, Id* key,
         u32* place, u64* flow, u32 bits, u64* vertex, u64* begin, i64* degree, double* y, u64* come, u64 vertex_capacity, u32* owner,
         u32* number, u32* slot, u64 entry_capacity, u64* state, u64* wait) {
  const u64 mine = ONE_EACH ? blockIdx.x : 0, of_vertices = mine * vertex_capacity, of_entries = mine * entry_capacity,
            of_table = mine << bits;
  const Solution s = {vertex + of_vertices, begin + of_vertices, degree + of_vertices, y + of_vertices, come + of_vertices, vertex_capacity,
                      owner + of_entries, number + of_entries, slot + of_entries, entry_capacity};
  const Table table = {key + of_table, place + of_table, flow + of_table, bits};
  state += mine * STATE;
  const u64 seed = (u64)seeds[mine], thread = rank_in_crowd(), threads = crowd();
  const double stay = (1 - alpha) / 2, least = rho * alpha;
  const i64 of_seed = indptr[seed + 1] - indptr[seed];
  u64 count = 0, entries = 0, step = 0;
  double grown = 0;
  bool settled = false;
  for (; step < max_iter && !settled; ++step) {
    const bool looks = !(grown > most && step % every);
    u64* growth = state + GROWN + step % 3;
    each_entry(entries, thread, threads, [&](u64 e, bool active) {
      const u32 from = active ? s.owner[e] : s.owner[entries - 1], other = active ? s.number[e] : 0;
      if (looks && active && other == 0) atomicAdd(&table.flow[s.slot[e]], in_units(s.y[from]));
      add_to_owners(s.come, from, other ? in_units(s.y[other - 1]) : 0);
    });
    sync_crowd(wait);
    if (thread == 0) state[GROWN + (step + 1) % 3] = 0;
    double more = 0;
    for (u64 at = thread; at < count; at += threads) {
      const double source = (s.vertex[at] == seed ? alpha / (double)of_seed : 0) - least, was = s.y[at];
      const double now = stay / (double)s.degree[at] * ((double)s.come[at] / UNITS) + source + stay * was;
      s.y[at] = now;
      s.come[at] = 0;
      if (now - was > more) more = now - was;
    }
    if (looks) {
      if (thread == 0 && count == 0 && of_seed > 0) {
        const double far = alpha / (double)of_seed - least;
        if (far > most) {
          enter(s, table.place + table.insert((Id)seed), state, seed, of_seed, far);
          more = far;
        }
      }
      // The first thread that reads a vertex's flow gets all of it: later threads may read the 0 that one of them
      // wrote.
      each_entry(entries, thread, threads, [&](u64 e, bool active) {
        if (!active || s.number[e]) return;
        const u32 at = s.slot[e];
        const u64 comes = *(volatile u64*)&table.flow[at];
        if (comes == 0) return;
        const u64 v = (u64)table.key[at];
        const i64 d = indptr[v + 1] - indptr[v];
        const double far = stay / (double)d * ((double)comes / UNITS) - least;
        if (far > most) {
          enter(s, table.place + at, state, v, d, far);
          if (far > more) more = far;
        }
        *(volatile u64*)&table.flow[at] = 0;
      });
    }
    raise_to(growth, more);
    sync_crowd(wait);
    grown = bit_cast<double>(*(volatile u64*)growth);
    const u64 found = *(volatile u64*)&state[FOUND];
    if (*(volatile u64*)&state[ENDED] == FULL) return;
    if (found == count) {
      settled = looks && grown <= most;
      continue;
    }
    copy_rows(s, table, indptr, indices, count, found);
    count = found;
    entries = *(volatile u64*)&state[ENTRIES];
    sync_crowd(wait);
    each_entry(entries, thread, threads, [&](u64 e, bool active) {
      if (active) s.number[e] = table.place[s.slot[e]];
    });
    sync_crowd(wait);
  }
  if (thread) return;
  state[STEPS] = step;
  state[GROWN] = bit_cast<u64>(grown);
  if (settled) state[ENDED] = SETTLED;
}

// later_ends: counts for each vertex of a solution, by its rank among those of all seeds, the entries between it and
// vertices of lower rank. `first`: the start of each seed's vertices in `rank`, which has ranks by position. `ends`:
// zeros. Each seed gets as many blocks.
extern "C" __global__ void __launch_bounds__(256)
    later_ends(u64 seeds, const u64* state, const u32* owner, const u32* number, u64 entry_capacity, const i64* first,
               const u32* rank, u64* ends) {
  const u64 mine = blockIdx.x % seeds, block = blockIdx.x / seeds, of_entries = mine * entry_capacity;
  rank += first[mine];
  each_entry(state[mine * STATE + ENTRIES], block * blockDim.x + threadIdx.x, gridDim.x / seeds * blockDim.x, [&](u64 e, bool active) {
    if (!active || !number[of_entries + e]) return;
    const u32 one = rank[owner[of_entries + e]], other = rank[number[of_entries + e] - 1];
    atomicAdd(&ends[one > other ? one : other], (u64)1);
  });
}

}  // namespace szc
