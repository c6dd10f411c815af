"""The ladder as a whole: its order, where it stops, what it says; on tiny models."""

from __future__ import annotations

import dataclasses
import json
import string
from pathlib import Path

import faults
import pytest

from softlookup import Session
from softlookup.diagnostics import diagnose as ladder
from softlookup.diagnostics.diagnose import diagnose
from softlookup.diagnostics.diagnosis import RUNGS, Hit, Step, Test
from softlookup.diagnostics.wording import _EN, _ZH, worded
from softlookup.errors import ModelError, UsageError
from softlookup.session import Options
from tiny_models import CONTRACT_ZH

RIGHT, WRONG = "Within thirty days after a written notice.", "Within 45 days."


def run(case, answer=RIGHT, **options):
    return diagnose(case, answer=answer, **{"alpha": 0.05, "max_new_tokens": 4} | options)


def check(found, verdict):
    assert found.verdict == verdict
    assert found.rung == RUNGS[verdict]
    assert found.sentence
    assert found.remedy
    assert "{" not in found.sentence + found.remedy
    for word in ("verified", "because", "due to"):
        assert word not in (found.sentence + found.remedy).lower()
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["schema"] == 1


def test_an_answer_that_agrees(make_case):
    found = run(make_case("3"))
    check(found, "no_fault")
    rungs = [test.rung for test in found.tests if test.rung != "-"]  # whether there is anything to explain
    assert rungs == sorted(rungs)
    assert found.answer_given
    assert found.run.off_topic_questions == 39
    assert run(make_case("3"), alpha=0.01).run.off_topic_questions == 119
    assert found.expected.quote.startswith("3. Repairs.")


def test_a_lost_place_ends_the_ladder_before_any_model_runs(make_case, monkeypatch):
    from softlookup.documents.model import Span
    from softlookup.retrieval.context import Context

    case = make_case("6", context=lambda d: Context(d.text[:200], (Span(0, 200),), ()))
    monkeypatch.setattr(type(case), "reading", property(lambda _: pytest.fail("the model was run")))
    found = run(case)
    check(found, "not_fed")
    assert {test.rung for test in found.tests} == {"0a"}
    assert found.run is None


def test_beyond_the_window_nothing_is_run(make_case, monkeypatch):
    case = make_case("6")
    monkeypatch.setattr(type(case.loaded), "window", property(lambda _: 100))
    found = run(case)
    check(found, "beyond_window")
    assert [test.value for test in found.tests if test.rung == "0b"] == [None]


def test_a_mask_comes_before_the_fault_and_the_fault_before_attention(make_case):
    case = make_case("3")
    with faults.hiding(case.place_columns):
        check(run(case, WRONG), "masked")
    with faults.shifted(2):
        found = run(make_case("3"), WRONG)
    check(found, "implementation_fault")
    assert "position_gap" in found.remedy
    assert not any(test.rung in "2345" for test in found.tests)


@pytest.fixture
def steps(monkeypatch):
    """Replaces the rungs that need a good model by planted steps; all pass unless told otherwise."""

    def plant(**hits):
        for name in ("not_seen", "not_selected", "misread", "unsupported_claim"):
            test = Test("2", name, 0.0, 1.0, name not in hits, "planted")
            step = Step((test,), hits.get(name))
            monkeypatch.setattr(ladder, name, lambda *_, step=step, **__: step)

    return plant


@pytest.mark.parametrize(
    ("name", "hit"),
    [
        ("not_seen", Hit("not_seen", "", {"p": "0.4", "top": "5"})),
        ("not_selected", Hit("not_selected", "", {"other": "5", "passage": "0"})),
        ("misread", Hit("misread", "capacity")),
    ],
)
def test_a_wrong_answer_walks_on_to_the_rung_that_hits(make_case, steps, name, hit):
    steps(**{name: hit})
    found = run(make_case("3"), WRONG)
    check(found, hit.verdict)
    assert (found.distractor is not None) == (name == "not_selected")
    assert "clause 3" in found.sentence


def test_a_given_answer_that_agrees_is_no_fault_whatever_the_attention(make_case, steps):
    steps(not_seen=Hit("not_seen", "", {"p": "0.4", "top": "5"}))
    check(run(make_case("3"), RIGHT), "no_fault")


def test_the_model_s_own_answer_is_diagnosed(make_case, steps):
    steps(unsupported_claim=Hit("unsupported_claim", "own", {"p": "0.3"}), misread=Hit("misread", "capacity"))
    found = run(make_case("3"), None)
    assert not found.answer_given
    assert found.answer
    assert found.verdict in {"misread", "unsupported_claim"}


def test_nothing_expected(make_case, steps):
    steps(unsupported_claim=Hit("unsupported_claim", "given", {"p": "0.3"}))
    found = run(make_case("none"), WRONG)
    check(found, "unsupported_claim")
    assert found.expected is None
    steps()
    check(run(make_case("none"), WRONG), "blind_spot")


def test_a_model_whose_attention_is_no_evidence(make_case):
    case = make_case("3")
    case.reading.profile = dataclasses.replace(case.reading.profile, languages=(), note="no better than chance")
    check(run(case, RIGHT), "no_fault")
    with pytest.raises(ModelError, match="no better than chance"):
        run(case, WRONG)


def test_an_empty_answer_is_refused(make_case):
    with pytest.raises(UsageError, match="answer is empty"):
        run(make_case("3"), "  ")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_can_be_filled(language):
    table = {"en": _EN, "zh": _ZH}[language]
    assert set(_EN) == set(_ZH)
    for key, texts in table.items():
        verdict, _, variant = key.partition(" ")
        names = {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}
        other = {name for text in _EN[key] for _, name, _, _ in string.Formatter().parse(text) if name}
        assert names <= other | {"place"}
        facts = dict.fromkeys(names - {"place", "remedy"}, "7")
        sentence, remedy = worded(Hit(verdict, variant or "row_sums", facts), "8.2", language)
        assert sentence[:1] == sentence[:1].upper()
        assert "{" not in sentence + remedy
    assert set(RUNGS) == {key.split(" ")[0] for key in table}


# --- through the session


@pytest.fixture
def session(tiny_folder):
    return Session(tiny_folder, options=Options(max_answer_tokens=4))


def test_the_session_reads_once_for_questions_and_diagnoses(session, contract, monkeypatch):
    from softlookup.runtime import prefilled

    texts, real = [], prefilled.prefill

    def counted(loaded, template, text, **arguments):
        texts.append(text)
        return real(loaded, template, text, **arguments)

    monkeypatch.setattr(prefilled, "prefill", counted)
    document = session.open(contract)
    document.ask("Who repairs the jetty?")
    found = document.diagnose("Who repairs the jetty?", "3", answer=RIGHT)
    assert found.verdict == "no_fault"
    assert len(texts) == 1


def test_retrieval_that_loses_the_place_and_whole_that_does_not(tiny_folder, tmp_path: Path):
    animals = ("otter", "heron", "badger", "falcon", "weasel", "salmon", "beaver", "magpie")
    lines = [f"{n}. The Keeper feeds {animals[n % 8]} number {n} with {n + 200} buckets." for n in range(1, 80)]
    path = tmp_path / "farm.txt"
    path.write_text("FARM\n\n" + "\n\n".join(lines) + "\n", "utf-8")
    document = Session(tiny_folder, options=Options(max_answer_tokens=4, max_context_tokens=300)).open(path)
    question = "How many buckets does otter number 16 get?"
    kept = document._readings.retrieve([question]).spans
    lost = next(
        clause for clause in document.document.clauses
        if clause.number and not any(span.overlap(clause.span) for span in kept)
    )  # fmt: skip
    found = document.diagnose(question, lost.number, answer="5 buckets")
    check(found, "not_fed")
    assert {test.name for test in found.tests} >= {"rank_by_words", "share_in_context"}
    assert "retriev" in found.remedy or "max-context-tokens" in found.remedy
    whole = document.diagnose(question, lost.number, answer=f"{int(lost.number) + 200} buckets", whole=True)
    assert whole.verdict == "no_fault"


def test_a_chinese_question_is_answered_in_chinese(session, tmp_path):
    path = tmp_path / "cangku.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    found = session.open(path).diagnose("甲方何时修理屋顶？", "第三条", answer="三十日内修理")
    check(found, "no_fault")
    assert "第三条" in found.sentence
    assert "未发现问题" in found.sentence
