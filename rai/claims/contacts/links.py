"""URLs and e-mail addresses: linkify-it finds widely, exact validation follows.

Normal form of a URL: https (or the scheme, where it is another), host in lower case and Punycode without "www." and
default port, path without final slash and dot segments, percent-encoding in upper case and only where it is needed
(RFC 3986, 6.2), no tracking parameters.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

from linkify_it import LinkifyIt
from linkify_it.tlds import TLDS

from rai.claims.found import Found

_TOKEN = re.compile(r"(?<![^\s<>\"“”`|])[^\s<>\"“”`|]{4,2048}")
_LIKELY = re.compile(r"[^\W_][.@][^\W_]|://", re.IGNORECASE)
_EMAIL = re.compile(
    r"(?<![\w.+%/-])[\w.+%-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?:xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:[^\W\d_]{2,24}|xn--[a-z0-9-]{2,59})\.?|localhost|\d{1,3}(?:\.\d{1,3}){3}",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?|[0-9a-f:]{2,45}", re.IGNORECASE)
_SCHEMED = re.compile(r"\b(?:h(?:tt|xx|XX|\*\*)ps?|ftp)://[^\s<>\"“”`|)}]{1,2048}", re.IGNORECASE)
_DANGEROUS = re.compile(
    r"\b(?:javascript:(?=[^\s]{0,80}[(=;%/])|vbscript:|data:[a-z]{2,20}/[a-z0-9.+-]{2,40}[;,]|data:,|file://)[^\s<>\"“”`|]{0,2048}",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(?:\*{1,3}|\[\d{1,3}(?:, ?\d{1,3})*\]|【\d{1,3}】|[.,;:!?'’…]|[—–].*)$")
# Country domains that are file endings or words: bare, `main.py` is a file and "it.is" lacks a space
_FILES = frozenset("py md sh rs pl ps cc ml so js ts zip mov in is it me to at be do no us my am pm".split())
_PRIVATE = ("example", "corp", "internal", "lan", "intranet")
"""Not in the public list of top-level domains, and still where a link can lead."""
_LINKIFY = LinkifyIt(options={"fuzzy_link": True, "fuzzy_email": False, "fuzzy_ip": False}).tlds([*TLDS, *_PRIVATE])
_TRACKING = re.compile(
    r"(?:utm_[a-z]+|gclid|fbclid|msclkid|dclid|mc_[ce]id|igshid|_ga|_hs(?:enc|mi))(?:=|$)", re.IGNORECASE
)
_ENDING = "com|org|net|info|biz|io|edu|gov|app|dev|shop|store|online|site|example|eu|uk|de|fr|es|pt|ch|nl|be|dk|se|pl|ie|ca|au|co"
_DOT = r"(?: ?(?:\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)) ?| dot )"
_BRACKETED = re.compile(r"\[\.\]|\(\.\)|\{\.\}")
_NAME = r"[a-z0-9][a-z0-9-]{0,62}"
_DISGUISED = re.compile(
    rf"(?<![\w.@-])(?:hxxps?://)?{_NAME}(?:(?:{_DOT}|\.){_NAME}){{0,3}}{_DOT}(?:{_ENDING})\b(?:(?:/| slash )[\w~-]{{1,60}}){{0,6}}",
    re.IGNORECASE,
)
_SAID_AT = r"(?: ?(?:\[at\]|\(at\)|\{at\}|\[@\]|\(@\)) ?)"
_DISGUISED_EMAIL = re.compile(
    rf"(?<![\w.@+-])(?:[a-z0-9][\w.+-]{{0,63}}{_SAID_AT}{_NAME}(?:(?:{_DOT}|\.){_NAME}){{0,3}}(?:{_DOT}|\.)(?:{_ENDING})\b"
    rf"|(?P<plain>[a-z0-9][\w.+-]{{0,63}}) at {_NAME}(?: dot {_NAME}){{0,3}} dot (?:{_ENDING})\b)",
    re.IGNORECASE,
)
_USER = re.compile(r"://[^\s/]{0,70}$")  # https://name:word@host is a URL
_NO_MAILBOX = frozenset(
    "us me him her them it look online here there see visit find is are was and or store shop site website live open on up back only".split()
)


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a URL that decide where it leads: host without "www.", and all after it; `user` stands before an @."""

    host: str
    rest: str
    scheme: str = "https"
    user: str = ""

    @property
    def value(self) -> str:
        return f"{self.scheme}://{self.user}{'@' if self.user else ''}{self.host}{self.rest}"

    @property
    def page(self) -> str:
        """What is loaded: `rest` without a fragment that only scrolls; "#/" and "#!" are routes of their own."""
        before, sign, fragment = self.rest.partition("#")
        return self.rest if sign and fragment[:1] in ("/", "!") else before


@lru_cache(maxsize=8192)
def parse(url: str) -> Address | None:
    """The parts of a URL, or None if it is not one. http and https, "www." and a final slash say the same."""
    given = "://" in url
    try:
        parts = urlsplit(url if given else f"https://{url}")
        host, port = _host((parts.hostname or "").lower()), parts.port
    except (ValueError, UnicodeError):
        return None
    if not (_HOST.fullmatch(host) or (given and _SINGLE.fullmatch(host))):
        return None
    scheme = parts.scheme.lower().replace("xx", "tt").replace("**", "tt")
    query = "&".join(p for p in parts.query.split("&") if p and not _TRACKING.match(p))
    rest = (
        _path(parts.path)
        + (f"?{_plain(query)}" if query else "")
        + (f"#{_plain(parts.fragment)}" if parts.fragment else "")
    )
    host = f"[{host}]" if ":" in host else host
    user = parts.netloc.rpartition("@")[0] if "@" in parts.netloc else ""
    default = (None, 80, 443) if scheme in ("http", "https") else (None, 21)
    return Address(
        host if port in default else f"{host}:{port}",
        rest,
        "https" if scheme in ("http", "https", "") else scheme,
        user,
    )


def _host(name: str) -> str:
    """The host in Punycode, where the name can be written so (IDNA 2003, as the standard library has it)."""
    plain = name.rstrip(".").removeprefix("www.")
    if plain.isascii():
        return plain
    return plain.encode("idna").decode("ascii").lower()


def unicode_host(host: str) -> str:
    """The host as a reader sees it; itself where its Punycode is broken."""
    if "xn--" not in host:
        return host
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host


def _path(path: str) -> str:
    if "/." in path:
        path = posixpath.normpath(path).replace("//", "/")
    return _plain(path.rstrip("/"))


def _plain(text: str) -> str:
    """The text with percent-encoding only where it is needed: %7E is ~, é is %C3%A9, %2f is %2F; twice gives the same."""
    if "%" not in text and text.isascii():
        return text
    if text.isascii():
        return re.sub(r"%[0-9A-Fa-f]{2}", _escape, text)
    return re.sub(r"%[0-9A-Fa-f]{2}", _escape, quote(text, safe="/%:?#[]@!$&'()*+,;=~-._"))


def _escape(match: re.Match[str]) -> str:
    char = unquote(match.group(), errors="replace")
    return char if char.isascii() and (char.isalnum() or char in "-._~") else match.group().upper()


def find_url(text: str) -> list[Found]:
    """Finds URLs and bare domains. `main.py` is a file, `a@b.com` an e-mail address, a full stop after a URL is not of it.

    Written round a filter ("contoso dot com", hxxps, [.]) it is still a URL. javascript:, data: and file: lead nowhere
    that a source could vouch for: their form is what is written.
    """
    found: list[Found] = []
    for token in _TOKEN.finditer(text):
        if not _LIKELY.search(token.group()):
            continue
        for start, end in _spans(token.group()):
            value = _value(token.group(), start, end)
            if value:
                found.append(Found("url", token.start() + start, token.start() + end, value))
    lowered = text.lower()
    if "script:" in lowered or "data:" in lowered or "file:" in lowered:
        found += [_dangerous(m) for m in _DANGEROUS.finditer(text)]
    if "dot" in lowered or ".]" in text or ".)" in text or ".}" in text:
        spans = [m.span() for m in _said_emails(text)] + [(f.start, f.end) for f in found]
        taken = {n for a, b in spans for n in range(a, b)}
        found += [
            hit
            for m in _DISGUISED.finditer(text)
            if m.start() not in taken and m.end() - 1 not in taken and (hit := _said_url(m))
        ]
    return found


def _dangerous(match: re.Match[str]) -> Found:
    written = match.group().rstrip(".,;!?'’]")
    written = written if "(" in written else written.rstrip(")")
    return Found("url", match.start(), match.start() + len(written), written)


@lru_cache(maxsize=4096)
def _spans(token: str) -> tuple[tuple[int, int], ...]:
    spans = [
        (m.index, m.last_index)
        for m in _LINKIFY.match(token) or ()
        if m.schema in ("", "http:", "https:", "ftp:", "//")
    ]
    # where linkify stops inside a URL with a scheme, what follows decides where it leads: https://bank.com%40evil.com
    broken = [(a, b) for a, b in spans if "://" in token[a:b] and token[b : b + 1] in ("%", "\\", "@")]
    spans = [span for span in spans if all(span[0] < a for a, _ in broken)]
    own = [m.span() for m in _SCHEMED.finditer(token) if all(m.end() <= a or b <= m.start() for a, b in spans)]
    return tuple(_trimmed(token, a, b) for a, b in sorted(spans + own))


def _trimmed(token: str, start: int, end: int) -> tuple[int, int]:
    """Where a token begins and ends without emphasis, citation marks and punctuation that follow."""
    for _ in range(4):
        match = _TRAILING.search(token[max(start, end - 80) : end])
        if match is None:
            break
        end -= len(match.group())
    return start, end


def _value(token: str, start: int, end: int) -> str | None:
    raw = token[start:end]
    if ("@" in raw.split("/")[0] and "://" not in raw) or (start and token[start - 1] == "@"):
        return None
    address = parse(_BRACKETED.sub(".", raw.removeprefix("//")))
    if address is None:
        return raw if "://" in raw else None  # a link that no host stands behind is still shown as one
    plain = "://" not in raw and not raw.lower().startswith("www.") and "/" not in raw
    domain = raw.rpartition(".")[2]
    glued = plain and len(domain) > 2 and not (domain.islower() or raw.isupper())  # "5 days.Call us" lacks a space
    return None if glued or (plain and address.host.rpartition(".")[2] in _FILES) else address.value


def _said_url(match: re.Match[str]) -> Found | None:
    address = parse(_written(match.group()).replace(" slash ", "/").lower().replace("hxxp", "http"))
    return Found("url", match.start(), match.end(), address.value) if address else None


def _written(said: str) -> str:
    """Contoso [dot] com" as contoso.com."""
    return re.sub(_DOT, ".", said, flags=re.IGNORECASE)


def find_email(text: str) -> list[Found]:
    """Finds e-mail addresses: in lower case, host in Punycode; also "name (at) host (dot) com"."""
    found = [
        Found("email", m.start(), m.end(), normal_email(m.group()))
        for m in (_EMAIL.finditer(text) if "@" in text else ())
        if not _USER.search(text[max(0, m.start() - 80) : m.start()])
    ]
    for match in _said_emails(text):
        value = re.sub(rf"{_SAID_AT}| at ", "@", _written(match.group()), count=1, flags=re.IGNORECASE)
        found.append(Found("email", match.start(), match.end(), normal_email(value)))
    return found


def _said_emails(text: str) -> Iterator[re.Match[str]]:
    if " at " not in text and not re.search(r"[\[({](?:at|@)[\])}]", text, re.IGNORECASE):
        return
    for match in _DISGUISED_EMAIL.finditer(text):
        if (match["plain"] or "").lower() not in _NO_MAILBOX:
            yield match


def normal_email(address: str) -> str:
    """The normal form of an e-mail address: lower case, the host as URLs have it."""
    name, _, host = address.lower().rpartition("@")
    try:
        return f"{name}@{host.rstrip('.').encode('idna').decode('ascii') if not host.isascii() else host.rstrip('.')}"
    except UnicodeError:
        return f"{name}@{host}"
