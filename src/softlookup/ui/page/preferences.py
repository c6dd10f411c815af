"""Language and colours that a browser wants: its cookie, else its Accept-Language; nothing is stored here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from softlookup.documents.language import Language

if TYPE_CHECKING:
    from fastapi import Request

Theme = Literal["auto", "light", "dark"]
LANGUAGE_COOKIE, THEME_COOKIE = "softlookup_language", "softlookup_theme"
LANGUAGES: tuple[Language, ...] = get_args(Language)
THEMES: tuple[Theme, ...] = get_args(Theme)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a page is shown in."""

    language: Language
    theme: Theme


def preferences(request: Request) -> Preferences:
    """The preferences of a request; what is not understood counts as not said."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    language = next((name for name in LANGUAGES if name == chosen), None)
    language = language or accepted(request.headers.get("accept-language", ""))
    theme = request.cookies.get(THEME_COOKIE)
    return Preferences(language, next((name for name in THEMES if name == theme), "auto"))


def accepted(header: str) -> Language:
    """The language of ours that an Accept-Language header ranks first; English where it names none."""
    ranked: list[tuple[float, int, Language]] = []
    for place, item in enumerate(header[:1000].split(",")):
        name, _, rest = item.strip().partition(";")
        prefix = name.strip().lower().partition("-")[0]
        weight = _weight(rest)
        if weight > 0:
            ranked += [(-weight, place, language) for language in LANGUAGES if language == prefix]
    return min(ranked)[2] if ranked else "en"


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
