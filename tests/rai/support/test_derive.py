"""Derived values: worked out of values of the sources, with the words that say so, and never by chance."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.records import Source
from rai.support.derive import derived
from tests.rai.support.judged import judged, well_founded

ROOM = "Room: $120\nBreakfast: $20\nParking: $15"
STAY = "The room costs $120. Breakfast costs $20. Parking costs $15."
PLANS = "Plan: Basic | Price per month: $14.00 | Storage: 5 GB\nPlan: Pro | Price per month: $29.50 | Storage: 20 GB"
TRIAL = "The trial lasts 30 days. It starts on 5 May 2026."
SALE = "The sale runs from 5 May 2026 to 4 June 2026."
MENU = "Breakfast options are continental, buffet and vegan."
LIST = "Delivery options:\n- Standard\n- Express\n- Pickup"

ROWS = [
    # answer, source, question, the claim, its operands or None
    ("Room and breakfast cost $140 in total.", STAY, None, "$140", ["$120", "$20"]),
    ("Room and breakfast cost $140.", STAY, None, "$140", None),
    ("Room and breakfast cost $135 in total.", STAY, None, "$135", None),
    ("Room and breakfast cost $150 in total.", STAY, None, "$150", None),
    ("Room, breakfast and parking come to a total of $155.", STAY, None, "$155", ["$120", "$20", "$15"]),
    ("The room at $120 and breakfast at $20 are $140 together.", STAY, None, "$140", ["$120", "$20"]),
    ("The room at $120 and breakfast at $20 are €140 together.", STAY, None, "€140", None),
    ("The room at $120 and breakfast at $25 are $145 together.", STAY, None, "$145", None),
    ("Parking and breakfast combined are $35.", ROOM, None, "$35", ["$20", "$15"]),
    ("Parking is $35.", ROOM, None, "$35", None),
    ("Breakfast is $5 more than parking.", STAY, None, "$5", ["$20", "$15"]),
    ("Breakfast is $6 more than parking.", STAY, None, "$6", None),
    ("Breakfast costs $5.", STAY, None, "$5", None),
    ("Parking is $5 more than breakfast.", STAY, None, "$5", None),
    ("Parking is $5 less than breakfast.", STAY, None, "$5", ["$20", "$15"]),
    ("Parking is 25% cheaper than breakfast.", STAY, None, "25%", ["$20", "$15"]),
    ("Parking is 33% cheaper than breakfast.", STAY, None, "33%", None),
    ("Breakfast is 25% cheaper than parking.", STAY, None, "25%", None),
    ("Room and parking cost $135 plus tips.", STAY, None, "$135", None),
    ("Breakfast costs $5 or more.", STAY, None, "$5", None),
    ("The difference between room and breakfast is $100.", STAY, None, "$100", ["$120", "$20"]),
    ("The Basic plan saves $15.50 against Pro.", PLANS, None, "$15.50", ["$29.50", "$14.00"]),
    ("The Basic plan saves $14.50 against Pro.", PLANS, None, "$14.50", None),
    ("The Basic plan is $168 a year.", PLANS, None, "$168", ["$14.00"]),
    ("The Basic plan is $169 a year.", PLANS, None, "$169", None),
    ("The Basic plan is $168.", PLANS, None, "$168", None),
    ("The Basic plan is $354 a year.", PLANS, None, "$354", None),
    ("The Pro plan is $354 annually.", PLANS, None, "$354", ["$29.50"]),
    ("The Basic plan is $336 for 2 years.", PLANS, "What is Basic for 2 years?", "$336", ["$14.00"]),
    ("The Basic plan is $336 for 2 years.", PLANS, None, "$336", None),
    ("Both plans together have 25 GB of storage.", PLANS, None, "25 GB", ["5 GB", "20 GB"]),
    ("Both plans together have 25 MB of storage.", PLANS, None, "25 MB", None),
    ("Pro has 15 GB more storage than Basic.", PLANS, None, "15 GB", ["20 GB", "5 GB"]),
    ("Pro has 15 GB of storage.", PLANS, None, "15 GB", None),
    ("The room is $270 for 3 nights.", "The room is $90 per night.", "A room for 3 nights?", "$270", ["$90"]),
    ("The room is $280 for 3 nights.", "The room is $90 per night.", "A room for 3 nights?", "$280", None),
    ("The room is $270 for 3 nights.", "The room is $90 per person.", "A room for 3 nights?", "$270", None),
    ("The tour is $160 for 4 guests.", "The tour costs $40 per guest.", "A tour for 4 guests?", "$160", ["$40"]),
    ("The tour is $160 for 5 guests.", "The tour costs $40 per guest.", "A tour for 5 guests?", "$160", None),
    ("The tour is $15 each.", "The tour costs $60 for 4 guests.", None, "$15", ["$60", "4"]),
    ("The tour is $15.", "The tour costs $60 for 4 guests.", None, "$15", None),
    ("With 20% off the jacket is $40.", "The jacket costs $50. Members get 20% off.", None, "$40", ["$50", "20%"]),
    ("With 20% off the jacket is $30.", "The jacket costs $50. Members get 20% off.", None, "$30", None),
    ("With 30% off the jacket is $35.", "The jacket costs $50. Members get 20% off.", None, "$35", None),
    ("A deposit of 30% is $60.", "A deposit of 30% of the fee is due. The fee is $200.", None, "$60", ["$200", "30%"]),
    ("The fee rose by 25%.", "The fee rose from $20 to $25.", None, "25%", ["$25", "$20"]),
    ("The fee rose by 20%.", "The fee rose from $15 to $25.", None, "20%", None),
    ("The fee is 25%.", "The fee rose from $20 to $25.", None, "25%", None),
    ("On average the two seasons cost $30.", "The summer season costs $20 and the winter season costs $40.", None, "$30", ["$20", "$40"]),
    ("The two seasons cost $30.", "The summer season costs $20 and the winter season costs $40.", None, "$30", None),
    ("A suite costs twice as much, $240.", "A room costs $120. A suite costs twice as much.", None, "$240", ["$120"]),
    ("A suite costs twice as much, $250.", "A room costs $120. A suite costs twice as much.", None, "$250", None),
    ("You have 12 GB left.", "Your plan has 20 GB a month.", "I used 8 GB of my plan, what is left?", "12 GB", ["20 GB"]),
    ("You have 13 GB left.", "Your plan has 20 GB a month.", "I used 8 GB of my plan, what is left?", "13 GB", None),
    ("The trial ends on 4 June 2026.", TRIAL, "When does a trial that starts on 5 May 2026 end?", "4 June 2026", ["30 days"]),
    ("The trial ends on 5 June 2026.", TRIAL, "When does a trial that starts on 5 May 2026 end?", "5 June 2026", None),
    ("It starts on 5 May 2026 and ends 30 days later, on 4 June 2026.", TRIAL, None, "4 June 2026", ["5 May 2026", "30 days"]),
    ("It starts on 5 May 2026 and ends 30 days later, on 6 June 2026.", TRIAL, None, "6 June 2026", None),
    ("The contract runs until 2029.", "The contract runs for 3 years from 2026.", None, "2029", ["2026", "3 years"]),
    ("The contract runs until 2030.", "The contract runs for 3 years from 2026.", None, "2030", None),
    ("Cancel by 28 February 2027.", "Cancel within 1 month of 31 January 2027.", None, "28 February 2027", ["31 January 2027", "1 month"]),
    ("The sale lasts for 31 days.", SALE, None, "31 days", ["5 May 2026", "4 June 2026"]),
    ("The sale lasts for 35 days.", SALE, None, "35 days", None),
    ("The desk is open for 8 hours.", "The desk is open from 9:00 to 17:00.", None, "8 hours", ["9:00", "17:00"]),
    ("The desk is open for 9 hours.", "The desk is open from 9:00 to 17:00.", None, "9 hours", None),
    # a time with its zone
    ("The desk is open for 90 minutes.", "The desk is open from 14:30 UTC to 16:00 UTC.", None, "90 minutes", ["14:30 UTC", "16:00 UTC"]),
    ("The desk is open for 2 hours.", "The desk is open from 14:30 UTC to 16:00 UTC.", None, "2 hours", None),
    ("The desk is open for 1 hour.", "The desk is open from 14:30 UTC to 16:30 CET.", None, "1 hour", ["14:30 UTC", "16:30 CET"]),
    ("The desk is open for 2 hours.", "The desk is open from 14:30 UTC to 16:30 CET.", None, "2 hours", None),
    ("The desk is open for 1 hour.", "The desk is open from 9:00 GMT to 12:30 UTC+2:30.", None, "1 hour", ["9:00 GMT", "12:30 UTC+2:30"]),
    ("The desk is open for 4 hours.", "The desk is open from 9:00 EST to 10:00 PDT.", None, "4 hours", None),  # never in one season
    # a month without a year and a decade are as long as a year
    ("The offer is valid for 3 years.", "Orders from the end of March arrive by the end of June.", None, "3 years", None),
    ("The offer lasted for 20 years.", "It ran from the 1990s to the 2010s.", None, "20 years", None),
    ("The offer lasted for 17 years.", "It ran from the 1990s until May 2026.", None, "17 years", None),
    ("There are three options for breakfast.", MENU, None, "three", ["continental", "buffet", "vegan"]),
    ("There are four options for breakfast.", MENU, None, "four", None),
    ("You have 3 options for delivery.", LIST, None, "3", ["Standard", "Express", "Pickup"]),
    ("You have 2 options for delivery.", LIST, None, "2", None),
    # a paragraph that holds just two to four values of one unit
    ("In total you pay $75.", "The device costs $50. Installation costs $25.", None, "$75", ["$50", "$25"]),
    ("In total you pay $76.", "The device costs $50. Installation costs $25.", None, "$76", None),
    ("In total you pay $75.", "The device costs $50. Installation costs $25 a month.", None, "$75", None),
    ("In total you pay $75.", "The device costs $50. Installation costs $25. Support costs $10.", None, "$75", None),
    ("The device total is $75.", "The device costs $50. Installation costs $25.", None, "$75", None),
    ("You save €40 with the annual pass.", "Twelve monthly passes cost €240. The annual pass costs €200.", None, "€40", ["€240", "€200"]),
    ("You save €40 with the annual pass.", "The monthly pass costs €20. The annual pass costs €60.", None, "€40", None),
    ("The set holds 9 tools in total.", "The set holds 4 screwdrivers and 5 wrenches.", None, "9", ["4", "5"]),
    ("The set holds 9 wrenches in total.", "The set holds 4 screwdrivers and 5 wrenches.", None, "9", None),
    ("For 4 people the total is $48.", "The tour costs $12 per person.", None, "$48", ["$12"]),
    ("For 4 people the total is $48.", "The tour costs $12 per bus.", None, "$48", None),
    ("For 4 people the price is $48.", "The tour costs $12 per person.", None, "$48", None),
    # a value of another role, said over again
    ("Seniors get a discount of 10%.", "Students get a discount of 10%, seniors get a discount of 20%.", None, "10%", None),
    ("You save $10.", "The pass costs $20. The ticket costs $10.", None, "$10", None),
    ("There are two plans: Basic and Pro.", PLANS, None, "two", ["Basic", "Pro"]),
    ("There are two plans: Basic and Max.", "We sell Basic. We also sell Pro.", None, "two", None),
    ("We have two plans.", PLANS, None, "two", ["Basic", "Pro"]),
    ("We have three plans.", PLANS, None, "three", None),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "source", "question", "value", "operands"), ROWS)
def test_derivation(answer: str, source: str, question: str | None, value: str, operands: list[str] | None) -> None:
    sources = [Source("s1", source)]
    finding = next(f for c, f in judged(derived, answer, sources, question) if c.text.rstrip(".") == value)
    if operands is None:
        assert finding is None
        return
    assert finding is not None
    assert finding.status == "derived"
    assert sorted(e.text for e in finding.evidence) == sorted(operands)
    assert well_founded(finding, sources)
    assert value in finding.why


DAYS = (
    "March", "June", "5 May", "5 May 2026", "May 2026", "2026-05-05", "the 1990s", "the 2010s", "Q2 2026", "spring 2025", "week 12 of 2026",
    "Monday", "Tuesday, 5 May", "weekdays", "29 February", "05/06/2026", "2027", "1999", "tomorrow", "the second half of 2025", "December 9999",
)  # fmt: skip
HOURS = (
    "14:30 UTC", "16:00 CET", "9:00 EST", "23:30 UTC+5:30", "9:00", "9 am", "half past nine", "noon", "midnight", "24/7", "24:00", "10:00 PT",
    "Monday 9:00 to 17:00", "T10:00Z", "2026-05-05T10:00+02:00",
)  # fmt: skip
SPANS = ("2 years", "3 months", "1 week", "30 days", "2 nights", "9 hours", "90 minutes", "1.5 years", "9999 years")


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(SPANS),
    st.lists(st.sampled_from(DAYS + HOURS), min_size=2, max_size=3),
    st.sampled_from(DAYS + HOURS),
)
def test_every_form_of_day_and_time_can_be_reckoned_with(span: str, ends: list[str], said: str) -> None:
    source = Source("s", f"It runs from {' until '.join(ends)}. It lasts {span} after {ends[0]}.")
    for answer in (f"It lasts for {span}.", f"It ends {span} later, by {said}.", f"It lasted {span} until {said}."):
        for claim, finding in judged(derived, answer, [source], f"How long from {said}?"):
            assert finding is None or well_founded(finding, [source, Source("question", f"How long from {said}?")]), (
                claim
            )


def test_the_reason_shows_the_calculation() -> None:
    ((_, finding),) = judged(derived, "The Basic plan is $168 a year.", [Source("s1", PLANS)])
    assert finding is not None
    assert finding.why.startswith("$14.00 × 12")
    assert finding.why.endswith("= $168")


@settings(max_examples=200)
@given(st.integers(2, 999), st.integers(1, 999), st.integers(1, 999))
def test_without_a_cue_nothing_is_derived(a: int, b: int, claimed: int) -> None:
    """A sum, a difference, a product may hold by chance; without a word for it none is reckoned."""
    source = Source("s", f"The room costs ${a} and breakfast costs ${b} here.")
    assert [f for _, f in judged(derived, f"The room costs ${claimed} here.", [source]) if f] == []


@settings(max_examples=200)
@given(st.integers(1, 9999), st.integers(1, 9999), st.integers(1, 29998))
def test_a_sum_is_exact(a: int, b: int, claimed: int) -> None:
    source = Source("s", f"The room costs ${a / 100:.2f}. Breakfast costs ${b / 100:.2f}.")
    right = f"Room and breakfast cost ${(a + b) / 100:.2f} in total."
    wrong = f"Room and breakfast cost ${claimed / 100:.2f} in total."
    ((_, found),) = judged(derived, right, [source])
    ((_, chance),) = judged(derived, wrong, [source])
    assert found is not None
    assert (chance is None) == (claimed != a + b)


@settings(max_examples=50)
@given(st.permutations(["The room costs $120.", "Breakfast costs $20.", "Parking costs $15."]))
def test_order_of_sources_does_not_matter(texts: list[str]) -> None:
    sources = [Source(t[:9], t) for t in texts]
    ((_, finding),) = judged(derived, "Room and breakfast cost $140 in total.", sources)
    assert finding is not None
    assert sorted(e.text for e in finding.evidence) == ["$120", "$20"]


def test_totals_hold_rarely_by_chance() -> None:
    """Of prices drawn without regard to the source fewer than one in two hundred is worked out, whatever word stands by."""
    draw = random.Random(11)
    prices = [5, 8, 10, 12, 15, 18, 20, 25, 29, 30, 35, 40, 45, 49, 50, 60, 75, 80, 90, 99, 100, 120, 150, 200]
    things = (
        "device installation delivery breakfast parking cleaning insurance warranty router locker towel guide".split()
    )
    claims = accepted = 0
    for _ in range(800):
        named = draw.sample(things, draw.choice([2, 3, 4, 6, 8]))
        known = {thing: draw.choice(prices) for thing in named}
        half = draw.randint(1, len(named) - 1)
        said = [f"The {thing} costs ${price}." for thing, price in known.items()]
        source = Source("s", f"{' '.join(said[:half])}\n\n{' '.join(said[half:])}")
        value = draw.randint(2, sum(known.values()))
        cue = draw.choice(
            [
                "In total you pay $%d.",
                f"The {named[0]} and {named[1]} cost $%d in total.",
                "You save $%d.",
                "The total is $%d.",
            ]
        )
        if value not in known.values():
            claims += 1
            accepted += any(f for _, f in judged(derived, cue % value, [source]))
    assert accepted * 200 <= claims
