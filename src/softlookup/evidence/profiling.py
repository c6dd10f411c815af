"""Profiles a model: which heads find the clause that answers a planted question, checked on held-out contracts.

Every head of the layers that see the whole document ranks the passages of our own contracts alone, by its tempered
mass minus the null of the question bank, as in ``attribution.py``. The best heads are chosen; whether that choice
is worth anything is judged on contracts that it did not see, beside the middle layers. Not for real contracts:
planted clauses are short and clean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from softlookup.documents.language import Language
from softlookup.documents.model import Span
from softlookup.errors import UsageError
from softlookup.evidence.attribution import null_mass, passage_scores
from softlookup.evidence.profile import HeadProfile, built_in_profile, local_layers, middle_layers
from softlookup.evidence.profile_texts import PlantedContract, planted_contracts
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.reading import Reading
from softlookup.retrieval.chunks import Chunk
from softlookup.retrieval.context import Context, ContextPiece
from softlookup.runtime.load import LoadedModel
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.prompt import PromptTemplate

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEWEST_HEADS, MOST_HEADS = 8, 16
# a head joins when it ranks at least this well beside the best one; on the embedded model 0.6 to 0.85 (7 to 16
# heads) differ by less than the noise
_RELATIVE_QUALITY = 0.8
# probability that a ranking by chance would look as good; two methods and two languages are tried
CHANCE_LEVEL = 0.01
# fewer questions in a language could not beat chance at that level even if most were right
FEWEST_QUESTIONS = 8
LANGUAGES: tuple[Language, ...] = ("en", "zh")

Kind = Literal["profiled", "middle layers", "unavailable"]
UNAVAILABLE = "on planted questions its attention found the right clause no more often than chance"


@dataclass(frozen=True, slots=True)
class PlantedMass:
    """Calibrated mass ``lifted`` [questions, heads, passages] on one contract; ``gold`` [questions] passages."""

    language: Language
    lifted: FloatArray
    gold: IntArray

    @property
    def reciprocal_ranks(self) -> FloatArray:
        """[questions, heads]: every head ranks alone."""
        return reciprocal_ranks(np.moveaxis(self.lifted, 1, 0), self.gold).T


@dataclass(frozen=True, slots=True)
class LanguageScores:
    """One way to read the heads, on held-out planted questions of one language.

    ``chance`` is the R@1 of a random order, ``p_chance`` the probability that it would do as well.
    """

    language: Language
    questions: int
    chance: float
    recall_at_1: float
    mean_reciprocal_rank: float
    p_chance: float


Scores = tuple[LanguageScores, ...]


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """``profile`` is what to store; ``chosen`` the held-out scores of chosen heads, ``middle`` those of the fallback.

    ``quality`` [heads of the profile] is each head's mean reciprocal rank over all planted questions, for heads of
    the fallback too. ``built_in`` are the scores of the profile that comes with softlookup, () where there is none.
    """

    kind: Kind
    profile: HeadProfile
    quality: tuple[float, ...]
    chosen: Scores
    middle: Scores
    built_in: Scores = ()


def profile_model(
    loaded: LoadedModel,
    template: PromptTemplate,
    *,
    questions: int | None = None,
    progress: Progress = no_progress,
) -> ProfileReport:
    """Read the planted contracts and choose. ``questions`` limits the questions of each language.

    Raises ``UsageError`` for fewer than eight questions, ``CapacityError`` when a contract does not fit.
    """
    check_questions(questions)
    config = loaded.model.config.get_text_config()
    local = local_layers(config)
    fallback = middle_layers(int(config.num_hidden_layers), int(config.num_attention_heads), local)
    if not fallback.languages:
        return ProfileReport("unavailable", _measured(fallback), (), (), ())
    heads = tuple(
        (layer, head)
        for layer in range(int(config.num_hidden_layers))
        if layer not in local
        for head in range(int(config.num_attention_heads))
    )
    contracts = limited(planted_contracts(), questions)
    masses = []
    for number, contract in enumerate(contracts):
        masses.append(planted_mass(loaded, template, contract, heads))
        progress("profile", (number + 1) / len(contracts))
    known = built_in_profile(loaded.source.sha256, template.sha256)
    return judge(masses, heads, fallback, known)


def check_questions(questions: int | None) -> None:
    """Raises ``UsageError`` when ``questions`` of each language are too few to tell anything from chance."""
    if questions is not None and questions < FEWEST_QUESTIONS:
        raise UsageError(
            f"--questions must be at least {FEWEST_QUESTIONS} (of each language), got {questions}",
            "leave it out to use all",
        )


def limited(contracts: Sequence[PlantedContract], questions: int | None) -> tuple[PlantedContract, ...]:
    """The contracts with at most ``questions`` questions of each language, taken from all contracts in turn."""
    if questions is None:
        return tuple(contracts)
    kept: dict[str, set[int]] = {contract.name: set() for contract in contracts}
    for language in LANGUAGES:
        same = [contract for contract in contracts if contract.language == language]
        turns = [(place, contract.name) for contract in same for place in range(len(contract.questions))]
        for place, name in sorted(turns, key=lambda turn: turn[0])[:questions]:
            kept[name].add(place)
    return tuple(
        PlantedContract(
            contract.name,
            contract.language,
            contract.text,
            contract.passages,
            tuple(question for place, question in enumerate(contract.questions) if place in kept[contract.name]),
        )
        for contract in contracts
        if kept[contract.name]
    )


def planted_mass(
    loaded: LoadedModel, template: PromptTemplate, contract: PlantedContract, heads: Sequence[tuple[int, int]]
) -> PlantedMass:
    """Read one contract and all its questions with every head of ``heads``."""
    whole = Span(0, len(contract.text))
    context = Context(contract.text, (whole,), (ContextPiece(whole, "document", 0, "the whole document"),))
    chunks = [Chunk(index, span, 0) for index, span in enumerate(contract.passages)]
    every = HeadProfile(tuple(heads), (1.0,) * len(heads), profiled=False)
    reading = Reading(prefill(loaded, template, contract.text), context, chunks, every)
    null = null_mass(reading.mass(question_bank(contract.language).questions))
    lifted = reading.mass([question.text for question in contract.questions]) - null
    return PlantedMass(contract.language, lifted, np.array([question.gold for question in contract.questions]))


def judge(
    masses: Sequence[PlantedMass],
    heads: Sequence[tuple[int, int]],
    fallback: HeadProfile,
    known: HeadProfile | None = None,
) -> ProfileReport:
    """Choose among chosen heads, middle layers and nothing, by ranks on contracts that the choice did not see."""
    held_out = []
    for place, mass in enumerate(masses):
        indices, weights = choose_heads([*masses[:place], *masses[place + 1 :]])
        held_out.append(_ranks(mass, indices, weights))
    chosen = _scores(masses, held_out)
    middle = _scores(masses, [_ranks_of(mass, heads, fallback) for mass in masses])
    built_in = () if known is None else _scores(masses, [_ranks_of(mass, heads, known) for mass in masses])
    quality = np.concatenate([mass.reciprocal_ranks for mass in masses]).mean(axis=0)
    better = _merit(chosen) > _merit(middle)
    if better:
        indices, weights = choose_heads(masses)
        profile = HeadProfile(
            tuple(heads[i] for i in indices), tuple(round(float(w), 4) for w in weights), profiled=True
        )
    else:
        profile = _measured(fallback)
    languages = tuple(s.language for s in (chosen if better else middle) if s.p_chance <= CHANCE_LEVEL)
    note = "" if languages == LANGUAGES else UNAVAILABLE
    profile = HeadProfile(profile.heads, profile.weights, profiled=True, languages=languages, note=note)
    kind: Kind = "unavailable" if not languages else "profiled" if better else "middle layers"
    place_of = {head: index for index, head in enumerate(heads)}
    found = tuple(round(float(quality[place_of[head]]), 4) for head in profile.heads)
    return ProfileReport(kind, profile, found, chosen, middle, built_in)


def choose_heads(masses: Sequence[PlantedMass]) -> tuple[IntArray, FloatArray]:
    """Indices of the best heads by quality, at most sixteen, and their weights (the largest is 1).

    Quality is the mean reciprocal rank, languages counted alike; weight is its square over the spread of the
    head's calibrated mass, so that a head that moves much does not outvote one that ranks well.
    """
    by_language = [
        np.concatenate([mass.reciprocal_ranks for mass in masses if mass.language == language]).mean(axis=0)
        for language in LANGUAGES
        if any(mass.language == language for mass in masses)
    ]
    quality = np.mean(by_language, axis=0)
    spread = np.mean([mass.lifted.std(axis=(0, 2)) for mass in masses], axis=0)
    quality = np.where(np.isfinite(spread) & (spread > 0), quality, 0.0)
    order = np.argsort(-quality, kind="stable")
    good = int((quality >= _RELATIVE_QUALITY * quality.max()).sum())
    indices = order[: max(FEWEST_HEADS, min(MOST_HEADS, good))]
    # a head without spread ranks nothing: weight 0
    weights = quality[indices] ** 2 / np.where(quality[indices] > 0, spread[indices], 1.0)
    largest = float(weights.max())
    return indices, weights / largest if largest > 0 else np.ones(len(indices))


def reciprocal_ranks(scores: FloatArray, gold: IntArray) -> FloatArray:
    """1 / rank of the gold passage: [..., questions] from scores [..., questions, passages].

    Ties and NaN count against it: a head that looks everywhere alike ranks nothing.
    """
    own = np.take_along_axis(scores, np.broadcast_to(gold[:, None], (*scores.shape[:-1], 1)), axis=-1)
    result: FloatArray = 1.0 / (~(scores < own)).sum(axis=-1)
    return result


def binomial_tail(hits: int, trials: int, probability: float) -> float:
    """P(at least ``hits`` of ``trials``)."""
    terms = (math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(hits, trials + 1))
    return min(1.0, math.fsum(terms))


def _ranks(mass: PlantedMass, indices: IntArray, weights: Sequence[float] | FloatArray) -> FloatArray:
    chosen = mass.lifted[:, indices]
    return reciprocal_ranks(passage_scores(chosen, np.zeros_like(chosen[0]), list(weights)), mass.gold)


def _ranks_of(mass: PlantedMass, heads: Sequence[tuple[int, int]], profile: HeadProfile) -> FloatArray:
    place = {head: index for index, head in enumerate(heads)}
    return _ranks(mass, np.array([place[head] for head in profile.heads]), profile.weights)


def _scores(masses: Sequence[PlantedMass], ranks: Sequence[FloatArray]) -> Scores:
    found = []
    for language in LANGUAGES:
        places = [place for place, mass in enumerate(masses) if mass.language == language]
        if not places:
            continue
        values = np.concatenate([ranks[place] for place in places])
        chances = [np.full(len(masses[place].gold), 1 / masses[place].lifted.shape[-1]) for place in places]
        chance, hits = float(np.concatenate(chances).mean()), int((values == 1).sum())
        found.append(
            LanguageScores(
                language,
                len(values),
                round(chance, 4),
                round(hits / len(values), 4),
                round(float(values.mean()), 4),
                float(f"{binomial_tail(hits, len(values), chance):.3g}"),
            )
        )
    return tuple(found)


def _merit(scores: Scores) -> tuple[float, float]:
    """R@1, then mean reciprocal rank, languages counted alike."""
    return (
        float(np.mean([score.recall_at_1 for score in scores])),
        float(np.mean([score.mean_reciprocal_rank for score in scores])),
    )


def _measured(fallback: HeadProfile) -> HeadProfile:
    return replace(fallback, profiled=True)
