"""Phenomena of statements, each with its near miss: the status that words alone decide, and which of two is doubted more."""

from __future__ import annotations

import pytest

from rai.check.context import CheckContext, Finding
from rai.check.reading.sources import prepare
from rai.check.statements.match import match_statement
from rai.check.wording.weigh import weigh_claims
from rai.claims.contacts.phones import REGIONS
from rai.records import Claim, Source

STATUS = [
    # negation
    ("negation put in", "Pets are not allowed in the rooms.", "Pets are allowed in the rooms.", "contradicted"),
    ("negation left out", "Pets are allowed in the rooms.", "Pets are not allowed in the rooms.", "contradicted"),
    ("negation as a contraction", "Pets aren't allowed in the rooms.", "Pets are allowed in the rooms.", "contradicted"),
    ("same negation in other words", "Pets aren't allowed in the rooms.", "Pets are not allowed in the rooms.", "entailed"),
    ("no … for not", "No pets are allowed in the rooms.", "Pets are not allowed in the rooms.", "entailed"),
    # opposites
    ("open for closed", "The pool is closed in winter.", "The pool is open in winter.", "contradicted"),
    ("required for optional", "A deposit is optional for groups.", "A deposit is required for groups.", "contradicted"),
    ("free for paid", "Parking at the inn is paid.", "Parking at the inn is free.", "contradicted"),
    ("include for exclude", "The price excludes breakfast.", "The price includes breakfast.", "contradicted"),
    ("increase for decrease", "Fees will decrease next year.", "Fees will increase next year.", "contradicted"),
    ("accept for reject", "The bank rejected the claim.", "The bank accepted the claim.", "contradicted"),
    ("prefix un-", "The warranty is unlimited for pumps.", "The warranty is limited for pumps.", "contradicted"),
    ("prefix in-", "Breakfast plans are ineligible for points.", "Breakfast plans are eligible for points.", "contradicted"),
    ("prefix non-", "The ticket is non-refundable after booking.", "The ticket is refundable after booking.", "contradicted"),
    ("inflected opposite", "Sales dropped in the north.", "Sales rose in the north.", "contradicted"),
    ("opposite with left-out small words", "The pool is closed in winter.", "The pool is open in the winter.", "contradicted"),
    ("opposite with a pronoun", "It is closed in winter.", "The pool is open in winter.", "contradicted"),
    ("opposite stands in the line too", "The pool is closed on Sundays.", "The pool is open daily but closed on Sundays.", "unchecked"),
    ("opposite and negation", "The pool is not closed in winter.", "The pool is open in winter.", "unchecked"),
    ("opposite in another sentence", "The spa is closed in winter.", "The pool is open in winter. The spa has a sauna.", "unchecked"),
    ("synonym", "The store is large and bright.", "The store is big and bright.", "unchecked"),
    ("synonym of a verb", "You can purchase tickets online.", "You can buy tickets online.", "unchecked"),
    # kinds that exclude each other
    ("another weekday", "Deliveries leave every Tuesday morning.", "Deliveries leave every Monday morning.", "contradicted"),
    ("another colour", "The red button resets the router.", "The green button resets the router.", "contradicted"),
    ("another meal", "Dinner is served on the terrace.", "Breakfast is served on the terrace.", "contradicted"),
    ("another vehicle", "The bus stops at the harbour.", "The train stops at the harbour.", "contradicted"),
    ("another direction", "The northern gate is for trucks.", "The southern gate is for trucks.", "contradicted"),
    ("one of two days that the line has", "Tours run on Tuesday.", "Tours run on Monday and Tuesday.", "entailed"),
    # quantifiers
    ("all for some", "All rooms have a balcony.", "Some rooms have a balcony.", "absent"),
    ("every for most", "Every plan includes support.", "Most plans include support.", "absent"),
    ("always for usually", "Parcels always arrive on time.", "Parcels usually arrive on time.", "absent"),
    ("some for all", "Some rooms have a balcony.", "All rooms have a balcony.", "unchecked"),
    ("all kept", "All rooms have a balcony.", "All the rooms have a balcony.", "entailed"),
    # modality
    ("will for may", "The fee will be refunded to guests.", "The fee may be refunded to guests.", "absent"),
    ("must for might", "Guests must show a passport.", "Guests might show a passport.", "absent"),
    ("may for will", "The fee may be refunded to guests.", "The fee will be refunded to guests.", "unchecked"),
    ("can for may", "Guests can bring one dog.", "Guests may bring one dog.", "unchecked"),
    # comparison and order in time
    ("before for after", "Pay the bill before the stay.", "Pay the bill after the stay.", "contradicted"),
    ("above for below", "Store it above the shelf.", "Store it below the shelf.", "contradicted"),
    ("higher for lower", "The new rate is higher.", "The new rate is lower.", "contradicted"),
    ("cheaper for pricier", "Plan A is cheaper overall.", "Plan A is pricier overall.", "contradicted"),
    # who did it to whom
    ("roles exchanged", "Fabrikam acquired Contoso in spring.", "Contoso acquired Fabrikam in spring.", "contradicted"),
    ("roles kept", "Contoso acquired Fabrikam in spring.", "Contoso acquired Fabrikam in spring.", "entailed"),
    ("list in another order", "Contoso and Fabrikam offer support.", "Fabrikam and Contoso offer support.", "unchecked"),
    ("mutual verb", "Anna met Bob at lunch.", "Bob met Anna at lunch.", "unchecked"),
    ("passive", "Fabrikam was acquired by Contoso.", "Contoso acquired Fabrikam.", "unchecked"),
    # conditions and parts
    ("condition dropped", "Delivery is free.", "Delivery is free if you spend more than fifty dollars.", "unchecked"),
    ("members only", "The gym is open to guests.", "The gym is open to guests who are members of the club.", "unchecked"),
    ("verbatim", "Delivery is free for members.", "Delivery is free for members.", "entailed"),
    ("verbatim with a citation", "Delivery is free for members [1].", "Delivery is free for members.", "entailed"),
    ("verbatim after yes", "Yes, delivery is free for members.", "Delivery is free for members.", "entailed"),
    ("list item", "- Delivery is free for members", "- Delivery is free for members\n- Returns cost extra", "entailed"),
    # added and invented
    ("nothing said", "Guests love the bright sunny terrace upstairs.", "Invoices are sent by post each quarter.", "unchecked"),
    ("little said", "Guests love it.", "Invoices are sent by post.", "unchecked"),
    ("fact added", "The pool is heated and has a slide.", "The pool is heated.", "unchecked"),
    ("merged from two lines", "The pool is heated and the spa has a sauna.", "The pool is heated. The spa has a sauna.", "unchecked"),
    ("clauses in another order", "In winter the pool is open.", "The pool is open in winter.", "unchecked"),
    # not claims
    ("question", "Is the pool open in winter?", "The pool is closed in winter.", "unchecked"),
    ("courtesy", "Happy to help!", "The pool is open.", "unchecked"),
    ("lead-in", "Here are the steps:", "The pool is open.", "unchecked"),
    ("source asks", "The pool is closed in winter.", "Is the pool open in winter?", "unchecked"),
]  # fmt: skip


def _finding(answer: str, source: str) -> Finding:
    prepared = prepare(Source("s1", source), REGIONS)
    return match_statement(answer, CheckContext((prepared,), (), None, frozenset()))


def _score(answer: str, *texts: str) -> float:
    sources = [Source(f"s{n}", text) for n, text in enumerate(texts)]
    claim = Claim("statement", answer, 0, len(answer))
    score = weigh_claims([claim], sources).claims[0].score
    assert score is not None
    return score


@pytest.mark.parametrize(("answer", "source", "status"), [row[1:] for row in STATUS], ids=[row[0] for row in STATUS])
def test_status(answer: str, source: str, status: str) -> None:
    """The status, a reason, and evidence that repeats what stands in the source."""
    finding = _finding(answer, source)
    assert (finding.status, finding.why) == (status, finding.why)
    assert finding.why
    for span in finding.evidence:
        assert source[span.start : span.end] == span.text
    if status == "contradicted":
        assert finding.evidence


# what must be doubted more than what, against the same sources
ORDER = [
    ("negation", "Guests can't park behind the inn.", "Guests can park behind the inn tonight.", ["Guests can park behind the inn."]),
    ("opposite", "The lounge near the lobby is noisy.", "The lounge near the lobby is silent.", ["The lounge near the lobby is quiet and has soft chairs."]),
    ("opposite elsewhere", "The inn is closed to groups.", "The inn is available to groups.", ["Groups are welcome.", "The inn is open."]),
    ("invented noun", "The room has a sauna and a desk.", "The room has a desk.", ["Each room has a desk and a chair."]),
    ("invented name", "The tour starts at Lisbon harbour.", "The tour starts at the harbour.", ["Each tour starts at the harbour at dawn."]),
    ("invented against synonym", "The manager postponed the zebra.", "The manager postponed the gathering.", ["The manager delayed the meeting."]),
    ("framing against inventing", "The text describes a volcano.", "The text describes a router.", ["Reset the router with a pin."]),
    ("another kind", "They serve tea with the dessert.", "They serve coffee with the dessert.", ["They serve coffee with every dessert here."]),
    ("words of two lines apart", "Members pay for the spa garden towels.", "Members pay for towels.", ["Members pay for towels.", "The garden is by the spa."]),
    ("swapped nouns", "The valve opens the pump before the test.", "The pump opens the valve before the test.", ["The pump opens the valve before the test run."]),
    ("will for may, longer", "Refunds will take a week in busy months.", "Refunds may take a week in busy months.", ["Refunds may take about a week in the busy months."]),
]  # fmt: skip


@pytest.mark.parametrize(("worse", "better", "sources"), [row[1:] for row in ORDER], ids=[row[0] for row in ORDER])
def test_score_doubts_the_changed_more(worse: str, better: str, sources: list[str]) -> None:
    """The changed sentence is less likely supported than the honest one."""
    assert _score(worse, *sources) < _score(better, *sources)


SUPPORTED = [
    (
        "merged sentences",
        "The pool is heated and the spa has a sauna.",
        ["The pool is heated.", "The spa has a sauna."],
    ),
    ("reordered clauses", "In winter, the pool is open to guests.", ["The pool is open to guests in winter."]),
    ("passive", "Tickets are sold by the office.", ["The office sells tickets."]),
    ("synonym", "You can purchase a ticket at the desk.", ["You can buy a ticket at the desk."]),
    ("free of charge", "There is no charge for parking.", ["Parking is free of charge."]),
    ("complimentary", "Breakfast is complimentary.", ["Breakfast is free."]),
    ("pronoun subject", "They offer free parking for guests.", ["Contoso offers free parking for guests."]),
]


@pytest.mark.parametrize(("answer", "sources"), [row[1:] for row in SUPPORTED], ids=[row[0] for row in SUPPORTED])
def test_honest_rewording_is_likely(answer: str, sources: list[str]) -> None:
    """An honest rewording is more likely supported than not, and is not held back."""
    assert _score(answer, *sources) > 0.5
    claims = [Claim("statement", answer, 0, len(answer))]
    assert weigh_claims(claims, [Source(str(n), t) for n, t in enumerate(sources)]).doubt < 0.5
