"""Figures of services, tokens and seams that were gone without, as a scraper reads them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bot.http.metrics import Metrics
from bot.records import Ask, OnStage, Reply
from grounding.errors import ServiceUnavailable
from grounding.observe import ChatCall, observed, record_degraded, rule_failed, watched_by
from grounding.records import Completion
from grounding.services.breaker import Breaker
from grounding.services.remote import Remote
from rai.records import Outcome
from tests.fakes.replies import reply_of

ASK = Ask("What does Watch Plus cost?", user="zebedea@corp.example")


async def scraped(work: Callable[[], Awaitable[None]], *, times: int = 1) -> tuple[Metrics, str]:
    """The text after `work` was done in `times` turns."""
    metrics = Metrics()

    async def answer(_ask: Ask, _on_stage: OnStage | None) -> Reply:
        await work()
        return reply_of(Outcome.ANSWERED, "fine", timings_ms={"total": 1.0})

    for _ in range(times):
        await metrics.watch(answer)(ASK, None)
    return metrics, metrics.text().decode()


def clocked(at: list[float]) -> Breaker:
    return Breaker(failures=1, cooldown_s=30, clock=lambda: at[0])


async def test_calls_of_a_service_are_counted_by_outcome_with_seconds_and_retries() -> None:
    remote, answers = Remote("openai", retries=2, sleep=lambda _s: _nothing()), [True, False, False]

    async def attempt() -> None:
        if not answers.pop():
            raise ServiceUnavailable("openai", "failed")

    async def work() -> None:
        await remote.call(attempt)

    _, text = await scraped(work)
    assert 'attest_remote_calls_total{outcome="ok",service="openai"} 1.0' in text
    assert 'attest_remote_retries_total{service="openai"} 2.0' in text
    assert 'attest_remote_call_seconds_count{service="openai"} 1.0' in text


async def _nothing() -> None:
    """No pause."""


async def test_a_breaker_is_looked_at_when_it_is_asked_for() -> None:
    """Open, then half-open after its cooldown though nobody called; of two breakers each counts."""
    at = [0.0]
    failing, fine = Remote("openai", retries=0, breaker=clocked(at)), Remote("openai", breaker=clocked(at))

    async def refuse() -> None:
        raise ServiceUnavailable("openai", "failed")

    async def work() -> None:
        await fine.call(_nothing)
        with pytest.raises(ServiceUnavailable):
            await failing.call(refuse)

    metrics, text = await scraped(work)
    assert 'attest_remote_breakers{service="openai",state="open"} 1.0' in text
    assert 'attest_remote_breakers{service="openai",state="closed"} 1.0' in text
    at[0] = 31.0
    text = metrics.text().decode()
    assert 'attest_remote_breakers{service="openai",state="open"} 0.0' in text
    assert 'attest_remote_breakers{service="openai",state="half-open"} 1.0' in text


async def test_tokens_are_counted_by_kind_and_model() -> None:
    usage = {"prompt_tokens": 900, "cached_tokens": 512, "completion_tokens": 12, "other": 7}

    async def work() -> None:
        with observed(ChatCall("gpt-test", "compose", 800, "system", "user")) as call:
            call.completion = Completion("text", "gpt-test-2026", usage)

    _, text = await scraped(work, times=2)
    kinds = {"input": 1800.0, "cached": 1024.0, "output": 24.0}
    for kind, count in kinds.items():
        assert f'attest_model_tokens_total{{kind="{kind}",model="gpt-test"}} {count}' in text
    assert text.count("attest_model_tokens_total{") == 3


async def test_a_turn_goes_without_a_seam_once() -> None:
    """However often it was missed in one turn; outside of a turn nothing is counted."""

    async def work() -> None:
        record_degraded("tagger")
        record_degraded("tagger")
        record_degraded("web")

    metrics, text = await scraped(work, times=3)
    assert 'attest_turns_degraded_total{seam="tagger"} 3.0' in text
    assert 'attest_turns_degraded_total{seam="web"} 3.0' in text
    with watched_by(metrics.operation):
        record_degraded("web")
    assert 'attest_turns_degraded_total{seam="web"} 3.0' in metrics.text().decode()


async def test_rules_that_raise_are_counted_by_their_line() -> None:
    async def work() -> None:
        rule_failed("KeyError at rai/claims/x.py:1")

    _, text = await scraped(work, times=2)
    assert 'attest_rules_failed_total{rule="KeyError at rai/claims/x.py:1"} 2.0' in text


async def test_no_label_holds_a_person_or_a_question() -> None:
    async def work() -> None:
        with observed(ChatCall("gpt-test", "compose", 800, ASK.question, "zebedea")) as call:
            call.completion = Completion(ASK.question, "zebedea", {"prompt_tokens": 1})

    _, text = await scraped(work)
    assert not [word for word in ("Watch Plus", "zebedea") if word in text]


async def test_every_series_tells_what_it_is() -> None:
    """HELP for each; names end in their unit."""
    text = Metrics().text().decode()
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    helped = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP") and len(line.split()) > 4}
    assert names == helped
    assert all(name.startswith("attest_") for name in names)
