"""``softlookup learn``: lists and runs lessons, asks, grades files for teachers, keeps and forgets progress."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import types

import pytest

from softlookup.cli import main
from softlookup.cli.learn_words import words
from softlookup.learn import pages
from softlookup.learn.progress import read_progress
from softlookup.learn.quiz.bank import QUESTIONS
from softlookup.learn.quiz.round import select


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """No test sees or changes the caller's progress, nor depends on the locale."""
    folder = tmp_path / "state"
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(folder))
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    """Two small lessons in place of the real ones."""
    folder = tmp_path / "lessons"
    folder.mkdir()
    page = textwrap.dedent(
        """\
        # 1. {title}

        {text} with a [link](../docs/x.md).

        - one
        - two

        | a | b |
        |---|---|

        ```python
        from softlookup.charts import bar_chart
        from softlookup.learn import show

        print("weights", 0.25)
        show(bar_chart("{title}", ["a", "b"], {{"x": [1.0, 2.0]}}, y_label="n"), "bars")
        ```

        ```text
        weights 0.25
        ```

        ![bars](figures/01_bars.svg)

        ```sh
        softlookup --version
        ```
        """
    )
    (folder / "01_small.md").write_text(page.format(title="Small steps", text="A paragraph " * 20), "utf-8")
    (folder / "01_small.zh-CN.md").write_text(page.format(title="小步", text="一段文字"), "utf-8")
    (folder / "02_broken.md").write_text("# 2. Broken\n\n```python\n1 / 0\n```\n", "utf-8")
    monkeypatch.setattr(pages, "lessons_folder", lambda: folder)
    return folder


def typing(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def out_of(capsys, *arguments, code=0):
    assert main(["learn", *map(str, arguments)]) == code
    return capsys.readouterr()


def json_of(capsys, *arguments):
    return json.loads(out_of(capsys, *arguments, "--json").out)


def right_lines(asked):
    return [each.letter or repr(each.sheet.right) for each in asked]


# lessons


def test_lessons_are_listed_with_what_is_done(lessons, capsys):
    listed = out_of(capsys).out
    assert "Small steps" in listed
    assert "done" not in listed
    out_of(capsys, 1, "--no-pause")
    assert "Small steps  (done)" in out_of(capsys).out
    rows = json_of(capsys, "--lang", "zh")["lessons"]
    assert rows[0] == {"number": 1, "title": "小步", "done": True}
    assert rows[1] == {"number": 2, "title": "Broken", "done": False}  # no Chinese page: the English one


def test_a_lesson_runs_in_the_terminal(lessons, capsys):
    shown = out_of(capsys, 1).out  # stdin is no terminal: nothing waits
    lines = shown.split("\n")
    assert max(map(len, lines)) <= 100
    assert '    print("weights", 0.25)' in lines
    assert "    weights 0.25" in lines
    assert shown.index('print("weights"') < shown.index("    weights 0.25")
    assert "link (../docs/x.md)" in " ".join(shown.split())
    assert "| a | b |" in lines
    assert "- two" in lines
    assert "    softlookup --version" in lines
    assert "Small steps" in shown.split("weights 0.25")[1]  # the chart as text
    assert "End of lesson 1." in shown
    assert "\x1b" not in shown
    assert read_progress()[0].lessons_done == (1,)


def test_a_lesson_waits_where_somebody_sits_at_a_terminal(lessons, capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for typed, code_runs in (("\n", True), ("q\n", False), ("", False)):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("NO_COLOR", "1")
        shown = out_of(capsys, 1).out
        assert "[Enter: go on, q: stop]" in shown
        assert ("    weights 0.25" in shown) == code_runs
        monkeypatch.setattr(sys, "stdin", Terminal(""))
        assert "[Enter" not in out_of(capsys, 1, "--no-pause").out


def test_a_terminal_gets_bold_and_dim_and_no_escaped_escape(lessons, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for arguments in ((1, "--no-pause"), ("--quiz", 1, "--seed", 1), ("--exercises", 1)):
        typing(monkeypatch, "\n\n")
        shown = out_of(capsys, *arguments).out
        assert "\x1b[1m" in shown
        assert "\x1b[2m    " in shown
        assert "\\x1b" not in shown
        monkeypatch.setenv("NO_COLOR", "1")
        typing(monkeypatch, "\n\n")
        assert "\x1b" not in out_of(capsys, *arguments).out
        monkeypatch.delenv("NO_COLOR")


def test_a_lesson_that_fails_is_not_done(lessons, capsys):
    result = out_of(capsys, 2, code=1)
    assert "02_broken.md:4 failed (ZeroDivisionError" in result.err
    assert read_progress()[0].lessons_done == ()


def test_a_lesson_that_does_not_exist_is_a_usage_error(lessons, capsys):
    assert "there is no lesson 7" in out_of(capsys, 7, code=2).err


# the quiz


def test_a_quiz_is_asked_graded_and_kept(capsys, monkeypatch):
    asked = select(4, 5, "en", lessons=[1, 3])
    typing(monkeypatch, "\n".join([*right_lines(asked)[:3], "zzz", "zzz", "zzz"]) + "\n")
    shown = out_of(capsys, "--quiz", 4, "--seed", 5, "--lessons", "1,3").out
    assert "Question 1 of 4, lesson 1" in shown
    assert shown.count("\n  right\n") == 3
    assert "3 of 4 right" in shown
    assert "from softlookup" in shown
    assert "→ " in shown
    progress = read_progress()[0]
    assert set(progress.quiz) == {each.lesson for each in asked}
    assert progress.wrong == ()  # what was not understood was not answered wrongly


def test_a_wrong_answer_is_explained_and_asked_again(capsys, monkeypatch):
    asked = select(1, 5, "en", only=["mask-pairs"])[0]
    typing(monkeypatch, f"{2 * asked.sheet.right}\n" + "q\n")
    shown = out_of(capsys, "--quiz", "--seed", 5, "--lessons", "3").out
    assert "Question 2" in shown
    state = read_progress()[0]
    assert len(state.wrong) == 1
    again = json_of(capsys, "--quiz", "--again")["questions"]
    assert [each["id"] for each in again] == list(state.wrong)
    fixed = select(None, 9, "en", only=state.wrong)
    typing(monkeypatch, right_lines(fixed)[0] + "\n")
    out_of(capsys, "--quiz", "--again", "--seed", 9)
    assert read_progress()[0].wrong == ()
    assert "no question was answered wrongly" in out_of(capsys, "--quiz", "--again", code=2).err


def test_the_end_of_input_keeps_what_was_answered(capsys, monkeypatch):
    asked = select(5, 2, "en")
    typing(monkeypatch, right_lines(asked)[0] + "\n")
    assert "1 of 1 right" in out_of(capsys, "--quiz", 5, "--seed", 2).out
    assert read_progress()[0].quiz[asked[0].lesson].last == 1.0
    monkeypatch.setattr(sys, "stdin", None)  # "<&-"
    out_of(capsys, "--quiz", 5, "--seed", 2)


def test_ctrl_c_keeps_what_was_answered_and_is_130(capsys, monkeypatch):
    asked = select(5, 2, "en")

    class Impatient(io.StringIO):
        def readline(self, size=-1):
            line = super().readline(size)
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr(sys, "stdin", Impatient(right_lines(asked)[0] + "\n"))
    assert "1 of 1 right" in out_of(capsys, "--quiz", 5, "--seed", 2, code=130).out
    assert read_progress()[0].quiz[asked[0].lesson].last == 1.0
    monkeypatch.setattr(sys, "stdin", Impatient("1048576\n"))
    out_of(capsys, "--exercises", 2, code=130)
    assert read_progress()[0].exercises[2].last == 1.0


@pytest.fixture
def hears_ctrl_c():
    """A shell starts background jobs deaf to it, and what they start is deaf too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_of_a_real_process(state):
    command = [sys.executable, "-m", "softlookup", "learn", "--quiz", "3", "--seed", "2"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        child.stdin.write(right_lines(select(3, 2, "en"))[0] + "\n")
        child.stdin.flush()
        for line in child.stdout:
            if line.startswith("Question 2"):
                break
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130
        assert "Traceback" not in child.stderr.read()
    assert json.loads((state / "learn.json").read_text())["quiz"]


def test_a_round_without_seed_says_which_it_drew(capsys, monkeypatch):
    typing(monkeypatch, "")
    seed = out_of(capsys, "--quiz", 3).out.split("seed ")[1].split(".")[0]
    assert 0 <= int(seed) < 2**31


def test_the_language_follows_the_locale_and_the_option(capsys, monkeypatch):
    for variable, value, language in (("LANG", "zh_CN.UTF-8", "zh"), ("LC_ALL", "de_DE", "en")):
        monkeypatch.setenv(variable, value)
        assert json_of(capsys, "--quiz", 1)["language"] == language
    assert json_of(capsys, "--quiz", 1, "--lang", "zh")["language"] == "zh"


def test_every_word_is_in_both_languages_with_the_same_fields():
    for name, text in words().items():
        fields = [
            sorted(part.split("}")[0].split(":")[0] for part in each.split("{")[1:]) for each in (text.en, text.zh)
        ]
        assert fields[0] == fields[1], name
        assert any("\u4e00" <= character <= "\u9fff" for character in text.zh), name
        assert not any("\u4e00" <= character <= "\u9fff" for character in text.en), name


# for teachers


def test_questions_for_teachers_have_the_key_only_when_asked(capsys):
    plain = json_of(capsys, "--quiz", len(QUESTIONS), "--seed", 3)
    assert plain["schema"] == 1
    assert [each["id"] for each in plain["questions"]] == [question.id for question in QUESTIONS]
    assert {each["kind"] for each in plain["questions"]} == {"choice", "number", "truth", "mistake"}
    assert not any("right" in each or "explanation" in each for each in plain["questions"])
    keyed = json_of(capsys, "--quiz", 3, "--seed", 3, "--key")["questions"]
    assert all(each["right"] and each["explanation"]["text"] for each in keyed)


@pytest.mark.parametrize("form", ["list", "object", "lines"])
def test_answers_from_a_file_are_graded(capsys, tmp_path, form):
    asked = select(6, 7, "en")
    given = dict(zip([each.id for each in asked], right_lines(asked), strict=True))
    missed = asked[2].id
    given[missed] = ""
    text = {"list": json.dumps(list(given.values())), "object": json.dumps(given), "lines": "\n".join(given.values())}
    (tmp_path / "answers").write_text(text[form], "utf-8")
    graded = json_of(capsys, "--quiz", 6, "--seed", 7, "--answers", tmp_path / "answers")
    assert (graded["score"]["right"], graded["score"]["asked"]) == (5, 6)
    verdicts = {each["id"]: each["verdict"] for each in graded["results"]}
    assert verdicts.pop(missed) == "unanswered"
    assert set(verdicts.values()) == {"right"}
    assert not any("right" in each for each in graded["results"])
    shown = out_of(capsys, "--quiz", 6, "--seed", 7, "--answers", tmp_path / "answers").out
    assert "5 of 6 right" in shown
    assert read_progress()[0].quiz == {}  # another person's answers are not the caller's progress


def test_answers_from_stdin_are_graded(capsys, monkeypatch):
    typing(monkeypatch, "1.05M\n1.34e8\n")
    graded = json_of(capsys, "--exercises", 2, "--answers", "-", "--key")
    assert [each["verdict"] for each in graded["results"]] == ["right", "wrong"]
    assert "one multiply-add is 2" in graded["results"][1]["note"]
    assert graded["results"][1]["right"] == 2**26
    assert graded["score"] == {"right": 1, "asked": 2}


def test_hostile_answers_are_escaped(capsys, tmp_path):
    asked = select(2, 1, "en")
    nasty = "\x1b]0;x\x07\u202e<script>"
    path = tmp_path / "a.json"
    path.write_text(json.dumps([nasty, "\ud800"]), "utf-8")
    raw = out_of(capsys, "--quiz", 2, "--seed", 1, "--answers", path, "--json").out
    assert "\x1b" not in raw
    assert "\u202e" not in raw
    assert json.loads(raw)["results"][0]["given"] == nasty
    shown = out_of(capsys, "--quiz", 2, "--seed", 1, "--answers", path).out
    assert "\x1b" not in shown
    assert asked[0].text[:20] in shown


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'{"nobody": "A"}', b"A\n" * 50, b'[{"a": 1}]'])
def test_answers_that_do_not_fit_are_a_usage_error(capsys, tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    error = out_of(capsys, "--quiz", 2, "--seed", 1, "--answers", tmp_path / "a", code=2).err
    assert error.count("\n") == 1


def test_a_missing_file_and_a_folder_of_answers_are_usage_errors(capsys, tmp_path):
    for name in (tmp_path / "missing\x1b", tmp_path):
        error = out_of(capsys, "--quiz", 2, "--answers", name, code=2).err
        assert "cannot be read" in error
        assert "\x1b" not in error


# exercises


def test_exercises_are_asked_and_open_ones_scored_by_the_reader(capsys, monkeypatch):
    typing(monkeypatch, "0.27\nbecause rows\n9\nx\n1 3\n")
    shown = out_of(capsys, "--exercises", 4).out
    assert "A model answer" in shown
    assert shown.count("give numbers from 1 to 4") == 2
    assert "by your own judgement 2 of 4" in shown
    assert "exercise 4: 75%" in shown
    assert read_progress()[0].exercises[4].last == 0.75


def test_no_model_answer_before_the_reader_has_written(capsys, monkeypatch):
    typing(monkeypatch, "")
    assert "Without projections" not in out_of(capsys, "--exercises", 1).out
    typing(monkeypatch, "\n\n")
    assert "Without projections" in out_of(capsys, "--exercises", 1).out


def test_an_open_answer_in_a_file_is_never_graded(capsys, monkeypatch):
    typing(monkeypatch, json.dumps({"1a": "Q and K have different roles"}))
    graded = json_of(capsys, "--exercises", "--answers", "-")
    by_id = {each["id"]: each for each in graded["results"]}
    assert {key for key, each in by_id.items() if each["verdict"] == "open"} == {"1a", "4b", "5b"}
    assert "model_answer" not in by_id["1a"]
    assert graded["score"] == {"right": 0, "asked": 7}


# the audit


@pytest.fixture
def rows(monkeypatch):
    """An audit of two rows in place of the real one, which computes for minutes."""
    from softlookup.errors import UsageError

    def audit_row(name):
        if name not in ("one", "two"):
            raise UsageError(f"the audit has no row {name!r}", "use one of its ids")
        return name

    audit, render = types.ModuleType("softlookup.learn.audit"), types.ModuleType("softlookup.learn.audit.render")
    audit.audit_row, audit.audit_rows = audit_row, lambda: ("one", "two")
    audit.audit_table = lambda language: f"| table | {language} |\x1b\n"
    audit.row_as_dict = lambda row, language: {"id": row, "language": language}
    render.row_text = lambda row, language: f"id: {row} ({language})\n"
    monkeypatch.setitem(sys.modules, "softlookup.learn.audit", audit)
    monkeypatch.setitem(sys.modules, "softlookup.learn.audit.render", render)


def test_the_audit_is_printed_whole_or_by_row(rows, capsys):
    assert out_of(capsys, "--audit").out == "| table | en |\\x1b\n"
    assert out_of(capsys, "--audit", "two", "--lang", "zh").out == "id: two (zh)\n"
    assert [row["id"] for row in json_of(capsys, "--audit")["rows"]] == ["one", "two"]
    assert json_of(capsys, "--audit", "one")["rows"] == [{"id": "one", "language": "en"}]
    assert "no row" in out_of(capsys, "--audit", "x\x1b", code=2).err


# progress


def test_progress_is_shown_and_forgotten(capsys, monkeypatch, state):
    typing(monkeypatch, "1\n1\n1\n1\n")
    out_of(capsys, "--quiz", 4, "--seed", 1)
    shown = out_of(capsys, "--progress").out
    assert "Quiz, lesson" in shown
    assert str(state) in shown.replace("\n", "").replace(" ", "") or str(state) in shown
    assert json_of(capsys, "--progress")["schema"] == 1
    assert "deleted" in out_of(capsys, "--forget").out
    assert not (state / "learn.json").exists()
    assert "nothing is kept" in out_of(capsys, "--forget").out
    assert json_of(capsys, "--progress")["quiz"] == {}


def test_a_damaged_file_is_a_note_and_no_crash(capsys, state):
    state.mkdir()
    (state / "learn.json").write_text("{\x1b[2J")
    result = out_of(capsys, "--progress")
    assert "note: " in result.err
    assert "moved to" in result.err
    assert "\x1b" not in result.err
    assert "Lessons done: none" in result.out


def test_progress_that_cannot_be_kept_is_a_note(capsys, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(tmp_path / "file" / "x"))
    typing(monkeypatch, "1\n")
    assert "progress cannot be kept" in out_of(capsys, "--quiz", 1, "--seed", 1).err


# options


@pytest.mark.parametrize(
    "arguments",
    [
        ("1", "--quiz"),
        ("1", "--json"),
        ("--seed", "1"),
        ("--answers", "-"),
        ("--quiz", "--key"),
        ("--lessons", "1"),
        ("--again",),
        ("--quiz", "--seed", "-1"),
        ("--quiz", "--lessons", "a\x1b"),
        ("--quiz", "--lessons", "99"),
        ("--exercises", "6"),
        ("--quiz", "4000"),
        ("--progress", "--seed", "1"),
    ],
    ids=" ".join,
)
def test_options_that_do_not_go_together_are_usage_errors(capsys, arguments):
    error = out_of(capsys, *arguments, code=2).err
    assert error.startswith("softlookup: error: ")
    assert error.count("\n") == 1
    assert "\x1b" not in error


@pytest.mark.parametrize("arguments", [("--quiz", "0"), ("--quiz", "--exercises"), ("--exercises", "x"), ("x",)])
def test_wrong_options_are_refused_by_the_parser(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(["learn", *arguments])
    assert stop.value.code == 2
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (("--help",), False),
        ((), False),
        (("--json",), False),
        (("--progress",), False),
        (("--quiz", "3", "--json"), False),
        (("--exercises", "--json"), False),
        (("--quiz", "3", "--json", "--key", "--lessons", "1"), True),
    ],
)
def test_what_asks_and_lists_loads_no_torch(arguments, heavy):
    """The last case is the planted one: explanations compute, so they do."""
    code = (
        "import sys\nfrom softlookup.cli import main\ntry:\n    code = main(sys.argv[1:])\n"
        "except SystemExit as stop:\n    code = stop.code\nsys.stderr.write(str('torch' in sys.modules))\n"
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "learn", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, str(heavy))
