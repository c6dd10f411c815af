"""The prompt: template around document and question, with every document token traced to characters.

Document and question are hostile: they are tokenised as plain text, so that a chat-template token
written in a contract stays nine ordinary characters. The model's own chat template is rendered with
two placeholders and cut there; only those template pieces may yield special tokens. A base model, which has none,
reads the same words as running text that ends in "Answer:".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from softlookup.errors import ModelError

SYSTEM = "You answer questions about a contract."
BEFORE_DOCUMENT = "Here is a contract:\n\n"
AFTER_QUESTION_PLAIN = "\n\nAnswer:"
BEFORE_QUESTION = "\n\nPlease answer the following question using only the contract above.\n\nQuestion: "
# plain words: they must survive a template that trims, escapes or changes case of nothing
_DOCUMENT_SLOT = "softlookupdocumentslot"
_QUESTION_SLOT = "softlookupquestionslot"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Tokens before a question: template head, document, instruction.

    ``ids`` [T]; ``document`` is the token range ``[start, stop)`` of the document inside ``ids``;
    ``offsets`` [stop - start, 2] holds each document token's character range in the fed text.
    """

    ids: tuple[int, ...]
    document: tuple[int, int]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Suffix:
    """Tokens of one question: ``ids`` = question, then the template up to the first answer token."""

    ids: tuple[int, ...]
    question_length: int

    def __len__(self) -> int:
        return len(self.ids)


class PromptTemplate:
    """The frozen template of one tokenizer; ``sha256`` enters reports and profiles."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        rendered = _render(tokenizer)
        if rendered.count(_DOCUMENT_SLOT) != 1 or rendered.count(_QUESTION_SLOT) != 1:
            raise ModelError(
                "the chat template does not show the user's message exactly once",
                "softlookup needs a plain chat template: use another model",
            )
        self._head, rest = rendered.split(_DOCUMENT_SLOT)
        self._middle, self._tail = rest.split(_QUESTION_SLOT)
        # the blank before the question belongs to its first word, as in running text
        self._blank = " " if self._middle.endswith(" ") else ""
        self._middle = self._middle.rstrip(" ")
        self.sha256 = hashlib.sha256("\0".join((self._head, self._middle, self._tail)).encode()).hexdigest()

    @property
    def overhead(self) -> int:
        """Tokens of the template itself, without document and question."""
        return sum(len(self._special(piece)) for piece in (self._head, self._middle, self._tail))

    def prefix(self, text: str) -> Prefix:
        """Tokens of template head + ``text`` + instruction."""
        head, middle = self._special(self._head), self._special(self._middle)
        encoding = self._plain(text, offsets=True)
        ids = (*head, *encoding["input_ids"], *middle)
        offsets = np.asarray(encoding["offset_mapping"], dtype=np.int64).reshape(-1, 2)
        return Prefix(ids, (len(head), len(head) + len(offsets)), offsets)

    def suffix(self, question: str) -> Suffix:
        """Tokens of ``question`` and the template up to the answer."""
        ids = self._plain(self._blank + question.strip())["input_ids"]
        return Suffix((*ids, *self._special(self._tail)), len(ids))

    def question_only(self, question: str) -> Suffix:
        """Tokens of ``question`` alone, for passes that read its rows and decode nothing after them."""
        ids = tuple(self._plain(self._blank + question.strip())["input_ids"])
        return Suffix(ids, len(ids))

    def question_offsets(self, question: str) -> tuple[tuple[int, int], ...]:
        """Character ranges in ``question`` of its tokens in :meth:`suffix`; a blank before a word belongs to it."""
        stripped = question.strip()
        ahead = len(question) - len(question.lstrip()) - len(self._blank)
        offsets = self._plain(self._blank + stripped, offsets=True)["offset_mapping"]
        return tuple((max(0, start + ahead), max(0, end + ahead)) for start, end in offsets)

    def count(self, text: str) -> int:
        """Number of tokens of ``text`` alone."""
        return len(self._plain(text)["input_ids"])

    def plain_ids(self, text: str) -> list[int]:
        """Tokens of ``text`` as plain text, never special tokens."""
        return list(self._plain(text)["input_ids"])

    def _plain(self, text: str, *, offsets: bool = False) -> Any:
        return self._tokenizer(
            text,
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=offsets,
            verbose=False,
        )

    def _special(self, piece: str) -> list[int]:
        return list(self._tokenizer(piece, add_special_tokens=False, verbose=False)["input_ids"])


def _render(tokenizer: Any) -> str:
    user = f"{BEFORE_DOCUMENT}{_DOCUMENT_SLOT}{BEFORE_QUESTION}{_QUESTION_SLOT}"
    if getattr(tokenizer, "chat_template", None) is None:
        return f"{tokenizer.bos_token or ''}{SYSTEM}\n\n{user}{AFTER_QUESTION_PLAIN}"
    with_system = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]
    without = [{"role": "user", "content": f"{SYSTEM}\n\n{user}"}]
    error: Exception | None = None
    for messages in (with_system, without):  # some templates (Gemma's) refuse a system message
        try:
            rendered = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as caught:  # noqa: BLE001 - a template raises whatever its author chose
            error = caught
        else:
            return str(rendered)
    raise ModelError(f"the chat template of the model fails ({error})", "use a model with a working chat template")
