"""The time of an algorithm on several ranks, predicted from its time on one: Lux's model, in Gunrock's units.

    T(p) = statements * t0 + steps * a(p) + (1 + imbalance(p)) * R / min(p, H * M / L)
         + X * (1 - 1 / p) * (1 / P + B) + X * (1 - 1 / H) / N

for p ranks on H machines. R is the time of one rank's reads at the rate L, that of its link to host memory (without a
GPU: the rate at which its kernels read); M is the rate of one machine's memory. X is the bytes of vectors that a rank
receives, P the rate between the ranks of a machine, N that between machines, B the time in which a processor assembles
one received byte. A statement has a fixed cost t0, larger on several ranks; a step is a product, which has the fixed
cost and the latency of an exchange, a(p).

Sources: Z. Jia et al. (Lux), PVLDB 11(3), 2017, section 6, doi:10.14778/3157794.3157799; Gunrock, HIVE scaling
analysis, 2018, https://gunrock.github.io/docs/#/hive/hive_scaling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Rates", "Times", "Work", "predicted"]


@dataclass(frozen=True)
class Rates:
    """The rates of machines, in bytes a second, and latencies, in seconds.

    Attributes
    ----------
    link : float
        Rate at which one rank reads.
    memory : float
        Rate at which all ranks of a machine together read at most.
    peer, network : float
        Rate at which a rank receives from ranks of its machine, and of other machines.
    latency, network_latency : float
        Latency of an exchange of a few bytes between two ranks, of one machine and of two machines.
    step : float
        The fixed cost of a statement on one rank.
    ranks : int
        Ranks of a machine.
    shared_step : float
        The fixed cost of a statement on several ranks, without waiting.
    exchange_step : float
        The fixed cost of a product's exchange.
    assembly : float
        Seconds in which a rank assembles one received byte; 0: it does so while it receives.
    """

    link: float
    memory: float
    peer: float
    network: float
    latency: float
    network_latency: float
    step: float
    ranks: int = 8
    shared_step: float = 0.0
    exchange_step: float = 0.0
    assembly: float = 0.0


@dataclass(frozen=True)
class Work:
    """The work of an algorithm on one graph.

    Attributes
    ----------
    steps : int
        Products, each of which exchanges.
    seconds : float
        The time on one rank.
    exchanged : float
        Bytes of the vectors that products read, in the form in which they travel.
    imbalance : mapping of int to float
        By the number of ranks: the largest work of a rank over the mean, less 1.
    statements : int
        All statements, products included; 0: products only.
    """

    steps: int
    seconds: float
    exchanged: float
    imbalance: Mapping[int, float] = field(default_factory=dict)
    statements: int = 0


class Times(NamedTuple):
    """The parts of a predicted time, in seconds."""

    fixed: float
    latency: float
    read: float
    assembly: float
    exchange: float
    network: float

    @property
    def total(self) -> float:
        """Return the sum of the parts."""
        return sum(self)


def predicted(work: Work, rates: Rates, ranks: int) -> Times:
    """Return the parts of the predicted time on `ranks` ranks.

    Examples
    --------
    >>> rates = Rates(50e9, 160e9, 300e9, 50e9, 12e-6, 30e-6, 20e-6, ranks=4)
    >>> work = Work(10, 0.4, 1e9)
    >>> [round(predicted(work, rates, ranks).total, 4) for ranks in (1, 2, 4, 8)]
    [0.4, 0.2019, 0.1279, 0.0757]
    """
    machines = -(-ranks // rates.ranks)
    inside = min(ranks, rates.ranks)
    statements = max(work.statements, work.steps)
    alone = min(statements * rates.step, work.seconds)
    shared = statements * max(rates.shared_step - rates.step, 0.0) + work.steps * rates.exchange_step
    fixed = alone if ranks == 1 else alone + shared
    latency = rates.latency * math.ceil(math.log2(inside)) + rates.network_latency * math.ceil(math.log2(machines))
    share = min(float(ranks), machines * rates.memory / rates.link)
    read = (1 + work.imbalance.get(ranks, 0.0)) * (work.seconds - alone) / max(share, 1.0)
    exchange = work.exchanged * (1 - 1 / inside) / rates.peer
    network = work.exchanged * (1 - 1 / machines) / rates.network
    assembly = work.exchanged * (1 - 1 / ranks) * rates.assembly
    return Times(fixed, work.steps * latency, read, assembly, exchange, network)
