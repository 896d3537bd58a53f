"""Detection of text in HTML that a browser would not show, where instructions to a machine are hidden from the people who review."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

_STYLE = re.compile(
    r"""(?:^|[;{\s])(?:
      display\s*:\s*none
    | visibility\s*:\s*(?:hidden|collapse)
    | content-visibility\s*:\s*hidden
    | opacity\s*:\s*0*(?:\.0+)?%?\s*(?:$|[;!}])
    | font-size\s*:\s*(?:0*(?:\.\d+)?|1)(?:px|pt|em|rem|%|vw|vh)?\s*(?:$|[;!}])
    | (?:-webkit-text-fill-)?color\s*:\s*transparent
    | text-indent\s*:\s*-\d{3,}
    | (?:left|top|right|bottom|margin-left|margin-top)\s*:\s*-\d{4,}
    | clip\s*:\s*rect\(\s*(?:0(?:px)?|1px)[\s,]
    | clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)
    | transform\s*:\s*scale\(\s*0\s*\)
    | mso-hide\s*:\s*all
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_SIZE = re.compile(r"(?:^|[;\s])(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:$|;)", re.IGNORECASE)
_CUT_OFF = re.compile(r"(?:^|[;\s])overflow\s*:\s*(?:hidden|clip)", re.IGNORECASE)
_COLOR = re.compile(r"(?:^|[;\s])color\s*:\s*([^;!]+)", re.IGNORECASE)
_GROUND = re.compile(r"(?:^|[;\s])background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"(?<![^{}@;])([^{}@;]+)\{([^{}]*)\}")
_AT_BLOCK = re.compile(r"@(?:media|supports|font-face|keyframes|page|layer)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_SAME = {"#ffffff": "white", "#fff": "white", "#000000": "black", "#000": "black", "rgb(255,255,255)": "white"}


def is_hidden(node: LexborNode) -> bool:
    """True if the element's own attributes hide it: hidden, aria-hidden, or an inline style."""
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true":
        return True
    if (attributes.get("role") or "").lower() == "navigation":
        return True
    style = attributes.get("style")
    return style is not None and style_hides(style)


def style_hides(style: str) -> bool:
    """True if these CSS declarations make an element invisible to a person."""
    if _STYLE.search(style) or (_CUT_OFF.search(style) and _NO_SIZE.search(style)):
        return True
    color, ground = _COLOR.search(style), _GROUND.search(style)
    return bool(color and ground and _plain(color.group(1)) == _plain(ground.group(1)))


def hidden_by_rules(tree: LexborHTMLParser) -> frozenset[int]:
    """`mem_id` of every element that a rule of the page's own <style> hides (rules inside @media are left aside)."""
    found: set[int] = set()
    for sheet in tree.css("style"):
        rules = _AT_BLOCK.sub("", _COMMENT.sub("", sheet.text() or ""))
        for selector, declarations in _RULE.findall(rules):
            if style_hides(declarations):
                found |= _matching(tree, selector)
    return frozenset(found)


def _matching(tree: LexborHTMLParser, selector: str) -> set[int]:
    found: set[int] = set()
    for part in selector.split(","):
        if part.strip() and "::" not in part:
            try:
                found |= {node.mem_id for node in tree.css(part.strip())}
            except Exception:  # noqa: BLE001, S112  # selectolax raises bare errors for selectors it does not know
                continue
    return found


def _plain(color: str) -> str:
    value = re.sub(r"\s+", "", color).lower()
    return _SAME.get(value, value)
