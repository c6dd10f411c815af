"""Small weight matrices with a mistake in them, and which mistake it is.

The matrix that a question shows is computed here in plain Python; the explanation finds the mistake again by
softlookup's attention under each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from softlookup.learn.quiz.question import Draw, Sheet, Text

Matrix = list[list[float]]
# entries of matrices that differ by less look the same in two printed digits
_APART = 0.04

NAMES = {
    "right": Text("none: this is causal attention as it should be", "没有错：这就是正确的因果注意力"),
    "not_masked": Text("the causal mask is missing", "漏了因果掩码"),
    "masked_late": Text("later keys are set to zero after softmax", "softmax 之后才把未来的 key 置零"),
    "wrong_triangle": Text("the mask hides the other triangle", "掩掉了另一个三角"),
    "not_scaled": Text("scores are not divided by sqrt(d_k)", "分数没有除以 sqrt(d_k)"),
    "by_width": Text("scores are divided by d_k, not by its root", "分数除以了 d_k 而不是 sqrt(d_k)"),
    "over_queries": Text(
        "softmax runs over the queries of a key, not over the keys of a query",
        "softmax 沿 query 方向做，而不是沿 key 方向",
    ),
    "sees_next": Text("the mask lets each query see one key too many", "掩码错开一格，每个 query 多看了一个 key"),
    "not_itself": Text("the mask hides the query's own key", "掩码连自己那个 key 也挡住了"),
}

_ALL = 99
# query i sees key j where j - i lies between these; by default all up to its own
_SEEN = {
    "not_masked": (-_ALL, _ALL),
    "masked_late": (-_ALL, _ALL),
    "wrong_triangle": (0, _ALL),
    "sees_next": (-_ALL, 1),
    "not_itself": (-_ALL, -1),
}


def _softmax(row: Sequence[float], seen: Sequence[bool]) -> list[float]:
    parts = [math.exp(score) if sees else 0.0 for score, sees in zip(row, seen, strict=True)]
    return [part / sum(parts) if sum(parts) else 0.0 for part in parts]


def plain_weights(kind: str, query: Matrix, key: Matrix) -> Matrix:
    """Weights [T, T] under the mistake ``kind``, without softlookup."""
    width, places = len(query[0]), range(len(query))
    factor = {"not_scaled": 1.0, "by_width": 1 / width}.get(kind, width**-0.5)
    scores = [[factor * sum(a * b for a, b in zip(q, k, strict=True)) for k in key] for q in query]
    first, last = _SEEN.get(kind, (-_ALL, 0))
    sees = [[first <= j - i <= last for j in places] for i in places]
    if kind == "over_queries":
        columns = [_softmax([scores[i][j] for i in places], [sees[i][j] for i in places]) for j in places]
        return [[columns[j][i] for j in places] for i in places]
    rows = [_softmax(scores[i], sees[i]) for i in places]
    if kind == "masked_late":
        return [[weight if j <= i else 0.0 for j, weight in enumerate(row)] for i, row in enumerate(rows)]
    return rows


def lookup_weights(kind: str, query: Matrix, key: Matrix) -> Matrix:
    """The same by ``softlookup.attention``."""
    import torch

    from softlookup.learn.quiz.small import weights

    count = len(query)
    lower = torch.ones(count, count, dtype=torch.bool).tril()
    if kind == "over_queries":  # queries and keys change places, and so do the sides of the mask
        return torch.tensor(weights(key, query, mask=lower.T.contiguous())).T.tolist()
    masks = {
        "not_masked": None, "masked_late": None, "wrong_triangle": lower.T.contiguous(),
        "sees_next": torch.ones(count, count, dtype=torch.bool).tril(1), "not_itself": lower.tril(-1),
    }  # fmt: skip
    scale = {"not_scaled": 1.0, "by_width": 1 / len(query[0])}.get(kind)
    found = weights(query, key, mask=masks.get(kind, lower), scale=scale)
    return torch.tensor(found).tril().tolist() if kind == "masked_late" else found


def find_mistake(query: Matrix, key: Matrix, shown: Matrix, kinds: Sequence[str]) -> str:
    """The one of ``kinds`` whose weights come closest to those ``shown``."""
    return min(kinds, key=lambda kind: distance(lookup_weights(kind, query, key), shown))


def distance(one: Matrix, other: Matrix) -> float:
    """Largest difference of two matrices."""
    return max(abs(a - b) for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True))


def mistake_sheet(draw: Draw, kinds: Sequence[str]) -> Sheet:
    """Three or four tokens, a weight matrix, and the question what is wrong with it; one of ``kinds`` is."""
    query, key = _apart(draw, kinds)
    options = list(kinds)
    draw.shuffle(options)
    rows, columns = ([[int(entry) for entry in row] for row in each] for each in (query, key))
    kind, shown = options[0], [[round(w, 2) for w in row] for row in plain_weights(options[0], query, key)]
    return Sheet(
        Text(
            f"A causal head, d_k = {len(query[0])}, query {rows}, key {columns}. Its weights came out as below (row: "
            "query, column: key). What went wrong?",
            f"一个因果注意力头，d_k = {len(query[0])}，query 为 {rows}，key 为 {columns}。它算出的权重如下（行："
            "query，列：key）。错在哪里？",
        ),
        "from softlookup.learn.quiz.mistakes import find_mistake, lookup_weights\n"
        f"query, key = {query}, {key}\nshown = {shown}\nkinds = {sorted(kinds)}\n"
        "found = find_mistake(query, key, shown, kinds)\n"
        'answer = [[round(w, 2) for w in row] for row in lookup_weights("right", query, key)]\nprint(found)',
        Text(
            f"Right weights are {{answer}}. Of the candidates only this one gives the matrix shown: {NAMES[kind].en}.",
            f"正确的权重是 {{answer}}。候选之中只有这一个能得出所给的矩阵：{NAMES[kind].zh}。",
        ),
        options=tuple(NAMES[each] for each in options),
        proof=f"found == {kind!r}",
        shown=tuple("  ".join(f"{weight:.2f}" for weight in row) for row in shown),
    )


def _apart(draw: Draw, kinds: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Queries and keys for which no two of ``kinds`` give the same printed matrix."""
    while True:
        count = draw.choice((3, 4))
        query, key = ([[float(draw.randint(-2, 2)) for _ in range(4)] for _ in range(count)] for _ in range(2))
        made = [plain_weights(kind, query, key) for kind in kinds]
        if all(distance(made[i], made[j]) > _APART for i in range(len(made)) for j in range(i)):
            return query, key
