"""The smallest call that still shows a mistake: fewer rows, heads, queries, keys, dims, then plainer numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from softlookup.conformance.case import Array, Case

Still = Callable[[Case], bool]
_MOST_CALLS = 250


def shrunk(case: Case, still: Still) -> Case:
    """``case`` made smaller step by step while ``still`` holds of it; ``still`` is asked at most 250 times."""
    left = _MOST_CALLS
    moved = True
    while moved and left > 0:
        moved = False
        for step in _steps(case):
            if left <= 0:
                break
            left -= 1
            if still(step):
                case, moved = step, True
                break
    return case


def _steps(case: Case) -> Iterator[Case]:
    """Simpler calls, the largest simplifications first."""
    if case.batch > 1:
        for row in range(case.batch):
            yield _rows(case, [row])
    if case.kv_heads > 1:
        group = case.heads // case.kv_heads
        for head in range(case.kv_heads):
            yield _heads(case, list(range(head * group, head * group + group)), [head])
        if case.heads // case.kv_heads > 1 and case.kv_heads > 2:
            yield _heads(case, list(range(2 * group)), [0, 1])
    elif case.heads > 1:
        yield _heads(case, [0], [0])
    for count in _fewer(case.head_dim):
        yield case.but(query=case.query[..., :count], key=case.key[..., :count])
    yield from _shorter(case)
    yield from _plainer(case)


def _fewer(count: int) -> Iterator[int]:
    """Halves first, then one less."""
    if count > 3:
        yield count // 2
    if count > 1:
        yield count - 1


def _rows(case: Case, rows: list[int]) -> Case:
    def cut(given: Array | None) -> Array | None:
        return given if given is None or given.shape[0] != case.batch else given[rows]

    return case.but(query=case.query[rows], key=case.key[rows], value=case.value[rows], mask=cut(case.mask),
                    bias=cut(case.bias), kv_len=cut(case.kv_len), segments=cut(case.segments))  # fmt: skip


def _heads(case: Case, heads: list[int], kv_heads: list[int]) -> Case:
    def cut(given: Array | None) -> Array | None:
        return given if given is None or given.shape[1] != case.heads else given[:, heads]

    sinks = None if case.sinks is None else case.sinks[heads]
    return case.but(query=case.query[:, heads], key=case.key[:, kv_heads], value=case.value[:, kv_heads],
                    mask=cut(case.mask), bias=cut(case.bias), sinks=sinks)  # fmt: skip


def _shorter(case: Case) -> Iterator[Case]:
    rows, keys = case.q_length, case.kv_length
    square = rows == keys
    alone = case.segments is None  # documents are said once for queries and keys: these go together
    for count in _fewer(keys):
        for kept in (list(range(count)), list(range(keys - count, keys))):
            if square:
                yield _cut(case, kept, kept)
            if alone:
                yield _cut(case, list(range(rows)), kept)
    if square and 1 < keys <= 12:
        for gone in range(keys):
            kept = [index for index in range(keys) if index != gone]
            yield _cut(case, kept, kept)
    if alone and (not square or rows <= 12):
        for count in _fewer(rows):
            yield _cut(case, list(range(count)), list(range(keys)))
            yield _cut(case, list(range(rows - count, rows)), list(range(keys)))


def _cut(case: Case, rows: list[int], keys: list[int]) -> Case:
    """Queries ``rows`` and ``keys``; one-hot values lose the columns of lost keys."""

    def cut(given: Array | None) -> Array | None:
        if given is None:
            return None
        given = given if given.shape[2] == 1 else given[:, :, rows]
        return given if given.shape[3] == 1 else given[..., keys]

    value = case.value[:, :, keys]
    if case.value.shape[-1] == case.kv_length:
        value = value[..., keys]
    kv_len = None if case.kv_len is None else np.clip(case.kv_len, 1, len(keys))
    segments = None if case.segments is None else case.segments[:, keys]
    return case.but(query=case.query[:, :, rows], key=case.key[:, :, keys], value=value, mask=cut(case.mask),
                    bias=cut(case.bias), kv_len=kv_len, segments=segments)  # fmt: skip


def _plainer(case: Case) -> Iterator[Case]:
    """Zeros, then signs, then whole numbers; one value column where more are not needed."""
    if case.query.any():
        yield case.but(query=np.zeros_like(case.query), key=np.zeros_like(case.key))
    if case.value.shape[-1] > 1 and case.value.shape[-1] != case.kv_length:
        yield case.but(value=np.ones((*case.value.shape[:3], 1)))
    for name in ("query", "key", "bias"):
        given = getattr(case, name)
        if given is None:
            continue
        for plain in (np.sign(given), np.round(given)):
            if not np.array_equal(plain, given):
                yield case.but(**{name: plain})
