"""The cleaning of a draft: images, active HTML, dangerous links, and links that carry words of the conversation elsewhere are taken out.

They are what a client would load, run or send to somebody else's server. Every channel of ours shows HTML as text and loads no image; this is for the copy that a person pastes elsewhere, and for the record.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote_plus

from rai.screening.normal_forms import decoded, normal

IMAGE = "an image was taken out of the draft"
ACTIVE = "active HTML was taken out of the draft"
SCHEME = "a link that would run code or show made-up content was taken out of the draft"
CARRIES = "a link that carried words of the conversation was taken out of the draft"
FEWEST_WORDS = 2
"""Fewest words of the conversation that a link has and no source: one can be chance, the name of the page."""
_LONGEST = 20_000
"""Most characters of a link that are read for them."""

_INSIDE = r"(?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,500}"
_TARGET = r"\((?:[^()\n]|\([^()\n]{0,500}\)){0,4000}\)"
_MD_IMAGE = re.compile(rf"!\[{_INSIDE}\](?:{_TARGET}|(?!\[\d{{1,3}}\])\[[^\[\]\n]{{0,200}}\])")
_SHORT_IMAGE = re.compile(r"!\[(?!\d{1,3}\])([^\[\]\n]{1,200})\](?![\[(])")
_DEFINED = re.compile(r"^[ ]{0,3}\[(?!\d{1,3}\])([^\[\]\n]{1,200})\]:[ \t]*\S+[^\n]*$", re.MULTILINE)
_HTML_IMAGE = re.compile(
    r"<(?:img|image|picture|source|video|audio|input)(?=[\s/])[^>]*=[^>]*(?:>|$)|<svg\b.*?(?:</svg\s*>|$)",
    re.IGNORECASE | re.DOTALL,
)
_HTML_ACTIVE = re.compile(
    r"<(?:script|style)\b[^>]*>.*?(?:</(?:script|style)\s*>|$)"
    r"|<(?:iframe|object|embed|link|base|meta|form|frame)(?=[\s/])[^>]*=[^>]*(?:>|$)"
    r"|<[a-z][^>]{0,2000}?(?:\son[a-z]+\s*=|\bstyle\s*=[^>]{0,2000}?url\s*\(|\bbackground\s*=)[^>]*(?:>|$)",
    re.IGNORECASE | re.DOTALL,
)
_MD_LINK = re.compile(rf"(?<!!)\[({_INSIDE})\]({_TARGET})")
_HTML_LINK = re.compile(r"<a\s[^>]*?href\s*=\s*[\"']?([^\"'>\s]+)[^>]*>(.*?)(?:</a\s*>|$)", re.IGNORECASE | re.DOTALL)
_BARE_SCHEME = re.compile(
    r"<?\b(?:javascript|vbscript):[^\s>]+>?|<?\bdata:[\w.+-]+/[\w.+-]+[;,][^\s>]*>?", re.IGNORECASE
)
_BARE_URL = re.compile(r"<?(?:https?://|www\.)[^\s<>\"'\])}]+>?", re.IGNORECASE)
_DANGEROUS = re.compile(r"(?:javascript|vbscript|data|file|blob):", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff]+")
_GAPS = re.compile(r"[ \t]{2,}")
_BEFORE_STOP = re.compile(r"(?<![ \t])[ \t]+(?=[.,;:!?](?:\s|$))")
_JOINT = re.compile(r"[-.@]")
_VALUE = re.compile(r"[\w.+-]+@[\w.-]+\w|[^\W_](?:[\w-]*[^\W_])?")

_Take = Callable[..., Callable[[re.Match[str]], str]]


def cleaned(
    draft: str, *, own: Sequence[str] = (), found: Sequence[str] = (), said: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """`draft` without images, active HTML and such links, and a note for each kind; unchanged and without notes if it has none.

    `own`: what stands word for word there stays. `found`: other sources, whose links are known. `said`: the conversation.
    """
    notes: list[str] = []

    def take(note: str, instead: Callable[[re.Match[str]], str] = lambda _: "") -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            if any(match.group() in text for text in own):
                return match.group()
            notes.append(note)
            return instead(match)

        return replaced

    text, before = draft, ""
    while text != before:  # taking one thing away can bring another into being
        before = text
        text = _without_images(text, take)
        text = _HTML_ACTIVE.sub(take(ACTIVE), text)
        text = _links(text, take, said, (*own, *found))
        text = _BARE_SCHEME.sub(take(SCHEME), text)
    if not notes:
        return draft, ()
    return _BEFORE_STOP.sub("", _GAPS.sub(" ", text)).strip(), tuple(dict.fromkeys(notes))


def _without_images(text: str, take: _Take) -> str:
    text = _MD_IMAGE.sub(take(IMAGE), text)
    names = {m.group(1).strip().lower() for m in _DEFINED.finditer(text)}
    text = _SHORT_IMAGE.sub(lambda m: take(IMAGE)(m) if m.group(1).strip().lower() in names else m.group(), text)
    return _HTML_IMAGE.sub(take(IMAGE), text)


def _links(text: str, take: _Take, said: Sequence[str], sources: Sequence[str]) -> str:
    def judged(match: re.Match[str], target: str, words: str) -> str:
        target = _target(target)
        if _DANGEROUS.match(target):
            return take(SCHEME, lambda _: words)(match)
        if carries(target, said, sources):
            return take(CARRIES, lambda _: words)(match)
        return match.group()

    text = _MD_LINK.sub(lambda m: judged(m, m.group(2)[1:-1], m.group(1)), text)
    text = _HTML_LINK.sub(lambda m: judged(m, m.group(1), m.group(2)), text)
    return _BARE_URL.sub(lambda m: judged(m, m.group(), ""), text)


def _target(written: str) -> str:
    """A link's target as a client reads it: entities resolved, without hidden characters and the title behind it."""
    first = html.unescape(written).strip().partition(' "')[0].strip().strip("<>")
    return _UNSEEN.sub("", first)


def carries(url: str, said: Sequence[str], sources: Sequence[str]) -> bool:
    """True if `url`, which no source has, holds a value of the conversation (an order's number, an address) that no source has, or
    several of its words, plainly or encoded.
    """
    url = url.rstrip(".,;:!?)")[:_LONGEST]
    if any(url in text for text in sources):
        return False
    parts = " ".join(re.split(r"[/?&=#]", unquote_plus(url)))
    inside = _values(" ".join([unquote_plus(unquote_plus(url)), *decoded(parts)]))
    told = inside & {word for text in said for word in _values(text)}
    public = normal("\n".join(sources)) if told else ""
    told = {word for word in told if word not in public}
    return len(told) >= FEWEST_WORDS or any(_is_value(word) for word in told)


def _values(text: str) -> set[str]:
    """Words of four letters and more, numbers and addresses, whole and in their parts."""
    words = {word for match in _VALUE.findall(normal(text)) for word in (match, *_JOINT.split(match))}
    return {word for word in words if len(word) >= 4}


def _is_value(word: str) -> bool:
    return "@" in word or (any(c.isdigit() for c in word) and len(word) >= 5)
