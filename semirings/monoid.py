"""The monoids, by python-graphblas's names. One line defines one: operator, identity, and terminal value if any."""

from __future__ import annotations

from sparsezc.semirings import binary
from sparsezc.semirings.algebra.structures import Monoid
from sparsezc.semirings.algebra.user_structures import register_monoid as register_anonymous
from sparsezc.semirings.algebra.user_structures import register_new_monoid as register_new
from sparsezc.semirings.types.datatypes import BOOL, highest, lowest
from sparsezc.semirings.types.domains import AS_BOOL, BITS, EVERY, NUMBERS, same

any = Monoid(binary.any, identity=0, domain=EVERY, stops_anywhere=True, is_idempotent=True)
plus = Monoid(binary.plus, identity=0, domain=NUMBERS)
times = Monoid(binary.times, identity=1, terminal=lambda t: None if t.is_float or t.is_complex else 0, domain=EVERY)
min = Monoid(binary.min, identity=highest, terminal=lowest, domain=EVERY, is_idempotent=True)
max = Monoid(binary.max, identity=lowest, terminal=highest, domain=EVERY, is_idempotent=True)

land = Monoid(binary.land, identity=1, terminal=0, domain=AS_BOOL, is_idempotent=True)
lor = Monoid(binary.lor, identity=0, terminal=1, domain=AS_BOOL, is_idempotent=True)
lxor = Monoid(binary.lxor, identity=0, domain=AS_BOOL)
lxnor = Monoid(binary.lxnor, identity=1, domain=AS_BOOL)
eq = Monoid(binary.eq, identity=1, domain=same((BOOL,)))

band = Monoid(binary.band, identity=highest, terminal=lowest, domain=BITS, is_idempotent=True)
bor = Monoid(binary.bor, identity=lowest, terminal=highest, domain=BITS, is_idempotent=True)
bxor = Monoid(binary.bxor, identity=lowest, domain=BITS)
bxnor = Monoid(binary.bxnor, identity=highest, domain=BITS)

from_string = Monoid.from_string

# Imported last: it takes its names from this module
from sparsezc.semirings import monoid_numpy as numpy  # noqa: E402

__all__ = [
    "any", "band", "bor", "bxnor", "bxor", "eq", "from_string", "land", "lor", "lxnor", "lxor", "max", "min", "numpy",
    "plus", "register_anonymous", "register_new", "times",
]  # fmt: skip
