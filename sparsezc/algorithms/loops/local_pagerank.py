"""Loops of local clustering: numbers for the vertices near seeds, and gradient steps over the rows read so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["advance", "later_ends", "number"]


@replacing(100)  # an entry, in all steps by NumPy's arrays
def number(table: Any, known: Any, count: int, numbers: Any, first: int, lines: Any, ids: Any) -> Any:
    """Give numbers to the vertices in some rows: known vertices keep theirs, new ones get the next.

    Parameters
    ----------
    table : array of int32, size a power of two
        A hash table of the vertices' numbers, -1 in empty slots; it is overwritten.
    known : array of int64, half as large
        The first `count` items are the vertices in the order of their numbers; it is overwritten.
    numbers : array of uint32
        The numbers of the ids are written to it from position `first` on.
    lines : array of int64, shape (rows, 2)
        The begin and the end of each row in `ids`.

    Returns
    -------
    table, known, count, numbers
        Their new values; arrays that were too small are copied to larger ones.
    """

    def seek(table: Any, known: Any, v: Any) -> Any:
        """Return the slot of a vertex, or the empty slot that it would get."""
        mask = np.uint64(table.size - 1)  # unsigned, so that numba omits sign checks
        place = (np.uint64(v) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask  # 2**64 / 1.618
        while table[place] >= 0 and known[np.uint64(table[place])] != v:
            place = (place + np.uint64(1)) & mask
        return place

    k = first
    total = first
    for line in range(lines.shape[0]):
        total += lines[line, 1] - lines[line, 0]
    if total > numbers.size:
        larger = np.empty(2 * total, np.uint32)
        for at in range(first):
            larger[at] = numbers[at]
        numbers = larger
    for line in range(lines.shape[0]):
        for at in range(lines[line, 0], lines[line, 1]):
            v = np.int64(ids[at])
            place = seek(table, known, v)
            if table[place] < 0:
                if count == known.size:
                    more = np.empty(4 * count, np.int64)
                    table = np.full(8 * count, -1, np.int32)
                    for other in range(count):
                        more[other] = known[other]
                        table[seek(table, known, known[other])] = other
                    known = more
                    place = seek(table, known, v)
                table[place] = count
                known[count] = v
                count += 1
            numbers[k] = table[place]
            k += 1
    return table, known, count, numbers


@replacing(100)
def advance(rows: Any, degree: Any, seeds: Any, state: Any, limits: Any) -> Any:
    """Take the steps of each seed until it has settled, or needs rows that were not read.

    Vertices are given by their numbers. Each seed has steps of its own, Y = max((1 - alpha)/2 (Y + Y S D^-1) + alpha s
    D^-1 - rho alpha, 0), from Y = 0; the vertices of its solution are *inside*. Most steps use only the edges between
    inside vertices; one of `every` steps computes their neighbours, too.

    Parameters
    ----------
    rows : (array, array, array)
        The row of each vertex, -1 if it was not read; the offsets of rows; the numbers of the vertices in them.
    seeds : array of int64
        The numbers of the seeds.
    state : (array, array, array, array, array)
        The offsets of each seed's inside vertices; these vertices; their y; the steps of each seed so far, -1 once it
        has settled; the largest growth in each seed's last step.
    limits : (float, float, float, int, int)
        alpha, rho, the largest growth that counts as none, the most steps, and `every`.

    Returns
    -------
    begin, inside, y, steps, grown, wanted
        The new state, and the inside vertices whose rows were not read, each once.
    """
    row, start, number = rows
    begin, inside, y, steps, grown = state
    alpha, rho, most, max_iter, every = limits
    stay, n = (1 - alpha) / 2, degree.size
    begun, after, growth = np.zeros(seeds.size + 1, np.int64), np.zeros(seeds.size, np.int64), np.zeros(seeds.size)
    found, value = np.empty(max(2 * inside.size, 1024), np.int32), np.empty(max(2 * inside.size, 1024), np.float64)
    total = asked = 0
    wanted, is_wanted = np.empty(n, np.int64), np.zeros(n, np.bool_)
    # of one seed: its inside vertices, their neighbours beyond, and a place: from 0 on inside, -2, -3 ... beyond, else
    # -1
    own, beyond, place = np.empty(n, np.int32), np.empty(n + 1, np.int32), np.full(n, -1, np.int32)
    now, next, source, share = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    flow, far, bound = np.empty(n), np.empty(n), np.empty(n)
    for s in range(seeds.size):
        count = begin[s + 1] - begin[s]
        for i in range(count):
            own[i], now[i] = inside[begin[s] + i], y[begin[s] + i]
        step, grow = steps[s], grown[s]
        changed, waits, others = step >= 0, False, 0
        inner, outer = np.empty(0, np.uint32), np.empty(0, np.uint32)
        inner_start, outer_start = np.zeros(1, np.int64), np.zeros(1, np.int64)
        while 0 <= step < max_iter and not waits:
            if changed:  # list the edges to inside vertices and those beyond separately
                changed, others, volume = False, 0, 0
                for i in range(count):
                    place[own[i]] = i
                    volume += degree[own[i]]
                inner, outer = np.empty(volume, np.uint32), np.empty(volume, np.uint32)
                inner_start, outer_start = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
                ins = outs = 0
                for i in range(count):
                    r = row[own[i]]
                    for at in range(start[r], start[r + 1]):
                        v = number[at]
                        p = place[v]
                        if p >= 0:
                            inner[ins] = p
                            ins += 1
                            continue
                        beyond[others] = v  # branchless: which vertices are new is unpredictable
                        q = others if p == -1 else -2 - p
                        others += p == -1
                        place[v] = -2 - q
                        outer[outs] = q
                        outs += 1
                    inner_start[i + 1], outer_start[i + 1] = ins, outs
                if count == 0 and degree[seeds[s]] > 0:
                    beyond[0] = seeds[s]
                    others = 1
                for i in range(count):
                    share[i] = stay / degree[own[i]]
                    source[i] = -rho * alpha
                    if own[i] == seeds[s]:
                        source[i] += alpha / degree[own[i]]
                for i in range(others):
                    bound[i] = stay / degree[beyond[i]]
            looks = not (grow > most and step % every)
            step += 1
            if looks:
                for i in range(others):
                    flow[i] = 0.0
                for i in range(count):
                    for at in range(outer_start[i], outer_start[i + 1]):
                        flow[outer[at]] += now[i]
            grow = 0.0
            for i in range(count):
                come = 0.0
                for at in range(inner_start[i], inner_start[i + 1]):
                    come += now[inner[at]]
                next[i] = share[i] * come + source[i] + stay * now[i]
                grow = max(grow, next[i] - now[i])
            now, next = next, now
            if not looks:
                continue
            new = 0
            for i in range(others):
                far[i] = bound[i] * flow[i] - rho * alpha
            if count == 0 and others > 0:  # the seed enters first
                far[0] += alpha / degree[seeds[s]]
            for i in range(others):
                new += far[i] > most
            if new == 0:
                if grow <= most:
                    step = -1
                continue
            # vertices that enter are no longer beyond
            for i in range(others):
                place[beyond[i]] = -1
                if far[i] > most:
                    v = beyond[i]
                    own[count], now[count] = v, far[i]
                    count += 1
                    grow = max(grow, far[i])
                    if row[v] < 0:
                        waits = True
                        if not is_wanted[v]:
                            is_wanted[v] = True
                            wanted[asked] = v
                            asked += 1
            changed, others = True, 0
        for i in range(others):
            place[beyond[i]] = -1
        for i in range(count):
            place[own[i]] = -1
        if total + count > found.size:
            more, larger = np.empty(2 * (total + count), np.int32), np.empty(2 * (total + count))
            for i in range(total):
                more[i], larger[i] = found[i], value[i]
            found, value = more, larger
        for i in range(count):
            found[total], value[total] = own[i], now[i]
            total += 1
        begun[s + 1], after[s], growth[s] = total, step, grow
    return begun, found[:total], value[:total], after, growth, wanted[:asked]


@replacing(100)
def later_ends(rows: Any, begin: Any, inside: Any, rank: Any) -> Any:
    """Return for each rank the number of entries between its vertex and the seed's inside vertices of lower rank.

    `rank`: the rank of each inside vertex among those of all seeds. Entries in both directions count.
    """
    row, start, number = rows
    place, ends = np.full(row.size, -1), np.zeros(rank.size, np.int64)
    for s in range(begin.size - 1):
        for i in range(begin[s], begin[s + 1]):
            place[inside[i]] = rank[i]
        for i in range(begin[s], begin[s + 1]):
            r = row[inside[i]]
            for at in range(start[r], start[r + 1]):
                other = place[number[at]]
                if other >= 0:
                    ends[max(rank[i], other)] += 1
        for i in range(begin[s], begin[s + 1]):
            place[inside[i]] = -1
    return ends
