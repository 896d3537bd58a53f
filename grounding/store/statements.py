"""Statements of the store that are plain SQL: each search or each vector waits for them."""

from __future__ import annotations

import sqlalchemy as sa

VECTOR_ROWS = """
    SELECT c.pk, d.groups, d.product, v.vector FROM {among}
    CROSS JOIN documents d ON d.doc_id = c.doc_id AND d.live
    CROSS JOIN vectors v ON v.chunk_id = c.chunk_id AND v.fingerprint = :f
    ORDER BY c.pk"""
CHANGED = "(SELECT DISTINCT pk FROM changes WHERE seq > :after AND seq <= :until AND NOT gone) j CROSS JOIN chunks c ON c.pk = j.pk"
ROWS_BY_PK = """
    SELECT c.pk, c.chunk_id, c.doc_id, c.start, c."end", c.text, c.tokens, c.locator,
        d.title, d.url, d.groups, d.product, d.internal, d.updated, d.version
    FROM json_each(?) j CROSS JOIN chunks c ON c.pk = j.value JOIN documents d ON d.doc_id = c.doc_id AND d.live"""
HAVE_VECTORS = sa.text(
    "INSERT INTO changes (pk, gone) SELECT pk, 0 FROM chunks c WHERE pk >= :first "
    "AND EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id)"
)
HAS_A_VECTOR = sa.text("INSERT INTO changes (pk, gone) SELECT pk, 0 FROM chunks WHERE chunk_id = :c")
