"""The running servers of the HTTP tests, for pages that a link opens."""

from tests.bot.http.conftest import client, fake, served, shared

__all__ = ["client", "fake", "served", "shared"]
