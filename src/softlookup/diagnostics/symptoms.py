"""What a user would notice in the answer: a loop, staring at the opening, mush, clauses that do not exist.

The symptoms of the course page, recognised from the answer and the statistics of the question's rows. A symptom
names no cause by itself (a small model loops without any fault); the monitors name causes, `softlookup diagnose` tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from softlookup.diagnostics.alerts import Alert
from softlookup.diagnostics.baseline import Baseline, outside_share
from softlookup.diagnostics.head_statistics import HeadStatistics
from softlookup.documents.model import Document
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.label_index import LabelIndex
from softlookup.documents.references.mentions import Mention, english_mentions
from softlookup.documents.references.mentions_zh import chinese_mentions

# share of all heads out of their own healthy range
HEADS_OUT = 0.25
# means over all heads, for a model without a baseline; healthy: .36 at most, .25 to .50
FIRST_TOKEN_MEAN = 0.8
ENTROPY_MEAN = 0.9
LOOP_TOKENS = 12
REPEATED_SENTENCES = 3
_SENTENCES = re.compile(r"[\n.;!?。；！？]+")
_LEADING_LABEL = re.compile(r"^[\s\d.,()（）\-–•*、一二三四五六七八九十]{0,12}")
_MOST_NAMED = 5
_LONGEST_CHARACTER = 4  # tokens: a character has at most four bytes in UTF-8


class Loop(NamedTuple):
    """``unit`` came ``repeats`` times."""

    unit: str
    repeats: int


def symptoms(
    pieces: Sequence[str],
    text: str,
    document: Document,
    layers: Mapping[int, HeadStatistics],
    baseline: Baseline | None = None,
) -> tuple[Alert, ...]:
    """Alerts for the symptoms of one answer. ``pieces``: the decoded tokens of ``text`` one by one."""
    return (*answer_symptoms(pieces, text, document), *attention_symptoms(layers, baseline))


def answer_pieces(tokenizer: object, ids: Sequence[int]) -> list[str]:
    """The decoded tokens one by one; tokens that only together make a character come together.

    Alone each would be U+FFFD, and a line of Chinese would look like one token again and again.
    """
    decode: Callable[[list[int]], str] = tokenizer.decode  # type: ignore[attr-defined]
    pieces, waiting = [], list[int]()
    for token in ids:
        waiting.append(token)
        piece = decode(waiting)
        if not piece.endswith("\ufffd") or len(waiting) == _LONGEST_CHARACTER:
            pieces.append(piece)
            waiting = []
    return [*pieces, decode(waiting)] if waiting else pieces


def answer_symptoms(pieces: Sequence[str], text: str, document: Document) -> tuple[Alert, ...]:
    """Loop and phantom clauses: from the answer alone."""
    found = []
    loop = repetition_loop(pieces) or repeated_sentence(text)
    if loop is not None:
        detail = f"“{' '.join(loop.unit.split())[:60]}” {loop.repeats} times"
        found.append(Alert("repetition_loop", loop.repeats, 3, detail=detail))
    phantoms = phantom_clauses(text, document)
    if phantoms:
        found.append(Alert("phantom_clauses", len(phantoms), 0, detail=", ".join(phantoms[:_MOST_NAMED])))
    return tuple(found)


def attention_symptoms(layers: Mapping[int, HeadStatistics], baseline: Baseline | None) -> tuple[Alert, ...]:
    """Staring at the first token and mush: from the question's rows, against the model's own baseline if there is one.

    For a model without a baseline the means over all heads must pass limits that no healthy model comes near.
    """
    usable = [layer for layer in layers.values() if layer.finite]
    if not usable:
        return ()
    if baseline is not None:
        _, staring = outside_share(baseline, layers, "first_token")
        _, wide = outside_share(baseline, layers, "normalized_entropy")
        limits = (HEADS_OUT, HEADS_OUT)
        detail = "share of heads above their own range"
    else:
        staring = float(np.mean([np.nanmean(layer.first_token) for layer in usable]))
        wide = float(np.mean([np.nanmean(layer.normalized_entropy) for layer in usable]))
        limits = (FIRST_TOKEN_MEAN, ENTROPY_MEAN)
        detail = "mean over all heads"
    found = []
    if staring > limits[0]:
        found.append(Alert("stares_at_first_token", staring, limits[0], detail=detail))
    if wide > limits[1]:
        found.append(Alert("mush", wide, limits[1], detail=detail))
    return tuple(found)


def repetition_loop(pieces: Sequence[str]) -> Loop | None:
    """A unit of tokens that follows itself: 6 times a single token, 4 times up to four, 3 times longer ones.

    Units with digits alone ("1.1.1.1") must come 10 times; without a letter (leaders, ruled lines) or of zeros 24.
    """
    for period in range(1, len(pieces) // 3 + 1):
        run = 0
        for place in range(period, len(pieces)):
            run = run + 1 if pieces[place] == pieces[place - period] else 0
            if not run:
                continue
            unit = "".join(pieces[place - period + 1 : place + 1])
            repeats = (run + period) // period
            if repeats >= _needed(period, unit) and (period == 1 or run + period >= LOOP_TOKENS):
                while place + 1 < len(pieces) and pieces[place + 1] == pieces[place + 1 - period]:
                    place += 1  # noqa: PLW2901 - counts on to the end of the run
                    run += 1
                return Loop(unit, (run + period) // period)
    return None


def _needed(period: int, unit: str) -> int:
    if not any(character.isalpha() for character in unit):
        return 10 if any(character.isdigit() and character != "0" for character in unit) else 24
    return 6 if period == 1 else 4 if period <= 4 else 3


def repeated_sentence(text: str) -> Loop | None:
    """The same sentence three times, wherever it stands and whatever number it carries."""
    sentences = Counter(
        " ".join(_LEADING_LABEL.sub("", part).split()).casefold() for part in _SENTENCES.split(text)
    )  # fmt: skip
    sentence, count = max(sentences.items(), key=lambda item: item[1] * (len(item[0]) >= 12), default=("", 0))
    long_enough = len(sentence) >= 12 or sum("\u4e00" <= character <= "\u9fff" for character in sentence) >= 6
    return Loop(sentence, count) if count >= REPEATED_SENTENCES and long_enough else None


def phantom_clauses(answer: str, document: Document) -> tuple[str, ...]:
    """Labels in ``answer`` that no clause has and that the document nowhere prints; none for unnumbered documents.

    A label of a statute or another document counts for nothing; so does a step inside a clause that exists
    (2.2(c) where 2.2 has no (c)), which readers of lists often miss.
    """
    if not any(clause.number for clause in document.clauses):
        return ()
    labels = LabelIndex(document.text, ClausePositions(document.clauses))
    printed = _folded(document.text)
    # at the start of a line a label would be taken for the label of a clause that begins there
    inline = "按照 under " + " ".join(answer.split())
    found: dict[str, None] = {}
    for mention in (*english_mentions(inline), *chinese_mentions(inline)):
        if mention.external or mention.likely_statute or mention.bare or mention.base is not None or mention.own:
            continue
        words = " ".join(inline[mention.span.start : mention.span.end].split())
        if not _exists(labels, mention) and _folded(words) not in printed:
            found[words] = None
    return tuple(found)


def _exists(labels: LabelIndex, mention: Mention) -> bool:
    keys = (mention.key,) if mention.last is None else (mention.key, mention.last)
    return all(labels.find(key, 0, mention.within, mention.head) is not None for key in keys)


def _folded(words: str) -> str:
    return "".join(words.split()).casefold()
