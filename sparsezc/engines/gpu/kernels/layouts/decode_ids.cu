// Decodes a range of entries of compressed ids (id_blocks.cuh).
//
// Who calls: engines/gpu/storage/compressed_ids.py. Memory: blocks and `out` in host memory (zero-copy) or on the
// device. What a warp does: it decodes 32 blocks, one after another.
//
// The prelude supplies Id and COMPRESSED.
#include "ids.cuh"

namespace szc {

extern "C" __global__ void __launch_bounds__(256) KERNEL(u64 begin, u64 end, const Id* indices, u64* counter, Id* out) {
  const u64 first = begin / 32, count = (end + 31) / 32 - first;
  Ids ids(indices);
  for_pieces(counter, count, 32, [&](u64 piece) {
    for (u64 block = first + piece; block < first + count && block < first + piece + 32; ++block) {
      const u64 at = 32 * block + lane_id();
      const bool active = at >= begin && at < end;
      const Id id = ids.load(at, active);
      if (active) out[at - begin] = id;
    }
  });
}

}  // namespace szc
