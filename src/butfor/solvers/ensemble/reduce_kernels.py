"""Compiled: the reduction of an ensemble, the regions of a reduced one, and messages from one to the next."""

from __future__ import annotations

import numba
import numpy as np

from butfor.solvers.ensemble.leaf_kernels import grown


@numba.njit(cache=True, nogil=True)
def reduced(leaves, able, price, apart):  # type: ignore[no-untyped-def]
    """The fields of `Reduced`, in their order."""
    ordered, alive, binds = _within_reach(leaves, able)
    split_tree, constant, entries = _deciding(leaves, alive, binds)
    cell, group, source, merged = _merged(leaves, able, price, apart, ordered, alive, binds, split_tree)
    blocked = _blocked(leaves, able, ordered, alive, binds, split_tree, entries, cell, group, source)
    return (cell, source, merged, ordered, constant) + blocked  # noqa: RUF005 (numba knows no starred tuple)


@numba.njit(cache=True, nogil=True)
def _within_reach(leaves, able):  # type: ignore[no-untyped-def]
    """Which features are asked for ranges only, which leaves have an able cell each entry, which entries leave one out."""
    start, entry, feature = leaves.start, leaves.entry, leaves.feature
    d, count, cells = len(start) - 1, len(entry) - 1, start[-1]
    before = np.zeros(cells + 1, np.intp)
    for c in range(cells):
        before[c + 1] = before[c] + (1 if able[c] else 0)
    ordered = np.ones(d, np.bool_)
    for j in range(d):
        ordered[j] = not able[start[j + 1] - 1]
    for e in range(entry[count]):
        if leaves.mask[e] >= 0:
            ordered[feature[e]] = False
    alive = np.ones(count, np.bool_)
    binds = np.zeros(entry[count], np.bool_)
    for i in range(count):
        for e in range(entry[i], entry[i + 1]):
            j = feature[e]
            last = start[j + 1] - 1
            inside = 0
            if leaves.mask[e] >= 0:
                for c in range(start[j], last + 1):
                    if able[c] and leaves.masks[leaves.mask[e] + c - start[j]]:
                        inside += 1
            else:
                if leaves.first[e] <= leaves.last[e]:
                    inside = before[start[j] + leaves.last[e] + 1] - before[start[j] + leaves.first[e]]
                if leaves.missing[e] and able[last]:
                    inside += 1
            if inside == 0:
                alive[i] = False
                break
            binds[e] = inside < before[last + 1] - before[start[j]]
    return ordered, alive, binds


@numba.njit(cache=True, nogil=True)
def _deciding(leaves, alive, binds):  # type: ignore[no-untyped-def]
    """Which trees still decide something, the leaves of those that do not (-1: none is left), and how many entries bind."""
    tree, entry = leaves.tree, leaves.entry
    trees = len(tree) - 1
    split_tree = np.zeros(trees, np.bool_)
    constant = np.empty(trees, np.intp)
    constants = 0
    entries = 0
    for t in range(trees):
        living, one = 0, -1
        for i in range(tree[t], tree[t + 1]):
            if alive[i]:
                living += 1
                one = i
        split_tree[t] = living > 1
        if living == 1:  # margins leave gaps: even a single leaf may leave cells out
            for e in range(entry[one], entry[one + 1]):
                split_tree[t] = split_tree[t] or binds[e]
        if living == 1 and not split_tree[t]:
            constant[constants] = one
            constants += 1
        if living == 0:
            constant[constants] = -1
            constants += 1
        if split_tree[t]:
            for i in range(tree[t], tree[t + 1]):
                if alive[i]:
                    for e in range(entry[i], entry[i + 1]):
                        if binds[e]:
                            entries += 1
    return split_tree, constant[:constants], entries


@numba.njit(cache=True, nogil=True)
def _merged(leaves, able, price, apart, ordered, alive, binds, split_tree):  # type: ignore[no-untyped-def]
    """Where the merged cells of each feature begin, each cell's number in its feature, the cell that stands, the number."""
    start, tree, entry, feature = leaves.start, leaves.tree, leaves.entry, leaves.feature
    d, trees, cells = len(start) - 1, len(tree) - 1, start[-1]
    group = np.zeros(cells, np.intp)
    mark = np.zeros(cells + 1, np.bool_)
    groups = np.ones(d, np.intp)
    for c in range(cells):
        if apart[c]:
            mark[c] = True
            mark[c + 1] = True
    for t in range(trees):
        if not split_tree[t]:
            continue
        for i in range(tree[t], tree[t + 1]):
            if not alive[i]:
                continue
            for e in range(entry[i], entry[i + 1]):
                if not binds[e]:
                    continue
                j = feature[e]
                if ordered[j]:
                    mark[start[j] + leaves.first[e]] = True
                    mark[start[j] + leaves.last[e] + 1] = True
                else:
                    groups[j] = _split(group, start[j], _after(start[j + 1] - start[j], group, 0), groups[j], leaves, e)
    cell = np.zeros(d + 1, np.intp)
    for j in range(d):
        found = 0
        if ordered[j]:
            fresh = True
            for c in range(start[j], start[j + 1]):
                fresh = fresh or mark[c]
                if able[c]:
                    if fresh:
                        found += 1
                        fresh = False
                    group[c] = found - 1
        else:
            number = np.full(groups[j], -1, np.intp)
            for c in range(start[j], start[j + 1]):
                if not able[c]:
                    continue
                if apart[c]:
                    group[c] = found
                    found += 1
                    continue
                if number[group[c]] < 0:
                    number[group[c]] = found
                    found += 1
                group[c] = number[group[c]]
        cell[j + 1] = cell[j] + found
    source = np.full(cell[d], -1, np.intp)
    for j in range(d):
        for c in range(start[j], start[j + 1]):
            if able[c]:
                k = cell[j] + group[c]
                if source[k] < 0 or price[c] < price[source[k]]:
                    source[k] = c
    merged = np.full(cells, -1, np.intp)
    for j in range(d):
        for c in range(start[j], start[j + 1]):
            if able[c]:
                merged[c] = cell[j] + group[c]
    return cell, group, source, merged


@numba.njit(cache=True, nogil=True)
def _blocked(leaves, able, ordered, alive, binds, split_tree, entries, cell, group, source):  # type: ignore[no-untyped-def]
    """The trees over merged cells, each seeing of a feature only the blocks that it tells apart: all fields from `tree` on."""
    start, tree, entry, feature = leaves.start, leaves.tree, leaves.entry, leaves.feature
    d, trees, count = len(start) - 1, len(tree) - 1, len(entry) - 1
    ahead, behind = _neighbours(start, cell, group, able)
    kept_tree, origin = np.zeros(trees + 1, np.intp), np.zeros(trees + 1, np.intp)
    leaf, entry_at = np.empty(count, np.intp), np.zeros(count + 1, np.intp)
    owner, pair = np.empty(entries, np.intp), np.empty(entries, np.intp)
    low, high = np.empty(entries, np.intp), np.empty(entries, np.intp)
    pair_feature, pair_tree = np.empty(entries, np.intp), np.empty(entries, np.intp)
    block = np.zeros(entries + 1, np.intp)
    begin, end = np.empty(3 * entries + 1, np.intp), np.empty(3 * entries + 1, np.intp)
    set_cells = np.empty(1024, np.intp)
    set_blocks = np.empty(1024, np.intp)
    n_set_cells, n_set_blocks, kept, n, n_pairs, n_trees = 0, 0, 0, 0, 0, 0
    pair_of = np.full(d, -1, np.intp)
    label = np.empty(cell[d] + 1, np.intp)
    for t in range(trees):
        if not split_tree[t]:
            continue
        first_pair = n_pairs
        for i in range(tree[t], tree[t + 1]):
            if alive[i]:
                for e in range(entry[i], entry[i + 1]):
                    j = feature[e]
                    if binds[e] and pair_of[j] < 0:
                        pair_of[j] = n_pairs
                        pair_feature[n_pairs], pair_tree[n_pairs] = j, n_trees
                        n_pairs += 1
        for q in range(first_pair, n_pairs):
            j = pair_feature[q]
            size = cell[j + 1] - cell[j]
            at = cell[j]
            for c in range(size):
                label[at + c] = 0
            blocks = 1
            if block[q] + size > len(begin):
                begin, end = grown(begin, block[q] + size), grown(end, block[q] + size)
            if ordered[j]:
                for i in range(tree[t], tree[t + 1]):
                    if alive[i]:
                        for e in range(entry[i], entry[i + 1]):
                            if feature[e] == j and binds[e]:
                                label[at + ahead[start[j] + leaves.first[e]]] = 1
                                after = behind[start[j] + leaves.last[e]] + 1
                                if after < size:
                                    label[at + after] = 1
                blocks = 0
                for c in range(size):
                    if c == 0 or label[at + c] == 1:
                        begin[block[q] + blocks] = at + c
                        if blocks:
                            end[block[q] + blocks - 1] = at + c
                        blocks += 1
                    label[at + c] = blocks - 1
                end[block[q] + blocks - 1] = at + size
            else:
                ids = np.empty(size, np.intp)
                for c in range(size):
                    ids[c] = source[at + c] - start[j]
                for i in range(tree[t], tree[t + 1]):
                    if alive[i]:
                        for e in range(entry[i], entry[i + 1]):
                            if feature[e] == j and binds[e]:
                                blocks = _split(label, at, ids, blocks, leaves, e)
                if n_set_cells + size > len(set_cells):
                    set_cells = grown(set_cells, n_set_cells + size)
                for b in range(blocks):
                    begin[block[q] + b] = cell[d] + n_set_cells
                    for c in range(size):
                        if label[at + c] == b:
                            set_cells[n_set_cells] = at + c
                            n_set_cells += 1
                    end[block[q] + b] = cell[d] + n_set_cells
            block[q + 1] = block[q] + blocks
        for i in range(tree[t], tree[t + 1]):
            if not alive[i]:
                continue
            leaf[kept] = i
            for e in range(entry[i], entry[i + 1]):
                if not binds[e]:
                    continue
                j = feature[e]
                q = pair_of[j]
                owner[n], pair[n] = kept, q
                if ordered[j]:
                    low[n] = block[q] + label[cell[j] + ahead[start[j] + leaves.first[e]]]
                    high[n] = block[q] + label[cell[j] + behind[start[j] + leaves.last[e]]] + 1
                else:
                    blocks = block[q + 1] - block[q]
                    if n_set_blocks + blocks > len(set_blocks):
                        set_blocks = grown(set_blocks, n_set_blocks + blocks)
                    low[n] = -n_set_blocks - 1
                    for b in range(block[q], block[q + 1]):
                        some = source[set_cells[begin[b] - cell[d]]] - start[j]
                        if _inside(leaves, e, some):
                            set_blocks[n_set_blocks] = b
                            n_set_blocks += 1
                    high[n] = -n_set_blocks - 1
                n += 1
            kept += 1
            entry_at[kept] = n
        for q in range(first_pair, n_pairs):
            pair_of[pair_feature[q]] = -1
        origin[n_trees] = t
        n_trees += 1
        kept_tree[n_trees] = kept
    blocks = block[n_pairs]
    member = _after(blocks, set_blocks, n_set_blocks)
    for e in range(n):
        if low[e] < 0:
            low[e], high[e] = blocks - low[e] - 1, blocks - high[e] - 1
    listed = _after(cell[d], set_cells, n_set_cells)
    used, users = _grouped(pair[:n], n_pairs)
    by, pairs = _grouped(pair_feature[:n_pairs], d)
    return (
        kept_tree[: n_trees + 1], origin[:n_trees], leaf[:kept], entry_at[: kept + 1], owner, pair, low, high, member,
        pair_feature[:n_pairs], pair_tree[:n_pairs], block[: n_pairs + 1], begin[:blocks], end[:blocks], listed, used, users,
        by, pairs,
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _inside(leaves, e, c):  # type: ignore[no-untyped-def]
    """Whether cell `c` of its feature is in the region of entry `e`."""
    if leaves.mask[e] >= 0:
        return leaves.masks[leaves.mask[e] + c]
    j = leaves.feature[e]
    if c == leaves.start[j + 1] - leaves.start[j] - 1:
        return leaves.missing[e]
    return leaves.first[e] <= c and c <= leaves.last[e]


@numba.njit(cache=True, nogil=True)
def _split(label, at, ids, count, leaves, e):  # type: ignore[no-untyped-def]
    """Refine labels `label[at:at + len(ids)]` of the cells `ids` by the region of entry `e`; the new number of labels."""
    hit = np.zeros(count, np.int8)
    for i in range(len(ids)):
        hit[label[at + i]] |= 1 if _inside(leaves, e, ids[i]) else 2
    fresh = np.full(count, -1, np.intp)
    for i in range(len(ids)):
        old = label[at + i]
        if hit[old] == 3 and not _inside(leaves, e, ids[i]):
            if fresh[old] < 0:
                fresh[old] = count
                count += 1
            label[at + i] = fresh[old]
    return count


@numba.njit(cache=True, nogil=True)
def _after(count, others, n):  # type: ignore[no-untyped-def]
    """The numbers up to `count`, and then the first `n` others."""
    out = np.empty(count + n, np.intp)
    for i in range(count):
        out[i] = i
    for i in range(n):
        out[count + i] = others[i]
    return out


@numba.njit(cache=True, nogil=True)
def _neighbours(start, cell, group, able):  # type: ignore[no-untyped-def]
    """For each original cell the merged cell (counted in its feature) of the nearest able one from it on, and up to it."""
    ahead, behind = np.zeros(start[-1], np.intp), np.zeros(start[-1], np.intp)
    for j in range(len(start) - 1):
        now = cell[j + 1] - cell[j]
        for c in range(start[j + 1] - 1, start[j] - 1, -1):
            if able[c]:
                now = group[c]
            ahead[c] = now
        now = -1
        for c in range(start[j], start[j + 1]):
            if able[c]:
                now = group[c]
            behind[c] = now
    return ahead, behind


@numba.njit(cache=True, nogil=True)
def _grouped(key, count):  # type: ignore[no-untyped-def]
    """Positions sorted by key, and where each key's begin."""
    at = np.zeros(count + 1, np.intp)
    for k in key:
        at[k + 1] += 1
    for k in range(count):
        at[k + 1] += at[k]
    order, now = np.empty(len(key), np.intp), np.empty(count + 1, np.intp)
    for k in range(count + 1):
        now[k] = at[k]
    for i in range(len(key)):
        order[now[key[i]]] = i
        now[key[i]] += 1
    return at, order


@numba.njit(cache=True, nogil=True)
def regions(cell, ordered, feature, low, high, member, begin, end, listed):  # type: ignore[no-untyped-def]
    """The cells of each entry, counted in its feature: first to last, or a mask."""
    n = len(feature)
    first, last, mask = np.zeros(n, np.intp), np.full(n, -1, np.intp), np.full(n, -1, np.intp)
    size = 0
    for e in range(n):
        j = feature[e]
        if ordered[j]:
            first[e], last[e] = begin[member[low[e]]] - cell[j], end[member[high[e] - 1]] - 1 - cell[j]
        else:
            mask[e] = size
            size += cell[j + 1] - cell[j] + 1
    masks = np.zeros(size, np.bool_)
    for e in range(n):
        if mask[e] >= 0:
            for p in range(low[e], high[e]):
                for i in range(begin[member[p]], end[member[p]]):
                    masks[mask[e] + listed[i] - cell[feature[e]]] = True
    return first, last, mask, masks


@numba.njit(cache=True, nogil=True)
def carried(message, found, source, block, begin, listed, old_block, old_begin, old_end, old_listed):  # type: ignore[no-untyped-def]
    """The message of each new block, from the old block that holds its cell."""
    out = np.zeros(block[-1])
    for q in range(len(found)):
        for b in range(block[q], block[q + 1]):
            c = source[listed[begin[b]]]
            for a in range(old_block[found[q]], old_block[found[q] + 1]):
                for p in range(old_begin[a], old_end[a]):
                    if old_listed[p] == c:
                        out[b] = message[a]
    return out
