// Triangles on all cores of a CPU, by the algorithm of the GAP Benchmark Suite, written anew from its description: vertices are
// numbered by degree, largest first; each edge is kept at its later end, with ascending neighbours; a triangle u > v > w is
// found once, by running through the lists of u and v side by side up to v. Vertices are handed out in pieces, as they differ.
// Source: S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark Suite, arXiv:1508.03619, section 3; T. M. Low and others,
// First look: linear algebra-based triangle counting without matrix multiplication, HPEC 2017.
//
// triangles OFFSETS IDS TRIALS: files of int64 and uint32, a symmetric graph without loops. Prints the number, then for each trial
// the seconds of numbering and counting, as GAP times both.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

template <class T> std::vector<T> read(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (!file) std::exit((std::perror(path), 2));
  std::fseek(file, 0, SEEK_END);
  std::vector<T> all(std::ftell(file) / sizeof(T));
  std::rewind(file);
  if (std::fread(all.data(), sizeof(T), all.size(), file) != all.size()) std::exit((std::perror(path), 2));
  std::fclose(file);
  return all;
}

struct Half {  // each vertex's neighbours of smaller number
  std::vector<int64_t> first;
  std::vector<uint32_t> ids;
};

Half by_degree(const std::vector<int64_t>& first, const std::vector<uint32_t>& ids) {
  const int64_t n = (int64_t)first.size() - 1;
  std::vector<uint64_t> keys(n);  // degree, then vertex
#pragma omp parallel for
  for (int64_t v = 0; v < n; ++v) keys[v] = (uint64_t)(first[v + 1] - first[v]) << 32 | (uint32_t)v;
  std::sort(keys.begin(), keys.end(), std::greater<>());
  std::vector<uint32_t> number(n);
#pragma omp parallel for
  for (int64_t k = 0; k < n; ++k) number[(uint32_t)keys[k]] = (uint32_t)k;
  Half half;
  half.first.assign(n + 1, 0);
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t k = 0; k < n; ++k) {
    const uint32_t v = (uint32_t)keys[k];
    int64_t kept = 0;
    for (int64_t e = first[v]; e < first[v + 1]; ++e) kept += number[ids[e]] < k;
    half.first[k + 1] = kept;
  }
  std::partial_sum(half.first.begin(), half.first.end(), half.first.begin());
  half.ids.resize(half.first[n]);
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t k = 0; k < n; ++k) {
    const uint32_t v = (uint32_t)keys[k];
    int64_t at = half.first[k];
    for (int64_t e = first[v]; e < first[v + 1]; ++e)
      if (number[ids[e]] < k) half.ids[at++] = number[ids[e]];
    std::sort(half.ids.begin() + half.first[k], half.ids.begin() + at);
  }
  return half;
}

uint64_t count(const Half& half) {
  const int64_t n = (int64_t)half.first.size() - 1;
  uint64_t total = 0;
#pragma omp parallel for reduction(+ : total) schedule(dynamic, 64)
  for (int64_t u = 0; u < n; ++u) {
    const uint32_t* end = half.ids.data() + half.first[u + 1];
    for (const uint32_t* v = half.ids.data() + half.first[u]; v < end; ++v) {
      const uint32_t* mine = half.ids.data() + half.first[u];
      for (const uint32_t* w = half.ids.data() + half.first[*v]; w < half.ids.data() + half.first[*v + 1]; ++w) {
        while (*mine < *w) ++mine;  // v itself ends it: every w is smaller
        total += *mine == *w;
      }
    }
  }
  return total;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto first = read<int64_t>(argv[1]);
  const auto ids = read<uint32_t>(argv[2]);
  for (int trial = 0; trial < std::atoi(argv[3]); ++trial) {
    const auto start = std::chrono::steady_clock::now();
    const uint64_t total = count(by_degree(first, ids));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (trial == 0) std::printf("%llu\n", (unsigned long long)total);
    std::printf("%.6f\n", seconds.count());
  }
}
