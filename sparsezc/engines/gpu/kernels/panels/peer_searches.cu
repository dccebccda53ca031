// Steps of 64 searches whose vertices are divided among cards: messages between the cards, and plans, with no host.
//
// Who calls: engines/gpu/several_processes/peer_searches.py. A card reads its own memory only, and writes to that of
// others, whose addresses it has: words of vertices, its numbers, and then a flag, before which all its earlier writes
// are visible. `plan` is a card's own: the searches that push and pull in a step. Kernels that have no work in a step
// end at once; steps after the last one do not wait for other cards, as hosts may launch different numbers of them.
#include "multi_source_bfs.cuh"

namespace szc {

// Numbers in `plan`: bits of the searches that push from this card's vertices and of those that pull; the vertices of
// the frontier on all cards; bits of the searches that any card pushes; the counters of a step's kernels.
enum { PUSH, PULL, LEFT, PUSHED, COUNTERS, PLAN = COUNTERS + 4 };

// The numbers of a card: vertices of the frontier, Reads, words written to the copies of the frontier, words received.
enum { READS = 1, CHANGED = READS + Reads::TOTALS, CAME, NUMBERS };

// A barrier of all cards: writes a number that grows to all of them, and waits until all have written theirs. `flags`
// has a word for each card, and flags_of[r] is the address of card r's. All threads of the only block call.
__device__ __forceinline__ void meet(const u64* flags_of, const u64* flags, u32 own, u32 cards, u64 number) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x < cards) {
    __threadfence_system();
    ((volatile u64*)flags_of[threadIdx.x])[own] = number;
    while (((const volatile u64*)flags)[threadIdx.x] < number) __nanosleep(20);
    __threadfence_system();
  }
  __syncthreads();
}

// meet_cards: orders the kernels after it behind those that all cards launched before it, in a step with a frontier.
extern "C" __global__ void __launch_bounds__(256)
    meet_cards(const u64* flags_of, const u64* flags, u32 own, u32 cards, u64 number, const u64* plan) {
  if (plan[LEFT]) meet(flags_of, flags, own, cards, number);
}

// send_words: writes the words of other cards' vertices that this card's pushes reached to these cards, and clears them
// here. Card r has the vertices bounds[r] .. bounds[r + 1] - 1, and inbox_of[r] is the address of zeros there for this
// card's words.
extern "C" __global__ void __launch_bounds__(256)
    send_words(u64* reached, const i64* bounds, u32 cards, u32 own, const u64* inbox_of, const u64* plan) {
  if (!plan[PUSH]) return;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u32 r = 0; r < cards; ++r) {
    if (r == own) continue;
    const u64 first = (u64)bounds[r], end = (u64)bounds[r + 1];
    for (u64 i = first + (u64)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
      const u64 word = reached[i];
      if (!word) continue;
      ((u64*)inbox_of[r])[i - first] = word;
      reached[i] = 0;
    }
  }
}

// turn_words: adds the bits that are reached for the first time, here or by others' pushes, to `seen`, and writes them
// to the frontier `front` and to `kept`, from which levels are written; `reached` and `came` are cleared. `came` has a word for
// each of the `size` vertices from each other card. Words of the frontier that change are also written to its copies,
// at the addresses fronts_of. push_indptr and pull_indptr as for turn_rows.
extern "C" __global__ void __launch_bounds__(256)
    turn_words(u64 size, u64* reached, u64* came, u32 others, u64* seen, u64* front, const u64* fronts_of, u64* kept,
               const i64* push_indptr, const i64* pull_indptr, const u64* plan, u64* numbers) {
  if (!plan[LEFT]) return;
  const bool pushed = plan[PUSHED] != 0;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  Reads reads = {};
  u64 found = 0, changed = 0, arrived = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i - lane_id() < size; i += stride) {
    u64 entries = 0;
    Bits fresh = {};
    if (i < size) {
      const u64 before = seen[i], last = front[i], own = reached[i];  // all reads come before writes, so that they overlap
      const u64 theirs = pushed ? came[i] : 0;                        // of one other card; there is one at least
      const u64 pushes = push_indptr ? (u64)(push_indptr[i + 1] - push_indptr[i]) : 1;
      const u64 pulls = pull_indptr ? (u64)(pull_indptr[i + 1] - pull_indptr[i]) : 0;
      if (own) reached[i] = 0;
      if (theirs) came[i] = 0;
      arrived += theirs != 0;
      u64 word = own | theirs;
      for (u32 r = 1; pushed && r < others; ++r) {
        const u64 more = came[r * size + i];
        if (!more) continue;
        came[r * size + i] = 0;
        word |= more;
        ++arrived;
      }
      fresh.word[0] = word = word & ~before;
      kept[i] = word;
      if (last != word) {
        front[i] = word;
        for (u32 r = 0; r < others; ++r) ((u64*)fronts_of[r])[i] = word;
        ++changed;
      }
      if (word) {
        seen[i] = before | word;
        ++found;
        entries = pushes;
      }
      if (pull_indptr && (before | word) != ~(u64)0) reads.pull(pulls);
    }
    reads.push(fresh, entries);
  }
  add_lanes(found, numbers);
  reads.add_to(numbers + READS);
  add_lanes(changed, numbers + CHANGED);
  add_lanes(arrived, numbers + CAME);
}

// The entries that a pull of some searches reads, and the searches that push if that costs the least: `cheapest` of
// products/multi_source_bfs.py, whose terms have the same names. Every card computes it from the same numbers.
struct Work {
  double frontier, wanted_first, wanted, nvals;
  u32 slots;

  __device__ double until_all_stop(u32 count, double share) const {
    const double slices = (1 + log((double)count)) / share / 32;
    const double left = slots ? 1 - pow(1 - pow(1 - share, (double)slots), (double)count) : 1;
    const double most = wanted_first * (slices > 1 ? slices : 1);
    return left * (wanted < most ? wanted : most);
  }

  __device__ u64 pushing(const u64* searches, double push_cost) const {
    const double few = FEW * nvals > 1 ? FEW * nvals : 1;
    double edges = 0, pulled = 0, least = 0;
    u64 there = 0, many = 0;
    for (u32 s = 0; s < 64; ++s) {
      const double of = (double)searches[s];
      if (of == 0) continue;
      edges += of;
      if (!there || of < least) least = of;
      there |= (u64)1 << s;
      if (of < few) continue;
      pulled += of;
      many |= (u64)1 << s;
    }
    double best = frontier * push_cost;
    if (!slots && best <= wanted && best <= wanted_first) return there;
    u64 pushing = there;
    if (many) {
      const u32 some = (u32)__popcll(many);
      const double pushed = edges - pulled < frontier ? edges - pulled : frontier;
      const double cost = pushed * push_cost + until_all_stop(some, pulled / some / nvals);
      if (cost < best) {
        best = cost;
        pushing = there & ~many;
      }
    }
    if (many != there && until_all_stop((u32)__popcll(there), least / nvals) < best) pushing = 0;
    return pushing;
  }
};

// plan_step: writes this card's numbers to all cards, clears them, and plans the next step from the numbers of all
// cards. `theirs` holds the numbers of each card, and theirs_of[r] is the address of card r's; `push_cost`, `slots` and
// `nvals` are cheapest's. `told`, in host memory, gets: the number of the step, from 1 on, written last; the vertices
// of the frontier; the words that this card received since the step before; the searches that push and that pull; this
// card's rows that pulls want, the entries in their first slices, and all their entries; and then, for each search, the
// entries of the rows in its frontier on all cards.
extern "C" __global__ void __launch_bounds__(256)
    plan_step(u64* numbers, const u64* theirs_of, const u64* theirs, const u64* flags_of, const u64* flags, u32 own,
              u32 cards, u64 number, double nvals, double push_cost, u32 slots, bool pulls, u64* plan, u64* told,
              u64 step) {
  __shared__ u64 sum[NUMBERS], mine[NUMBERS];
  const u32 t = threadIdx.x;
  if (!plan[LEFT]) {
    if (t == 0) {
      told[1] = told[2] = 0;
      __threadfence_system();
      *(volatile u64*)told = step;
    }
    return;
  }
  if (t < NUMBERS) {
    mine[t] = numbers[t];
    numbers[t] = 0;
    for (u32 r = 0; r < cards; ++r) ((volatile u64*)theirs_of[r])[own * NUMBERS + t] = mine[t];
  }
  meet(flags_of, flags, own, cards, number);
  if (t < NUMBERS) {
    u64 all = 0;
    for (u32 r = 0; r < cards; ++r) all += ((const volatile u64*)theirs)[r * NUMBERS + t];
    sum[t] = all;
  }
  __syncthreads();
  if (t == 0) {
    const u64 *reads = sum + READS, *searches = reads + 4;
    u64 there = 0;
    for (u32 s = 0; s < 64; ++s) there |= (u64)(searches[s] != 0) << s;
    const Work work = {(double)reads[0], (double)reads[2], (double)reads[3], nvals, slots};
    const u64 pushing = pulls ? work.pushing(searches, push_cost) : there;
    plan[PUSH] = told[3] = mine[0] ? pushing : 0;
    plan[PULL] = told[4] = there & ~pushing;
    plan[LEFT] = told[1] = sum[0];
    plan[PUSHED] = pushing;
    told[2] = mine[CAME] + sum[CHANGED] - mine[CHANGED];
    for (u32 c = 0; c < 4; ++c) plan[COUNTERS + c] = 0;
  }
  if (t < 3) told[5 + t] = mine[READS + 1 + t];
  if (t < 64) told[8 + t] = sum[READS + 4 + t];
  __threadfence_system();
  __syncthreads();
  if (t == 0) *(volatile u64*)told = step;
}

}  // namespace szc
