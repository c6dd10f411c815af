"""The session end to end on a tiny model: plan, order, reuse of what was read, retrieval, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from softlookup import Session
from softlookup.errors import CancellationError, CapacityError, DocumentError, ModelError, UsageError
from softlookup.evidence.handover import question_record
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime import prefilled
from softlookup.runtime.prefilled import Prefilled
from softlookup.session import QUESTIONS_PER_CONTEXT, Options
from tiny_models import CONTRACT, CONTRACT_ZH, edit_config, save_folder

QUESTIONS = ["Who repairs the jetty?", "Which law governs?", "谁修理屋顶？"]
SHORT = Options(max_answer_tokens=3)
UNCACHED = Options(max_answer_tokens=3, cache=False)


@pytest.fixture
def session(tiny_folder):
    return Session(tiny_folder, options=SHORT)


@pytest.fixture
def prefills(monkeypatch):
    """Texts that were prefilled, in order."""
    texts = []
    real = prefilled.prefill

    def counted(loaded, template, text, **arguments):
        texts.append(text)
        return real(loaded, template, text, **arguments)

    monkeypatch.setattr(prefilled, "prefill", counted)
    return texts


@pytest.fixture
def forwards(monkeypatch):
    """Tokens of every pass through the model, in order."""
    sizes = []
    real = Prefilled._forward

    def counted(self, ids, *arguments, **keywords):
        sizes.append(len(ids))
        return real(self, ids, *arguments, **keywords)

    monkeypatch.setattr(Prefilled, "_forward", counted)
    return sizes


def long_contract(tmp_path: Path, clauses: int = 120) -> Path:
    """A contract of distinct clauses that exceeds a small context."""
    animals = ("otter", "heron", "badger", "falcon", "weasel", "salmon", "beaver", "magpie")
    lines = ["FARM AGREEMENT", ""]
    for number in range(1, clauses + 1):
        animal = animals[number % len(animals)]
        lines += [f"{number}. The Keeper feeds {animal} number {number} with {number + 3} buckets a day.", ""]
    path = tmp_path / "farm.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


def check_answer(answer, document):
    json.dumps(answer.to_dict(), allow_nan=False)
    assert answer.p_value is None or 0 < answer.p_value <= 1
    for citation in answer.citations:
        assert document.text[citation.start : citation.end] == citation.quote
    assert [p.score for p in answer.ranking] == sorted((p.score for p in answer.ranking), reverse=True)
    assert answer.seconds.total > 0


def test_full_context_end_to_end(session, contract):
    document = session.open(contract)
    answer = document.ask(QUESTIONS[0])
    check_answer(answer, document.document)
    assert answer.question == QUESTIONS[0]
    assert answer.plan.strategy == "full_context"
    assert answer.coverage.tokens_read == answer.coverage.tokens_total == session.count_tokens(document.document.text)
    assert answer.document.path == str(contract)
    assert answer.model.name == "tiny-llama"
    assert "not profiled" in answer.model.heads
    assert (answer.outcome == "no_evidence") == (answer.p_value > answer.alpha)


def test_later_questions_reuse_what_was_read(session, contract, prefills, forwards):
    document = session.open(contract)
    first = document.ask(QUESTIONS[0])
    bank = question_bank("en").questions
    assert len(prefills) == 1
    passes = len(forwards)
    assert sum(forwards) > len(bank)
    second = document.ask(QUESTIONS[1])
    suffix = len(session.template.suffix(QUESTIONS[1]))
    assert forwards[passes:] == [suffix]  # the question's rows, nothing else; the answer is decoded token by token
    assert len(prefills) == 1
    for phase in ("load", "prefill", "calibrate", "read"):
        assert getattr(first.seconds, phase) > 0
        assert getattr(second.seconds, phase) <= 0.001, phase
    assert second.seconds.question > 0


def test_a_second_question_is_answered_as_if_it_were_the_first(tiny_folder, contract):
    together = list(Session(tiny_folder, options=SHORT).open(contract).ask_all(QUESTIONS))
    assert [answer.question for answer in together] == QUESTIONS
    for question, answer in zip(QUESTIONS, together, strict=True):
        alone = Session(tiny_folder, options=UNCACHED).open(contract).ask(question)
        left, right = answer.to_dict(), alone.to_dict()
        del left["seconds"], right["seconds"]
        del left["plan"]["reason"], right["plan"]["reason"]  # it tells what all questions take together
        assert left == right


def test_a_second_run_skips_the_bank_and_answers_the_same(tiny_folder, contract, forwards, isolated_cache):
    first = list(Session(tiny_folder, options=SHORT).open(contract).ask_all(QUESTIONS))
    bank = sum(forwards)
    assert len(list((isolated_cache / "calibrations").glob("*.npz"))) == 2  # English and Chinese
    forwards.clear()
    session = Session(tiny_folder, options=SHORT)
    second = list(session.open(contract).ask_all(QUESTIONS))
    prefix = len(session.template.prefix(contract.read_text("utf-8")))
    assert forwards == [prefix, *(len(session.template.suffix(question)) for question in QUESTIONS)]
    assert sum(forwards) < bank
    for left, right in zip(first, second, strict=True):
        without_seconds = [{**answer.to_dict(), "seconds": None} for answer in (left, right)]
        assert without_seconds[0] == without_seconds[1]


def test_without_the_cache_every_run_runs_the_bank(tiny_folder, contract, forwards, isolated_cache):
    for _ in range(2):
        forwards.clear()
        Session(tiny_folder, options=UNCACHED).open(contract).ask(QUESTIONS[0])
        assert sum(forwards) > len(question_bank("en").questions)
    assert not (isolated_cache / "calibrations").exists()


def test_inspect_and_diagnose_measure_this_run(tiny_folder, contract, forwards):
    """Whose health is in question is not judged by numbers of an earlier run; planted: one of other numbers."""
    Session(tiny_folder, options=SHORT).open(contract).ask(QUESTIONS[0])
    asked = sum(forwards)
    for run in ("inspect", "diagnose"):
        forwards.clear()
        document = Session(tiny_folder, options=SHORT).open(contract)
        document.inspect(QUESTIONS[0]) if run == "inspect" else document.diagnose(QUESTIONS[0], "3", answer="He.")
        assert sum(forwards) >= asked, run
    forwards.clear()
    Session(tiny_folder, options=SHORT).open(contract).ask(QUESTIONS[0])
    assert sum(forwards) < asked


def test_reading_the_document_twice_is_caught(session, contract, prefills, monkeypatch):
    """Planted fault: the session forgets what it has read."""
    document = session.open(contract)
    document.ask(QUESTIONS[0])
    document._readings._full = None
    document.ask(QUESTIONS[1])
    assert len(prefills) == 2


def test_two_documents_share_the_model_and_nothing_else(session, contract, tmp_path):
    other = tmp_path / "zh.txt"
    other.write_text(CONTRACT_ZH, "utf-8")
    first, second = session.open(contract), session.open(other)
    before = first.ask(QUESTIONS[0])
    check_answer(second.ask(QUESTIONS[2]), second.document)
    after = first.ask(QUESTIONS[0])
    assert before.ranking == after.ranking
    assert first.session.loaded is second.session.loaded


def test_retrieval_reads_what_the_questions_need(tiny_folder, tmp_path, prefills):
    session = Session(tiny_folder, options=Options(max_answer_tokens=2, max_context_tokens=400))
    document = session.open(long_contract(tmp_path))
    questions = [f"Who feeds the {animal} number {n}?" for n, animal in ((9, "heron"), (61, "salmon"))]
    answers = list(document.ask_all(questions))
    assert len(prefills) == 1
    assert "heron number 9 " in prefills[0]
    assert "salmon number 61 " in prefills[0]
    assert "[...]" in prefills[0]
    for answer in answers:
        check_answer(answer, document.document)
        assert answer.plan.strategy == "retrieval"
        assert 0 < answer.plan.context_tokens <= 400 < answer.plan.document_tokens
        assert answer.coverage.tokens_read < answer.coverage.tokens_total
        assert "BM25" in answer.plan.reason


def test_questions_are_retrieved_in_groups_and_answered_in_order(tiny_folder, tmp_path, prefills):
    session = Session(tiny_folder, options=Options(max_answer_tokens=1, max_context_tokens=400))
    document = session.open(long_contract(tmp_path))
    questions = [f"Who feeds number {n}?" for n in range(10, 10 + QUESTIONS_PER_CONTEXT + 1)]
    answers = document.ask_all(questions)
    assert next(answers).question == questions[0]
    assert len(prefills) == 1
    assert [answer.question for answer in answers] == questions[1:]
    assert len(prefills) == 2


def test_a_document_beyond_a_window_that_is_too_short_for_windows_is_retrieved(tmp_path):
    folder = save_folder(tmp_path / "small", window=1200)
    document = Session(folder, options=Options(max_answer_tokens=1)).open(long_contract(tmp_path))
    assert document.strategy.strategy == "retrieval"
    assert document.strategy.context_tokens == 1200 - 768
    check_answer(document.ask("Who feeds heron number 9?"), document.document)


def test_longer_answers_leave_less_room_for_the_document(tmp_path, tiny_folder):
    """An answer of up to 1,024 tokens has to fit the window beside the longest document that is read whole."""
    usual = Session(tiny_folder).open(long_contract(tmp_path, 40)).strategy
    folder = save_folder(tmp_path / "m", window=usual.document_tokens + 768)
    assert Session(folder).open(long_contract(tmp_path, 40)).strategy.strategy == "full_context"
    long = Session(folder, options=Options(max_answer_tokens=300)).open(long_contract(tmp_path, 40))
    assert long.strategy.strategy == "retrieval"
    long.ask("Who feeds heron number 9? " * 12)


@pytest.mark.parametrize("question", ["", " \n\t "])
def test_an_empty_question_is_refused(question, session, contract):
    with pytest.raises(UsageError, match="question is empty"):
        session.open(contract).ask(question)


def test_a_question_that_is_too_long_is_refused_before_the_model_is_loaded(session, contract):
    with pytest.raises(CapacityError, match="at most 512"):
        session.open(contract).ask("why " * 12_500)
    assert "loaded" not in vars(session)


def test_one_bad_question_stops_all_before_any_work(session, contract):
    with pytest.raises(UsageError):
        list(session.open(contract).ask_all([QUESTIONS[0], ""]))
    assert "loaded" not in vars(session)


def test_a_question_that_is_no_text_is_refused(session, contract):
    with pytest.raises(UsageError, match="UTF-8"):
        session.open(contract).ask("who \udcff pays?")


def test_no_questions_give_no_answers(session, contract):
    assert list(session.open(contract).ask_all([])) == []


def test_a_document_without_text_is_a_document_error(session, tmp_path):
    from softlookup.documents.model import Coverage, CoverageRow, Document, Source
    from softlookup.session import OpenDocument

    coverage = Coverage((CoverageRow("page 1", "scanned", 0, "a picture of text"),), pages=1)
    document = OpenDocument(session, Document("", Source("scan.pdf", "0" * 64, "pdf", 9), (), (), coverage), 0.0)
    with pytest.raises(DocumentError, match=r"scan\.pdf \(page 1: a picture of text\)"):
        document.ask(QUESTIONS[0])
    assert "loaded" not in vars(session)


def test_a_model_without_room_is_a_capacity_error(tiny_folder, tmp_path, contract):
    import shutil

    folder = shutil.copytree(tiny_folder, tmp_path / "m")
    edit_config(folder, max_position_embeddings=700)
    with pytest.raises(CapacityError, match="window of 700"):
        Session(folder).open(contract).ask(QUESTIONS[0])


def test_nothing_is_loaded_to_open_or_to_plan(session, contract):
    document = session.open(contract)
    assert document.strategy.strategy == "full_context"
    assert "loaded" not in vars(session)
    assert Session("/nonexistent").open(contract).document.clauses
    with pytest.raises(ModelError):
        Session("/nonexistent").open(contract).ask(QUESTIONS[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0.0}, "between 0 and 1"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"alpha": float("nan")}, "between 0 and 1"),
        ({"alpha": 0.001}, "smallest p-value"),
        ({"alpha": 1 / 120 - 1e-9}, "1/120"),
        ({"max_answer_tokens": 0}, "1 to 1024"),
        ({"max_answer_tokens": 1025}, "1 to 1024"),
        ({"max_context_tokens": 10}, "at least 256"),
        ({"max_seconds": 0.5}, "max-seconds must lie between 1 and"),
        ({"max_seconds": float("nan")}, "got nan"),
        ({"max_seconds": float("inf")}, "got inf"),
    ],
)
def test_settings_are_checked(settings, words):
    with pytest.raises(UsageError, match=words):
        Options(**settings)


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.01, 1 / 120])
def test_a_small_alpha_is_served(alpha, tiny_folder, contract):
    answer = Session(tiny_folder, options=Options(alpha, 3)).open(contract).ask(QUESTIONS[0])
    compared = 39 if alpha >= 0.025 else 119
    assert answer.alpha == alpha
    assert round(answer.p_value * (compared + 1)) == pytest.approx(answer.p_value * (compared + 1), abs=0.01)
    assert question_record(document_of(tiny_folder, contract), answer, ()).off_topic == compared


def document_of(folder, contract):
    return Session(folder).open(contract).document


def test_progress_comes_in_order(tiny_folder, contract):
    seen = []
    Session(tiny_folder, options=SHORT, progress=lambda phase, fraction: seen.append((phase, fraction))).open(
        contract
    ).ask(QUESTIONS[0])
    phases = ["load", "prefill", "calibrate", "answer"]
    assert list(dict.fromkeys(phase for phase, _ in seen)) == phases
    for phase in phases:
        fractions = [fraction for name, fraction in seen if name == phase]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0


def test_the_contract_of_these_tests_has_its_clauses(session, contract):
    numbers = {clause.path for clause in session.open(contract).document.clauses}
    assert {"1", "2.1", "2.2", "3", "4.1", "4.2", "5", "6"} <= numbers
    assert CONTRACT.count("\n") > 10


# --- models without attention evidence


def plant_profile(session, languages):
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.profile_store import profile_key, profile_object, store_profile
    from softlookup.evidence.profiling import ProfileReport

    profile = HeadProfile(((1, 0), (2, 1)), (1.0, 0.5), profiled=True, languages=languages, note="mere chance")
    report = ProfileReport("profiled" if languages else "unavailable", profile, (0.5, 0.4), (), ())
    store_profile(profile_object(report, profile_key(session.loaded, session.template), "tiny"))


def test_a_stored_profile_is_used(tiny_folder, contract):
    session = Session(tiny_folder, options=SHORT)
    plant_profile(session, ("en", "zh"))
    answer = session.open(contract).ask(QUESTIONS[0])
    assert answer.model.heads == ((1, 0), (2, 1))
    assert "not profiled" not in answer.reason
    assert answer.p_value is not None


def test_a_language_without_evidence_is_ranked_by_words_and_costs_no_reading(tiny_folder, contract, prefills):
    session = Session(tiny_folder, options=SHORT)
    plant_profile(session, ("en",))
    document = session.open(contract)
    chinese, english = document.ask_all([QUESTIONS[2], QUESTIONS[0]])
    assert (chinese.outcome, chinese.p_value, chinese.needs_review) == ("no_evidence", None, True)
    assert "须由人工阅读判断" in chinese.reason
    assert document.fed(QUESTIONS[2]) == ()
    assert english.p_value is not None
    assert [len(span) for span in document.fed(QUESTIONS[0])] == [len(document.document.text)]
    assert len(prefills) == 1


def test_without_evidence_in_any_language_nothing_is_read(tiny_folder, contract, tmp_path, prefills):
    session = Session(tiny_folder, options=SHORT)
    plant_profile(session, ())
    for path in (contract, long_contract(tmp_path)):
        document = session.open(path)
        answer = document.ask("Who feeds otter number 9 at the jetty?")
        check_answer(answer, document.document)
        assert "attention evidence is unavailable for this model (mere chance)" in answer.reason
        assert answer.ranking
        assert answer.coverage.tokens_read == 0
    assert prefills == []


def test_the_load_of_the_model_is_counted_once(tiny_folder, contract):
    first, second = Session(tiny_folder, options=SHORT).open(contract).ask_all(QUESTIONS[:2])
    assert first.seconds.load > 0
    assert second.seconds.load < first.seconds.load / 2


def test_a_profile_of_another_template_stops_the_run(tiny_folder, contract):
    session = Session(tiny_folder, options=SHORT)
    plant_profile(session, ("en",))
    other = Session(tiny_folder, options=SHORT)
    other.template.sha256 = "0" * 64
    with pytest.raises(ModelError, match="another prompt template"):
        other.open(contract).ask(QUESTIONS[0])


@pytest.mark.parametrize("phase", ["load", "prefill", "calibrate", "answer"])
def test_a_question_that_nobody_waits_for_leaves_no_trace(tiny_folder, contract, phase):
    alone = Session(tiny_folder, options=UNCACHED).open(contract).ask(QUESTIONS[0])
    session = Session(tiny_folder, options=UNCACHED)
    document = session.open(contract)

    def leave(now: str, _fraction: float) -> None:
        if now == phase:
            raise CancellationError("nobody waits")

    with pytest.raises(CancellationError), session.heard_by(leave):
        document.ask(QUESTIONS[0])
    again = document.ask(QUESTIONS[0])
    assert replace(again, seconds=alone.seconds) == alone


def test_the_words_of_an_answer_are_heard_as_they_come(tiny_folder, contract):
    session = Session(tiny_folder, options=replace(UNCACHED, alpha=0.95))
    document, heard = session.open(contract), []
    with session.heard_by(session.progress, heard.append):
        answer = document.ask(QUESTIONS[0])
    assert heard
    assert heard[-1] == answer.answer
    assert session.on_text is None
