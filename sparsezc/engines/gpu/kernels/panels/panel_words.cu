// The bits of listed vertices in a panel of Booleans, a 64-bit word for each: how a frontier travels between processes.
//
// Who calls: engines/gpu/products/shared_searches.py. All memory on the device. A thread takes a vertex of the list `at`;
// `width` is at most 64.
#include "multi_source_bfs.cuh"

namespace szc {

// take_words: words[k] is that of vertex at[k].
extern "C" __global__ void take_words(u64 count, const i64* at, const u32* bits, u64 width, u64* words) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    words[k] = load_bits(bits, width, (u64)at[k], 0);
}

// put_words: sets the bits of words[k] at vertex at[k], and leaves those that are set already.
extern "C" __global__ void put_words(u64 count, const Id* at, const u64* words, u64 width, u32* bits) {
  for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += (u64)gridDim.x * blockDim.x)
    set_bits(bits, width, (u64)at[k], 0, words[k]);
}

}  // namespace szc
