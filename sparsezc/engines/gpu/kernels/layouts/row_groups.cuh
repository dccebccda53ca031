// Rows in groups: what row_groups.cu, row_sums.cu, entry_keys.cu and row_slices.cu share.
#pragma once
#include "warp.cuh"

namespace szc {

constexpr u32 ROW_BITS = 8;  // a word has the column, and in its lowest bits the row's place in the group
constexpr u32 GROUP = 1u << ROW_BITS;
constexpr u32 EMPTY = ~0u;  // the word of a lane that has no entry in a slice

}  // namespace szc
