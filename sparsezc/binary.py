"""``from sparsezc.binary import ...``: :mod:`sparsezc.semirings.binary`, which takes this module's place."""

from sparsezc.semirings.binary import *  # noqa: F403 -- for editors and type checkers, which do not run the next line
from sparsezc.semirings.namespaces import give_way

give_way(__name__)
