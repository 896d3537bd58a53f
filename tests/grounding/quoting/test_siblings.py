"""Rows of siblings: those that a question names, and all of them side by side where it names none of a few."""

from collections.abc import Sequence

import pytest

from grounding.quoting.choose import choose
from grounding.quoting.features import BlockCandidate, candidates
from grounding.quoting.question_parts import read
from grounding.quoting.siblings import (
    columns,
    fit,
    fitted_tables,
    fitting,
    named_among,
    names_a_cell,
    rivals,
    tables,
    together,
    without_label,
)
from grounding.quoting.weighed import Weighed
from grounding.records import Passage

BERTHS = "\n".join(
    f"harbour: {harbour} | item: {item} | annual: €{price}"
    for harbour, item, price in [
        ("North Quay", "Finger", 214),
        ("North Quay", "Finger Plus", 268),
        ("South Basin", "Finger", 196),
        ("South Basin", "Finger Plus", 242),
    ]
)
LIFTS = "Boat length: up to 10 m | Price: €26\nBoat length: over 10 to 14 m | Price: €32\nBoat length: over 14 m | Price: €41"
HOURS = "Oct–Mar, Sat | Office: closed | Yard: 8 to 12\nApr–Sep, Sat | Office: 9 to 12 | Yard: closed"


def kb(text: str) -> tuple[list[Passage], list[BlockCandidate]]:
    passages = [Passage("c", "d", "Help", text)]
    return passages, candidates(passages)


def left(text: str, question: str, last: str = "") -> list[str]:
    """The rows that are not left out, all scored alike."""
    passages, found = kb(text)
    reading = read(question, last)
    scores = fitting([[0.5] * len(found)] * len(reading.parts), fitted_tables(reading, found, passages))
    return [c.block.text for c, score in zip(found, scores[0], strict=True) if score]


def test_what_a_follow_up_names_is_meant_and_not_what_was_asked_before() -> None:
    text = "Goods: Clothing, unworn | Period: 30 days\nGoods: Shoes and clogs, tried on indoors only | Period: 14 days"
    asked = "how long have they got to send clothes back"
    assert left(text, asked) == [text.split("\n")[0]]
    assert left(text, f"{asked} and clogs?", "and clogs?") == [text.split("\n")[1]]


@pytest.mark.parametrize(
    ("last", "others"),
    [
        ("and the one for the arm?", True),
        ("and the thicker one?", True),
        ("und die größere?", True),
        ("et la plus grande ?", True),
        ("and the same one in blue?", False),
        ("and how heavy is it?", False),
        ("et la livraison ?", False),
        ("und die Kosten?", False),
        ("und die Papiere?", False),
    ],
)
def test_another_of_the_kind_is_not_the_one_that_was_asked_about(last: str, others: bool) -> None:
    text = "Model: Halo Home | Fee: £17.50\nModel: Halo Wrist | Fee: £18.90\nModel: Halo Roam | Fee: £27.50"
    rows = left(text, f"fee of the halo home {last}", last)
    assert (rows == text.split("\n")[1:]) is others
    assert (rows == text.split("\n")[:1]) is not others
    reading = read(f"fee of the halo home {last}", last)
    assert (columns(["Halo Home", "Halo Wrist", "Halo Roam"], reading) == [1, 2]) is others


def test_a_row_is_found_by_the_day_that_a_question_names() -> None:
    text = "Day: 24 December | Office: until 13:00\nDay: 27–30 December | Office: 9 to 13\nDay: 31 December | Office: closed"
    rows = text.split("\n")
    assert left(text, "is the office open on the 29th of december") == [rows[1]]
    assert left(text, "office on the 29th of december? and on new year's eve?", "and on new year's eve?") == [rows[2]]
    passages, found = kb(f"{text}\n\nThe office is closed on Sundays.")
    reading = read("office on christmas eve")
    [scores] = fitting([[0.5, 0.5, 0.5, 0.9]], fitted_tables(reading, found, passages))
    assert max(range(4), key=scores.__getitem__) == 0


@pytest.mark.parametrize(
    ("question", "last", "prices"),
    [
        ("finger plus at north quay, a year", "", ["268"]),
        ("finger at the south basin, a year", "", ["196"]),
        ("finger plus north, annual? and south?", "and south?", ["242"]),
        ("what does a finger cost a year", "", ["214", "196"]),
        ("what is the yearly price of a berth", "", ["214", "268", "196", "242"]),
    ],
)
def test_of_a_table_only_rows_of_what_is_named_are_left(question: str, last: str, prices: Sequence[str]) -> None:
    assert [row.rpartition("€")[2] for row in left(BERTHS, question, last)] == list(prices)


def test_a_row_is_found_by_the_range_of_its_cell() -> None:
    assert left(LIFTS, "what is the lift of a 12 m boat") == ["Boat length: over 10 to 14 m | Price: €32"]
    assert left(LIFTS, "lift for a 12 m boat? and for 9 m?", "and for 9 m?") == ["Boat length: up to 10 m | Price: €26"]


BAGS = "\n".join(
    f"sku: F{kg} | product: Field Chicken | for: dog | bag_kg: {kg} | price_eur: {price} | keeps_days: 14"
    for kg, price in [(2, "13.90"), (7, "39.90"), (14, "69.50")]
)


@pytest.mark.parametrize(
    ("question", "prices"),
    [
        ("price of the 14 kilo bag of field chicken", ["69.50"]),
        ("field chicken 2kg, how much", ["13.90"]),
        ("field chicken in a 5 kg bag", ["13.90", "39.90", "69.50"]),
        ("field chicken for 14 days, price", ["13.90", "39.90", "69.50"]),
        ("has 39.90 euro, which field chicken is that", ["13.90", "39.90", "69.50"]),
    ],
)
def test_a_size_in_any_column_tells_the_row(question: str, prices: Sequence[str]) -> None:
    """Its unit may be that of the column's name; days and money are asked for more often than asked of."""
    assert [row.split("price_eur: ")[1].split(" ")[0] for row in left(BAGS, question)] == list(prices)


FLASHES = "\n".join(f"Flashes: {n} | Code: F{n} | Zone: {5 - n} | Meaning: fault {n}" for n in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("swift e2 3 red flashes", ["F3"]),
        ("it flashes 4 times", ["F4"]),
        ("faults in zone no. 2", ["F3"]),
        ("3 lamps are lit", ["F1", "F2", "F3", "F4"]),
        ("9 red flashes", ["F1", "F2", "F3", "F4"]),
        ("flashes since 3.5 days", ["F1", "F2", "F3", "F4"]),
    ],
)
def test_a_number_beside_the_name_of_a_column_tells_the_row(question: str, codes: Sequence[str]) -> None:
    assert [row.split("Code: ")[1].split(" ")[0] for row in left(FLASHES, question)] == list(codes)


@pytest.mark.parametrize(("of_the_table", "first"), [(0.6, True), (0.2, False)])
def test_the_one_row_of_a_number_comes_before_all_else_where_its_table_says_something(
    of_the_table: float, first: bool
) -> None:
    passages, found = kb(f"{FLASHES}\n\nThe charger shows faults by red flashes.")
    scores = [[of_the_table, 0.1, 0.1, 0.1, 0.9]]
    [fitted] = fitting(scores, fitted_tables(read("3 red flashes"), found, passages))
    assert (max(range(5), key=fitted.__getitem__) == 2) is first


LIGHTS = "Light: White, steady | Meaning: good\nLight: Red, slow flashing | Meaning: alone\nLight: Blue, flashing | Meaning: new"


@pytest.mark.parametrize(
    ("question", "meanings"),
    [("a red light", ["alone"]), ("the light is blue", ["new"]), ("what do the lights mean", ["good", "alone", "new"])],
)
def test_a_cell_is_named_by_what_stands_before_its_comma(question: str, meanings: list[str]) -> None:
    assert [row.rpartition(": ")[2] for row in left(LIGHTS, question)] == meanings


def test_the_label_of_things_side_by_side_may_be_a_range() -> None:
    assert left(HOURS, "office on a saturday in october") == ["Oct–Mar, Sat | Office: closed | Yard: 8 to 12"]


def test_what_is_named_takes_the_best_score_of_its_table() -> None:
    passages, found = kb(BERTHS)
    scores = fitting([[0.2, 0.9, 0.1, 0.3]], fitted_tables(read("finger at north quay"), found, passages))
    assert scores == [[0.9, 0.0, 0.0, 0.0]]


def test_a_combination_that_no_row_has_goes_by_what_was_asked_last() -> None:
    text = BERTHS.removesuffix("\nharbour: South Basin | item: Finger Plus | annual: €242")
    assert left(text, "finger plus north? and south?", "and south?") == [
        "harbour: South Basin | item: Finger | annual: €196"
    ]


PLANS = "Plan: Cold Shed | Per m: €64\nPlan: Warm Shed | Per m: €97\nPlan: Open Yard | Per m: €38"


def test_siblings_that_nothing_tells_apart_compete_and_are_told_together() -> None:
    passages, found = kb(PLANS)
    reading = read("how much is the shed per m")
    fitted = fitted_tables(reading, found, passages)
    assert rivals(0, reading, found, fitted) == (0, 1)
    scores = together([[0.5, 0.4, 0.1]], reading, found, fitted)
    assert scores[0] == pytest.approx([0.7, 0.7, 0.1])
    assert choose(Weighed(reading, found, passages, fitted, scores, [[0.5, 0.4, 0.1]])) == [0, 1]


def test_rows_that_compete_stand_behind_what_is_likelier_than_each_of_them() -> None:
    """Two lines on what an old device is worth are no answer to how long its warranty is."""
    works, broken = (
        f"Old device: Wren X1 | Condition: {c} | Credit: {v}" for c, v in (("works", "$42"), ("no", "$11"))
    )
    passages, found = kb(f"{works}\n{broken}\n\nThe warranty of the Wren X1 is 36 months.")
    reading = read("warranty for the wren x1")
    fitted = fitted_tables(reading, found, passages)
    alone = [[0.6, 0.6, 0.7]]
    together_ = together(alone, reading, found, fitted)
    assert together_[0][0] > 0.7
    assert choose(Weighed(reading, found, passages, fitted, together_, alone))[0] == 2


@pytest.mark.parametrize(
    "question", ["how much is the cold shed", "which sheds are there", "cold shed vs warm shed", "what is the price"]
)
def test_nothing_competes_where_one_is_named_several_are_asked_for_or_none_is_spoken_of(question: str) -> None:
    passages, found = kb(PLANS)
    reading = read(question)
    assert rivals(0, reading, found, fitted_tables(reading, found, passages)) == ()


def test_things_side_by_side_are_no_siblings_by_their_labels() -> None:
    passages, found = kb(HOURS)
    (table,) = tables(found, passages)
    assert table.labelled
    assert fit(table, read("office")).left == (0, 1)


@pytest.mark.parametrize(
    ("question", "compared", "named"),
    [
        ("s2 pro", False, ["S2 Pro"]),
        ("is the s2 pro quicker than the s2", True, ["S2", "S2 Pro"]),
        ("s2 pro or s1", True, ["S1", "S2 Pro"]),
        ("the pro", False, ["S2 Pro"]),
        ("the stove", False, []),
    ],
)
def test_names_are_said_whole_or_by_a_word_of_their_own(question: str, *, compared: bool, named: list[str]) -> None:
    known = ["S1", "S2", "S2 Pro"]
    assert [known[i] for i in named_among(known, question, compared=compared)] == named


def test_a_name_of_a_word_that_all_have_is_said_with_its_little_words_alone() -> None:
    """The word "down" is a stop word: a question for the hooded one, misspelt, does not name the plain one."""
    assert named_among(["Skarn Shell", "Skarn Down", "Skarn Down Hooded"], "weight skarn hodded") == []
    assert named_among(["Skarn Shell", "Skarn Down", "Skarn Down Hooded"], "weight skarn down") == [1]


def test_a_description_is_named_only_whole() -> None:
    text = (
        "Device: X1 | How: pin hole at the back, with a paper clip | Hold: 10 s\n"
        "Device: X2 | How: pin hole at the back, with a paper clip | Hold: 15 s\n"
        "Device: H1 | How: pin hole underneath, while it is plugged in | Hold: 25 s"
    )
    assert [row.partition(" | ")[0] for row in left(text, "the X2, how long do I hold the pin hole")] == ["Device: X2"]


def test_a_cell_too_long_to_be_a_name_is_not_left_out_by_the_name_of_another() -> None:
    text = (
        "Situation: alone | Bridge: the X1\nSituation: with backup | Bridge: the modem of the provider, because the X1 has no socket for it\n"
        "Situation: with a mesh | Bridge: the mesh"
    )
    assert len(left(text, "is the X1 the bridge")) == 2


def test_attributes_are_no_siblings_also_under_a_header() -> None:
    text = "Property: Battery | C2: 6,700 mAh\nProperty: Battery life | C2: 120 days"
    assert len(left(text, "how long does its battery last")) == 2


def test_rows_of_siblings_of_what_another_table_has_are_not_meant() -> None:
    """The French page lists two plans, the price list all: who asks about the third is not told the price of another."""
    page = Passage("a", "fr", "Prix", "Produit: Watch Basic | Prix: 4 €\nProduit: Watch Plus | Prix: 9 €")
    prices = Passage("b", "p", "Prices", "Plan: Watch Plus | France: €9\nPlan: Watch Pro | France: €16")
    other = Passage("c", "s", "Shops", "Shop: Lyon | Open: 9:00\nShop: Nice | Open: 10:00")
    found, reading = candidates([page, prices, other]), read("what is watch pro in france")
    scores = fitting([[0.5] * len(found)], fitted_tables(reading, found, [page, prices, other]))
    assert scores == [[0.0, 0.0, 0.0, 0.5, 0.5, 0.5]]


SIDES = "Width | Ox 60: 62 cm | Ox 80: 66 cm | Ox 80 Tilt: 84 cm\nMotor torque | Ox 60: 75 Nm | Ox 80: 85 Nm | Ox 80 Tilt: 90 Nm"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("what is the width of the ox 80 tilt, gate is 90 cm", True),
        ("how wide is the ox 80 tilt", False),
        ("what is the width", False),
        ("torque of the ox 60", False),
    ],
)
def test_a_cell_is_named_by_its_row_and_its_column(question: str, named: bool) -> None:
    passages, found = kb(SIDES)
    reading = read(question)
    assert names_a_cell(0, reading, fitted_tables(reading, found, passages)) is named


def test_an_attribute_does_not_say_that_it_is_one() -> None:
    assert without_label("Property: Weight | X1: 2 kg | X2: 3 kg") == "Weight | X1: 2 kg | X2: 3 kg"
    assert without_label("Weight | X1: 2 kg") == "Weight | X1: 2 kg"
    assert without_label("Product: X1 | Weight: 2 kg") == "Product: X1 | Weight: 2 kg"


DEVICES = "Product: Hub H1 | Price: $99\nProduct: Lamp E1 | Price: $69\nProduct: Lamp E2 | Price: $109\nProduct: Hub H1 set | Price: $159"


@pytest.mark.parametrize(
    ("last", "prices"),
    [
        ("what does the lamp cost", ["69", "109"]),
        ("what does it cost", ["99"]),
        ("what does the hub cost", ["99"]),
        ("what does the price depend on", ["99"]),
    ],
)
def test_what_was_asked_about_before_gives_way_to_a_family_that_is_named(last: str, prices: Sequence[str]) -> None:
    assert [row.rpartition("$")[2] for row in left(DEVICES, f"hub h1 {last}", last)] == list(prices)
