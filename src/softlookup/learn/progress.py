"""What a learner has done: one small file in the state directory of the user. Holds numbers and ids, no text, no names.

A file that is damaged or not ours is moved aside and said so; nothing here stops a lesson.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from softlookup.errors import SoftlookupError

STATE_VARIABLE = "SOFTLOOKUP_STATE"
SCHEMA = 1
_FILE = "learn.json"
_ASIDE = "learn.json.damaged"
_MOST_BYTES = 1 << 20
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of right answers, 0 to 1: the best so far and the last."""

    best: float
    last: float

    def then(self, share: float) -> Score:
        """After another attempt."""
        return Score(max(self.best, share), share)


@dataclass(frozen=True, slots=True)
class Progress:
    """``quiz`` per lesson, ``exercises`` per exercise; ``wrong``: ids whose last answer was wrong."""

    lessons_done: tuple[int, ...] = ()
    quiz: Mapping[int, Score] = field(default_factory=dict)
    exercises: Mapping[int, Score] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()

    def with_lesson(self, number: int) -> Progress:
        """After lesson ``number`` ran to its end."""
        return replace(self, lessons_done=tuple(sorted({*self.lessons_done, number})))

    def with_quiz(self, shares: Mapping[int, float], answered: Mapping[str, bool]) -> Progress:
        """After a quiz: share of right answers per lesson, and per question id whether it was right."""
        wrong = {*self.wrong, *(each for each, good in answered.items() if not good)}
        wrong -= {each for each, good in answered.items() if good}
        return replace(self, quiz=_added(self.quiz, shares), wrong=tuple(sorted(wrong)))

    def with_exercises(self, shares: Mapping[int, float]) -> Progress:
        """After exercises: share per exercise."""
        return replace(self, exercises=_added(self.exercises, shares))

    def to_dict(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "schema": SCHEMA,
            "lessons_done": list(self.lessons_done),
            "quiz": {str(number): {"best": s.best, "last": s.last} for number, s in sorted(self.quiz.items())},
            "exercises": {str(n): {"best": s.best, "last": s.last} for n, s in sorted(self.exercises.items())},
            "wrong": list(self.wrong),
        }


def _added(scores: Mapping[int, Score], shares: Mapping[int, float]) -> dict[int, Score]:
    return {**scores, **{n: scores[n].then(x) if n in scores else Score(x, x) for n, x in shares.items()}}


def state_directory() -> Path:
    """``$SOFTLOOKUP_STATE``, else the user state directory of the platform; not created here."""
    import platformdirs

    named = os.environ.get(STATE_VARIABLE)
    return Path(named).expanduser() if named else Path(platformdirs.user_state_dir("softlookup"))


def progress_file() -> Path:
    """Where progress is kept."""
    return state_directory() / _FILE


def read_progress() -> tuple[Progress, str]:
    """What is kept, and a message ("" when all is well). A damaged or foreign file is moved aside, never read."""
    path = progress_file()
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return Progress(), ""
    except (OSError, ValueError) as error:
        return Progress(), f"the progress in {path} cannot be read ({_reason(error)}); it starts anew in this run"
    if not stat.S_ISREG(facts.st_mode):  # a link, a folder, a pipe: nothing that was written here
        return Progress(), _moved_aside(path, "it is no regular file")
    if facts.st_size > _MOST_BYTES:
        return Progress(), _moved_aside(path, "it is far too large")
    try:
        return _parsed(json.loads(path.read_bytes())), ""
    except OSError as error:
        return Progress(), f"the progress in {path} cannot be read ({_reason(error)}); it starts anew in this run"
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, not our fields
        return Progress(), _moved_aside(path, str(error).splitlines()[0] if str(error) else "it is no JSON")


def write_progress(progress: Progress) -> str:
    """Keep ``progress``: whole or not at all, readable by its owner only. A message when it cannot be kept, else ""."""
    folder = state_directory()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".learn-", dir=folder)  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(progress.to_dict(), indent=1, allow_nan=False) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(folder / _FILE)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
        _sync_folder(folder)
    except (OSError, ValueError) as error:
        return f"progress cannot be kept in {folder} ({_reason(error)}); set {STATE_VARIABLE} to a writable directory"
    return ""


def forget_progress() -> tuple[Path, ...]:
    """Delete what is kept, files moved aside included. Raises ``SoftlookupError`` for one that cannot be deleted."""
    folder = state_directory()
    gone = []
    aside = sorted(folder.glob(f"{_ASIDE}*")) if folder.is_dir() else []
    for path in (folder / _FILE, *aside):
        try:
            if path.is_dir() and not path.is_symlink():
                continue  # not written here
            path.unlink()
            gone.append(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise SoftlookupError(f"{path} cannot be deleted ({_reason(error)})", "delete it by hand") from error
    return tuple(gone)


def _sync_folder(folder: Path) -> None:
    """The new name survives a crash too, where the system lets folders be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _moved_aside(path: Path, reason: str) -> str:
    for number in range(1, 100):
        aside = path.with_name(f"{_ASIDE}-{number}")
        if aside.exists() or aside.is_symlink():
            continue
        try:
            path.rename(aside)
        except OSError as error:
            return f"{path} is not progress of this program ({reason}) and cannot be moved ({_reason(error)})"
        return f"{path} is not progress of this program ({reason}); it was moved to {aside}, progress starts anew"
    return f"{path} is not progress of this program ({reason}); delete the files {_ASIDE}-* beside it"


def _parsed(value: Any) -> Progress:
    """The fields of schema 1. Raises ``ValueError`` for anything else."""
    keys = {"schema", "lessons_done", "quiz", "exercises", "wrong"}
    if not isinstance(value, dict) or set(value) != keys:
        raise ValueError("its fields are not ours")
    if value["schema"] != SCHEMA or isinstance(value["schema"], bool):
        raise ValueError("its schema is not known here")
    done, wrong = value["lessons_done"], value["wrong"]
    if not isinstance(done, list) or not all(type(each) is int and 1 <= each <= 99 for each in done):
        raise ValueError("its lessons are not numbers")
    if not isinstance(wrong, list) or not all(isinstance(each, str) and _ID.fullmatch(each) for each in wrong):
        raise ValueError("its question ids are none")
    return Progress(
        tuple(sorted(set(done))), _scores(value["quiz"]), _scores(value["exercises"]), tuple(sorted(set(wrong)))
    )


def _scores(value: Any) -> dict[int, Score]:
    if not isinstance(value, dict):
        raise ValueError("its scores are not ours")
    found = {}
    for number, score in value.items():
        if not re.fullmatch(r"[1-9][0-9]?", number) or not isinstance(score, dict) or set(score) != {"best", "last"}:
            raise ValueError("its scores are not ours")
        shares = [score["best"], score["last"]]
        if not all(type(share) in (int, float) and 0 <= share <= 1 for share in shares):
            raise ValueError("its scores are no shares")
        found[int(number)] = Score(float(shares[0]), float(shares[1]))
    return found


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
