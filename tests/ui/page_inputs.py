"""A server with a tiny model for tests of the page, a hostile contract, and what must not be in a page."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from html.parser import HTMLParser

from softlookup.session import Options
from softlookup.ui.server.settings import Settings

# invisible characters that must never reach a browser as they are
RAW = frozenset("\x00\x07\x1b\x7f\x9b\u200b\u200e\u202e\u2066\u2069\ufeff")
EVIL_NAME = 'a"><img src=x onerror=alert(1)>\u202efdp.txt'
EVIL = """<script>alert(1)</script> AGREEMENT

1. Fee. The buyer pays 40 pounds <img src=http://evil.example/x.png onerror=alert(1)> on the first day of the month.

2. Notice. Send it to {{ 7 * 7 }} or {% raw %} ${7*7} and ![logo](http://evil.example/y.png) by post.

3. Term "onmouseover='alert(1)' hx-get='/x' style='position:fixed'. It lasts \x1b[31mtwo years\x1b[0m \u202eyb.

4. Law. The law of\u200b Malta </p></section></main> governs; see clause 1 <a href="javascript:alert(1)">here</a>.
"""
ALPHA = 0.9  # a random model finds little: at this rate it cites something


def settings(folder, model, **more):
    """Settings of a server on port 8321 that asks in no time."""
    options = Options(alpha=more.pop("alpha", ALPHA), max_answer_tokens=4, cache=False)
    return Settings(store=folder, model=model, options=options, idle_seconds=5.0, **more)


@dataclass
class Look(HTMLParser):
    """What a browser would make of a page: tags, attributes, text."""

    tags: list = field(default_factory=list)
    attributes: list = field(default_factory=list)
    text: str = ""

    def __post_init__(self):
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.text += data


def look(html):
    """The parsed page."""
    found = Look()
    found.feed(html)
    return found


def dangers(html):
    """Everything in a page that its policy forbids, that could act, or that cannot be seen."""
    page = look(html)
    found = [f"raw {ord(character):x}" for character in sorted(RAW & set(html))]
    for tag, name, value in page.attributes:
        if name.startswith("on") or name == "style":
            found.append(f"{tag} {name}")
        if name in ("href", "src", "action", "xlink:href") and not value.startswith(("/", "#")):
            found.append(f"{tag} {name}={value}")
        if name.startswith("hx-") and name not in HTMX:
            found.append(f"{tag} {name}")
    found += [tag for tag in page.tags if tag in ("style", "iframe", "object", "embed", "img", "base")]
    scripts = sum(tag == "script" for tag in page.tags)
    sources = sum(tag == "script" and name == "src" for tag, name, _ in page.attributes)
    return found + ["inline script"] * (scripts - sources)


HTMX = frozenset({"hx-post", "hx-get", "hx-target", "hx-swap", "hx-disabled-elt"})


class Visitor:
    """A browser without script: follows forms of the page."""

    def __init__(self, client):
        self.client = client
        self.csrf = client.app.state.server.csrf_token

    def upload(self, name, content):
        """Send a file; its id."""
        files = {"file": (name, content)}
        answer = self.client.post("/documents", files=files, data={"csrf": self.csrf}, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].rpartition("/")[2]

    def post(self, address, *, script=False, **fields):
        """Post a form."""
        headers = {"HX-Request": "true"} if script else {}
        return self.client.post(address, data={"csrf": self.csrf, **fields}, headers=headers, follow_redirects=False)

    def ask(self, document, question):
        """Ask, wait, and return the fragment of the answer."""
        return self.wait(self.post(f"/documents/{document}/ask", script=True, question=question))

    def wait(self, begun):
        """The fragment of a run when it has ended."""
        assert begun.status_code == 200, begun.text
        name = next(value for _, attribute, value in look(begun.text).attributes if attribute == "data-run")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            text = self.client.get(f"/jobs/{name}", headers={"HX-Request": "true"}).text
            if "data-events" not in text:
                return text
            time.sleep(0.02)
        raise TimeoutError(name)
