"""What ties a sign-in to its browser, and where it may lead."""

from __future__ import annotations

import re

import pytest

from bot.review.signin.flow import HOME, Flow, cookie_name, own_page

KEPT = ("/review", "/review?words=a%20b&before=12", "/review/01JD3ZK8M3Q4R5S6T7V8W9X0YZ", "/review/e1/replay?all")
ELSEWHERE = (
    "",
    "/",
    "/chat",
    "/reviews",
    "//evil.example/review",
    "///evil.example/review",
    "https://evil.example/review",
    "https:/review",
    "/\\evil.example/review",
    "\\\\evil.example",
    "/review\\..\\..",
    "/review/\r\nSet-Cookie: a=b",
    "/review/\t",
    "/review/é",
    "javascript:alert(1)",
    "/review/sign-in?to=/review",
    "/review/signed-in?code=1",
    "/review?token=once",
    "/review/../healthz",
    "/review/x/%2e%2E/../../chat",
    "/review/.",
    "/review/" + "x" * 2_000,
    "http://[",
)


@pytest.mark.parametrize("to", KEPT)
def test_a_page_of_the_desk_is_where_one_goes_on(to: str) -> None:
    assert Flow.of_cookie(Flow.begin(to).cookie).to == to


@pytest.mark.parametrize("to", ELSEWHERE)
def test_nobody_is_sent_elsewhere(to: str) -> None:
    assert own_page(to) == HOME
    assert Flow.of_cookie(Flow("secret", to).cookie if to.isascii() else "secret.x").to == HOME


def test_all_that_travels_is_of_one_secret_and_differs() -> None:
    flow = Flow.begin(HOME)
    again = Flow.of_cookie(flow.cookie)
    made = (flow.state, flow.nonce, flow.verifier)
    assert made == (again.state, again.nonce, again.verifier)
    assert len({flow.secret, *made}) == 4
    assert all(re.fullmatch(r"[\w-]{43}", text) for text in made), "as PKCE wants a verifier"
    assert not set(made) & {Flow.begin(HOME).state, Flow.begin(HOME).nonce}


@pytest.mark.parametrize("cookie", ["", ".", "x", "x.%%%", "x.\ud800", "é.é"])
def test_whatever_a_browser_brings_is_a_flow_that_nobody_knows(cookie: str) -> None:
    flow = Flow.of_cookie(cookie)
    assert flow.to == HOME
    assert not flow.is_of(Flow.begin(HOME).state)
    assert not flow.is_of("\ud800")


def test_each_flow_has_a_cookie_of_its_own() -> None:
    one, two = Flow.begin(HOME), Flow.begin(HOME)
    assert cookie_name(one.state) != cookie_name(two.state)
    assert re.fullmatch(r"attest_sign_in_[0-9a-f]{12}", cookie_name("\r\n;é"))


def test_a_flow_does_not_print_its_secret() -> None:
    flow = Flow.begin(HOME)
    assert flow.secret not in repr(flow)
