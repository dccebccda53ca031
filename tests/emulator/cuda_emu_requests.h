// cuda_emu_requests.h -- part of cuda_emu_rt.cpp: the requests to host memory of the loads of one step of a warp.
#pragma once
#include "cuda_emu_fibres.h"

namespace {

// The loads of one step of a warp, merged as the load unit does: the k-th load of a site by each lane is one warp-wide
// load; each run of neighbouring 32-byte sectors within a 128-byte line is one request.
void count_one(const Load* begin, const Load* end) {
  static std::vector<u64> sectors;
  sectors.clear();
  SiteStats& stats = site_stats[begin->site];
  ++stats.loads;
  for (const Load* l = begin; l != end; ++l) {
    stats.useful_bytes += l->size;
    for (u64 s = l->address / 32; s <= (l->address + l->size - 1) / 32; ++s) sectors.push_back(s);
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  stats.sectors += sectors.size();
  for (size_t i = 0, j; i < sectors.size(); i = j) {
    for (j = i + 1; j < sectors.size() && sectors[j] == sectors[j - 1] + 1 && sectors[j] / 4 == sectors[i] / 4;) ++j;
    ++stats.requests[j - i];
  }
}

void count_step(u32 first, u32 n) {
  static std::vector<Load> all;
  all.clear();
  for (u32 i = 0; i < n; ++i) {
    Lane& l = *lanes[first + i];
    all.insert(all.end(), l.loads.begin(), l.loads.end());
    l.loads.clear();
  }
  pending_loads = 0;
  std::stable_sort(all.begin(), all.end(), [](const Load& a, const Load& b) { return a.site != b.site ? a.site < b.site : a.ordinal < b.ordinal; });
  for (size_t i = 0, j; i < all.size(); i = j) {
    for (j = i + 1; j < all.size() && all[j].site == all[i].site && all[j].ordinal == all[i].ordinal;) ++j;
    count_one(&all[i], &all[i] + (j - i));
  }
}

}  // namespace
