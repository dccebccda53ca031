"""Statements for the names of ``A.ss`` and ``v.ss``; ``x`` is the Matrix or Vector."""

from __future__ import annotations

from typing import Any

from .statements import Statement

_KINDS = {
    "Matrix": ("bitmapc", "bitmapr", "coo", "cooc", "coor", "csc", "csr", "fullc", "fullr", "hypercsc", "hypercsr"),
    "Vector": ("bitmap", "full", "sparse"),
}


def _source(x: Any, kind: str) -> Any:
    """Return an object that can be exported in a format: every entry is present if the format is a full one."""
    return x.ewise_union(x, "second", 1, 1).new().dup() if not kind.startswith("full") else _filled(x)


def _filled(x: Any) -> Any:
    full = x.dup()
    full(~x.S) << 1
    return full


def _imported(name: str, kind: str | None) -> Statement:
    def statement(g: Any, o: Any, x: Any) -> Any:
        pieces = x.ss.export() if kind is None else _source(x, kind).ss.export(kind)
        return getattr(getattr(g, name).ss, f"import_{kind or 'any'}")(**pieces)

    return statement


def _packed(kind: str | None) -> Statement:
    def statement(g: Any, o: Any, x: Any) -> Any:
        copy = x.dup() if kind is None else _source(x, kind)
        pieces = copy.ss.unpack() if kind is None else copy.ss.unpack(kind)
        getattr(copy.ss, f"pack_{kind or 'any'}")(**pieces)
        return copy

    return statement


def _changed(x: Any, name: str, *arguments: Any, **options: Any) -> Any:
    copy = x.dup()
    getattr(copy.ss, name)(*arguments, **options)
    return copy


def _statements(name: str) -> dict[str, Statement]:
    made: dict[str, Statement] = {
        "build_scalar": lambda g, o, x: _built_scalar(x),
        "compactify": lambda g, o, x: x.ss.compactify(),
        "concat": lambda g, o, x: _concatenated(x),
        "config": lambda g, o, x: sorted(x.ss.config),
        "deserialize": lambda g, o, x: getattr(g, name).ss.deserialize(x.ss.serialize()),
        "export": lambda g, o, x: sorted(x.ss.export(_KINDS[name][-1])),
        "format": lambda g, o, x: len(x.ss.format) > 0,
        "head": lambda g, o, x: len(x.ss.head(3)[0]),
        "is_iso": lambda g, o, x: x.ss.is_iso,
        "iso_value": lambda g, o, x: getattr(g, name).from_coo(*[[0, 1]] * x.ndim, 3).ss.iso_value,
        "iteritems": lambda g, o, x: sorted(x.ss.iteritems()),
        "iterkeys": lambda g, o, x: sorted(x.ss.iterkeys()),
        "itervalues": lambda g, o, x: sorted(x.ss.itervalues()),
        "nbytes": lambda g, o, x: x.ss.nbytes > 0,
        "pack_any": _packed(None),
        "import_any": _imported(name, None),
        "reshape": lambda g, o, x: x.ss.reshape(49, 1) if x.ndim == 2 else x.ss.reshape(7, 1),
        "scan": lambda g, o, x: x.ss.scan(g.monoid.plus),
        "selectk": lambda g, o, x: x.ss.selectk("first", 1),
        "serialize": lambda g, o, x: x.ss.serialize().size > 0,
        "sort": lambda g, o, x: x.ss.sort()[0],
        "split": lambda g, o, x: _split(x),
        "unpack": lambda g, o, x: _changed(x, "unpack"),
    }
    for kind in _KINDS[name]:
        made |= {f"import_{kind}": _imported(name, kind), f"pack_{kind}": _packed(kind)}
    return made


def _built_scalar(x: Any) -> Any:
    empty = type(x)(x.dtype, *x.shape)
    at = [[0, 1]] * x.ndim
    empty.ss.build_scalar(*at, 5)
    return empty


def _concatenated(x: Any) -> Any:
    double = type(x)(x.dtype, *(2 * n for n in x.shape))
    double.ss.concat([[x, x], [x, x]] if x.ndim == 2 else [x, x])
    return double


def _split(x: Any) -> Any:
    return x.ss.split([[3, 4], None])[0][0] if x.ndim == 2 else x.ss.split([3, 4])[0]


MATRIX: dict[str, Statement] = _statements("Matrix") | {
    "build_diag": lambda g, o, x: _changed(x, "build_diag", o.u),
    "flatten": lambda g, o, x: x.ss.flatten(),
    "orientation": lambda g, o, x: x.ss.orientation,
    "pack_hyperhash": lambda g, o, x: callable(x.ss.pack_hyperhash),  # SuiteSparse 9 builds no hyperhash to pack
    "unpack_hyperhash": lambda g, o, x: x.ss.unpack_hyperhash(compute=True) is None,
}
VECTOR: dict[str, Statement] = _statements("Vector") | {
    "build_diag": lambda g, o, x: _changed(x, "build_diag", o.A),
}
