"""Reader of RTF (Rich Text Format 1.9.1): paragraphs, headings by style or outline level, tables as rows, links; nothing hidden.

One pass over the tokens with a stack of groups, linear in the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused, Writer, clean, one_line
from grounding.ingest.readers.rows import table_lines
from grounding.ingest.readers.texts.web_page import link_target

_TOKEN = re.compile(
    r"\\(?:([A-Za-z]{1,32})(-?[0-9]{1,10})? ?|'([0-9A-Fa-f]{2})|(.))|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.DOTALL
)
_DEEPEST = 2_000
_CHARSETS = {  # \fcharset -> code page
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
_CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_NUMBERED = {936: "gb18030", 950: "big5", 10000: "mac_roman", 65001: "utf-8"}
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
}
_SYMBOLS = {"\\": "\\", "{": "{", "}": "}", "~": "\xa0", "_": "-", "\t": "\t"}
_APART = frozenset(  # destinations whose text is not the document's
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf "
    "fldinst themedata datastore colorschememapping xmlnstbl listtable listoverridetable revtbl rsidtbl generator "
    "latentstyles filetbl annotation atnid atnauthor comment bkmkstart bkmkend nonshppict shpinst shprslt".split()
)
_HEADING = re.compile(r"^heading ([1-9])$", re.IGNORECASE)
_BULLET = re.compile("^[•·▪◦\uf0b7o§]\t")
_ADDRESS = re.compile(r'HYPERLINK\s+(?:\\[a-z]\s+)?"([^"]{1,2000})"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Group:
    """State of an open group, which holds until its brace closes. `apart` names the destination that the text goes to instead."""

    apart: str = ""
    skip: int = 1  # characters that stand after a \\u for older readers
    codec: str = "cp1252"
    hidden: bool = False
    style: int = 0
    outline: int = -1
    in_table: bool = False


@dataclass(slots=True)
class _RtfState:
    writer: Writer
    group: _Group = field(default_factory=_Group)
    stack: list[_Group] = field(default_factory=list)
    codec: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    styles: dict[int, str] = field(default_factory=dict)
    font: int = 0
    aside: list[str] = field(default_factory=list)  # text of the destination that is open
    raw: bytearray = field(default_factory=bytearray)  # bytes of a character that is not complete
    passed: int = 0  # characters still to pass over after a \\u
    starred: bool = False
    text: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    grid: list[list[str]] = field(default_factory=list)
    headers: int = 0
    title: str = ""
    address: str = ""
    in_list: bool = False


def read_rich_text(data: bytes, name: str) -> Extract:
    """Extract of an RTF file. Raises Refused."""
    state = _RtfState(Writer())
    for match in _tokens(data.decode("latin-1")):
        word, number, code, symbol, brace, plain = match.groups()
        if code:
            _byte(state, int(code, 16))
        elif plain:
            _plain(state, plain)
        elif brace:
            (_open if brace == "{" else _close)(state)
        elif word:
            _control(state, word, int(number) if number else None)
        elif symbol:
            _symbol(state, symbol)
    if state.stack:
        raise Refused("corrupt", "an RTF file that is cut short")
    _paragraph(state)
    _flush_table(state)
    return state.writer.extract(state.title or name, content_types.RICH_TEXT)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    r"""Tokens of the file, without the bytes that stand behind a \bin."""
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        if match.group(1) == "bin" and match.group(2):
            at += max(int(match.group(2)), 0)
        yield match


def _open(state: _RtfState) -> None:
    _settle(state)
    if len(state.stack) >= _DEEPEST:
        raise Refused("too_large", f"an RTF file nested more than {_DEEPEST:,} deep")
    state.stack.append(state.group)
    state.passed = 0


def _close(state: _RtfState) -> None:
    _settle(state)
    state.passed = 0
    if not state.stack:
        return
    before, state.group = state.group, state.stack.pop()
    if before.apart == "fldinst" and state.group.apart != "fldinst":
        found = _ADDRESS.search("".join(state.aside))
        state.address = found.group(1) if found else ""
    elif before.apart == "title" and state.group.apart != "title":
        state.title = one_line("".join(state.aside))
    elif before.apart == "fldrslt" and state.group.apart != "fldrslt":
        state.text.append(link_target(state.address, "".join(state.text[-8:])))
        state.address = ""
    elif before.apart != "stylesheet" and before.apart == state.group.apart:
        return
    if before.apart != state.group.apart:
        state.aside.clear()


def _control(state: _RtfState, word: str, number: int | None) -> None:
    _settle(state)
    starred, state.starred = state.starred, False
    if action := _ACTIONS.get(word):
        action(state, number)
    elif word in _CHARACTERS:
        _emit(state, _CHARACTERS[word])
    elif word in _APART or starred or (word == "title" and state.group.apart == "info"):
        _go_apart(state, word)
    elif word in _CODE_PAGES:
        _use(state, _CODE_PAGES[word])


def _go_apart(state: _RtfState, word: str) -> None:
    if not state.group.apart or word in ("title", "fldinst"):
        state.group = replace(state.group, apart=word)
        state.aside.clear()


def _symbol(state: _RtfState, symbol: str) -> None:
    _settle(state)
    state.starred = symbol == "*"
    if symbol in "\r\n":
        _end(state, None)
    elif symbol in _SYMBOLS:
        _emit(state, _SYMBOLS[symbol])


def _byte(state: _RtfState, value: int) -> None:
    if state.passed:
        state.passed -= 1
    else:
        state.raw.append(value)


def _plain(state: _RtfState, text: str) -> None:
    state.starred = False
    if state.passed:
        state.passed, text = max(state.passed - len(text), 0), text[state.passed :]
    if state.raw and text and not _complete(state):  # the second byte of a pair may stand as a letter
        state.raw.append(ord(text[0]) & 0xFF)
        text = text[1:]
    _settle(state)
    _emit(state, text.encode("latin-1").decode(state.group.codec, "replace") if not text.isascii() else text)


def _complete(state: _RtfState) -> bool:
    try:
        state.raw.decode(state.group.codec)
    except UnicodeDecodeError:
        return False
    return True


def _settle(state: _RtfState) -> None:
    if state.raw:
        raw = bytes(state.raw)
        state.raw.clear()
        _emit(state, raw.decode(state.group.codec, "replace"))


def _emit(state: _RtfState, text: str) -> None:
    group = state.group
    if group.apart in ("", "fldrslt"):
        if not group.hidden:
            state.text.append(text)
    elif group.apart in ("fldinst", "title") or (group.apart in ("stylesheet", "fonttbl") and len(text) < 200):
        if group.apart == "stylesheet":
            _name_style(state, text)
        elif group.apart != "fonttbl":
            state.aside.append(text)


def _name_style(state: _RtfState, text: str) -> None:
    name = state.styles.get(state.group.style, "") + text
    state.styles[state.group.style] = name.strip(" ;") if name.endswith(";") else name


def _unicode(state: _RtfState, number: int | None) -> None:
    _emit(state, chr((number or 0) & 0xFFFF))
    state.passed = state.group.skip


def _use(state: _RtfState, codec: str) -> None:
    state.codec = codec
    state.group = replace(state.group, codec=codec)


def _code_page(state: _RtfState, number: int | None) -> None:
    codec = _NUMBERED.get(number or 1252, f"cp{number or 1252}")
    try:
        codecs.lookup(codec)
    except LookupError:
        return
    _use(state, codec)


def _choose_font(state: _RtfState, number: int | None) -> None:
    state.font = number or 0
    state.group = replace(state.group, codec=state.fonts.get(state.font, state.codec))


def _name_charset(state: _RtfState, number: int | None) -> None:
    if number in _CHARSETS and len(state.fonts) < 10_000:
        state.fonts[state.font] = _CHARSETS[number]


def _set(**change: Any) -> Callable[[_RtfState, int | None], None]:
    """An action that changes the group; a value of None stands for the number of the control word."""

    def action(state: _RtfState, number: int | None) -> None:
        values: dict[str, Any] = {name: number or 0 if value is None else value for name, value in change.items()}
        state.group = replace(state.group, **values)

    return action


def _hide(state: _RtfState, number: int | None) -> None:
    state.group = replace(state.group, hidden=number != 0)


def _end(state: _RtfState, _: int | None) -> None:
    if state.group.apart not in ("", "fldrslt"):
        return
    if state.group.in_table or state.cells:
        state.text.append(" ")
    else:
        _paragraph(state)


def _paragraph(state: _RtfState) -> None:
    text = _taken(state)
    if not text.strip():
        return
    _flush_table(state)
    level = _level(state)
    if level and "\n" not in text.strip():
        state.writer.heading(text, level)
        state.in_list = False
        return
    item = _BULLET.sub("- ", text)
    (state.writer.line if item != text and state.in_list else state.writer.block)(item)
    state.in_list = item != text


def _level(state: _RtfState) -> int:
    named = _HEADING.match(one_line(state.styles.get(state.group.style, "")))
    if named:
        return min(int(named.group(1)), 6)
    return min(state.group.outline + 1, 6) if 0 <= state.group.outline < 9 else 0


def _taken(state: _RtfState) -> str:
    r"""The text collected so far, halves of a \u surrogate pair joined."""
    text = "".join(state.text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    state.text.clear()
    return clean(text)


def _cell(state: _RtfState, _: int | None) -> None:
    if state.group.apart in ("", "fldrslt"):
        state.cells.append(one_line(_taken(state)))


def _row(state: _RtfState, _: int | None) -> None:
    if state.cells:
        state.grid.append(state.cells)
        state.cells = []


def _header(state: _RtfState, _: int | None) -> None:
    if state.headers == len(state.grid):
        state.headers += 1


def _flush_table(state: _RtfState) -> None:
    if state.cells:
        _row(state, None)
    if state.grid:
        state.writer.lines(table_lines(state.grid, state.headers or None))
        state.in_list = False
    state.grid, state.headers = [], 0


def _space(state: _RtfState, _: int | None) -> None:
    state.text.append(" ")


_ACTIONS: dict[str, Callable[[_RtfState, int | None], None]] = {
    "par": _end,
    "sect": _end,
    "page": _end,
    "cell": _cell,
    "row": _row,
    "trhdr": _header,
    "nestcell": _space,
    "nestrow": _space,
    "u": _unicode,
    "uc": _set(skip=None),
    "ansicpg": _code_page,
    "f": _choose_font,
    "fcharset": _name_charset,
    "v": _hide,
    "deleted": _hide,
    "plain": _set(hidden=False),
    "s": _set(style=None),
    "outlinelevel": _set(outline=None),
    "intbl": _set(in_table=True),
    "fldrslt": _set(apart="fldrslt"),
    "shptxt": _set(apart=""),
    "pard": _set(style=0, outline=-1, in_table=False),
}
