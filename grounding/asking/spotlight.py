"""Quoted data in prompts: between markers that nobody who wrote the data could know.

Spotlighting by delimiters (Hines et al., arXiv 2403.14720), with a marker that is drawn for each turn. Its other two
forms, a sign between all words and an encoding, would spoil what is to be copied to the character. Markers help a model
to tell data from instructions and force it to nothing: data is screened before it is quoted, answers are checked.
"""

from __future__ import annotations

import re
import secrets

MARKER_LINE = re.compile(r"<<<[0-9a-f]{16}|[0-9a-f]{16}>>>")
"""A line that opens or closes a quotation; it has room for nothing else."""
_OPENERS = re.compile(r"[<＜﹤]{3,}")
_CLOSERS = re.compile(r"[>＞﹥]{3,}")


def new_marker() -> str:
    """16 hexadecimal digits, 64 random bits: one for a turn, kept with its prompt."""
    return secrets.token_hex(8)


def block(text: str, marker: str) -> str:
    """`text` as quoted data, on lines of its own between `<<<marker` and `marker>>>`."""
    return f"<<<{marker}\n{quoted(text, marker)}\n{marker}>>>"


def quoted(text: str, marker: str) -> str:
    """`text` that can neither open nor close a quotation: angle brackets from three on become ‹‹‹ and ›››, the marker goes."""
    text = _OPENERS.sub(lambda m: "‹" * len(m.group()), text)
    text = _CLOSERS.sub(lambda m: "›" * len(m.group()), text)
    return re.sub(re.escape(marker), "…", text, flags=re.IGNORECASE) if marker else text
