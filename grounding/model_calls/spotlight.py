"""Delimiters around untrusted data in prompts, so that a model can tell data from instructions (spotlighting).

Spotlighting by delimiters (Hines et al., arXiv 2403.14720), with a marker drawn at random for each turn, which nobody who wrote the data
can know. Its other two forms, a sign between all words and an encoding, would spoil what is to be copied to the character. Delimiters force
a model to nothing: data is screened before it is quoted, and answers are checked.
"""

from __future__ import annotations

import re
import secrets

MARKER_LINE = re.compile(r"<<<[0-9a-f]{16}|[0-9a-f]{16}>>>")
"""A line that opens or closes a quotation; it has room for nothing else."""
_OPENERS = re.compile(r"[<＜﹤]{3,}")
_CLOSERS = re.compile(r"[>＞﹥]{3,}")


def new_marker() -> str:
    """A random marker of 16 hexadecimal digits (64 bits), for the delimiters of one turn; kept with its prompt."""
    return secrets.token_hex(8)


def block(text: str, marker: str) -> str:
    """`text` as delimited data, on lines of its own between `<<<marker` and `marker>>>`."""
    return f"<<<{marker}\n{quoted(text, marker)}\n{marker}>>>"


def quoted(text: str, marker: str) -> str:
    """`text` made unable to open or close a delimited block: runs of three or more angle brackets become ‹‹‹ and ›››, and `marker` is
    removed.
    """
    text = _OPENERS.sub(lambda m: "‹" * len(m.group()), text)
    text = _CLOSERS.sub(lambda m: "›" * len(m.group()), text)
    return re.sub(re.escape(marker), "…", text, flags=re.IGNORECASE) if marker else text
