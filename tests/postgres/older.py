"""An older state of a test's database: a copy of its tables, and those put back as they were, as a restored dump has them."""

from __future__ import annotations

from tests.postgres.faults import run


def taken(url: str) -> None:
    """Copies every table aside."""
    run(url, *(f'CREATE TABLE kept_{name} AS TABLE "{name}"' for name in _tables(url)))


def put_back(url: str) -> None:
    """Has every table hold what it held when it was taken."""
    for name in _tables(url):
        columns = run(
            url,
            f"SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns "
            f"WHERE table_schema = current_schema() AND table_name = '{name}'",
        )[0][0]
        guards = run(
            url, f"SELECT tgname FROM pg_trigger WHERE tgrelid = CAST('{name}' AS regclass) AND NOT tgisinternal"
        )
        run(
            url,
            f'ALTER TABLE "{name}" DISABLE TRIGGER ALL',
            f'TRUNCATE "{name}"',
            f'INSERT INTO "{name}" ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM kept_{name}',
            f'ALTER TABLE "{name}" ENABLE TRIGGER ALL',
            *(f'ALTER TABLE "{name}" ENABLE ALWAYS TRIGGER {guard}' for (guard,) in guards),
            f"DROP TABLE kept_{name}",
        )


def _tables(url: str) -> list[str]:
    found = run(
        url,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name NOT LIKE 'kept_%' ORDER BY 1",
    )
    return [name for (name,) in found]
