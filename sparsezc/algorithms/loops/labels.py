"""Loops in which vertices choose among their neighbours' labels. Numbers are unsigned: see searches.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms.loops import replacing

__all__ = ["joined", "moved", "propagated"]


@replacing(15)
def propagated(indptr: Any, indices: Any) -> Any:
    """Return the labels that ``label_propagation`` finds in an undirected simple graph of less than 2^32 vertices.

    Vertices of one colour are not neighbours, so they may choose one after another.
    """
    n = indptr.size - 1
    starts = indptr.view(np.uint64)
    one = np.uint64(1)
    # colours by descending degree
    place = np.zeros(n + 2, np.int64)
    for v in range(n):
        place[n - (indptr[v + 1] - indptr[v]) + 1] += 1
    for d in range(n + 1):
        place[d + 1] += place[d]
    order = np.empty(n, np.uint64)
    for v in range(n):
        d = n - (indptr[v + 1] - indptr[v])
        order[place[d]] = np.uint64(v)
        place[d] += 1
    color, last = np.full(n, n, np.uint64), np.full(n + 1, n, np.uint64)  # last: vertex beside each colour
    place = np.zeros(n + 2, np.int64)
    for v in order:
        for at in range(starts[v], starts[v + one]):
            last[color[np.uint64(indices[at])]] = v
        c = np.uint64(0)
        while last[c] == v:
            c += one
        color[v] = c
        place[c + one] += 1
    for d in range(n):
        place[d + 1] += place[d]
    for v in range(n):
        order[place[color[v]]] = np.uint64(v)
        place[color[v]] += 1
    # copy the rows in this order, with 4-byte ids, as every round reads them
    place_of, begin, near = np.empty(n, np.uint32), np.zeros(n + 1, np.uint64), np.empty(indices.size, np.uint32)
    for r in range(n):
        place_of[order[r]] = r
    written = np.uint64(0)
    for r in range(n):
        v = order[r]
        for at in range(starts[v], starts[v + one]):
            near[written] = place_of[np.uint64(indices[at])]
            written += one
        begin[r + 1] = written
    label, votes, seen = order.astype(np.uint32), np.zeros(n, np.int32), np.empty(n + 1, np.uint32)
    active = np.ones(n, np.bool_)
    moves = True
    while moves:
        moves = False
        for r in range(n):
            if not active[r]:
                continue
            active[r] = False
            own = choice = label[r]
            found = np.uint64(0)
            for at in range(begin[r], begin[r + 1]):
                c = label[near[at]]
                seen[found] = c  # branchless, as the order of labels is random
                found += np.uint64(votes[c] == 0)
                votes[c] += 1
            most = votes[own]
            for t in range(found):
                c = seen[t]
                if votes[c] > most or (votes[c] == most and c > choice and choice != own):
                    most, choice = votes[c], c
                votes[c] = 0
            if choice != own:
                moves = True
                label[r] = choice
                for at in range(begin[r], begin[r + 1]):
                    active[near[at]] = True
    labels = np.empty(n, np.int64)
    for r in range(n):
        labels[order[r]] = label[r]
    return labels


def moved(begin: Any, ids: Any, weights: Any, k: Any, label: Any, chance: Any, how: Any) -> Any:
    """Move vertices to the labels of largest gain, as :func:`sparsezc.ops.move_labels`; return the number of rounds.

    `label` is overwritten. `chance`: the multipliers of each round. `how`: the factor of the penalty; the largest
    share of vertices that move in the last round; and `many`: if more than 1/`many` of the vertices move in a turn, all
    choose again, else the movers' neighbours.
    """
    scale, least, many = how
    n = k.size
    one = np.uint64(1)
    weighs = weights.size > 0
    sums, total = np.zeros(n), np.zeros(n, weights.dtype)
    seen = np.empty(n + 1, np.uint64)
    active = k > 0
    size = 0
    for v in range(n):
        sums[label[v]] += k[v]
        size += active[v]
    listed, best = np.empty(n, np.uint64), np.empty(n, np.uint64)
    rounds = 0
    for a, b in chance:
        rounds += 1
        moves = 0
        for turn in range(8):
            count = 0
            for v in range(np.uint64(n)):
                if active[v]:
                    h = v * a
                    if (((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)) == np.uint64(turn):
                        listed[count] = v
                        count += 1
                        active[v] = False
            movers = 0
            for r in range(count):
                v = listed[r]
                own = label[v]
                found = np.uint64(0)
                for at in range(begin[v], begin[v + one]):
                    u = np.uint64(ids[at])
                    if u != v:
                        c = label[u]
                        # branchless, as the order of labels is random; a label of weight 0 may be listed twice
                        seen[found] = c
                        found += np.uint64(total[c] == 0)
                        total[c] += weights[at] if weighs else 1
                share = scale * k[v]
                choice, most = own, total[own] - share * (sums[own] - k[v])
                total[own] = 0
                for t in range(found):
                    c = seen[t]
                    if c == own:
                        continue
                    score = total[c] - share * sums[c]
                    total[c] = 0
                    if score > most or (score == most and c < choice and choice != own):
                        most, choice = score, c
                if choice != own:
                    listed[movers] = v
                    best[movers] = choice
                    movers += 1
            for r in range(movers):
                v = listed[r]
                sums[label[v]] -= k[v]
                sums[best[r]] += k[v]
                label[v] = best[r]
            if movers > size // many:
                active[:] = True
            else:
                for r in range(movers):
                    v = listed[r]
                    for at in range(begin[v], begin[v + one]):
                        u = np.uint64(ids[at])
                        if u != v:
                            active[u] = True
            moves += movers
        if moves <= least * size:
            break
    return rounds


def joined(begin: Any, ids: Any, weights: Any, k: Any, group: Any, chance: Any, scale: Any) -> Any:
    """Return each vertex's label inside its group, as :func:`sparsezc.ops.join_labels`; `chance`: two multipliers."""
    n = k.size
    one = np.uint64(1)
    weighs = weights.size > 0
    a, b = chance
    inside, whole, sums, total = np.zeros(n), np.zeros(n), k.copy(), np.zeros(n)
    label, turns, alone = np.empty(n, np.uint64), np.empty(n, np.uint8), np.zeros(n, np.bool_)
    for v in range(np.uint64(n)):
        own = group[v]
        whole[own] += k[v]
        label[v] = v
        h = v * a
        turns[v] = ((h ^ (h >> np.uint64(32))) * b) >> np.uint64(61)
        for at in range(begin[v], begin[v + one]):
            u = np.uint64(ids[at])
            if u != v and group[u] == own:
                inside[v] += weights[at] if weighs else 1.0
    cut = inside.copy()  # weight between each label and the rest of its group
    for v in range(n):
        alone[v] = inside[v] > 0 and inside[v] - (whole[group[v]] - k[v]) * k[v] * scale >= 0
    seen, listed, best = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint64)
    for turn in range(8):
        count = 0
        for v in range(np.uint64(n)):
            if not alone[v] or turns[v] != turn:
                continue
            own = group[v]
            found = np.uint64(0)
            for at in range(begin[v], begin[v + one]):
                u = np.uint64(ids[at])
                if u != v and group[u] == own:
                    c = label[u]
                    if total[c] == 0.0:
                        seen[found] = c
                        found += one
                    total[c] += weights[at] if weighs else 1.0
            share = scale * k[v]
            choice, most = v, 0.0
            for t in range(found):
                c = seen[t]
                weight = total[c]
                total[c] = 0.0
                if alone[c] and turns[c] == turn:
                    continue
                if cut[c] - (whole[own] - sums[c]) * sums[c] * scale < 0.0:
                    continue
                score = weight - share * sums[c]
                if score > most or (score == most and c < choice and choice != v):
                    most, choice = score, c
            if choice != v:
                listed[count] = v
                best[count] = choice
                count += 1
        for r in range(count):
            v, c = listed[r], best[r]
            sums[v] -= k[v]
            sums[c] += k[v]
            label[v] = c
            alone[v] = alone[c] = False
        for r in range(count):
            v = listed[r]
            c = label[v]
            weight = 0.0
            for at in range(begin[v], begin[v + one]):
                u = np.uint64(ids[at])
                if u != v and group[u] == group[v] and label[u] == c:
                    w = weights[at] if weighs else 1.0
                    # two vertices that joined in this turn both meet the entry between them
                    weight += w if u != c and turns[u] == turn else 2.0 * w
            cut[c] += inside[v] - weight
    return label
