// Rows in groups: the format of an entry's word, for row_groups.cu, row_sums.cu, entry_keys.cu and row_slices.cu.
#pragma once
#include "warp.cuh"

namespace szc {

constexpr u32 ROW_BITS = 8;  // the lowest bits of a word: the row's place in the group; above them: the column
constexpr u32 GROUP = 1u << ROW_BITS;  // rows
constexpr u32 EMPTY = ~0u;  // the word of a lane that has no entry in a slice

}  // namespace szc
