"""``from sparsezc.unary import ...``: :mod:`sparsezc.semirings.unary`, which takes this module's place."""

from sparsezc.semirings.namespaces import give_way
from sparsezc.semirings.unary import *  # noqa: F403 -- for editors and type checkers, which do not run the next line

give_way(__name__)
