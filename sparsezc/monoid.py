"""``from sparsezc.monoid import ...``: :mod:`sparsezc.semirings.monoid`, which takes this module's place."""

from sparsezc.semirings.monoid import *  # noqa: F403 -- for editors and type checkers, which do not run the next line
from sparsezc.semirings.namespaces import give_way

give_way(__name__)
