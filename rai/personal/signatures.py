"""What stands below somebody's name in a signature: the firm that he works for."""

from __future__ import annotations

import re

from rai.personal.names import SIGNED

_BLOCK = re.compile(
    rf"(?:^|\n)[ \t]*(?i:{SIGNED})[ \t]*+[,.!]?[ \t]*+\n((?:[^\n]{{0,100}}(?:\n|$)){{1,8}})|\n--[ ]?\n((?:[^\n]{{0,100}}(?:\n|$)){{1,8}})"
)
_CAP = r"[A-ZÀ-ÖØ-Þ0-9][\w’'.-]{0,30}"
_COMPANY = re.compile(
    rf"(?<!\w){_CAP}(?:[ \t]+(?:(?:&|und|and|et|y|of|de|für)[ \t]+)?{_CAP}){{0,4}}[ \t]+"
    r"(?:GmbH(?:[ ]&[ ]Co\.?[ ]KG)?|AG|KG|OHG|e\.[ ]?[KV]\.|UG|Ltd\.?|Limited|LLP|LLC|Inc\.?|PLC|plc|Corp\.?|Co\.|SARL|SAS|SA|S\.A\.(?:S\.)?|S\.L\.(?:U\.)?|SL|"
    r"B\.?V\.?|N\.?V\.?|S\.?p\.?A\.?|S\.?r\.?l\.?|Sp\.[ ]z[ ]o\.o\.|Lda\.?|AB|A/S|Oy)(?!\w)"
)


def find_companies(text: str) -> list[tuple[int, int]]:
    """The spans of firms by their legal form, in signatures alone: elsewhere a firm is what is asked about."""
    return [
        match.span()
        for block in _BLOCK.finditer(text)
        for match in _COMPANY.finditer(text, block.start(block.lastindex or 0), block.end(block.lastindex or 0))
    ]
