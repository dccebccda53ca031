"""Figures of EMOGI's paper, to compare with those measured here.

S. Min, V. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu, EMOGI: Efficient Memory-access for Out-of-memory
Graph-traversal in GPUs, PVLDB 14(2):114-127, 2021, doi:10.14778/3425879.3425883. One V100 of 16 GB on PCIe 3.0 x16,
ids of 8 bytes, six graphs (GAP-kron, GAP-urand, Friendster, MOLIERE, sk-2005, uk-2007-05), of which all but one are
larger than the card's memory. Only figures that the text states in numbers are here.
"""

from __future__ import annotations

from typing import NamedTuple

CITATION = "Min et al., EMOGI, PVLDB 14(2), 2021: V100, PCIe 3.0 x16, ids of 8 bytes"


class Figure(NamedTuple):
    """One figure of the paper: its section, its meaning, and its number."""

    where: str
    what: str
    value: float


COPY_GBS = 12.3  # GB/s of cudaMemcpy in the paper, section 5.3.2

#: Shares of 128-byte requests in BFS.
SHARE_128 = {"merged": Figure("section 5.3.1, figure 5", "128-byte requests, mean of the graphs", 0.40)}
SHARE_32_NAIVE = Figure("section 5.3.1, figure 5", "naive: requests of 32 bytes, Friendster", 1 - 0.013)
#: Requests saved, at most.
SAVED = {
    "merged": Figure("figure 7", "fewer requests than naive, at most", 0.833),
    "aligned": Figure("figure 7", "fewer requests than merged, at most", 0.288),
}
#: GB/s over the link while BFS runs; the text gives bounds for naive and merged.
LINK_GBS = {
    "uvm": Figure("section 5.3.2, figure 8", "about", 9.0),
    "naive": Figure("section 5.3.2, figure 8", "at most", 4.7),
    "merged": Figure("section 5.3.2, figure 8", "at most", 11.0),
}
#: Speed of BFS over that of UVM, mean of the graphs.
OVER_UVM = {
    "naive": Figure("figure 9", "times UVM's speed, mean", 0.73),
    "merged": Figure("figure 9", "times UVM's speed, mean", 3.24),
    "aligned": Figure("figure 9", "times UVM's speed, mean", 3.56),
}
#: Bytes over the link for each byte of the edge list, BFS.
AMPLIFICATION = {
    "uvm": Figure("section 5.3.4, figure 10", "at most (Friendster)", 5.16),
    "aligned": Figure("section 5.3.4, figure 10", "at most", 1.31),
}
