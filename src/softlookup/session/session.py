"""A model and its settings; opens documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from softlookup.documents.read import read_document
from softlookup.runtime.load import LoadedModel, ModelSource, find_model_source, load_model
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.token_count import TokenCounter
from softlookup.session.open_document import OpenDocument
from softlookup.session.options import Options

if TYPE_CHECKING:
    from softlookup.documents.readers import ReadKeywords
    from softlookup.evidence.profile import HeadProfile
    from softlookup.runtime.prompt import PromptTemplate
    from softlookup.runtime.sentence_encoder import SentenceEncoder


OnText = Callable[[str], None]


class Session:
    """A model and its settings; loads the model once, when the first question is asked.

    ``progress`` hears how far long work is, ``on_text`` the words of an answer so far, at every token; what either
    raises (:class:`softlookup.errors.CancellationError`) ends the question and leaves document and model as they were.

    >>> answer = Session().open("contract.docx").ask("Who may terminate?")  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        options: Options | None = None,
        progress: Progress = no_progress,
        on_text: OnText | None = None,
    ) -> None:
        self.options = options or Options()
        self.progress = progress
        self.on_text = on_text
        self.model = model

    @cached_property
    def source(self) -> ModelSource:
        """The model's files; a GGUF file is converted on first use."""
        return find_model_source(self.model, progress=self.progress)

    @cached_property
    def count_tokens(self) -> TokenCounter:
        """The model's own tokenizer."""
        return TokenCounter(self.source)

    @cached_property
    def loaded(self) -> LoadedModel:
        """The model in memory."""
        return load_model(self.source.folder if self.model is None else self.model, progress=self.progress)

    @cached_property
    def encoder(self) -> SentenceEncoder | None:
        """The encoder of ``options.embeddings``, None without. Raises ``ModelError`` when it cannot be loaded."""
        if self.options.embeddings is None:
            return None
        from softlookup.runtime.sentence_encoder import SentenceEncoder, encoder_folder

        return SentenceEncoder(encoder_folder(self.options.embeddings))

    @cached_property
    def template(self) -> PromptTemplate:
        """The prompt template of the model's tokenizer."""
        from softlookup.runtime.prompt import PromptTemplate

        return PromptTemplate(self.loaded.tokenizer)

    @cached_property
    def profile(self) -> HeadProfile:
        """The heads that are read as evidence: built in, stored by ``softlookup model profile``, or the middle layers.

        Raises ``ModelError`` for a stored profile that is damaged or was measured with something else.
        """
        from softlookup.evidence.profile_store import find_profile

        return find_profile(self.loaded, self.template)

    @contextmanager
    def heard_by(self, progress: Progress, on_text: OnText | None = None) -> Iterator[None]:
        """Within the block these hear of the work instead of those that the session was made with."""
        before = self.progress, self.on_text
        self.progress, self.on_text = progress, on_text
        try:
            yield
        finally:
            self.progress, self.on_text = before

    def open(self, path: str | Path, **reading: Unpack[ReadKeywords]) -> OpenDocument:
        """Read a document with the options of :func:`softlookup.read_document`.

        Raises ``DocumentError`` when it cannot be read.
        """
        start = time.perf_counter()
        document = read_document(path, **reading)
        return OpenDocument(self, document, time.perf_counter() - start)
