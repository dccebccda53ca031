"""``from sparsezc.indexunary import ...``: :mod:`sparsezc.semirings.indexunary`, which takes this module's place."""

from sparsezc.semirings.indexunary import *  # noqa: F403 -- for editors and type checkers, which do not run the next line
from sparsezc.semirings.namespaces import give_way

give_way(__name__)
