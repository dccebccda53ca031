// cuda_emu_rt.cpp -- the runtime behind cuda_emu.h: runs a kernel's blocks, one after another, on one OS thread.
// A block that waits for all others (sync_grid) is put aside with its lanes and its shared memory until all wait.
//
// Every CUDA thread of the block is a fibre with a stack of its own.  A warp collective or a barrier is a rendezvous: the
// lane records its call and sleeps; when every lane of the mask has called, the runtime computes all the results.
// Undefined behaviour of CUDA is an error here, never silently repaired: lanes of one warp in different calls, a shuffle
// from a lane that takes no part, a barrier after some threads have left, a block that cannot advance.
//
// Orders.  FORWARD, REVERSE, RANDOM: a lane runs on until it must wait; lanes and warps are taken in that order (RANDOM also
// lets another lane go first at some atomics).  LOCKSTEP: the lanes of a warp advance together, one basic block at a
// time, as a SIMT warp does; kernels are compiled with -fsanitize-coverage=trace-pc, whose hook ends each step.  Only in
// LOCKSTEP are lanes' loads known to be one instruction, so only there are requests to host memory counted.
#include "cuda_emu_fibres.h"
#include "cuda_emu_requests.h"

namespace {

// ---- warp collectives -----------------------------------------------------------------------------------------------
u32 reduce_pair(int kind, u32 a, u32 b) {
  switch (kind) {
    case ADD: return a + b;
    case MIN_UNSIGNED: return a < b ? a : b;
    case MAX_UNSIGNED: return a < b ? b : a;
    case MIN_SIGNED: return (int)a < (int)b ? a : b;
    case MAX_SIGNED: return (int)a < (int)b ? b : a;
    case AND_BITS: return a & b;
    case OR_BITS: return a | b;
    default: return a ^ b;
  }
}

u64 shuffle_result(u32 first, u32 present, u32 me) {
  const Call& call = lanes[first + me]->call;
  const u32 width = (u32)call.width, base = me & ~(width - 1), relative = me & (width - 1), argument = (u32)call.argument;
  u32 source = me;   // out of the segment: the lane's own value
  if (call.kind == IDX) source = base + (argument & (width - 1));
  else if (call.kind == UP) { if (relative >= argument) source = me - argument; }
  else if (call.kind == DOWN) { if (relative + argument < width) source = me + argument; }
  else if ((me ^ argument) < base + width) source = me ^ argument;
  if (!(present >> source & 1))
    fail(thread_name(*lanes[first + me]) + " shuffles from lane " + std::to_string(source) + ", which takes no part (" + where(call) + ")");
  return lanes[first + source]->call.value;
}

u64 match_result(u32 first, u32 n, u32 present, u32 me) {
  u64 result = 0;
  for (u32 k = 0; k < n; ++k)
    if (present >> k & 1) result |= (u64)(lanes[first + k]->call.value == lanes[first + me]->call.value) << k;
  return result;
}

// The result of a vote or a reduction, for all its lanes.
u64 common_result(u32 first, u32 n, u32 present, const Call& call) {
  u64 result = 0;
  bool any = false;
  if (call.op != VOTE && call.op != REDUCE) return 0;
  for (u32 k = 0; k < n; ++k) {
    if (!(present >> k & 1)) continue;
    const u64 value = lanes[first + k]->call.value;
    if (call.op == VOTE) result |= (u64)(value != 0) << k;
    else result = any ? reduce_pair(call.kind, (u32)result, (u32)value) : value;
    any = true;
  }
  return result;
}

bool same_text(const char* a, const char* b) { return a == b || !strcmp(a, b); }

// Completes every collective of the warp that all its lanes have called (except those that returned, as in CUDA).
bool complete_warp(u32 first, u32 n) {
  bool any = false;
  u32 seen = 0;
  for (u32 i = 0; i < n; ++i) {
    const Lane& l = *lanes[first + i];
    if (l.op < SYNCWARP || l.op >= BARRIER || (seen >> i & 1)) continue;
    u32 present = 0;
    bool complete = true;
    for (u32 j = 0; j < n; ++j) {
      const Lane& other = *lanes[first + j];
      if (!(l.call.mask >> j & 1) || other.op == DONE) continue;
      if (other.op == l.op && other.call.mask == l.call.mask) present |= 1u << j;
      else complete = false;
    }
    seen |= present;
    if (!complete) continue;
    const u64 common = common_result(first, n, present, l.call);
    for (u32 j = 0; j < n; ++j) {
      if (!(present >> j & 1)) continue;
      Lane& other = *lanes[first + j];
      if (other.call.line != l.call.line || other.call.kind != l.call.kind || !same_text(other.call.file, l.call.file))
        fail("lanes of one warp met in different calls: " + thread_name(l) + " in " + where(l.call) + ", " + thread_name(other) + " in " + where(other.call));
      other.result = l.call.op == SHUFFLE ? shuffle_result(first, present, j) : l.call.op == MATCH ? match_result(first, n, present, j) : common;
      other.op = RUNNING;
    }
    any = true;
  }
  return any;
}

// Completes __syncthreads() when every thread that has not returned waits there.
bool complete_block() {
  u32 waiting = 0, live = 0, count = 0;
  const Lane* one = nullptr;
  for (u32 t = 0; t < nthreads; ++t) {
    const Lane& l = *lanes[t];
    live += l.op != DONE;
    if (l.op == BARRIER) { ++waiting; count += l.call.value != 0; one = &l; }
  }
  if (!live || waiting != live) return false;
  if (live != nthreads) fail(where(one->call) + " after some threads of the block have returned");
  for (u32 t = 0; t < nthreads; ++t) {
    Lane& l = *lanes[t];
    if (l.call.line != one->call.line || !same_text(l.call.file, one->call.file))
      fail("threads of one block met in different barriers: " + thread_name(l) + " in " + where(l.call) + ", " + thread_name(*one) + " in " + where(one->call));
    l.result = l.call.kind == COUNT ? count : l.call.kind == ALL ? count == nthreads : count != 0;
    l.op = RUNNING;
  }
  return true;
}

// ---- scheduling -----------------------------------------------------------------------------------------------------
bool run_free(u32 first, u32 n, const std::vector<u32>& lane_order) {   // runs every lane until it waits; returns whether any advanced
  for (bool moved = false;; moved = true) {
    Lane** end = pass;
    for (u32 i : lane_order) if (i < n && lanes[first + i]->op == RUNNING) *end++ = lanes[first + i].get();
    *end = nullptr;
    run_pass();
    if (!complete_warp(first, n) && end == pass) return moved;
  }
}

bool behind(const Lane& a, const Lane& b) { return a.depth > b.depth || (a.depth == b.depth && a.block_address < b.block_address); }

// Puts into `pass` the lanes that are furthest behind: deepest in calls first, then at the lowest address, as the
// compiler (with -fno-reorder-blocks) places code before a join at lower addresses. Lanes in __nanosleep() come last.
bool furthest_behind(u32 first, u32 n) {
  Lane** end = pass;
  bool running = false;
  active_lanes = 0;
  for (u32 i = 0; i < n; ++i) {
    Lane& l = *lanes[first + i];
    if (l.op != RUNNING) continue;
    running = true;
    if (l.yields) continue;
    if (end != pass) {
      if (behind(**pass, l)) continue;
      if (behind(l, **pass)) { end = pass; active_lanes = 0; }
    }
    *end++ = &l;
    active_lanes |= 1u << i;
  }
  *end = nullptr;
  if (end != pass || !running) return running;
  for (u32 i = 0; i < n; ++i) lanes[first + i]->yields = false;
  return furthest_behind(first, n);
}

// Runs one basic block after another, each by all lanes that have reached it.
bool run_lockstep(u32 first, u32 n) {
  for (bool moved = false;; moved = true) {
    if (!furthest_behind(first, n)) {
      if (!complete_warp(first, n)) return moved;
      continue;
    }
    run_pass();
    if (pending_loads) count_step(first, n);
  }
}

[[noreturn]] void report_deadlock() {
  std::string message = "deadlock: no thread can go on;";
  for (u32 t = 0, shown = 0; t < nthreads && shown < 6; ++t)
    if (lanes[t]->op > DONE) { message += (shown ? ", " : " ") + thread_name(*lanes[t]) + " waits in " + where(lanes[t]->call); ++shown; }
  fail(message);
}

bool waits_for_grid() {
  for (u32 t = 0; t < nthreads; ++t) if (lanes[t]->op != GRID) return false;
  return true;
}

// Runs a block from its start, or from its wait for the grid; returns whether it waits for the grid again.
bool run_block() {
  const u32 nwarps = (nthreads + WARP - 1) / WARP;
  std::vector<u32> warp_order(nwarps), lane_order(WARP);
  for (u32 w = 0; w < nwarps; ++w) warp_order[w] = order == REVERSE ? nwarps - 1 - w : w;
  for (u32 i = 0; i < WARP; ++i) lane_order[i] = order == REVERSE ? WARP - 1 - i : i;
  for (u32 t = 0; t < nthreads; ++t) {
    Lane& l = *lanes[t];
    if (l.op == GRID) { l.op = RUNNING; continue; }
    l.op = RUNNING;
    l.block_address = nullptr;
    l.depth = 0;
    l.yields = false;
  }
  for (;;) {
    if (order == RANDOM) {
      for (u32 k = nwarps; k > 1; --k) std::swap(warp_order[k - 1], warp_order[random_number() % k]);
      for (u32 k = WARP; k > 1; --k) std::swap(lane_order[k - 1], lane_order[random_number() % k]);
    }
    bool moved = false, alive = false;
    for (u32 w : warp_order) {
      const u32 first = w * WARP, n = std::min(WARP, nthreads - first);
      moved |= order == LOCKSTEP ? run_lockstep(first, n) : run_free(first, n, lane_order);
    }
    for (u32 t = 0; t < nthreads; ++t) alive |= lanes[t]->op != DONE;
    if (!alive) return false;
    if (waits_for_grid()) return true;
    if (!complete_block() && !moved) report_deadlock();
  }
}

COLD void report_wrong_mask(const Lane& l, const Call& call) {
  lane_error = thread_name(l) + " calls a collective whose mask does not name its lane (" + where(call) + ")";
}

// Fields are stored one by one: a copy of a Call just made would stall on its stores.
inline u64 meet(Op op, u32 mask, u64 value, int argument, int width, int kind, const char* file, int line,
                const void* block_address, const void* frame) {
  Lane& l = *current;
  Call& call = l.call;
  call.op = l.op = op;
  call.mask = mask;
  call.value = value;
  call.argument = argument;
  call.width = width;
  call.kind = kind;
  call.file = file;
  call.line = line;
  if (op < BARRIER && !(mask >> l.lane & 1)) report_wrong_mask(l, call);
  l.block_address = block_address;
  l.depth = (u64)l.stack + l.stack_bytes - (u64)frame;
  sleep_lane();
  return l.result;
}

}  // namespace

// ---- called by kernels ----------------------------------------------------------------------------------------------
COLD static void report_wrong_width(int width, const char* file, int line) {
  lane_error = "a shuffle's width is " + std::to_string(width) + ", not a power of two up to 32 (at " + file + ":" + std::to_string(line) + ")";
}

extern "C" u64 szc_emu_shuffle(unsigned mask, u64 value, int argument, int width, int kind, const char* file, int line) {
  if (width < 1 || width > 32 || (width & (width - 1))) report_wrong_width(width, file, line);
  return meet(SHUFFLE, mask, value, argument, width, kind, file, line, __builtin_return_address(0), __builtin_frame_address(0));
}

extern "C" u64 szc_emu_meet(Op op, unsigned mask, u64 value, int kind, const char* file, int line) {
  return meet(op, mask, value, 0, 32, kind, file, line, __builtin_return_address(0), __builtin_frame_address(0));
}

extern "C" unsigned szc_emu_active() { return order == LOCKSTEP ? active_lanes : 1u << current->lane; }

extern "C" void szc_emu_load(const void* p, unsigned size, int site) {
  if (!counting) return;
  if (site < 0 || site >= SITES) { lane_error = "load_host() from site " + std::to_string(site) + ", which does not exist"; sleep_lane(); }
  u32 ordinal = 0;
  for (const Load& l : current->loads) ordinal += l.site == site;
  current->loads.push_back({(u64)p, size, site, ordinal});
  ++pending_loads;
}

// Called at every atomic and in __nanosleep(): a lane that spins on an atomic must let the lane that it waits for run.
extern "C" void szc_emu_interleave(int sleeps) {
  const bool tired = order != LOCKSTEP && ++current->atomics % 4096 == 0;
  if (!sleeps && !tired && !(order == RANDOM && random_number() % 4 == 0)) return;
  current->yields = true;
  sleep_lane();
}

extern "C" void szc_emu_trap(const char* what, const char* file, int line) {
  lane_error = thread_name(*current) + " ran into " + what + " at " + file + ":" + std::to_string(line);
  sleep_lane();
}

__attribute__((noinline)) static void end_of_step(const void* block_address, const void* frame) {
  if (!current) return;
  if (time_is_over) {
    lane_error = thread_name(*current) + " runs on and on: the launch's time is over";
    sleep_lane();
  }
  if (order != LOCKSTEP) return;
  current->block_address = block_address;
  current->depth = (u64)current->stack + current->stack_bytes - (u64)frame;
  sleep_lane();
}

extern "C" void __sanitizer_cov_trace_pc() {   // g++ calls it at the start of every basic block of a kernel
  if (order == LOCKSTEP || time_is_over) end_of_step(__builtin_return_address(0), __builtin_frame_address(0));
}

// ---- called by device.py --------------------------------------------------------------------------------------------
// Blocks that wait for all blocks of their launch: the lanes and the shared memory of each.
struct Waiting { std::vector<std::unique_ptr<Lane>> lanes; std::vector<char> shared; };
static std::vector<Waiting> waiting;

static void fresh_lanes() {
  while (lanes.size() < nthreads) {
    lanes.push_back(std::make_unique<Lane>());
    prepare(*lanes.back());
  }
  for (u32 t = 0; t < nthreads; ++t) {
    lanes[t]->thread = t;
    lanes[t]->lane = t % WARP;
    lanes[t]->op = DONE;
    lanes[t]->loads.clear();
    lanes[t]->atomics = 0;
  }
}

static void run_grid(const Kernel* kernel, u32 grid) {
  const size_t shared = kernel->shared_begin ? (size_t)(kernel->shared_end - kernel->shared_begin) : 0;
  u32 waits = grid;   // blocks that wait for the grid; in the first round all blocks start
  for (bool first = true; waits; first = false) {
    if (waits != grid) fail("sync_grid after some blocks of the launch have returned");
    waits = 0;
    for (u32 b = 0; b < grid; ++b) {
      szc_emu_context.block = {b, 0, 0};
      if (first) {
        fresh_lanes();
        if (shared) memset(kernel->shared_begin, 0xA5, shared);
      } else {
        std::swap(lanes, waiting[b].lanes);
        if (shared) memcpy(kernel->shared_begin, waiting[b].shared.data(), shared);
      }
      const bool waited = run_block();
      if (waited && waiting.size() <= b) waiting.resize(b + 1);
      if (waited && shared) waiting[b].shared.assign(kernel->shared_begin, kernel->shared_begin + shared);
      if (waited || !first) std::swap(lanes, waiting[b].lanes);   // lanes of a block that returned serve later launches
      waits += waited;
    }
  }
}

struct Launch { u32 grid, block; int order, counting; u64 seed; double seconds; };

extern "C" int szc_emu_launch(const Kernel* kernel, void** arguments, const Launch* launch, SiteStats* stats, char* error, int error_size) {
  kernel_entry = kernel->entry;
  kernel_arguments = arguments;
  order = (Order)launch->order;
  counting = launch->counting && order == LOCKSTEP;
  random_state = launch->seed * 2654435761ull + 88172645463325252ull;
  nthreads = launch->block;
  std::fill(site_stats, site_stats + SITES, SiteStats());
  lane_error.clear();
  pending_loads = 0;
  szc_emu_context.block_size = {launch->block, 1, 1};
  szc_emu_context.grid_size = {launch->grid, 1, 1};
  scheduler.entered = true;
#if defined(SZC_ADDRESS_SANITIZER)
  static ucontext_t here;
  scheduler.first = &here;
#endif
  std::string message;
  {
    SignalGuard guard(launch->seconds);
    try {
      run_grid(kernel, launch->grid);
    } catch (const Failure& failure) {
      message = "block " + std::to_string(szc_emu_context.block.x) + ": " + failure.message;
      current = nullptr;
      for (auto& l : lanes) prepare(*l);   // their work is abandoned
      waiting.clear();
    }
  }
  std::copy(site_stats, site_stats + SITES, stats);
  snprintf(error, (size_t)error_size, "%s", message.c_str());
  return !message.empty();
}
