"""Counts tokens with the model's own tokenizer and without transformers, so that planning stays light."""

from __future__ import annotations

from softlookup.errors import ModelError
from softlookup.runtime.load import ModelSource


class TokenCounter:
    """Callable: number of tokens of a text, control tokens written in it counted as plain text."""

    def __init__(self, source: ModelSource) -> None:
        import tokenizers

        path = source.folder / "tokenizer.json"
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise ModelError(
                f"{source.name} has no readable tokenizer.json",
                "run `softlookup model pull` for the embedded model, or fetch the folder again",
            ) from error
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def __call__(self, text: str) -> int:
        """Number of tokens of ``text``, without any token that the template adds."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)
