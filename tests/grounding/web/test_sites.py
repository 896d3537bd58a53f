"""Allow and deny lists: what an address must not get past, however it is dressed."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from grounding.errors import SettingsError
from grounding.records import WebResult
from grounding.web.sites import FilteredSearch, Sites, host_of
from tests.tables import Tables

TABLES = Tables(__file__)

ALLOWED = Sites(allow=["example.com", "bücher.de"], deny=["bad.example.com"])


@pytest.mark.row("2-24")
@pytest.mark.parametrize(
    ("url", "tier"),
    [
        ("https://example.com", "trusted"),
        ("http://example.com/a?b#c", "trusted"),
        ("https://www.example.com/", "trusted"),
        ("https://a.b.example.com/", "trusted"),
        ("HTTPS://EXAMPLE.COM/", "trusted"),
        ("https://example.com./", "trusted"),
        ("https://example.com:443/", "trusted"),
        ("https://example.com:/", "trusted"),
        ("https://ｅｘａｍｐｌｅ．com/", "trusted"),
        ("https://bücher.de/", "trusted"),
        ("https://BÜCHER.de/", "trusted"),
        ("https://xn--bcher-kva.de/", "trusted"),
        ("https://example.com/@evil.test", "trusted"),
        ("https://bad.example.com/", "denied"),
        ("https://BAD.example.com./", "denied"),
        ("https://very.bad.example.com/", "denied"),
        ("https://notexample.com/", "denied"),
        ("https://example.com.evil.test/", "denied"),
        ("https://example.org/", "denied"),
        ("https://com/", "denied"),
        ("https://evil.test/example.com", "denied"),
        ("https://evil.test/?example.com", "denied"),
        ("https://evil.test#example.com", "denied"),
        ("https://evil.test#@example.com", "denied"),
        ("https://example.com@evil.test/", "denied"),
        ("https://user:pass@example.com/", "denied"),
        ("https://evil.test\\@example.com/", "denied"),
        ("https://example.com\\.evil.test/", "denied"),
        ("https://evil.test\t.example.com/", "denied"),
        ("https://example.com\n.evil.test/", "denied"),
        (" https://example.com/", "denied"),
        ("https://example.com%2eevil.test/", "denied"),
        ("https://ex%61mple.com/", "denied"),
        ("https://exаmple.com/", "denied"),  # Cyrillic а
        ("https://bucher.de/", "denied"),
        ("https://example.com../", "denied"),
        ("https://.example.com/", "denied"),
        ("https://a..example.com/", "denied"),
        ("https://-.example.com/", "denied"),
        ("https://example.com:8443/", "denied"),
        ("https://example.com:99999/", "denied"),
        ("https://example.com:80:443/", "denied"),
        ("https:example.com", "denied"),
        ("https:/example.com", "denied"),
        ("https:///example.com", "denied"),
        ("//example.com/", "denied"),
        ("example.com", "denied"),
        ("ftp://example.com/", "denied"),
        ("javascript://example.com/%0aalert(1)", "denied"),
        ("data:text/html,example.com", "denied"),
        ("file://example.com/etc", "denied"),
        ("https://[::1]/", "denied"),
        ("https://[example.com]/", "denied"),
        ("https://[", "denied"),
        ("https://example.com/" + "a" * 3000, "denied"),
        ("", "denied"),
    ],
)
def test_the_lists_hold_against_a_dressed_address(url: str, tier: str) -> None:
    assert ALLOWED.tier(url) == tier
    assert ALLOWED.admits(url) == (tier != "denied")


def test_sharp_s_is_not_folded_into_another_domain() -> None:
    """IDNA 2003 turns straße.de into strasse.de; browsers go elsewhere, so the list must too."""
    assert not Sites(allow=["strasse.de"]).admits("https://straße.de/")
    assert Sites(allow=["straße.de"]).admits("https://xn--strae-oqa.de/")


@pytest.mark.parametrize(
    ("url", "tier"),
    [
        ("https://anything.test/", "unlisted"),
        ("https://spam.test/", "denied"),
        ("https://a.spam.test/", "denied"),
        ("https://xspam.test/", "unlisted"),
        ("https://a.zip/", "denied"),
        ("https://localhost/", "denied"),
        ("https://intranet/", "denied"),
        ("http://127.0.0.1/", "denied"),
        ("http://169.254.169.254/latest", "denied"),
        ("http://2130706433/", "denied"),
        ("http://0x7f.0x1/", "denied"),
        ("http://1.2.3.0x4/", "denied"),
    ],
)
def test_without_an_allow_list_all_but_the_denied_and_the_numeric(url: str, tier: str) -> None:
    assert Sites(deny=["spam.test", "zip"]).tier(url) == tier


def test_deny_wins_over_allow() -> None:
    sites = Sites(allow=["example.com"], deny=["example.com"])
    assert not sites.admits("https://example.com/")


@pytest.mark.row("2-24")
@pytest.mark.parametrize(
    ("sites", "trusted", "other"),
    [
        (Sites(), "unlisted", "unlisted"),
        (Sites(trusted=["example.com"]), "trusted", "unlisted"),
        (Sites(allow=["example.com"]), "trusted", "denied"),
        (Sites(allow=["example.net"], trusted=["example.com"]), "trusted", "denied"),
        (Sites(deny=["example.com"], trusted=["example.com"]), "denied", "unlisted"),
    ],
)
def test_trust_without_shutting_others_out(sites: Sites, trusted: str, other: str) -> None:
    assert sites.tier("https://www.example.com/") == trusted
    assert sites.tier("https://example.org/") == other


@pytest.mark.parametrize("entry", ["Example.COM", " example.com ", ".example.com", "*.example.com", "example.com."])
def test_forms_of_an_entry(entry: str) -> None:
    assert Sites(allow=[entry]).allow == ("example.com",)


@pytest.mark.parametrize(
    "entry", ["", " ", ".", "*", "https://example.com", "example.com/path", "example.com:443", "exa mple.com", "a..b"]
)
def test_an_entry_that_is_no_host_is_a_setting_to_mend(entry: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_WEB_DENY"):
        Sites(deny=[entry])


PIECES = st.sampled_from(TABLES.texts("pieces"))
ADDRESSES = st.one_of(
    st.text(max_size=40),
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(PIECES, max_size=8).map(lambda parts: "https://" + "".join(parts)),
)


@given(ADDRESSES)
@example("https://example.com%2f@evil.test")
@example("https://evil.test?@example.com")
@example("https://example.com\u200b")
def test_what_is_admitted_another_parser_reads_alike(url: str) -> None:
    """No address is admitted whose host yarl reads as a host outside the list."""
    if Sites(allow=["example.com"]).admits(url):
        host = (URL(url).raw_host or "").removesuffix(".")
        assert host == "example.com" or host.endswith(".example.com")


@given(ADDRESSES)
def test_a_host_is_read_from_any_text_without_failing_and_only_in_plain_form(url: str) -> None:
    host = host_of(url)
    if host is not None:
        assert host.isascii()
        assert host == host.lower()
        assert "." in host
        assert not host.endswith(".")
        assert host_of(f"https://{host}/") == host


LABELS = st.from_regex(r"[a-z][a-z0-9]{0,9}", fullmatch=True)


@given(st.lists(LABELS, min_size=2, max_size=4), LABELS, st.booleans())
def test_a_host_admits_itself_and_its_subdomains_and_no_lookalike(labels: list[str], more: str, upper: bool) -> None:
    host = ".".join(labels)
    sites = Sites(allow=[host])
    shown = host.upper() if upper else host
    assert sites.admits(f"https://{shown}/")
    assert sites.admits(f"https://{more}.{shown}/")
    assert not sites.admits(f"https://{more}{shown}/")
    assert not sites.admits(f"https://{shown}.{more}x/")


class Given:
    """A provider that returns what it was given, more than was asked for included."""

    def __init__(self, *urls: str) -> None:
        self._results = tuple(WebResult(f"Page {n}", url, "text") for n, url in enumerate(urls))
        self.asked: list[int] = []

    @property
    def name(self) -> str:
        return "given"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        self.asked.append(k)
        return self._results


@pytest.mark.row("2-24")
async def test_results_are_filtered_after_the_provider_and_then_cut_to_k() -> None:
    provider = Given(
        "https://evil.test/1",
        "https://example.com/2",
        "https://example.com/2",
        "https://bad.example.com/3",
        "https://www.example.com/4",
        "https://example.com/5",
    )
    search = FilteredSearch(provider, ALLOWED)
    assert [r.url for r in await search.search("q", 2)] == ["https://example.com/2", "https://www.example.com/4"]
    assert search.name == "given"
    assert await search.search("q", 0) == ()
    assert provider.asked == [10], "asked for a whole page, and not at all for nothing"


@pytest.mark.row("2-24")
async def test_results_carry_their_tier_and_trusted_sites_come_first() -> None:
    provider = Given(
        "https://other.test/1", "https://example.com/2", "https://other.test/3", "https://sub.example.com/4"
    )
    found = await FilteredSearch(provider, Sites(trusted=["example.com"])).search("flat white", 3)
    assert [(r.url, r.tier, r.query) for r in found] == [
        ("https://example.com/2", "trusted", "flat white"),
        ("https://sub.example.com/4", "trusted", "flat white"),
        ("https://other.test/1", "unlisted", "flat white"),
    ]
