// Markers in slots of the row-head cache (head_cache.cu) that hold no column id.
//
// The prelude of the kernel supplies Id.
#pragma once
#include "warp.cuh"

namespace szc {

template <class T> __device__ __forceinline__ T head_none() { return (T)~(T)0; }        // the row has no further entry
template <class T> __device__ __forceinline__ T head_more() { return (T)(~(T)0 - 1); }  // a long row: no heads

}  // namespace szc
