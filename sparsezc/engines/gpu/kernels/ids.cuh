// How a warp reads ids: the one place that knows how they lie.
//
// Kernels that stream rows (rows.cuh) ask for the ids of a slice, 32 entries that begin at a multiple of 32, by one call of all
// lanes. An `Ids` belongs to one warp, lives as long as the warp reads, and may keep what it has read.
//
// The prelude supplies Id.
#pragma once
#include "warp.cuh"

namespace szc {

struct Ids {
  static constexpr bool TOGETHER = false;  // whether all lanes must call load(), or those only whose entry is wanted
  const Id* ids;

  __device__ __forceinline__ explicit Ids(const Id* indices) : ids(indices) {}

  // The id of entry `at`: lane i asks for entry i of a slice. What is not `active` is not read and gets 0.
  __device__ __forceinline__ Id load(u64 at, bool active) { return active ? load_host(ids + at, 0) : Id(); }
};

}  // namespace szc
