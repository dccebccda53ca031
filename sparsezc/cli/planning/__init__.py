"""Memory, seconds and the choice of a placement, from sizes alone: for ``sparsezc plan`` and ``sparsezc info``."""
