"""The tables of `bot.state` in PostgreSQL, made by its owner."""

from __future__ import annotations

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable

_PLACE = "channel conversation activity"
_KEY = """
    channel text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    activity text COLLATE "C" NOT NULL,"""
_REWRITE = """
BEGIN
    -- the tables anew, without what was deleted from them
    ALTER TABLE inbox ALTER COLUMN body TYPE text USING body || '';
    ALTER TABLE turns ALTER COLUMN text TYPE text USING text || '';
    ALTER TABLE undelivered ALTER COLUMN body TYPE text USING body || '';
    ALTER TABLE sent ALTER COLUMN entry_id TYPE text COLLATE "C" USING entry_id || '';
END
"""
_REWRITE_SESSIONS_TOO = _REWRITE.replace(
    "END\n", "    ALTER TABLE review_sessions ALTER COLUMN name TYPE text USING name || '';\nEND\n"
)
"""No erasure deletes a session, but one that ended leaves a name in the table's file, and so few end that the server may never tidy up there."""


def _function(create: str, body: str) -> str:
    return f"{create} FUNCTION attest_rewrite_state() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '2s' SET search_path = {{schema}}, pg_temp AS $of${body}$of$"


PART = SchemaPart(
    "state",
    (
        Step(
            (
                f"""
CREATE TABLE inbox ({_KEY}
    status text COLLATE "C" NOT NULL,
    attempts integer NOT NULL,
    lease_until double precision NOT NULL,
    received_at double precision NOT NULL,
    body text,
    PRIMARY KEY (channel, conversation, activity))""",
                "CREATE INDEX inbox_unfinished ON inbox (received_at) WHERE status = 'received'",
                "CREATE INDEX inbox_received_at ON inbox (received_at)",
                """
CREATE TABLE turns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    text text NOT NULL,
    at double precision NOT NULL,
    activity text COLLATE "C")""",
                "CREATE INDEX turns_of_conversation ON turns (channel, conversation, id)",
                "CREATE INDEX turns_at ON turns (at)",
                f"""
CREATE TABLE sent ({_KEY}
    entry_id text COLLATE "C" NOT NULL,
    at double precision NOT NULL,
    PRIMARY KEY (channel, conversation, activity))""",
                "CREATE INDEX sent_at ON sent (at)",
                f"""
CREATE TABLE undelivered (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,{_KEY}
    body text NOT NULL,
    since double precision NOT NULL,
    due double precision NOT NULL,
    tries integer NOT NULL)""",
                "CREATE INDEX undelivered_of_conversation ON undelivered (channel, conversation, id)",
                'CREATE TABLE sweeps (name text COLLATE "C" PRIMARY KEY, at double precision NOT NULL)',
                # no samples of what people wrote: they would keep it in the catalogue when the row is gone
                "ALTER TABLE inbox ALTER COLUMN body SET STATISTICS 0",
                "ALTER TABLE turns ALTER COLUMN text SET STATISTICS 0",
                "ALTER TABLE undelivered ALTER COLUMN body SET STATISTICS 0",
                _function("CREATE", _REWRITE),
                "REVOKE ALL ON FUNCTION attest_rewrite_state FROM PUBLIC",
            ),
            oldest=1,
        ),
        Step(
            (
                """
CREATE TABLE review_passes (
    hash text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    until double precision NOT NULL)""",
                "CREATE INDEX review_passes_of_kind ON review_passes (kind, until)",
                "CREATE INDEX review_passes_until ON review_passes (until)",
                """
CREATE TABLE review_sessions (
    hash text COLLATE "C" PRIMARY KEY,
    door text COLLATE "C" NOT NULL,
    role integer NOT NULL,
    "user" text COLLATE "C",
    name text,
    tenant text COLLATE "C",
    begun double precision NOT NULL,
    used double precision NOT NULL,
    idle double precision NOT NULL,
    until double precision NOT NULL)""",
                "CREATE INDEX review_sessions_until ON review_sessions (until)",
                # no samples of who signed in, likewise
                *(
                    f"ALTER TABLE review_sessions ALTER COLUMN {column} SET STATISTICS 0"
                    for column in ('"user"', "name", "tenant")
                ),
                _function("CREATE OR REPLACE", _REWRITE_SESSIONS_TOO),
            ),
            oldest=1,
        ),
        Step(
            (
                "ALTER TABLE inbox ADD COLUMN deaths integer NOT NULL DEFAULT 0",
                "ALTER TABLE inbox ADD COLUMN begun integer NOT NULL DEFAULT 0",
            ),
            oldest=1,
        ),
        Step(('ALTER TABLE sent ADD COLUMN asked text COLLATE "C"',), oldest=1),
    ),
    rights=(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON inbox, turns, sent, undelivered, sweeps TO {worker}",
        "GRANT SELECT, INSERT, DELETE ON review_passes, review_sessions TO {worker}",
        "GRANT UPDATE (used) ON review_sessions TO {worker}",
        "GRANT EXECUTE ON FUNCTION attest_rewrite_state TO {worker}",
    ),
    tables=(
        KeptTable("inbox", f"{_PLACE} status attempts deaths begun lease_until received_at body", _PLACE),
        KeptTable("turns", "id channel conversation role text at activity", "id", numbered="id"),
        KeptTable("sent", f"{_PLACE} entry_id at asked", _PLACE),
        KeptTable("undelivered", f"id {_PLACE} body since due tries", "id", numbered="id"),
        KeptTable("sweeps", "name at", "name"),
        KeptTable("review_passes", "hash kind until", "hash"),
        KeptTable("review_sessions", "hash door role user name tenant begun used idle until", "hash"),
    ),
)
"""Inbox, what was said, what was sent and what could not be, when recurring work was last begun, and the reviewers' links, sign-ins and sessions."""

WORKERS = SchemaPart(
    "workers",
    (
        Step(
            (
                # unlogged: nothing of them is worth a write of the server's log, or outlives a server that stops
                """
CREATE UNLOGGED TABLE leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    said text)""",
                """
CREATE UNLOGGED TABLE workers (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    seen double precision NOT NULL,
    pool integer NOT NULL,
    configuration text NOT NULL)""",
                """
CREATE UNLOGGED TABLE rates (
    caller text COLLATE "C" PRIMARY KEY,
    full_at double precision NOT NULL)""",
                "CREATE INDEX rates_full_at ON rates (full_at)",
            ),
            oldest=1,
        ),
    ),
    rights=("GRANT SELECT, INSERT, UPDATE, DELETE ON leases, workers, rates TO {worker}",),
)
"""Who serves and does what for all, and how much each caller has asked."""
