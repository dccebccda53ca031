// A launch part (`Part`): the rows that one launch of a product takes, and the addresses of their entries.
//
// A placement may serve a product by several launches (engines/gpu/placements/), each for some of the rows. Entries may
// be stored in *segments* of 2^SEGMENT_BITS entries, each with an address of its own, some in device memory. With
// PARTIAL and SEGMENT_BITS off (most launches) the compiler removes all of this.
//
// The prelude supplies PARTIAL (a launch takes only some rows) and SEGMENT_BITS (0: one address for all entries).
#pragma once
#include "ids.cuh"

namespace szc {

struct Part {
  const u64* id_segments;     // of each segment: address minus byte offset in the array; lowest bit: in device memory
  const u64* value_segments;
  const u32* subset;          // null: every row of the range
  u64 first_row, end_row;
};

// Those of `rows`, bits of a presence word, that the launch takes.
__device__ __forceinline__ u32 in_part(const Part& part, u64 word, u32 rows) {
  if (!PARTIAL) return rows;
  const u64 row = 32 * word + lane_id();
  rows &= __ballot_sync(ALL, row >= part.first_row && row < part.end_row);
  return part.subset ? rows & part.subset[word] : rows;
}

__device__ __forceinline__ bool is_in_part(const Part& part, u64 row) { return !PARTIAL || !part.subset || present(part.subset, row); }

// The first presence word that has rows of the part, and the end.
__device__ __forceinline__ u64 first_word(const Part& part) { return PARTIAL ? part.first_row / 32 : 0; }
__device__ __forceinline__ u64 end_word(const Part& part, u64 nrows) { return ((PARTIAL ? part.end_row : nrows) + 31) / 32; }

// Loads entry `at` of the ids (site 0) or of the values (site 1).
template <class T> __device__ __forceinline__ T read(const T* array, const u64* segments, u64 at, int site) {
  if (!SEGMENT_BITS) return load_host(array + at, site);
  const u64 segment = segments[at >> SEGMENT_BITS];
  const T* entry = (const T*)((segment & ~(u64)1) + at * sizeof(T));
  return segment & 1 ? load_near(entry) : load_host(entry, site);
}

// Reads the ids of a launch part, a slice at a time.
struct PartIds : Ids {
  const u64* segments;

  __device__ __forceinline__ PartIds(const Id* indices, const Part& part) : Ids(indices), segments(part.id_segments) {}

  __device__ __forceinline__ Id load(u64 at, bool active) {
    if (!SEGMENT_BITS) return Ids::load(at, active);
    return active ? read(ids, segments, at, 0) : Id();
  }
};

}  // namespace szc
