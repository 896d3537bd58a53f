"""What holds of every check, whatever the texts: offsets, verbatim sentences, values from nowhere, order of sources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.ingest.readers.read import read
from grounding.text import sentences
from rai.check.match import check_claims
from rai.records import Claim, Source
from tests.rai.phenomena.rows import SUPPORTED

SAMPLE = Path(__file__).parents[3] / "bot" / "sample" / "kb"
DOCUMENTS = sorted(p for p in SAMPLE.rglob("*") if p.is_file() and p.name != "attest.yaml")

# Each template takes one value at {}; the words differ, so that no two of them speak of one thing.
TEMPLATES = {
    "number": [
        "The starter kit comes with {} sensors.",
        "Up to {} guests may use the rooftop terrace.",
        "A customer may hold {} prepaid cards.",
        "The museum shows {} paintings by local artists.",
    ],
    "quantity": [
        "Returns are accepted within {} days of purchase.",
        "The suitcase may weigh {} kg on domestic flights.",
        "Hold the reset button for {} seconds.",
        "The mobile tariff includes {} GB for roaming.",
    ],
    "money": [
        "The late payment fee is ${}.",
        "A replacement key costs ${} at the reception.",
        "The annual membership of the library costs ${}.",
        "Dog licences are issued for ${}.",
    ],
    "percent": [
        "Pensioners receive a discount of {}% on the tram.",
        "The dental policy pays {}% of the bill.",
        "Savings accounts earn {}% interest.",
        "Restaurants add a service charge of {}%.",
    ],
}
WAYS = {
    "date": (
        "The season ticket expires on {}.",
        [f"{d} {m} 2026" for d in (3, 11, 24) for m in ("March", "July", "November")],
    ),
    "time": ("The ticket counter closes at {}.", [f"{h}:{m}" for h in (9, 14, 21) for m in ("05", "20", "45")]),
    "phone": ("For lost luggage call {}.", [f"020 7946 0{n}" for n in (118, 325, 471, 642, 893)]),
    "email": (
        "Send the meter reading to {}.",
        [f"{n}@aquaria.org" for n in ("meter", "desk", "office", "hello", "team")],
    ),
    "url": (
        "The timetable is at {}.",
        [f"https://{n}.transit.org/plan" for n in ("north", "harbour", "island", "metro")],
    ),
}
# No multiple of ten, and none a rounding of another: what is not among the values of a source is not in it at all.
INTEGERS = st.integers(11, 98).filter(lambda n: n % 10)

# Fragments that are hard on offsets: wide and combining characters, ligatures, what is folded, what looks like a value.
DATES = [" 5. Mai 2026", " 14.30 Uhr", " 2007–08", " 9am-5pm"]
AMOUNTS = ["The plan costs $25", " for 30 days", " ½ of it", "1 234,56 €"]
ADDRESSES = [" https://a.example/x?y=1#z.", " help@acme.example", " +44 20 7946 0321"]
NAMES = [" –force", " İstanbul", " ẞtraße 5", " Dr. Anna Petrova", " AB-1234", " v2.4.1"]
WORDS_ALONE = [" three", " twice", " no", " not", "t", "ﬁle ", "e\u0301te\u0301 "]
MARKS = [" [1]", "\n2. ", "| Basic | $5 |\n", "|---|\n", ".", ",", " ", "(", ")", "“", "”", "-", "–", "%", "…"]
ODD = ["😀 ", "𝟙𝟚 ", "\u00a0kg", " ٣٤ ", "\u200b", "\r\n", "\t", "№ 7", "１２"]
FRAGMENTS = [*DATES, *AMOUNTS, *ADDRESSES, *NAMES, *WORDS_ALONE, *MARKS, *ODD]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
WORDS = st.lists(st.sampled_from(FRAGMENTS), max_size=10).map(" ".join)


def _values(answer: str, sources: Sequence[Source]) -> list[Claim]:
    return [c for c in check_claims(answer, sources) if c.kind not in ("statement", "entity")]


def _exact(answer: str, sources: Sequence[Source], claims: Sequence[Claim]) -> bool:
    texts = {(s.id, field): getattr(s, field) for s in sources for field in ("text", "title")}
    return all(
        0 <= c.start < c.end
        and answer[c.start : c.end] == c.text
        and all(e.start < e.end and texts[e.source, e.field][e.start : e.end] == e.text for e in c.evidence)
        for c in claims
    )


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
@settings(max_examples=150)
def test_offsets_are_exact(answer: str, texts: list[tuple[str, str]]) -> None:
    sources = [Source(f"s{n}", text, title) for n, (text, title) in enumerate(texts)]
    assert _exact(answer, sources, check_claims(answer, sources))


@given(WORDS)
@settings(max_examples=75)
def test_a_text_is_never_unsupported_by_itself_through_absence(text: str) -> None:
    """Whatever the finders make of a text, they make of the same text as a source: none of its values is absent."""
    absent = [c for c in _values(text, [Source("s", text)]) if c.status in ("absent", "lookalike")]
    assert not absent


@st.composite
def passages(draw: st.DrawFn) -> list[str]:
    """Sentences about different things, each with a value of its own kind."""
    kinds = draw(st.lists(st.sampled_from(sorted(TEMPLATES)), min_size=1, max_size=3, unique=True))
    made = [
        t.format(draw(INTEGERS))
        for kind in kinds
        for t in draw(st.lists(st.sampled_from(TEMPLATES[kind]), max_size=3, unique=True))
    ]
    for kind in draw(st.lists(st.sampled_from(sorted(WAYS)), max_size=3, unique=True)):
        template, values = WAYS[kind]
        made.append(template.format(draw(st.sampled_from(values))))
    return draw(st.permutations(made))


def _dealt(made: Sequence[str], count: int) -> list[Source]:
    return [Source(f"s{n}", " ".join(made[n::count])) for n in range(count)]


@given(passages(), st.integers(1, 3))
@settings(max_examples=75)
def test_a_verbatim_sentence_is_supported(made: list[str], count: int) -> None:
    sources = _dealt(made, count)
    for sentence in made:
        claims = check_claims(sentence, sources)
        assert not [c for c in claims if c.unsupported], sentence
        assert all(c.status in ("exact", "entailed") for c in claims if c.kind != "entity"), sentence


@given(passages(), st.integers(1, 3))
@settings(max_examples=50)
def test_all_verbatim_sentences_together_are_supported(made: list[str], count: int) -> None:
    claims = check_claims(" ".join(made), _dealt(list(reversed(made)), count))
    assert not [c for c in claims if c.unsupported]


@given(passages(), st.data())
@settings(max_examples=100)
def test_a_value_that_no_source_holds_is_never_supported(made: list[str], data: st.DataObject) -> None:
    """No word here asks for a derivation or a rounding, so only a value of the sources can support one."""
    text = " ".join(made)
    kind = data.draw(st.sampled_from(sorted(TEMPLATES)))
    number = data.draw(INTEGERS.filter(lambda n: str(n) not in text))
    answer = data.draw(st.sampled_from(TEMPLATES[kind])).format(number)
    claims = [c for c in _values(answer, _dealt(made, 2)) if str(number) in c.text]
    assert claims, "the value was not found"
    assert all(c.status not in SUPPORTED for c in claims)


@given(passages(), st.data())
@settings(max_examples=100)
def test_a_date_time_or_contact_that_no_source_holds_is_never_supported(made: list[str], data: st.DataObject) -> None:
    text = " ".join(made)
    kind = data.draw(st.sampled_from(sorted(WAYS)))
    template, values = WAYS[kind]
    value = data.draw(st.sampled_from([v for v in values if v not in text]))
    claims = [c for c in _values(template.format(value), _dealt(made, 2)) if c.kind == kind]
    assert claims, "the value was not found"
    assert all(c.status not in SUPPORTED for c in claims)


@given(passages(), passages(), st.randoms(use_true_random=False))
@settings(max_examples=75)
def test_order_of_sources_changes_nothing(made: list[str], told: list[str], random: object) -> None:
    sources = _dealt(made, 3)
    shuffled = list(sources)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    answer = " ".join(told[:4])

    def seen(given_sources: list[Source]) -> list[object]:
        return [(c.kind, c.start, c.end, c.status, frozenset(c.evidence)) for c in check_claims(answer, given_sources)]

    assert seen(sources) == seen(shuffled) == seen(sources[::-1])


ROWS = ["Basic", "Silver", "Harbour", "Family", "Nomad", "Studio"]
COLUMNS = {
    "price": "${}",
    "storage": "{} GB",
    "contract term": "{} months",
    "notice period": "{} months",
    "discount": "{}%",
}


def _laid_out(form: str, rows: Sequence[str], columns: Sequence[str], cells: dict[tuple[str, str], str]) -> str:
    if form == "table":
        head = f"| Plan | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}\n"
        return head + "\n".join(f"| {r} | {' | '.join(cells[r, c] for c in columns)} |" for r in rows)
    if form == "rows":
        return "\n".join(f"Plan: {r} | " + " | ".join(f"{c}: {cells[r, c]}" for c in columns) for r in rows)
    if form == "lists":
        return "\n\n".join(f"## {r} plan\n" + "\n".join(f"- {c}: {cells[r, c]}" for c in columns) for r in rows)
    return " ".join(f"The {c} of the {r} plan is {cells[r, c]}." for r in rows for c in columns)


@given(st.sampled_from(["table", "rows", "lists", "prose"]), st.data())
@settings(max_examples=60)
def test_a_value_counts_in_its_own_row_and_column_only(form: str, data: st.DataObject) -> None:
    """Each cell is supported where it belongs, and in no other row of its column, however the table is laid out."""
    rows = data.draw(st.lists(st.sampled_from(ROWS), min_size=2, max_size=3, unique=True))
    columns = data.draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True))
    numbers = iter(data.draw(st.permutations([n for n in range(11, 99) if n % 10]))[: len(rows) * len(columns)])
    cells = {(r, c): COLUMNS[c].format(next(numbers)) for r in rows for c in columns}
    source = [Source("s", _laid_out(form, rows, columns, cells))]
    row, column = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(columns))
    for other in rows:
        found = _values(f"The {column} of the {row} plan is {cells[other, column]}.", source)
        assert found
        assert all((c.status in SUPPORTED) == (other == row) for c in found), (other, found)


@cache
def _text(path: Path) -> str:
    return read(path.read_bytes(), path.name).text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(SAMPLE)))
def test_a_verbatim_sentence_of_the_sample_is_supported(path: Path) -> None:
    """A few sentences of every article, each against its own article: rows, list items, headings, other languages."""
    text = _text(path)
    spans = sentences(text)
    step = max(1, len(spans) // 6)
    source = [Source(path.name, text)]
    for span in spans[::step][:7]:
        claims = check_claims(span.text, source)
        assert _exact(span.text, source, claims)
        assert not [c for c in claims if c.unsupported], span.text


def test_a_changed_number_of_the_sample_is_found() -> None:
    """Every amount of the English articles in Markdown, one digit changed to a value that its article does not hold."""
    tried, missed = 0, []
    for path in [p for p in DOCUMENTS if p.suffix == ".md"]:
        text = _text(path)
        source = [Source(path.name, text)]
        for span in [s for s in sentences(text) if "$" in s.text][:3]:
            for claim in [c for c in _values(span.text, source) if c.kind == "money"][:2]:
                digits = claim.text.strip("$").split(".", maxsplit=1)[0].replace(",", "")
                if not digits.isdigit() or (wrong := f"${int(digits) + 3}77") in text:
                    continue
                answer = span.text[: claim.start] + wrong + span.text[claim.end :]
                tried += 1
                if any(c.status in SUPPORTED for c in _values(answer, source) if c.kind == "money" and wrong in c.text):
                    missed.append(answer)
    assert tried > 20
    assert not missed
