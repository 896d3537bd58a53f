"""A loopback server that answers like SerpAPI's Google engine, or fails like it, one step of the script per search."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from tests.fakes.faults import Fault, FaultyServer, reply


class SerpApiServer(FaultyServer):
    """Use as `async with SerpApiServer(found(...)) as server`. Past the script every step is `otherwise`, nothing found by default."""

    def __init__(self, *script: Fault, otherwise: Fault | None = None) -> None:
        super().__init__(*script, otherwise=otherwise or nothing_found())

    @property
    def seen(self) -> list[dict[str, Any]]:
        """The queries that were asked, with all their parameters."""
        return [query for _, query in self.bodies]


def organic(n: int, **more: Any) -> dict[str, Any]:
    """An organic result as SerpAPI gives it."""
    return {
        "position": n,
        "title": f"Page {n}",
        "link": f"https://site{n}.example.com/page",
        "displayed_link": f"site{n}.example.com",
        "snippet": f"What page {n} says.",
        **more,
    }


def question(n: int, **more: Any) -> dict[str, Any]:
    """A related question as SerpAPI gives it."""
    return {
        "question": f"Question {n}?",
        "title": f"Answer {n}",
        "link": f"https://answers.example.org/{n}",
        "snippet": f"The answer to question {n}.",
        **more,
    }


def found(*items: dict[str, Any], **more: Any) -> Fault:
    """A page of organic results; other fields, such as `related_questions`, as given."""
    return reply({"search_metadata": {"status": "Success"}, "organic_results": list(items), **more})


def nothing_found() -> Fault:
    return reply(
        {
            "search_metadata": {"status": "Success"},
            "search_information": {"organic_results_state": "Fully empty"},
            "error": "Google hasn't returned any results for this query.",
        }
    )


def error(status: int, message: str = "Something went wrong.", **headers: str) -> Fault:
    return reply({"error": message}, status=status, headers=headers)


def moved(location: str) -> Fault:
    async def step(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": location})

    return step
