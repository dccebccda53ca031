"""Machine code that numba keeps on disk: files that cannot be read or written are made again."""

import signal

import numpy as np
import pytest

from sparsezc.engines.cpu import compiled_loops
from sparsezc.engines.cpu.suitesparse.machine_code import compiled

numba = pytest.importorskip("numba", reason="numba compiles the loops")
TEXT = "def doubled(x):\n    return 2 * x\n\n\ndef twice(x):\n    return doubled(x)\n"


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """Return a function that compiles `twice` from a file of its own, as each new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    file = tmp_path / "doubling.py"

    def make(text=TEXT):
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        scope = {}
        exec(compile(text, str(file), "exec"), scope)
        return compiled(numba, scope["twice"])

    return make


def files(tmp_path, suffix):
    return list(tmp_path.rglob(f"*.{suffix}"))


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_are_replaced(suffix, twice, tmp_path):
    assert twice()(3) == 6
    [kept] = files(tmp_path, suffix)
    for content in (b"", kept.read_bytes()[:20], b"no pickle"):
        kept.write_bytes(content)
        for hits in (0, 1):
            again = twice()
            assert again(3) == 6
            assert sum(again.stats.cache_hits.values()) == hits
        [kept] = files(tmp_path, suffix)


def test_a_function_that_is_called_changes(twice, tmp_path):
    assert twice()(3) == 6
    assert twice(TEXT.replace("2 * x", "20 * x"))(3) == 60
    assert len(files(tmp_path, "nbi")) == 1


def test_a_full_disk_costs_the_files_alone(twice, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    assert twice()(4) == 8
    assert not files(tmp_path, "nbc")


def test_an_interrupt_waits_for_the_answer_of_a_loop():
    ended = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process under nohup ignores interrupts

    def made(*_):
        signal.raise_signal(signal.SIGINT)
        ended.append(True)

    rows = np.zeros(1 << 16, np.int64)
    try:
        for shares in ([], [0, 1]):
            with pytest.raises(KeyboardInterrupt):
                compiled_loops._run(made, (rows, rows), shares, None)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [True, True]
