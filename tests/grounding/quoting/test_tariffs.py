"""Tariffs worked out for what a question says."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.quoting.tariffs import read_tariff, worked_out

LATE = "The first hour is free. After that £8 per started hour, at most £60 per day."


@pytest.mark.parametrize(
    ("line", "question", "told"),
    [
        (
            "Charge: Waiting at site | Amount: £9.00 per started quarter of an hour | Free portion: first 10 minutes",
            "he stood there 35 mins, how much is that then",
            "2 × £9.00 = £18.00",
        ),
        (
            "Grab rails: £35 for the first, £12 for every further one at the same visit.",
            "she'd need three of them, what's that then",
            "£35 + 2 × £12 = £59",
        ),
        (
            "Steps: the first three are free. Then £6 a step for uprights, £11 a step for grands.",
            "how much would 9 of them come to for an upright?",
            "6 × £6 = £36",
        ),
        (LATE, "and if they are 3 and a half hours late, what do they owe", "3 × £8 = £24"),
        (LATE, "what do they owe for 12 hours", "11 × £8 = £88, at most £60"),
        (LATE, "what do they owe for 2h 10", "2 × £8 = £16"),
        (LATE, "how much for an hour and a half", "1 × £8 = £8"),
        ("£38 per metre, minimum 3 m", "how much for a four metre run?", "4 × £38 = £152"),
        ("£38 per metre, minimum 3 m", "how much for 2 m?", "3 × £38 = £114"),
        ("£2.40 per metre", "how much for 2.5 m?", "2.5 × £2.40 = £6.00"),
        (
            "€65 including the first 30 minutes on site, then €22 for each started 15 minutes",
            "what do we bill for 70 minutes?",
            "€65 + 3 × €22 = €131",
        ),
        (
            "Zone C, further away: €69 plus €0.85 for every km beyond 60 (one way)",
            "a farm 80 km out, how much?",
            "€69 + 20 × €0.85 = €86.00",
        ),
        (
            "Upright | within 30 miles: £95 | each further mile: £1.60",
            "how much for 42 miles",
            "£95 + 12 × £1.60 = £114.20",
        ),
        ("£1,250.00 per day", "how much for 3 days", "3 × £1,250.00 = £3,750.00"),
        ("£8 per hour, minimum £20", "how much for 2 hours", "2 × £8 = £16, at least £20"),
        (
            "£16 per day, minimum hire three days.",
            "tower for 2 days",
            "3 × £16 = £48",
        ),
        (
            "€0.80 per started quarter of an hour, but never more than €16",
            "7 hours, total",
            "28 × €0.80 = €22.40, at most €16",
        ),
        ("Parking is £2.40 per hour or part of an hour.", "stayed 2h 10 what do they owe", "3 × £2.40 = £7.20"),
        (
            "The first hour costs £3.00 and each further hour or part thereof £1.80.",
            "4 and a half hours how much",
            "£3.00 + 4 × £1.80 = £10.20",
        ),
        (
            "£35 including 40 miles, 45p for each mile beyond that.",
            "62 miles in the van",
            "£35 + 22 × £0.45 = £44.90",
        ),
        ("0,12 € je Wort", "was kostet das für 1,850 worte", "1850 × 0,12 € = 222,00 €"),
        ("GBP 68 per started hour", "he was there 2 h 10, how much is that", "3 × GBP 68 = GBP 204"),
        (LATE, "they were an hour and ten over, what do they owe", "1 × £8 = £8"),
        ("First 14 days free, then £12 per started week", "how much for 36 days", "4 × £12 = £48"),
        (
            "Boat: Punt | Per started hour: £8 | Whole day: £40 | Deposit: £50",
            "the punt was out 2 hrs 40, how much is that",
            "3 × £8 = £24",
        ),
        (
            "Rollos 49 € für das erste, 15 € für jedes weitere",
            "Was kosten drei Rollos?",
            "49 € + 2 × 15 € = 79 €",
        ),
        ("1,50 € je angefangene Stunde", "was kostet das für 90 Minuten", "2 × 1,50 € = 3,00 €"),
    ],
)
def test_what_it_comes_to_is_worked_out(line: str, question: str, told: str) -> None:
    assert worked_out(line, question, question) == told


@pytest.mark.parametrize(
    ("line", "question"),
    [
        (LATE, "how much if they are 40 minutes late"),  # nothing beyond what the line says
        (LATE, "how much if they are two days late"),
        (LATE, "how much for 3 hours on monday and 4 hours on tuesday"),
        (LATE, "how much for 30 hours"),  # the most of which day
        (LATE, "can they be 3 hours late"),  # no sum is asked for
        ("£8 per hour", "how much for 90 minutes"),  # nobody says that half an hour is half the price
        ("£8 per person per night", "how much for 3 people"),
        ("£8 a day, £40 a week", "how much for 9 days"),
        ("£8 per hour plus VAT", "how much for 3 hours"),
        ("from £8 per hour", "how much for 3 hours"),
        ("£16 per day, no shorter than half a week", "2 days"),
        ("Mooring: 1.90 euros per metre of boat length per night", "9 m boat, mooring cost"),
        ("Boarding £22 a day", "2 dogs 5 days"),
        ("Thereafter the scaffold is £65 a week.", "scaffold 4 weeks"),
        ("Time is £40 an hour; slates are billed on top.", "6 hrs job all in"),
        ("Freezing: £5 per week, for 3 weeks at the longest.", "freeze 5 weeks"),
        ("Rowing boat £12 an hour, motor boat £30 an hour, sailing dinghy £25 an hour.", "boat for 2 hours"),
        ("It comes to roughly £70 a seat, depending on the fabric.", "8 seats"),
        ("The first seven nights are £24 a night, every night after that is £20.", "10 nights"),
        ("Exam preparation £38 per hour", "exam in 6 weeks, what does prep come to"),
        ("Line rental £24.90 per week", "with us for 18 weeks now, what's line rental"),
        ("Storage £4 per day", "it is here since 3 days, what is storage"),
        ("Three sheets come with it; any others used are £1.10 a sheet.", "11 sheets used up on the sander"),
        ("65 euros an hour; a half day counts as 4 hours.", "interpreting for half a day, how much"),
        ("Mixers are £15 a day.", "4 day hire, does he need to leave id"),
        ("Half price on Sundays, else £8 per hour", "how much for 3 hours"),
        ("£8 to £12 per hour", "how much for 3 hours"),
        ("15 % of the price, £8 per item", "how much for 3 items"),
        ("Each further started 15 minutes | Price: £17", "how much for 70 minutes"),  # further than what
        ("£45, up to 25 miles. This includes 6 windows", "how much for 8 windows"),
        ("The first two bags are free, then £8 per kilo", "how much for 9 kilos"),
        ("Free for members, £8 per hour for others", "how much for 3 hours"),
        ("€65 including the first 30 minutes, then £22 for each started 15 minutes", "how much for 70 minutes"),
        ("The deposit is £50.", "how much for 3 of them"),
        ("Example: 3 rooms, £8 per room", "how much for 5 rooms"),
        ("Boat: Punt | Per started hour: £8 | Whole day: £40", "how much for 6 hours"),  # the whole day is less
        ("Boat: Punt | Per hour: £8 | Each further hour: £5", "how much for 3 hours"),
        ("Punt | Per hour: £8 | Note: never under 2 hours", "how much for 3 hours"),
        ("Room: Attic | Per person: £8 | Note: per night", "how much for 3 persons"),
        ("GBP 68 per started hour and fitter", "how much for 3 hours"),
        ("£12 per started week", "he bought it 3 weeks ago, how much is that"),
        ("£12 per started week", "how much is it for 2 weeks 3 days"),
    ],
)
def test_what_cannot_be_read_whole_is_not_worked_out(line: str, question: str) -> None:
    assert worked_out(line, question, question) is None


def test_of_several_rates_that_of_the_subject_counts() -> None:
    line = "£6 a step for uprights, £11 a step for grands"
    assert worked_out(line, "how much for 4 steps", "moving a grand, how much for 4 steps") == "4 × £11 = £44"
    assert worked_out(line, "how much for 4 steps", "how much for 4 steps") is None


@given(
    rate=st.integers(1, 99),
    pence=st.integers(0, 99),
    free=st.integers(1, 90),
    size=st.sampled_from([1, 5, 15, 30]),
    minutes=st.integers(1, 600),
)
def test_each_started_piece_beyond_what_is_free_counts(
    rate: int, pence: int, free: int, size: int, minutes: int
) -> None:
    line = f"The first {free} minutes are free, then £{rate}.{pence:02} for each started {size} minutes"
    count = math.ceil(max(0, minutes - free) / size)
    whole = count * (100 * rate + pence)
    told = worked_out(line, f"how much for {minutes} minutes", "")
    expected = f"{count} × £{rate}.{pence:02} = £{whole // 100:,}.{whole % 100:02}".replace(",", "")
    assert told == (expected if count else None)


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "£",
                "€",
                "1",
                "25",
                ".",
                ",",
                " ",
                "per ",
                "first ",
                "hour",
                "each ",
                "further ",
                "free",
                "up to ",
                "%",
                "|",
                "2,5",
                "a ",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_any_line_is_read(text: str) -> None:
    tariff = read_tariff(text)
    assert tariff is None or (tariff.rate.value >= 0 and tariff.size > 0 and tariff.covered >= 0)
    worked_out(text, "how much for 3 hours", text)
    worked_out("£2 per hour", f"how much for {text}", text)
