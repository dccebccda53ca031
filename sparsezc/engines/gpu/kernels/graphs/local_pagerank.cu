// l1-regularised PageRank around one vertex: all steps in one launch, and each row of the solution read once.
//
// Who calls: engines/gpu/graphs/local_pagerank.py, with all blocks running at once (grid.cuh), once a seed; then `later_ends` for the sweep.
// Memory: ids in host memory (zero-copy) or on the device, all else on the device. The steps are those of
// applications/local_clustering.py, Y = max((1 - alpha)/2 (Y + Y S D^-1) + alpha s D^-1 - rho alpha, 0): most go over the edges
// between the vertices of the solution, one of `every` also looks at their neighbours. Sums are in units of 2^-62, so that no order
// of threads changes them: y of all neighbours of a vertex together is at most 1, and rounds to the unit.
//
// The prelude supplies Id.
#include "grid.cuh"

namespace szc {

// What `state` holds: vertices and entries of the solution, how the launch ended, its steps, and the largest growth of a step, as the
// bits of a double, in turns of three: one is written, one was read, one is emptied.
enum { FOUND, ENTRIES, ENDED, STEPS, GROWN };
enum { STOPPED, SETTLED, FULL };

constexpr double UNITS = 4611686018427387904.0;  // 2^62
constexpr u32 CLAIMED = 0xFFFFFFFFu;             // in `place`, until the vertex has its number
constexpr u32 IN_FLIGHT = 4;                     // entries that a thread copies together

// The vertices of the solution in the order of their entry, and their entries, row after row.
struct Solution {
  u64* vertex;
  u64* begin;     // of a vertex's entries
  i64* degree;
  double* y;
  u64* come;      // what comes to a vertex from the solution in a step; zeros between steps
  u64 rooms;      // vertices that there is room for
  Id* ids;
  u32* owner;     // of an entry: the position of its row's vertex
  u32* number;    // of an entry: 1 + the position of the vertex that it names, 0 if that is beyond the solution
  u64 room;       // entries that there is room for
};

// Of all vertices: 1 + the position in the solution, or 0; what comes from the solution in a step that looks, zeros between these.
struct Plane {
  u32* place;
  u64* flow;
};

__device__ __forceinline__ u64 in_units(double y) { return (u64)(y * UNITS); }

// Raises *most to the largest of the lanes' numbers, none of which is negative. All lanes call.
__device__ __forceinline__ void raise_to(u64* most, double mine) {
  const u64 best = largest(bit_cast<u64>(mine));  // ordered as the numbers are
  if (lane_id() == 0 && best) atomicMax(most, best);
}

// Calls visit(entry, active) for the first `count` entries, 32 neighbours at once, by all lanes.
template <class Visit> __device__ __forceinline__ void each_entry(u64 count, Visit visit) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 base = ((u64)blockIdx.x * blockDim.x + threadIdx.x) & ~(u64)31; base < count; base += stride)
    visit(base + lane_id(), base + lane_id() < count);
}

// Adds a value of each lane to the sum of its owner. All lanes call.
__device__ __forceinline__ void add_to_owners(u64* sums, u32 owner, u64 value) {
  const u32 first = __shfl_sync(ALL, owner, 0);
  if (!__all_sync(ALL, owner == first)) {
    if (value) atomicAdd(&sums[owner], value);
    return;
  }
  for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(ALL, value, d);
  if (lane_id() == 0 && value) atomicAdd(&sums[first], value);
}

// Lets a vertex in whose y grows from 0 to `far`: one thread of those that ask.
__device__ __forceinline__ void enter(const Solution& s, const Plane& plane, u64* state, u64 v, i64 degree, double far) {
  if (atomicCAS(&plane.place[v], 0u, CLAIMED) != 0) return;
  const u64 at = atomicAdd(&state[FOUND], (u64)1), begin = atomicAdd(&state[ENTRIES], (u64)degree);
  if (at >= s.rooms || begin + (u64)degree > s.room) {
    atomicMax(&state[ENDED], (u64)FULL);
    return;
  }
  s.vertex[at] = v;
  s.begin[at] = begin;
  s.degree[at] = degree;
  s.y[at] = far;
  plane.place[v] = (u32)at + 1;
}

// Copies the rows of the vertices from `first` on, each by a block.
__device__ __forceinline__ void copy_rows(const Solution& s, const i64* indptr, const Id* indices, u64 first, u64 count) {
  for (u64 at = first + blockIdx.x; at < count; at += gridDim.x) {
    const u64 begin = (u64)indptr[s.vertex[at]], end = begin + (u64)s.degree[at];
    for (u64 base = begin & ~(u64)31; base < end; base += IN_FLIGHT * blockDim.x) {
      Id got[IN_FLIGHT];
#pragma unroll
      for (u32 j = 0; j < IN_FLIGHT; ++j) {
        const u64 k = base + j * blockDim.x + threadIdx.x;
        got[j] = k >= begin && k < end ? load_host(indices + k, 0) : Id();
      }
#pragma unroll
      for (u32 j = 0; j < IN_FLIGHT; ++j) {
        const u64 k = base + j * blockDim.x + threadIdx.x;
        if (k < begin || k >= end) continue;
        s.ids[s.begin[at] + (k - begin)] = got[j];
        s.owner[s.begin[at] + (k - begin)] = (u32)at;
      }
    }
  }
}

// `seed`: a vertex. `vertex`, `begin`, `degree`, `y` and `come` have `rooms` places, `ids`, `owner` and `number` have `room`.
// `place`, `flow`, `come`, `state`, `wait`: zeros. Afterwards `state` says how it ended: SETTLED, FULL, or else after
// max_iter steps, the growth of the last of which is then in state[GROWN].
extern "C" __global__ void __launch_bounds__(256, 4)
    solve(const i64* indptr, const Id* indices, u64 seed, double alpha, double rho, double most, u64 max_iter, u64 every, u32* place,
         u64* flow, u64* vertex, u64* begin, i64* degree, double* y, u64* come, u64 rooms, Id* ids, u32* owner, u32* number, u64 room,
         u64* state, u64* wait) {
  const Solution s = {vertex, begin, degree, y, come, rooms, ids, owner, number, room};
  const Plane plane = {place, flow};
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
  const double stay = (1 - alpha) / 2, least = rho * alpha;
  const i64 of_seed = indptr[seed + 1] - indptr[seed];
  u64 count = 0, entries = 0, step = 0;
  double grown = 0;
  bool settled = false;
  for (; step < max_iter && !settled; ++step) {
    const bool looks = !(grown > most && step % every);
    u64* growth = state + GROWN + step % 3;
    each_entry(entries, [&](u64 e, bool active) {
      const u32 mine = active ? owner[e] : owner[entries - 1], other = active ? number[e] : 0;
      if (looks && active && other == 0) atomicAdd(&flow[(u64)ids[e]], in_units(y[mine]));
      add_to_owners(come, mine, other ? in_units(y[other - 1]) : 0);
    });
    sync_grid(wait);
    if (thread == 0) state[GROWN + (step + 1) % 3] = 0;
    double more = 0;
    for (u64 at = thread; at < count; at += threads) {
      const double source = (vertex[at] == seed ? alpha / (double)of_seed : 0) - least, was = y[at];
      const double now = stay / (double)degree[at] * ((double)come[at] / UNITS) + source + stay * was;
      y[at] = now;
      come[at] = 0;
      if (now - was > more) more = now - was;
    }
    if (looks) {
      if (thread == 0 && count == 0 && of_seed > 0) {
        const double far = alpha / (double)of_seed - least;
        if (far > most) {
          enter(s, plane, state, seed, of_seed, far);
          more = far;
        }
      }
      // The first thread that reads a vertex's flow sees all of it: others may see the 0 that one of them writes after.
      each_entry(entries, [&](u64 e, bool active) {
        if (!active || number[e]) return;
        const u64 v = (u64)ids[e], comes = *(volatile u64*)&flow[v];
        if (comes == 0) return;
        const i64 d = indptr[v + 1] - indptr[v];
        const double far = stay / (double)d * ((double)comes / UNITS) - least;
        if (far > most) {
          enter(s, plane, state, v, d, far);
          if (far > more) more = far;
        }
        *(volatile u64*)&flow[v] = 0;
      });
    }
    raise_to(growth, more);
    sync_grid(wait);
    grown = bit_cast<double>(*(volatile u64*)growth);
    const u64 found = *(volatile u64*)&state[FOUND];
    if (*(volatile u64*)&state[ENDED] == FULL) return;
    if (found == count) {
      settled = looks && grown <= most;
      continue;
    }
    copy_rows(s, indptr, indices, count, found);
    count = found;
    entries = *(volatile u64*)&state[ENTRIES];
    sync_grid(wait);
    each_entry(entries, [&](u64 e, bool active) {
      if (active) number[e] = place[(u64)ids[e]];
    });
    sync_grid(wait);
  }
  if (thread) return;
  state[STEPS] = step;
  state[GROWN] = bit_cast<u64>(grown);
  if (settled) state[ENDED] = SETTLED;
}

// Counts of each vertex of a solution, by its rank, the entries that end there and begin at a vertex of a lower rank.
// `rank`: of each vertex, by its position. `ends`: zeros.
extern "C" __global__ void __launch_bounds__(256) later_ends(u64 entries, const u32* owner, const u32* number, const u32* rank, u64* ends) {
  each_entry(entries, [&](u64 e, bool active) {
    if (!active || !number[e]) return;
    const u32 one = rank[owner[e]], other = rank[number[e] - 1];
    atomicAdd(&ends[one > other ? one : other], (u64)1);
  });
}

}  // namespace szc
