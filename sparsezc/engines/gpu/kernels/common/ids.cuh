// Loading of ids by a warp, plain or compressed: the only code that depends on their encoding.
//
// Kernels that stream rows (rows.cuh) request the ids of a slice, 32 entries that begin at a multiple of 32, by one
// call of all lanes. An `Ids` belongs to one warp for as long as the warp reads, and may cache words.
//
// The prelude supplies Id and COMPRESSED: whether ids are packed in blocks (id_blocks.cuh) or stored one by one.
#pragma once
#include "id_blocks.cuh"

namespace szc {

template <bool IN_BLOCKS> struct IdsOf;

template <> struct IdsOf<false> {
  static constexpr bool TOGETHER = false;  // whether all lanes must call load(), or only those whose entry is wanted
  const Id* ids;

  __device__ __forceinline__ explicit IdsOf(const Id* indices) : ids(indices) {}

  // The id of entry `at`; lane i requests entry i of a slice. Without `active` the result is undefined.
  __device__ __forceinline__ Id load(u64 at, bool active) { return active ? load_host(ids + at, 0) : Id(); }
};

// A warp keeps the line of blocks that it read last, one word a lane: consecutive blocks are read as whole lines of 128
// bytes, each line once, however few bytes a block takes.
template <> struct IdsOf<true> {
  static constexpr bool TOGETHER = true;
  const Id* ids;  // the address of a BlockTable
  u32 line;       // the number of the line whose words the lanes keep
  u32 word;

  __device__ __forceinline__ explicit IdsOf(const Id* table) : ids(table), line(ALL), word(0) {}

  __device__ __forceinline__ Id load(u64 at, bool) {
    const BlockTable& table = *(const BlockTable*)ids;
    const Block block = find_block(table, at >> 5);
    const u32 first = (u32)(block.first >> 5), from = (u32)block.first & 31u;
    if (line != first) {
      line = first;
      word = load_line(table, line);
    }
    u32 window = word;  // the block's words, rotated: lane (from + k) % 32 has word k
    if (from + block.words > 32) {
      line = first + 1;
      word = load_line(table, line);
      if (lane_id() < from) window = word;
    }
    return (Id)unpack(block, window, from);
  }

 private:
  __device__ __forceinline__ u32 load_line(const BlockTable& table, u32 number) {
    return load_host(table.body + 32 * (u64)number + lane_id(), 0);
  }
};

typedef IdsOf<COMPRESSED> Ids;

}  // namespace szc
