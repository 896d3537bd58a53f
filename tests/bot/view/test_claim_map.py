"""The view of a report: the right characters tied to each other, or none; and nothing in it but text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.report_page import report_page
from bot.view.claim_map import ClaimMap, ShownSource, claim_map, folds, tone
from bot.view.markup import visible
from bot.view.report import changes, report_view
from rai.check.provenance import check
from rai.records import Claim, EvidenceSpan, Kind, Layer, Report, Source, Status

SOURCE = Source("7f3ac2", "Costs €4.90 now", "T", "2026-01-02")
ANSWER = "It is €4.90."
SPAN = EvidenceSpan("7f3ac2", "text", 6, 11, "€4.90")
MONEY = Claim("money", "€4.90", 6, 11, "4.9 EUR", None, "exact", (SPAN,), "Stands in 7f3ac2 (T).")
SENTENCE = Claim("statement", ANSWER, 0, 12, status="absent", why="No source says it.")


class Ids(HTMLParser):
    """Every id, every link inside the page, and the names of the elements."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.hrefs: list[str] = []
        self.names: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        for name, value in attrs:
            self.attributes.append(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.hrefs.append(value or "")
                if (value or "").startswith("#"):
                    self.links.append((value or "")[1:])


def parsed(html: str) -> Ids:
    found = Ids()
    found.feed(html)
    return found


def map_of(claims: list[Claim], answer: str = ANSWER, source: Source = SOURCE) -> ClaimMap:
    return claim_map(answer, claims, [ShownSource(source, "1")])


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("money", "exact", "ok"),
        ("number", "derived", "ok"),
        ("statement", "entailed", "ok"),
        ("number", "conflict", "doubt"),
        ("entity", "unchecked", "doubt"),
        ("money", "conflict", "bad"),
        ("phone", "unchecked", "bad"),
        ("number", "absent", "bad"),
        ("statement", "contradicted", "bad"),
    ],
)
def test_the_tone_is_the_rule_of_delivery(kind: Kind, status: Status, expected: str) -> None:
    assert tone(Claim(kind, "x", 0, 1, status=status)) == expected


def test_both_sides_lead_to_each_other() -> None:
    view = map_of([MONEY])
    value = next(p for p in view.pieces if p.look == "value")
    evidence = next(p for p in view.cards[0].pieces if p.look == "ev")
    assert (value.text, value.href) == ("€4.90", evidence.anchor)
    assert (evidence.text, evidence.href) == ("€4.90", value.anchor)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(SPAN, start=5, end=10),
        replace(SPAN, source="other"),
        replace(SPAN, field="title"),
        replace(SPAN, start=90, end=95),
        replace(SPAN, start=-9, end=-4),
    ],
)
def test_a_span_that_does_not_hold_highlights_nothing(wrong: EvidenceSpan) -> None:
    view = map_of([replace(MONEY, evidence=(wrong,))])
    assert not any(p.look for p in view.cards[0].pieces)
    assert view.pieces[1].href == "k0"


def test_a_claim_that_is_not_in_the_answer_is_listed_and_not_drawn() -> None:
    view = map_of([replace(MONEY, start=0, end=5)])
    assert [p.look for p in view.pieces] == [""]
    assert len(view.rows) == 1


def test_a_value_sets_the_tone_over_the_sentence_around_it() -> None:
    view = map_of([SENTENCE, MONEY])
    assert [(p.text, p.look, p.tone) for p in view.pieces] == [
        ("It is ", "statement", "bad"),
        ("€4.90", "value", "ok"),
        (".", "statement", "bad"),
    ]
    assert [row.key for p in view.pieces for row in p.ends] == ["1", "0"]


def test_a_reason_names_its_source_by_number_unless_the_id_is_shown() -> None:
    assert map_of([MONEY]).rows[0].why == "Stands in [1] T."
    bare = replace(MONEY, why="It stands in 7f3ac2.")
    assert map_of([bare]).rows[0].why == "It stands in [1]."
    named = claim_map(ANSWER, [bare], [ShownSource(SOURCE, "1", name="7f3ac2")])
    assert named.rows[0].why == "It stands in 7f3ac2."


def test_what_the_source_says_instead_is_told_and_marked() -> None:
    wrong = Claim("money", "€5.90", 6, 11, status="absent", instead=SPAN)
    view = map_of([wrong], "It is €5.90.")
    assert view.rows[0].instead == "€4.90 [1]"
    assert [p.text for p in view.cards[0].pieces if p.keys == "0"] == ["€4.90"]


def test_a_citation_leads_to_its_source_and_a_number_in_brackets_to_nowhere() -> None:
    view = map_of([], "So [1], not [7].")
    assert [(p.text, p.href) for p in view.pieces] == [("So ", ""), ("1", "s1"), (", not [7].", "")]


@given(st.text(alphabet="ab \n", max_size=3000), st.booleans(), st.booleans())
def test_folding_loses_nothing(text: str, first: bool, last: bool) -> None:
    parts = folds(text, first=first, last=last)
    assert "".join(part for part, _ in parts) == text
    assert not first or last or not parts[-1][1]


def test_a_long_source_is_folded_around_its_evidence() -> None:
    text = "word " * 1000 + "It costs €4.90 a month." + " word" * 1000
    span = EvidenceSpan("s", "text", text.index("€"), text.index("€") + 5, "€4.90")
    view = map_of([replace(MONEY, evidence=(span,))], source=Source("s", text))
    pieces = view.cards[0].pieces
    assert [p.gap for p in pieces] == [True, False, False, False, True]
    assert "".join(p.text for p in pieces) == text
    assert pieces[1].text.endswith("It costs ")
    short = map_of([MONEY], source=replace(SOURCE, text=SOURCE.text + " x" * 600))
    assert not short.cards[0].folded


@given(st.text("ab .", max_size=60), st.text("ab .", max_size=60))
def test_changes_hold_both_texts(before: str, after: str) -> None:
    made = changes(before, after)
    assert "".join(c.text for c in made if c.kind != "in") == before
    assert "".join(c.text for c in made if c.kind != "out") == after


def test_a_change_is_as_small_as_a_word() -> None:
    made = changes("Shipping is €5.90 now.", "Shipping is €4.90 now.")
    assert [(c.kind, c.text) for c in made if c.kind != "same"] == [("out", "5.90"), ("in", "4.90")]


def test_what_is_unseen_is_named_and_what_scripts_need_stays() -> None:
    assert visible("a\u202eb\u2066c\u200bd\x00e\x1b") == "a⟦U+202E⟧b⟦U+2066⟧c⟦U+200B⟧d⟦U+0000⟧e⟦U+001B⟧"
    for needed in ("\u05d0\u200f", "\U0001f468\u200d\U0001f469", "a\tb\nc\r\n", "\u0646\u200c\u0645"):
        assert visible(needed) == needed


HOSTILE = (
    "</style></script><script>alert(1)</script><img src=x onerror=alert(1)> \"'><b> javascript:alert(1) "
    "{{ 7 * 7 }} \u202egnp.exe\u202c €4.90 <!-- & &lt; [1]"
)


async def test_hostile_text_stays_text_everywhere() -> None:
    sources = [Source(HOSTILE, HOSTILE, HOSTILE, HOSTILE[:10]), Source("s2", "It is €4.90.", "T")]
    report = await check(HOSTILE, sources)
    claim = Claim("money", HOSTILE, 0, len(HOSTILE), HOSTILE, None, "absent", (), HOSTILE)
    report = replace(report, claims=(*report.claims, claim), repaired=HOSTILE)
    clean = parsed(
        page_of(
            "x",
            Report("supported", 0.0, (), repaired="x", layers=(Layer("values", "supported", 0.0),)),
            [Source("s", "x")],
        )
    )
    html = page_of(HOSTILE, report, sources, HOSTILE)
    found = parsed(html)
    assert found.names.count("script") == clean.names.count("script")
    assert set(found.names) - set(clean.names) <= {
        "a",
        "abbr",
        "li",
        "ol",
        "q",
        "sup",
        "del",
        "details",
        "summary",
        "bdi",
        "time",
    }
    assert not [name for name in found.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(href.startswith("#") for href in found.hrefs)
    assert "49" not in re.sub(r"<[^>]*>", "", html.partition("<main")[2].partition("<script")[0]).replace("€4.90", "")
    assert "\u202e" not in html


def page_of(answer: str, report: Report, sources: list[Source], question: str | None = None) -> str:
    return report_page([report_view(answer[:90], answer, report, sources, question=question)], alone=True)


async def test_every_link_leads_somewhere_and_no_id_occurs_twice() -> None:
    sources = [SOURCE, Source("b", "Call +44 20 7946 0018. It costs €4.90 a month, or €49 a year.", "B")]
    answer = "€4.90 [1]. It costs €4.90 a month [2]. Call +44 20 7946 0081. It costs €49 a year. What else [3]?"
    report = await check(answer, sources)
    views = [report_view(f"a{i}", answer, report, sources, prefix=f"r{i}-") for i in range(3)]
    found = parsed(report_page(views, alone=True))
    assert set(found.links) <= set(found.ids)
    assert len(found.links) > 30
    assert len(set(found.ids)) == len(found.ids)


def test_the_summary_tells_layers_notes_and_counts() -> None:
    bad = Claim("money", "€5.90", 6, 11, status="absent", instead=SPAN)
    report = Report(
        "unsupported", 0.98, (bad, SENTENCE), 0.25, None, (Layer("values", "unsupported", 0.98),), ("a note",)
    )
    html = report_page([report_view("q", "It is €5.90.", report, [SOURCE])], alone=True, faults=["Line 3"])
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    for part in (
        "Unsupported 2 claims must not be sent",
        "1 absent",
        "1 sentence absent",
        "98 % sure",
        "relevance to the question 0.25",
        "Values and contacts Unsupported 0.98",
        "The source says €4.90 [1]",
        "updated 2 Jan 2026",
        "Line 3",
        "a note",
    ):
        assert part in text, part


def test_a_crowd_of_claims_is_drawn_in_time_linear_in_them() -> None:
    answer = "1 " * 10_000
    claims = [Claim("number", "1", at, at + 1, "1", status="exact") for at in range(0, len(answer), 2)]
    view = map_of([Claim("statement", answer, 0, len(answer)), *claims], answer)
    assert len(view.pieces) > 19_000
