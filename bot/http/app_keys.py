"""What the application carries: typed keys, so that a handler never looks something up by a bare string."""

from __future__ import annotations

from aiohttp import web

from bot.http.metrics import Metrics
from bot.http.rate_limit import Limits
from bot.http.source_links import SourceLinks
from bot.records import Answer
from bot.state import State
from bot.system import System
from bot.turn.entries.delivery import Deliveries

SYSTEM = web.AppKey("attest_system", System)
METRICS = web.AppKey("attest_metrics", Metrics)
LIMITER = web.AppKey("attest_limiter", Limits)
SHARED = web.AppKey("attest_shared_state", State)
"""What processes that serve have in common, beside what turns are made of; open while the application runs."""
LINKS = web.AppKey("attest_links", SourceLinks)
DELIVERIES = web.AppKey("attest_deliveries", Deliveries)
ANSWER: web.AppKey[Answer] = web.AppKey("attest_answer")
"""`System.answer` with its figures taken: what every channel of this process should call."""
