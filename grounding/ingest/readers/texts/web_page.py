"""Reader of HTML: what a person sees, in reading order, with headings, lists, table rows and link targets."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.rows import table_lines
from grounding.ingest.readers.texts.encoding import decode
from grounding.ingest.readers.texts.hidden_text import hidden_by_rules, is_hidden
from grounding.tables import table, word_set

CONTENT_TYPE = content_types.WEB_PAGE

_WORDS = table(__file__)
_SKIP = word_set(_WORDS["skip"])
_BLOCKS = word_set(_WORDS["blocks"])
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,30})|<\?xml[^>]{0,200}encoding\s*=\s*["']([\w-]{2,30})""",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAK = re.compile(r" *\n *")
_MAX_DEPTH = 2_000
_MAX_SPAN = 200
_MAX_CELLS = 500_000


def read_web_page(data: bytes, name: str) -> Extract:
    """Extract of an HTML file; the encoding it declares counts where no byte order mark stands. Raises Refused."""
    return read_html(decoded(data), name)


def read_html(html: str, name: str, content_type: str = CONTENT_TYPE, meta: dict[str, Any] | None = None) -> Extract:
    """Extract of HTML text. The title is <title>, else the first heading, else `name`. Raises Refused."""
    writer = Writer()
    title = write_html(html, writer)
    extract = writer.extract(title or name, content_type, meta)
    if title or not extract.locators:
        return extract
    return writer.extract(extract.locators[0].label, content_type, meta)


def write_html(html: str, writer: Writer) -> str:
    """Write what a person sees of `html`. Returns its <title>, or nothing. Raises Refused."""
    tree = LexborHTMLParser(html)
    root = _main(tree)
    if root is not None:
        _Walk(writer, hidden_by_rules(tree)).walk(root)
    found = tree.css_first("head title") or tree.css_first("title")
    return one_line(found.text()) if found is not None else ""


def decoded(data: bytes) -> str:
    """Text of an HTML file; the encoding that it declares counts where no byte order mark stands."""
    declared = _CHARSET.search(data[:2048])
    if declared is not None:
        try:
            return data.decode((declared.group(1) or declared.group(2)).decode("ascii").lower())
        except (LookupError, UnicodeDecodeError):
            pass  # the page is wrong about itself
    return decode(data)


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    mains = tree.css("main")
    if len(mains) == 1 and mains[0].text().strip():
        return mains[0]
    return tree.body or tree.root


class _Walk:
    """Walk over the element tree without recursion, so that no page is nested too deep for the interpreter's stack."""

    def __init__(self, writer: Writer, hidden: frozenset[int]) -> None:
        self._writer = writer
        self._hidden = hidden
        self._inline: list[str] = []
        self._pre = 0
        self._lists: list[int | None] = []
        self._marker = ""
        self._in_list = False

    def walk(self, root: LexborNode) -> None:
        """Write what a person sees below `root`."""
        node: LexborNode | None = root
        depth = 0
        while node is not None:
            child = node.child if self._enter(node) else None
            if child is not None:
                depth += 1
                if depth > _MAX_DEPTH:
                    raise Refused("too_large", f"HTML nested more than {_MAX_DEPTH} deep")
                node = child
                continue
            while node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
                    depth -= 1
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        """Handle the start of a node; True if its children are to be walked."""
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            self._inline.append(text if self._pre else _SPACE.sub(" ", text))
            return False
        if not self._seen(node):
            return False
        if tag == "br":
            self._inline.append("\n")
        elif tag == "table" and _is_data(node):
            self._flush()
            self._table(node)
            return False
        elif tag in _BLOCKS and not (tag == "dd" and self._inline):
            self._flush()
            self._open(node)
        return True

    def _seen(self, node: LexborNode) -> bool:
        tag = node.tag or "-"
        return tag not in _SKIP and tag[0] not in "-_!" and node.mem_id not in self._hidden and not is_hidden(node)

    def _open(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == "pre":
            self._pre += 1
        elif tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            self._lists.append((int(start) if start.isdecimal() else 1) if tag == "ol" else None)
        elif tag == "li":
            self._item()

    def _item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._marker = "  " * max(len(self._lists) - 1, 0) + ("- " if number is None else f"{number}. ")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag
        if tag not in _BLOCKS and tag != "a":
            return
        if not self._seen(node):
            return
        if tag == "a":
            self._link(node)
        elif tag in _HEADINGS:
            words = one_line("".join(self._inline))
            self._inline.clear()
            self._writer.heading(words, _HEADINGS[tag])
        elif tag == "dt" and (term := one_line("".join(self._inline))):
            self._inline[:] = [term if term.endswith(":") else f"{term}: "]
        else:
            self._flush()
            self._close(tag)

    def _close(self, tag: str | None) -> None:
        if tag == "pre":
            self._pre = max(self._pre - 1, 0)
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._in_list = bool(self._lists)
        elif tag == "li":
            self._marker = ""

    def _link(self, node: LexborNode) -> None:
        self._inline.append(link_target(node.attributes.get("href"), "".join(self._inline)))

    def _flush(self) -> None:
        raw = "".join(self._inline)
        self._inline.clear()
        text = raw.strip("\n") if self._pre else _AROUND_BREAK.sub("\n", _SPACE_RUN.sub(" ", raw)).strip()
        if not text.strip():
            return
        if self._lists and self._marker:
            (self._writer.line if self._in_list else self._writer.block)(self._marker + text)
            self._in_list = True
            self._marker = ""
        elif self._lists and self._in_list:
            self._writer.line("  " * len(self._lists) + text)
        else:
            self._writer.block(text)

    def _table(self, table: LexborNode) -> None:
        rows = [(row, head) for row, head in _rows(table) if self._seen(row)]
        grid, headers = self._grid(rows)
        caption = table.css_first("caption")
        lines = [self._flat(caption)] if caption is not None and self._seen(caption) else []
        self._writer.lines(lines + table_lines(grid, headers or None))

    def _grid(self, rows: list[tuple[LexborNode, bool]]) -> tuple[list[list[str]], int]:
        """Rows of a table with spanning cells repeated where they reach, and how many rows at the top are headers."""
        grid: list[list[str]] = []
        headers = size = 0
        reach: dict[int, tuple[int, str]] = {}  # column -> rows still covered from above, and with what
        for row, in_head in rows:
            cells = [c for c in _children(row) if c.tag in ("td", "th") and self._seen(c)]
            if headers == len(grid) and cells and (in_head or all(c.tag == "th" for c in cells)):
                headers += 1
            grid.append(self._row(cells, reach))
            size += len(grid[-1])
            if size > _MAX_CELLS:
                raise Refused("too_large", f"a table of more than {_MAX_CELLS:,} cells")
        return grid, headers

    def _row(self, cells: list[LexborNode], reach: dict[int, tuple[int, str]]) -> list[str]:
        line: list[str] = []
        for cell in cells:
            _fill(line, reach)
            text = self._flat(cell)
            below = _span(cell, "rowspan") - 1
            for _ in range(_span(cell, "colspan")):
                if below:
                    reach[len(line)] = (below, text)
                line.append(text)
        _fill(line, reach)
        return line

    def _flat(self, node: LexborNode) -> str:
        """All visible text in `node` on one line."""
        inner = Writer()
        _Walk(inner, self._hidden).walk(node)
        return "" if inner.empty else one_line(inner.extract("", CONTENT_TYPE).text)


_SPACE_RUN = re.compile(r"[ \t]+")


def link_target(href: str | None, before: str) -> str:
    """Address of a link as ` (address)` behind its words, or "" where they show it already or it leads nowhere outside."""
    target = one_line(href or "")
    if not target.lower().startswith(("http://", "https://", "mailto:", "tel:")):
        return ""
    shown = target if target.lower().startswith("http") else target.split(":", 1)[1].split("?", 1)[0]
    bare = re.sub(r"^https?://(?:www\.)?", "", shown, flags=re.IGNORECASE).rstrip("/")
    digits = re.sub(r"\D", "", shown)
    tail = before[-len(shown) - 40 :]
    if not bare or bare in tail or (target.lower().startswith("tel:") and digits in re.sub(r"\D", "", tail)):
        return ""
    return f" ({shown})"


def _is_data(table: LexborNode) -> bool:
    """True for a table of data; False for one that only lays out a page: it holds tables, headings or says so itself."""
    return table.attributes.get("role") != "presentation" and table.css_first("table table, h1, h2, h3") is None


def _children(node: LexborNode) -> list[LexborNode]:
    found = []
    child = node.child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def _rows(table: LexborNode) -> list[tuple[LexborNode, bool]]:
    found = []
    for child in _children(table):
        if child.tag == "tr":
            found.append((child, False))
        elif child.tag in ("thead", "tbody", "tfoot"):
            found += [(row, child.tag == "thead") for row in _children(child) if row.tag == "tr"]
    return found


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() and len(value) < 6 else 1


def _fill(line: list[str], reach: dict[int, tuple[int, str]]) -> None:
    while len(line) in reach:
        left, text = reach.pop(len(line))
        if left > 1:
            reach[len(line)] = (left - 1, text)
        line.append(text)
