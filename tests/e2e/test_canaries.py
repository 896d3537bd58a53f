"""Planted personal data leaves in no request and stays in no log, error, note or ledger entry."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.compose.system import compose
from bot.observability.logs import log_to
from bot.records import Ask, Reply
from bot.server.app import build_app
from bot.settings.load import SAMPLE, load_settings
from bot.turn.pipeline import answer_turn
from grounding.embedded.vectors.embedder import MiniLM
from grounding.policy import Policy
from grounding.ports import WebSearch
from grounding.records import Document, Role, Turn, WebResult
from grounding.services.remote import Remote
from grounding.web.sample import SamplePages
from grounding.web.serpapi_search import SerpApiSearch
from rai.ledger.store import SqlLedger
from rai.personal.redact import MASK
from rai.ports import Ledger
from tests.e2e.support import ScriptedGrader, World, world
from tests.fakes.faults import echoed
from tests.fakes.language_server import LanguageServer
from tests.fakes.openai_server import OpenAIServer, ok
from tests.fakes.openai_server import reply as replying
from tests.fakes.otlp_server import OtlpServer
from tests.fakes.serpapi_server import SerpApiServer, error, found, organic
from tests.knowledge_base import take_in_page
from tests.tables import Tables

TABLES = Tables(__file__)

PAGE = (
    "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n\n# Support\n\n"
    "Call 020 7946 0018 for help with a Watch plan.\n"
)
ASKED = "What does Watch Plus cost a month?"


@dataclass(frozen=True, slots=True)
class Planted:
    """A conversation and what of it may be seen nowhere."""

    ask: Ask
    secrets: tuple[str, ...]


def planted(*secrets: str, question: str = ASKED, history: Iterable[Turn] = (), context: str | None = None) -> Planted:
    return Planted(Ask(question, tuple(history), context), secrets)


TABLE = [
    planted("zebedea.q@mail.example", question=f"I am zebedea.q@mail.example. {ASKED}"),
    planted("4155552671", question=f"Ring me on (415) 555-2671. {ASKED}"),
    planted("4111111111111111", question=f"I paid with 4111 1111 1111 1111. {ASKED}"),
    planted("DE89370400440532013000", history=[Turn("customer", "My IBAN is DE89 3704 0044 0532 0130 00.")]),
    planted("ORD7788123", history=[Turn("customer", "Order number ORD-7788123 is late.")]),
    planted(
        "zebedea",
        "quillfeather",
        context="Customer: Zebedea Quillfeather",
        question=f"Zebedea asks: {ASKED} Quillfeather's plan is Basic.",
    ),
    planted(
        "4471123", context="Kundin: Zebedea Quillfeather\nKundennummer: 4471123", question=f"4471123 fragt: {ASKED}"
    ),
    planted("zebedea", question=f"Hi, this is Zebedea. {ASKED}"),
    planted(
        "zebedea",
        history=[
            Turn("agent", "Hello Zebedea, how may I help you?"),
            Turn("customer", "zebedea here, it is about Watch Plus."),
        ],
    ),
    planted(
        "quillfeather",
        history=[Turn("agent", "Dear Mr Quillfeather, thanks for waiting.")],
        question=f"{ASKED} Sincerely, QUILLFEATHER",
    ),
    planted("quillfeather", question=f"{ASKED}\nKind regards,\nZebedea Quillfeather"),
    planted(
        "99812345", history=[Turn("customer", "mon numéro de commande est 998 123 45")], question=f"99812345: {ASKED}"
    ),
    planted("zebedea", history=[Turn("customer", "Me llamo Zebedea.")], question=f"Zebedea: {ASKED}"),
    planted("evergreenterrace", question=f"I live at 742 Evergreen Terrace, Springfield, IL 62704. {ASKED}"),
    planted("12march1985", question=f"I was born on 12 March 1985. {ASKED}"),
]


def plain(text: str) -> str:
    return re.sub(r"[\s()./\\–-]", "", text).casefold()


def leaks(case: Planted, *sinks: object) -> list[str]:
    said = plain(json.dumps(sinks, ensure_ascii=False, default=str))
    return [secret for secret in case.secrets if plain(secret) in said]


async def recorded(ledger: Ledger, reply: Reply) -> object:
    entry = await ledger.get(reply.entry_id)
    assert entry is not None
    return entry.body


@pytest.mark.row("4-25")
async def test_models_and_ledger_see_no_personal_data(
    tmp_path: Path, model_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Composer, judge and AI Language on loopback, with placeholders: what came in is in no request, log or entry, and in the answer."""
    caplog.set_level(logging.DEBUG)
    async with OpenAIServer() as server, LanguageServer({"Watch Plus": ("Product", None)}) as language:
        settings = load_settings(
            home=tmp_path / "home",
            ledger_key_file=tmp_path / "config" / "ledger.key",
            model_file=model_file,
            generator="openai",
            openai_base_url=server.base_url,
            openai_api_key="sk-canary-0815",
            statement_judge="model",
            pseudonyms="on",
            language_endpoint=language.endpoint,
            language_key="lang-canary-4711",
            retries=0,
        )
        await take_in_page(settings, tmp_path / "kb", PAGE)
        system = await compose(settings)
        try:
            for case in TABLE:
                server.seen.clear()
                language.seen.clear()
                server.script[:] = [
                    ok("Dear [PERSON_1], Watch Plus costs $9.99 a month [1]. Such is life."),
                    ok("1: 0.9\n2: 0.1"),
                ]
                reply = await system.answer(case.ask, None)
                assert server.seen, f"no model was asked: {case.ask.question}, {reply.outcome}"
                assert leaks(case, [seen.body for seen in server.seen], language.seen) == []
                assert leaks(case, await recorded(system.ledger, reply), reply.record.notes, caplog.text) == []
                assert "$9.99" in reply.answer
            server.script[:] = [replying({"error": {"message": "no"}}, status=500)]
            reply = await system.answer(TABLE[0].ask, None)
            assert leaks(TABLE[0], reply.record.notes, reply.answer, caplog.text) == []
        finally:
            await system.close()
    exported = [line async for line in _export(settings.files.home / "ledger.db", settings.files.ledger_key)]
    assert exported
    for case in TABLE:
        assert leaks(case, exported) == []
    assert "canary" not in caplog.text + "".join(exported)


async def _export(path: Path, key: Path):  # type: ignore[no-untyped-def]  # an async generator over the ledger's lines
    ledger = SqlLedger(path, key)
    async for line in ledger.export():
        yield line
    await ledger.close()


async def test_the_answer_names_whom_it_speaks_to(tmp_path: Path, minilm: MiniLM, model_file: Path) -> None:
    """What the model writes as a placeholder reaches the human agent as the name, and a number of the evidence stays readable."""
    async with OpenAIServer(ok("[PERSON_2], Watch help is on 020 7946 0018 [1].")) as server:
        settings = load_settings(
            home=tmp_path / "home",
            ledger_key_file=tmp_path / "config" / "ledger.key",
            model_file=model_file,
            generator="openai",
            openai_base_url=server.base_url,
            pseudonyms="on",
            statement_judge="off",
        )
        await take_in_page(settings, tmp_path / "kb", PAGE)
        system = await compose(settings)
        question = "Zebedea asks: is 020 7946 0018 the number for help with a Watch plan? Mine is 020 7946 0999."
        reply = await system.answer(Ask(question, context="Customer: Zebedea Quillfeather"), None)
        await system.close()
    (seen,) = server.seen
    sent = json.dumps(seen.body)
    assert "Zebedea" not in sent
    assert "0999" not in sent
    assert sent.count("020 7946 0018") == 2
    assert "Zebedea" in reply.answer
    assert "020 7946 0018" in reply.answer


class Recorder:
    """Passes searches on and remembers them."""

    name = "recorder"

    def __init__(self, inner: WebSearch) -> None:
        self._inner = inner
        self.queries: list[str] = []

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        self.queries.append(query)
        return await self._inner.search(query, k)


@pytest.mark.row("4-25")
@pytest.mark.parametrize("provider", ["serpapi", "failing serpapi", "sample"])
async def test_the_web_is_asked_without_personal_data(
    provider: str, tmp_path: Path, minilm: MiniLM, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the conversation holds, its query goes out clean, and keeps what is asked; nothing is logged either."""
    caplog.set_level(logging.DEBUG)
    page = Document("plans.md", "Watch plans", "Basic covers 1 camera.")
    answer = found(organic(1, title="Watch plans", snippet="Watch Plus costs $9.99 a month."))
    async with SerpApiServer(otherwise=error(500, "boom") if "failing" in provider else answer) as server:
        remote = Remote("serpapi", deadline_s=5, retries=0)
        serpapi = SerpApiSearch("serp-canary-99", remote, base_domain=server.root)
        web = Recorder(SamplePages(SAMPLE / "web" / "pages.jsonl") if provider == "sample" else serpapi)
        w = await world(tmp_path, [page], minilm, grader=ScriptedGrader({}), web=web)
        for case in TABLE:
            ask = replace(case.ask, question=case.ask.question)
            reply = await answer_turn(ask, w.seams, Policy())
            assert (
                leaks(case, web.queries, server.seen, reply.record.notes, await recorded(w.ledger, reply), caplog.text)
                == []
            )
            assert "Watch Plus" in web.queries[-1]
            assert MASK not in web.queries[-1]
        assert len(web.queries) == len(TABLE)
        await serpapi.aclose()
    assert "canary" not in "".join(
        r.getMessage() for r in caplog.records if r.name != "aiohttp.access"
    )  # the stub's own log


WORDS = ("Watch Plus", "cost a month", "$9.99", "5 cameras", "Such is life", "plans.md", "secret words")
"""Of questions, passages, drafts, documents and services' own words; no span, figure or log line has one."""
KEYS = {"openai_api_key": "sk-canary-0815", "language_key": "lang-canary-4711", "serpapi_key": "serp-canary-99"}


@pytest.mark.row("4-25")
@pytest.mark.parametrize("form", ["json", "text"])
async def test_traces_metrics_and_log_hold_ids_and_figures_only(form: str, tmp_path: Path) -> None:
    """Everything at debug level, the services answering first and then failing with the sent text in their errors."""
    log = io.StringIO()
    with OtlpServer() as collector:
        async with OpenAIServer() as model, LanguageServer({"Watch Plus": ("Product", None)}) as language:
            settings = load_settings(
                home=tmp_path / "home",
                ledger_key_file=tmp_path / "config" / "ledger.key",
                generator="openai",
                openai_base_url=model.base_url,
                statement_judge="model",
                language_endpoint=language.endpoint,
                retries=1,
                log_level="debug",
                log_format=form,
                traces="otlp",
                traces_endpoint=collector.endpoint,
                rate_per_minute=1000,
                **KEYS,
            )
            log_to(log, settings, settings.log.level, times=True)
            await take_in_page(settings, tmp_path / "kb", PAGE, lexical_only=True)
            system = await compose(settings)
            async with TestClient(TestServer(build_app(system))) as client:
                ended = {
                    failing: {await _asked_over_http(client, case, model, language, failing) for case in TABLE}
                    for failing in ("none", "language", "model")
                }
                figures = await (await client.get("/metrics")).text()
            await system.close()
    said = log.getvalue()
    assert ended["none"] | ended["language"] <= {"answered", "repaired"}
    assert ended["model"] == {"failed"}
    assert len(collector.named("invoke_agent attest")) == 3 * len(TABLE)
    assert "attest_remote_calls_total" in figures
    assert said.count("attest.turn") == 3 * len(TABLE)
    for case in TABLE:
        assert leaks(case, collector.text, figures, said) == []
    told = f"{collector.text}\n{figures}\n{said}"
    assert [word for word in (*WORDS, *KEYS.values(), "canary") if word in told] == []


async def _asked_over_http(
    client: TestClient[web.Request, web.Application],
    case: Planted,
    model: OpenAIServer,
    language: LanguageServer,
    failing: str,
) -> str:
    """How the case ended."""
    history = [{"role": turn.role, "text": turn.text} for turn in case.ask.history]
    context = {"context": case.ask.context} if case.ask.context else {}
    broken = replying({"error": {"message": f"secret words: {case.ask.question}"}}, status=500)
    drafted = [ok("Watch Plus costs $9.99 a month [1]. Such is life."), ok("1: 0.9\n2: 0.1")]
    model.script[:] = [broken] * 4 if failing == "model" else drafted
    language.script[:] = [echoed(500)] * 20 if failing == "language" else []
    reply = await client.post("/api/ask", json={"question": case.ask.question, "history": history, **context})
    return str((await reply.json())["outcome"])


PAGES = [
    Document(
        "plans.md", "Watch plans", "Watch Plus costs $9.99 a month and covers 5 cameras. Watch Basic covers 1 camera."
    ),
    Document("payment.md", "Payment", "Cards, bank accounts and vouchers pay for Watch Plus. A refund takes 5 days."),
    Document(
        "account.md", "Your account", "Reset a password by the link in the app. Codes for the log-in come as a text."
    ),
]
"""What the turns of the table find; its texts hold nothing of theirs."""


MADE = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{16,64}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
"""Ids, digests and times, which the program makes: three digits of a code may stand in one by chance."""


def strings(value: object) -> list[str]:
    """Every string of an entry but ids and those of its evidence, which is the company's."""
    if isinstance(value, str):
        return [] if MADE.fullmatch(value) else [value]
    if isinstance(value, dict):
        return [text for key, inner in value.items() if key != "evidence" for text in strings(inner)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in strings(inner)]
    return []


async def spoken(
    w: World, question: str, history: list[tuple[Role, str]] | None, context: str | None
) -> dict[str, object]:
    """The entry of a turn of the table."""
    turns = tuple(Turn(role, text) for role, text in history or ())
    body = await recorded(w.ledger, await answer_turn(Ask(question, turns, context), w.seams, Policy()))
    assert isinstance(body, dict)
    return body


@pytest.mark.row("4-25")
async def test_what_people_write_of_themselves_stays_in_no_entry(tmp_path: Path, minilm: MiniLM) -> None:
    """Each row through a turn: what is personal is in no string of its entry, derived ones included, and the rest is there as it was written."""
    w = await world(tmp_path, PAGES, minilm)
    left: dict[str, list[str]] = {}
    gone: dict[str, list[str]] = {}
    for row in TABLES.tables["canaries"]:
        entry = await spoken(w, row["question"], row.get("history"), row.get("context"))
        texts = strings(entry)
        told = "\0".join(strings(entry["ask"]))
        if found := [s for s in row["masked"] if any(plain(s) in plain(text) for text in texts)]:
            left[row["id"]] = found
        if lost := [s for s in row["stays"] if s not in told]:
            gone[row["id"]] = lost
    assert (left, gone) == ({}, {})


def test_the_table_has_at_least_as_many_kinds_as_were_promised() -> None:
    assert len(TABLES.tables["canaries"]) >= 33
    assert all(row["masked"] and row["stays"] for row in TABLES.tables["canaries"])


@pytest.mark.row("4-25")
async def test_what_rules_do_not_know_is_known_to_be_left(tmp_path: Path, minilm: MiniLM) -> None:
    """The rows that docs/privacy.md counts as left are those that leave something, and none loses what should stay."""
    w = await world(tmp_path, PAGES, minilm)
    for row in TABLES.tables["unseen"]:
        entry = await spoken(w, row["question"], row.get("history"), row.get("context"))
        left = [s for s in row["masked"] if any(plain(s) in plain(text) for text in strings(entry))]
        assert bool(left) == row["left"], (row["id"], left)
        assert [s for s in row["stays"] if s not in "\0".join(strings(entry["ask"]))] == []
