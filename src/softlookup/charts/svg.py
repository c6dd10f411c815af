"""SVG elements as strings; the only place that escapes."""

from __future__ import annotations

import html

# dark enough on white and apart for colour-blind readers (Okabe and Ito 2008, the yellow left out)
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444", "#8b6914")
# a line is told apart without colour too
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "1 2", "5 5", "3 1")
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
_INVALID = {code: None for code in range(32) if code not in (9, 10, 13)}


def escaped(text: str) -> str:
    """Text for content or an attribute; characters that XML does not allow are left out."""
    return html.escape(text.translate(_INVALID), quote=True)


def number(value: float) -> str:
    """A coordinate: two decimals at most, the same on every machine."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def element(name: str, content: str = "", **attributes: str | float | None) -> str:
    """``<name ...>content</name>``; ``content`` must be escaped already, attributes are escaped here.

    Underscores in attribute names become hyphens; attributes that are None are left out.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = number(value) if isinstance(value, int | float) else escaped(value)
            parts.append(f'{key.strip("_").replace("_", "-")}="{shown}"')
    opening = " ".join(parts)
    return f"<{opening}>{content}</{name}>" if content else f"<{opening}/>"


def label(x: float, y: float, text: str, *, anchor: str = "start", size: float = 12, **more: str | float | None) -> str:
    """A line of text at (x, y)."""
    return element("text", escaped(text), x=x, y=y, text_anchor=anchor, font_size=size, **more)


def tooltip(text: str) -> str:
    """What is shown when the pointer rests on the element around it."""
    return element("title", escaped(text))


def picture(width: float, height: float, title: str, description: str, body: list[str]) -> str:
    """The SVG document with a white ground, so that it can be read on dark pages too."""
    head = [tooltip(title), element("desc", escaped(description)) if description else ""]
    ground = element("rect", width=width, height=height, fill="#ffffff")
    lines = "\n".join(part for part in [*head, ground, *body] if part)
    return (
        element(
            "svg",
            f"\n{lines}\n",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {number(width)} {number(height)}",
            width=width,
            height=height,
            role="img",
            font_family=_FONT,
            fill="#1a1a1a",
        )
        + "\n"
    )
