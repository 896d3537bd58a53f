"""Access rights as OData filters of Azure AI Search. What a service filters by is text, so every name in it is escaped, and nobody's name
is a pattern.

A document for everyone carries EVERYONE among its groups; one for groups carries `g:` and the name of each; one for nobody carries none, as
does a document whose field was never filled: neither is found by anyone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from grounding.records import Access

EVERYONE = "*"
OURS, STATE = "attest", "state"
"""What wrote a document of the index: `attest ingest`, or the one document that says how far it got."""
_DELIMITER = "|"
_UNSAFE = re.compile(r"[%|\x00-\x1f\x7f]")


def group_field(groups: tuple[str, ...] | None) -> list[str]:
    """Value of the field `groups` for a document that these groups may read: None is everyone, () is nobody."""
    return [EVERYONE] if groups is None else [f"g:{_encoded(g)}" for g in groups]


def readable(access: Access, *, others: bool = False) -> str:
    """Filter expression for the documents that `access` may read; `others`: also those that an indexer put into the index beside ours."""
    names = [EVERYONE, *(f"g:{_encoded(g)}" for g in sorted(access.groups))]
    clauses = [f"groups/any(g: search.in(g, {literal(_DELIMITER.join(names))}, {literal(_DELIMITER)}))"]
    if access.product is not None:
        clauses.append(f"(product eq null or product eq {literal(access.product)})")
    clauses.append(f"source ne {literal(STATE)}" if others else f"source eq {literal(OURS)}")
    return " and ".join(clauses)


def after(key: str, doc_id: str | None = None) -> str:
    """Filter expression for our own passages whose key comes after `key`, of all documents or of one."""
    of_one = "" if doc_id is None else f" and doc_id eq {literal(doc_id)}"
    return f"source eq {literal(OURS)} and chunk_id gt {literal(key)}{of_one}"


def among(field: str, values: Iterable[str]) -> str:
    """Filter expression for documents whose `field` is one of `values`; a value that holds the delimiter is left out."""
    listed = _DELIMITER.join(value for value in values if _DELIMITER not in value)
    return f"search.in({field}, {literal(listed)}, {literal(_DELIMITER)})"


def literal(text: str) -> str:
    """`text` as an OData string literal (OData 4.01, 5.1.1.14: a quote is doubled)."""
    return "'" + text.replace("'", "''") + "'"


def _encoded(name: str) -> str:
    """A group name with the delimiter escaped: it would cut one group into two, and the second may be anybody's."""
    return _UNSAFE.sub(lambda m: f"%{ord(m.group()):02X}", name)
