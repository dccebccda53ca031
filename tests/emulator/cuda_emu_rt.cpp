// cuda_emu_rt.cpp -- the machine behind cuda_emu.h: runs a kernel's blocks, one after another, on one OS thread.
//
// Every CUDA thread of the block is a fibre with a stack of its own.  A warp collective or a barrier is a rendezvous: the
// lane hands in its call and sleeps; when every lane that the call names has come, the machine computes all the results.
// What CUDA leaves undefined is an error here, never quietly put right: lanes that meet in different calls, a shuffle
// that reads a lane which takes no part, a barrier after some threads have left, a block that cannot go on.
//
// Orders.  FORWARD, REVERSE, RANDOM: a lane runs on until it must wait; lanes and warps are taken in that order (RANDOM also
// lets another lane go first at some atomics).  LOCKSTEP: the lanes of a warp advance together, one basic block at a
// time, as a SIMT warp does; kernels are compiled with -fsanitize-coverage=trace-pc, whose hook ends each step.  Only in
// LOCKSTEP is it known which lanes' loads are one instruction, so only there are requests to host memory counted.
#define SZC_EMU_MACHINE
#include "cuda_emu.h"
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#if defined(SZC_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

using namespace szc_emu;
typedef unsigned u32;
typedef unsigned long long u64;

extern "C" { Context szc_emu_context; }

namespace {

constexpr u32 WARP = 32;
constexpr size_t STACK_BYTES = 256 * 1024;
constexpr int SITES = 8;
enum Order { FORWARD, REVERSE, RANDOM, LOCKSTEP };
const char* const OP_NAMES[] = {"running", "done", "__syncwarp", "shuffle", "vote", "match", "reduce", "__syncthreads"};

struct Load { u64 address; u32 size; int site; u32 ordinal; };   // ordinal: how many loads of this site came before, in this step

struct Fibre {
  ucontext_t first;        // how to enter it the first time
  jmp_buf at;              // how to come back to it
  bool entered = false;
  void* stack = nullptr;
  void* fake_stack = nullptr;   // AddressSanitizer's
};

struct Lane : Fibre {
  u32 thread, lane, warp;
  Op op = DONE;            // what it waits for
  Call call;
  u64 result = 0;          // of its collective
  const void* block_address = nullptr;   // LOCKSTEP: where it stands: the basic block ...
  u64 depth = 0;                         // ... and how deep in calls
  bool yields = false;                   // LOCKSTEP: it waits for another lane of its warp to go on
  u32 atomics = 0;                       // since it last let others run
  std::vector<Load> loads;
};

struct SiteStats { u64 loads, useful_bytes, sectors, requests[5]; };   // requests[k]: of k sectors of 32 bytes
struct Failure { std::string message; };

// ---- the state of the one launch that runs --------------------------------------------------------------------------
std::vector<std::unique_ptr<Lane>> lanes;
u32 nthreads = 0;
Lane* current = nullptr;
Fibre scheduler;
void (*kernel_entry)(void**);
void** kernel_arguments;
Order order;
bool counting;
u64 random_state;
u32 active_lanes = 0;      // LOCKSTEP: the lanes of this step
u32 pending_loads = 0;
SiteStats site_stats[SITES];
std::string lane_error;    // what a lane or a signal reported; the scheduler throws it

u64 random_number() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}
std::string where(const Call& c) { return std::string(OP_NAMES[c.op]) + " at " + c.file + ":" + std::to_string(c.line); }
std::string thread_name(const Lane& l) { return "thread " + std::to_string(l.thread); }
[[noreturn]] void fail(const std::string& what) { throw Failure{what}; }

// ---- fibres ---------------------------------------------------------------------------------------------------------
#if defined(SZC_ADDRESS_SANITIZER)
const void* main_stack;
size_t main_stack_size;
void switch_to(Fibre& from, Fibre& to) {
  const bool back = &to == &scheduler;
  __sanitizer_start_switch_fiber(&from.fake_stack, back ? main_stack : to.stack, back ? main_stack_size : STACK_BYTES);
  swapcontext(&from.first, &to.first);
  const void* bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(from.fake_stack, &bottom, &size);
}
#else
// Entered by setcontext once, resumed by _longjmp ever after: no system call on the way.
__attribute__((noinline)) void switch_to(Fibre& from, Fibre& to) {
  if (_setjmp(from.at) == 0) {
    if (to.entered) _longjmp(to.at, 1);
    to.entered = true;
    setcontext(&to.first);
  }
}
#endif

void sleep_lane() { switch_to(*current, scheduler); }
#if defined(SZC_ADDRESS_SANITIZER)
void leave_lane_for_good() { sleep_lane(); }
#else
void leave_lane_for_good() { _longjmp(scheduler.at, 1); }   // from a signal handler: what the lane was doing is lost
#endif

void resume(Lane& l) {
  current = &l;
  szc_emu_context.thread = {l.thread, 0, 0};
  switch_to(scheduler, l);
  current = nullptr;
  if (!lane_error.empty()) fail(lane_error);
}

void lane_main() {
#if defined(SZC_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(nullptr, &main_stack, &main_stack_size);
#endif
  for (;;) {   // once a block: fibres outlive blocks and launches
    kernel_entry(kernel_arguments);
    current->op = DONE;
    sleep_lane();
  }
}

void prepare(Lane& l) {
  if (!l.stack) {
    l.stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(l.stack, 4096, PROT_NONE);   // an overflow is a fault, not a neighbour's damage
  }
  getcontext(&l.first);
  l.first.uc_stack.ss_sp = l.stack;
  l.first.uc_stack.ss_size = STACK_BYTES;
  l.first.uc_link = nullptr;
  makecontext(&l.first, lane_main, 0);
  l.entered = false;
}

// ---- host requests --------------------------------------------------------------------------------------------------
// The loads of one step of a warp, merged as the load unit does: the k-th load of a site by each lane is one warp-wide
// load; each run of neighbouring 32-byte sectors within a 128-byte line is one request.
void count_one(const Load* begin, const Load* end) {
  static std::vector<u64> sectors;
  sectors.clear();
  SiteStats& stats = site_stats[begin->site];
  ++stats.loads;
  for (const Load* l = begin; l != end; ++l) {
    stats.useful_bytes += l->size;
    for (u64 s = l->address / 32; s <= (l->address + l->size - 1) / 32; ++s) sectors.push_back(s);
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  stats.sectors += sectors.size();
  for (size_t i = 0, j; i < sectors.size(); i = j) {
    for (j = i + 1; j < sectors.size() && sectors[j] == sectors[j - 1] + 1 && sectors[j] / 4 == sectors[i] / 4;) ++j;
    ++stats.requests[j - i];
  }
}

void count_step(u32 first, u32 n) {
  static std::vector<Load> all;
  all.clear();
  for (u32 i = 0; i < n; ++i) {
    Lane& l = *lanes[first + i];
    all.insert(all.end(), l.loads.begin(), l.loads.end());
    l.loads.clear();
  }
  pending_loads = 0;
  std::stable_sort(all.begin(), all.end(), [](const Load& a, const Load& b) { return a.site != b.site ? a.site < b.site : a.ordinal < b.ordinal; });
  for (size_t i = 0, j; i < all.size(); i = j) {
    for (j = i + 1; j < all.size() && all[j].site == all[i].site && all[j].ordinal == all[i].ordinal;) ++j;
    count_one(&all[i], &all[i] + (j - i));
  }
}

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

u64 collective_result(u32 first, u32 n, u32 present, u32 me) {
  const Call& call = lanes[first + me]->call;
  u64 result = 0;
  bool any = false;
  if (call.op == SHUFFLE) return shuffle_result(first, present, me);
  for (u32 k = 0; k < n; ++k) {
    if (!(present >> k & 1)) continue;
    const u64 value = lanes[first + k]->call.value;
    if (call.op == VOTE) result |= (u64)(value != 0) << k;
    if (call.op == MATCH) result |= (u64)(value == call.value) << k;
    if (call.op == REDUCE) result = any ? reduce_pair(call.kind, (u32)result, (u32)value) : value;
    any = true;
  }
  return result;
}

// Completes every collective of the warp whose lanes have all come (lanes that returned are excused, as in CUDA).
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
    for (u32 j = 0; j < n; ++j) {
      if (!(present >> j & 1)) continue;
      Lane& other = *lanes[first + j];
      if (other.call.line != l.call.line || other.call.kind != l.call.kind || strcmp(other.call.file, l.call.file))
        fail("lanes of one warp met in different calls: " + thread_name(l) + " in " + where(l.call) + ", " + thread_name(other) + " in " + where(other.call));
      other.result = collective_result(first, n, present, j);
    }
    for (u32 j = 0; j < n; ++j) if (present >> j & 1) lanes[first + j]->op = RUNNING;
    any = true;
  }
  return any;
}

// Completes __syncthreads() when every thread that lives has come.
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
    if (l.call.line != one->call.line || strcmp(l.call.file, one->call.file))
      fail("threads of one block met in different barriers: " + thread_name(l) + " in " + where(l.call) + ", " + thread_name(*one) + " in " + where(one->call));
    l.result = l.call.kind == COUNT ? count : l.call.kind == ALL ? count == nthreads : count != 0;
    l.op = RUNNING;
  }
  return true;
}

// ---- scheduling -----------------------------------------------------------------------------------------------------
bool run_free(u32 first, u32 n, const std::vector<u32>& lane_order) {   // every lane until it waits; true if any moved
  for (bool moved = false;; moved = true) {
    bool step = false;
    for (u32 i : lane_order) if (i < n && lanes[first + i]->op == RUNNING) { resume(*lanes[first + i]); step = true; }
    if (complete_warp(first, n)) step = true;
    if (!step) return moved;
  }
}

bool behind(const Lane& a, const Lane& b) { return a.depth > b.depth || (a.depth == b.depth && a.block_address < b.block_address); }

// The lane that stands furthest behind: deepest in calls first, then at the lowest address, which is where the compiler
// (with -fno-reorder-blocks) puts what comes before a join. Lanes in __nanosleep() come last.
const Lane* furthest_behind(u32 first, u32 n) {
  const Lane* next = nullptr;
  for (u32 i = 0; i < n; ++i) {
    const Lane& l = *lanes[first + i];
    if (l.op == RUNNING && !l.yields && (!next || behind(l, *next))) next = &l;
  }
  if (next) return next;
  bool any = false;
  for (u32 i = 0; i < n; ++i) {
    Lane& l = *lanes[first + i];
    any |= l.op == RUNNING;
    l.yields = false;
  }
  return any ? furthest_behind(first, n) : nullptr;
}

// One basic block after the other, each by all the lanes that stand at it.
bool run_lockstep(u32 first, u32 n) {
  for (bool moved = false;; moved = true) {
    const Lane* next = furthest_behind(first, n);
    if (!next) {
      if (!complete_warp(first, n)) return moved;
      continue;
    }
    const void* block_address = next->block_address;
    const u64 depth = next->depth;
    active_lanes = 0;
    for (u32 i = 0; i < n; ++i) {
      const Lane& l = *lanes[first + i];
      if (l.op == RUNNING && !l.yields && l.block_address == block_address && l.depth == depth) active_lanes |= 1u << i;
    }
    for (u32 i = 0; i < n; ++i) if (active_lanes >> i & 1) resume(*lanes[first + i]);
    if (pending_loads) count_step(first, n);
  }
}

[[noreturn]] void report_deadlock() {
  std::string message = "deadlock: no thread can go on;";
  for (u32 t = 0, shown = 0; t < nthreads && shown < 6; ++t)
    if (lanes[t]->op > DONE) { message += (shown ? ", " : " ") + thread_name(*lanes[t]) + " waits in " + where(lanes[t]->call); ++shown; }
  fail(message);
}

void run_block() {
  const u32 nwarps = (nthreads + WARP - 1) / WARP;
  std::vector<u32> warp_order(nwarps), lane_order(WARP);
  for (u32 w = 0; w < nwarps; ++w) warp_order[w] = order == REVERSE ? nwarps - 1 - w : w;
  for (u32 i = 0; i < WARP; ++i) lane_order[i] = order == REVERSE ? WARP - 1 - i : i;
  for (u32 t = 0; t < nthreads; ++t) {
    Lane& l = *lanes[t];
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
    if (!alive) return;
    if (!complete_block() && !moved) report_deadlock();
  }
}

// ---- faults and endless loops: reported, with the thread that did it --------------------------------------------------
volatile sig_atomic_t time_is_over = 0;
struct sigaction previous_fault, previous_bus, previous_timer, previous_fpe;
char* signal_stack = nullptr;
stack_t previous_stack;

void on_fault(int number, siginfo_t* info, void*) {
  if (!current) {                           // not the kernel's fault: the emulator's, or Python's
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  char text[160];
  if (number == SIGFPE) snprintf(text, sizeof text, "thread %u divides an integer by zero", current->thread);
  else snprintf(text, sizeof text, "thread %u touches memory that is not there, at address %p", current->thread, info->si_addr);
  lane_error = text;
  leave_lane_for_good();
}

// May come at any moment, so it only leaves word; the next basic block of the kernel reads it.
void on_timer(int) { time_is_over = 1; }

struct SignalGuard {
  explicit SignalGuard(double seconds) {
    time_is_over = 0;
    struct sigaction timer = {};
    timer.sa_handler = on_timer;
    timer.sa_flags = SA_RESTART;
    sigaction(SIGVTALRM, &timer, &previous_timer);
    set_timer(seconds);
#if !defined(SZC_ADDRESS_SANITIZER)         // which reports faults better
    if (!signal_stack) signal_stack = (char*)mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t own = {};
    own.ss_sp = signal_stack;
    own.ss_size = 65536;
    sigaltstack(&own, &previous_stack);     // a fibre's stack may be what overflowed
    struct sigaction fault = {};
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;   // left by longjmp: the signal must not stay blocked
    sigaction(SIGSEGV, &fault, &previous_fault);
    sigaction(SIGBUS, &fault, &previous_bus);
    sigaction(SIGFPE, &fault, &previous_fpe);
#endif
  }
  ~SignalGuard() {
    set_timer(0);
    sigaction(SIGVTALRM, &previous_timer, nullptr);
#if !defined(SZC_ADDRESS_SANITIZER)
    sigaction(SIGSEGV, &previous_fault, nullptr);
    sigaction(SIGBUS, &previous_bus, nullptr);
    sigaction(SIGFPE, &previous_fpe, nullptr);
    sigaltstack(&previous_stack, nullptr);
#endif
  }
  static void set_timer(double seconds) {   // of this process's own CPU time: a busy machine fails no test
    itimerval timer = {};
    timer.it_value.tv_sec = (long)seconds;
    timer.it_value.tv_usec = (long)((seconds - (double)(long)seconds) * 1e6);
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
  }
};

u64 meet(const Call& call, const void* block_address, const void* frame) {
  Lane& l = *current;
  if (call.op != BARRIER && !(call.mask >> l.lane & 1))
    lane_error = thread_name(l) + " calls a collective whose mask does not name its lane (" + where(call) + ")";
  l.call = call;
  l.op = call.op;
  l.block_address = block_address;
  l.depth = (u64)l.stack + STACK_BYTES - (u64)frame;
  sleep_lane();
  return l.result;
}

}  // namespace

// ---- called by kernels ----------------------------------------------------------------------------------------------
extern "C" u64 szc_emu_shuffle(unsigned mask, u64 value, int argument, int width, int kind, const char* file, int line) {
  if (width < 1 || width > 32 || (width & (width - 1)))
    lane_error = "a shuffle's width is " + std::to_string(width) + ", not a power of two up to 32 (at " + file + ":" + std::to_string(line) + ")";
  return meet({SHUFFLE, mask, value, argument, width, kind, file, line}, __builtin_return_address(0), __builtin_frame_address(0));
}

extern "C" u64 szc_emu_meet(Op op, unsigned mask, u64 value, int kind, const char* file, int line) {
  return meet({op, mask, value, 0, 32, kind, file, line}, __builtin_return_address(0), __builtin_frame_address(0));
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

// At every atomic, and in __nanosleep(). A lane that spins on an atomic must let the lane that it waits for run.
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

extern "C" void __sanitizer_cov_trace_pc() {   // g++ calls it at the start of every basic block of a kernel
  if (!current) return;
  if (time_is_over) {
    lane_error = thread_name(*current) + " runs on and on: the launch's time is over";
    sleep_lane();
  }
  if (order != LOCKSTEP) return;
  current->block_address = __builtin_return_address(0);
  current->depth = (u64)current->stack + STACK_BYTES - (u64)__builtin_frame_address(0);
  sleep_lane();
}

// ---- called by device.py --------------------------------------------------------------------------------------------
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
  while (lanes.size() < nthreads) {
    lanes.push_back(std::make_unique<Lane>());
    prepare(*lanes.back());
  }
  for (u32 t = 0; t < nthreads; ++t) {
    lanes[t]->thread = t;
    lanes[t]->lane = t % WARP;
    lanes[t]->warp = t / WARP;
    lanes[t]->loads.clear();
  }
  std::string message;
  {
    SignalGuard guard(launch->seconds);
    try {
      for (u32 b = 0; b < launch->grid; ++b) {
        szc_emu_context.block = {b, 0, 0};
        if (kernel->shared_begin) memset(kernel->shared_begin, 0xA5, (size_t)(kernel->shared_end - kernel->shared_begin));
        run_block();
      }
    } catch (const Failure& failure) {
      message = "block " + std::to_string(szc_emu_context.block.x) + ": " + failure.message;
      current = nullptr;
      for (auto& l : lanes) prepare(*l);   // what they were doing is abandoned
    }
  }
  std::copy(site_stats, site_stats + SITES, stats);
  snprintf(error, (size_t)error_size, "%s", message.c_str());
  return !message.empty();
}
