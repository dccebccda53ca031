// cuda_emu_fibres.h -- part of cuda_emu_rt.cpp: the state of a launch, its threads as fibres, faults and timeouts.
#pragma once
#define SZC_EMU_MACHINE
#include "cuda_emu.h"
#include <algorithm>
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

#define COLD __attribute__((noinline, cold))   // rare code, kept out of short functions

using namespace szc_emu;
typedef unsigned u32;
typedef unsigned long long u64;

extern "C" { Context szc_emu_context; }

namespace {

constexpr u32 WARP = 32;
constexpr size_t STACK_BYTES = 256 * 1024;
constexpr size_t STACK_SHIFT = 5 * 64, STACK_SHIFTS = 64;   // stacks that began at equal addresses modulo 4096 would share one set of a cache
constexpr int SITES = 8;
enum Order { FORWARD, REVERSE, RANDOM, LOCKSTEP };
const char* const OP_NAMES[] = {"running", "done", "__syncwarp", "shuffle", "vote", "match", "reduce", "__syncthreads", "sync_grid"};

struct Load { u64 address; u32 size; int site; u32 ordinal; };   // ordinal: number of earlier loads of this site in this step

struct Fibre {
  void* at[5];             // the state to resume it
  void* stack = nullptr;
  size_t stack_bytes = STACK_BYTES;
  bool entered = false;
  ucontext_t* first = nullptr;  // the context of its first entry
  void* fake_stack = nullptr;   // AddressSanitizer's
};

struct alignas(64) Lane : Fibre {   // fields of every step are together, in few lines of the cache
  Op op = DONE;            // the call that it waits in
  bool yields = false;                   // LOCKSTEP: it waits until another lane of its warp has advanced
  u32 thread, lane;
  const void* block_address = nullptr;   // LOCKSTEP: its position: the basic block ...
  u64 depth = 0;                         // ... and the depth of calls
  u64 result = 0;          // of its collective
  Call call;
  u32 atomics = 0;                       // atomics since it last let other lanes run
  std::vector<Load> loads;
};

struct SiteStats { u64 loads, useful_bytes, sectors, requests[5]; };   // requests[k]: of k sectors of 32 bytes
struct Failure { std::string message; };

// ---- the state of the one launch that runs --------------------------------------------------------------------------
std::vector<std::unique_ptr<Lane>> lanes;
u32 nthreads = 0;
Lane* current = nullptr;
Lane* pass[WARP + 1];      // the lanes that run now, one after the other, and a null
Lane** next_in_pass = pass;
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
  __sanitizer_start_switch_fiber(&from.fake_stack, back ? main_stack : to.stack, back ? main_stack_size : to.stack_bytes);
  swapcontext(from.first, to.first);
  const void* bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(from.fake_stack, &bottom, &size);
}
#else
// Entered by setcontext once, then resumed by __builtin_longjmp: no system call, and a third of the time of
// _longjmp, which looks for handlers of cancelled threads.
__attribute__((noinline)) void switch_to(Fibre& from, Fibre& to) {
  if (__builtin_setjmp(from.at) == 0) {
    if (to.entered) __builtin_longjmp(to.at, 1);
    to.entered = true;
    setcontext(to.first);
  }
}
#endif

void enter(Fibre& from, Lane& lane) {
  current = &lane;
  szc_emu_context.thread = {lane.thread, 0, 0};
  switch_to(from, lane);
}

// A lane switches directly to the next lane: through the scheduler it would change stacks twice, and return to callers
// that the processor does not predict.
void sleep_lane() {
#if !defined(SZC_ADDRESS_SANITIZER)   // which must know the fibre that another was entered from
  if (*next_in_pass && lane_error.empty()) return enter(*current, **next_in_pass++);
#endif
  switch_to(*current, scheduler);
}
#if defined(SZC_ADDRESS_SANITIZER)
void leave_lane_for_good() { sleep_lane(); }
#else
void leave_lane_for_good() { __builtin_longjmp(scheduler.at, 1); }   // from a signal handler: the lane's work is lost
#endif

// Runs the lanes of `pass`, each until it sleeps.
void run_pass() {
  next_in_pass = pass;
  while (*next_in_pass) {
    Lane& lane = **next_in_pass++;
    enter(scheduler, lane);
    current = nullptr;
    if (!lane_error.empty()) fail(lane_error);
  }
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
    static size_t made = 0;
    l.stack_bytes = STACK_BYTES - made++ % STACK_SHIFTS * STACK_SHIFT;
  }
  if (!l.first) l.first = new ucontext_t;
  getcontext(l.first);
  l.first->uc_stack.ss_sp = l.stack;
  l.first->uc_stack.ss_size = l.stack_bytes;
  l.first->uc_link = nullptr;
  makecontext(l.first, lane_main, 0);
  l.entered = false;
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

// The signal may arrive at any moment, so its handler only sets a flag, which the kernel's next basic block reads.
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
    sigaltstack(&own, &previous_stack);     // the fault may be an overflow of a fibre's stack
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

}  // namespace
