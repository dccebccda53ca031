"""``from sparsezc.op import ...``: :mod:`sparsezc.semirings.op`, which takes this module's place."""

from sparsezc.semirings.namespaces import give_way
from sparsezc.semirings.op import *  # noqa: F403 -- for editors and type checkers, which do not run the next line

give_way(__name__)
