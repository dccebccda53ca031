// Reads host memory as the engine's kernels do, to measure the rate of a kind of pages.
//
// Who calls: sparsezc/memory/zerocopy.py. What a warp does: it reads lines of 128 bytes, one request each. `lines` is a power of
// two and `factor` odd, so line factor * i (mod lines) comes once for each i: in ascending order for factor 1, each in
// another page than the last for a large factor. `sums` is device memory, an entry a thread: the sum of the words that
// the thread read.

extern "C" __global__ void __launch_bounds__(256)
read_lines(unsigned long long lines, unsigned long long factor, const unsigned int* words, unsigned long long* sums) {
  const unsigned long long thread = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  const unsigned long long warps = gridDim.x * (unsigned long long)blockDim.x / 32;
  unsigned long long sum = 0;
#pragma unroll 1
  for (unsigned long long i = thread / 32; i < lines; i += warps)
    sum += words[((i * factor) & (lines - 1)) * 32 + (threadIdx.x & 31u)];
  sums[thread] = sum;
}
