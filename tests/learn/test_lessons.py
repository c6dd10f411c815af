"""The lessons: two equal languages, figures that cells draw, and outputs as printed.

All pages run with ``make lessons``. Here two run, chosen by the hash of code and pages, so that another change
tries other pages; ``SOFTLOOKUP_LESSONS=all`` runs them all.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from softlookup.learn.build import page_faults
from softlookup.learn.pages import LANGUAGES, Cell, FigureLink, lesson_pages, lessons_folder
from softlookup.learn.same import same_code

LESSONS = lesson_pages()
PAGES = [(lesson, language) for lesson in LESSONS for language in LANGUAGES]
SAMPLE = 2


def name_of(value):
    return value if isinstance(value, str) else f"{value.number:02d}"


def chosen_pages():
    if os.environ.get("SOFTLOOKUP_LESSONS") == "all":
        return PAGES
    tree = hashlib.sha256()
    for folder in (Path(__file__).parents[2] / "src", lessons_folder()):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".md"):
                tree.update(path.read_bytes())
    return sorted(PAGES, key=lambda page: hashlib.sha256(tree.digest() + page[0].path(page[1]).name.encode()).digest())[
        :SAMPLE
    ]


def test_there_are_lessons_from_one_to_eleven():
    assert [lesson.number for lesson in LESSONS] == list(range(1, 12))


@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_both_languages_run_the_same_code(lesson):
    english, chinese = ([part for part in lesson.parts(language) if isinstance(part, Cell)] for language in LANGUAGES)
    assert len(english) == len(chinese)
    assert [one.code for one, other in zip(english, chinese, strict=True) if not same_code(one.code, other.code)] == []


@pytest.mark.parametrize(("lesson", "language"), PAGES, ids=name_of)
def test_every_figure_of_a_page_lies_beside_it(lesson, language):
    links = [part for part in lesson.parts(language) if isinstance(part, FigureLink)]
    assert links
    assert all(link.alt for link in links)
    assert [link.path for link in links if not (lesson.folder / link.path).exists()] == []


def test_no_figure_is_left_over():
    linked = {
        part.path for lesson, language in PAGES for part in lesson.parts(language) if isinstance(part, FigureLink)
    }
    files = {f"figures/{path.name}" for path in (lessons_folder() / "figures").glob("*.svg")}
    assert files == linked


def test_the_chinese_page_is_chinese():
    for lesson in LESSONS:
        text = lesson.path("zh").read_text(encoding="utf-8")
        assert sum("\u4e00" <= character <= "\u9fff" for character in text) > 500


@pytest.mark.weights
@pytest.mark.parametrize(("lesson", "language"), chosen_pages(), ids=name_of)
def test_a_page_shows_what_its_cells_do(lesson, language, weights, isolated_cache):
    (isolated_cache / "models").symlink_to(weights.parent)  # the model is there, numbers of earlier runs are not
    assert page_faults(lesson, language) == []
