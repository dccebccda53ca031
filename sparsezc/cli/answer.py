"""The files that ``--out`` writes: whole, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.cli.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 18  # lines formatted at a time


def unreachable(dtype: Any) -> Any:
    """What a distance array holds for a vertex that is not reached: infinity, or the largest integer."""
    import numpy as np

    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def save(path: str | None, graph: Graph, vertices: NDArray[Any], values: NDArray[Any], missing: Any) -> None:
    """Write an answer to `path`, if there is one.

    Parameters
    ----------
    path : str or None
        ``.npy``: one value a vertex, `missing` where there is none. ``.npz``: arrays `vertices` and `values`. Any other
        name: lines "vertex value", gzipped where it ends in .gz.
    vertices, values : arrays of the entries
        `vertices` counts rows; what is written are the ids that the user knows.
    """
    if path is None:
        return
    import numpy as np

    from sparsezc.io.atomic import Output
    from sparsezc.progress import Progress, task

    with task(), Output(path) as out, out.open() as file:
        if path.endswith(".npy"):
            full = np.full(graph.degrees.size, missing, values.dtype)
            full[vertices.astype(np.int64)] = values
            np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(full))
            file.write(full.data)
        elif path.endswith(".npz"):
            np.savez(file, vertices=graph.named(vertices).astype(np.int64), values=values)
        else:
            names = graph.named(vertices)
            progress = Progress(names.size, "writing", " lines")
            for start in range(0, names.size, _BLOCK):
                block = zip(
                    names[start : start + _BLOCK].tolist(), values[start : start + _BLOCK].tolist(), strict=True
                )
                file.write("".join(f"{vertex} {value}\n" for vertex, value in block).encode())
                progress.advance(min(_BLOCK, names.size - start))
            progress.close()
