"""Names in a question that the evidence does not have."""

import pytest

from grounding.quoting.features import candidates
from grounding.quoting.unknown import unknown_in_follow_up, unknown_name, unknown_of_its_kind
from grounding.records import Passage

TABLE = (
    "Branch: Cork | Opens: 9:00\nBranch: Galway | Opens: 10:00\n\nPlan: Beacon Basic | Fee: €9\nPlan: Beacon Max | Fee: €34\n\nFeeding: Morning | Fee: €3\nFeeding: Evening | Fee: €4\n\n"
    "Day: Monday | Opens: 9:00\nDay: Friday | Opens: 8:00\n\nMessages of the family are free. Groundsheets cost €12. The old list holds. Tents are rented.\n\n"
    "Setting | Wren X1 | Wren X2\nSpeed: 1 | Wren X1: 2 Gbit/s | Wren X2: 5 Gbit/s\nSpeed: 2 | Wren X1: 1 Gbit/s | Wren X2: 2 Gbit/s"
)
BOOSTERS = "Item: Dog booster | Price: €68\nItem: Cat booster | Price: €64\n\nA ferry brings the post. Rabbits are seen on Fridays."


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("booster for a hamster, how much", "hamster"),
        ("booster for hamster, price", "hamster"),
        ("the bigger booster, price", None),
        ("booster for a dog, how much", None),
        ("booster price", None),
        ("booster for a rabbit, price", None),
        ("what does the booster cost when people come on a weekday with the hamster", None),
    ],
)
def test_a_thing_in_place_of_a_siblings(question: str, unknown: str | None) -> None:
    """Behind "for", near the word that it shares with a row, and in no passage; a rabbit is known here, whatever its booster costs."""
    passages = [Passage("c", "d", "Help", BOOSTERS)]
    assert unknown_name(question, candidates(passages), passages, best=0) == unknown


HOURS = "24 December 2026: open from 8:00 to 13:00.\n\n31 December 2026: open from 8:00 to 14:00."


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("opening hours on 24 december 2023", "2023"),
        ("opening hours on 24 december 2026", None),
        ("opening hours on 24 december", None),
    ],
)
def test_a_year_that_what_would_be_quoted_does_not_name(question: str, unknown: str | None) -> None:
    passages = [Passage("c", "d", "Hours", HOURS), Passage("e", "f", "Police 2023", "In 2023 there were 61 requests.")]
    assert unknown_name(question, candidates(passages), passages, best=0) == unknown


NUMBERS = "Fixed 12: 2.30 %. Fixed 24: 2.45 %. HB-201 means locked, HB-202 unknown. The Skua 4 sleeps four. A Skua 4 is new. Sat 20 June."


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("limerick branch, open till when", "limerick branch"),
        ("when does the skarne harbour open", "skarne harbour"),
        ("price of the beacon family plan?", "beacon family plan"),
        ("what do we charge per day for a packraft", "packraft"),
        ("deposit for a climbing wall, please", "climbing wall"),
        ("cork branch, open till when", None),
        ("dutch branch, open till when", None),
        ("trade in value wren, how much", None),
        ("crok branch, open till when", "crok branch"),
        ("the nearest branch, when does it open", None),
        ("fee of the cheapest plan", None),
        ("the family's plan, its fee", None),
        ("fee of the beacon max plan", None),
        ("open on easter day?", None),
        ("what does it cost for that", None),
        ("price of the groundsheet", None),
        ("charge for two people", None),
        ("a woman in lyon rented, does it open", None),
        ("fee of the arctic feeding?", "arctic feeding"),
    ],
)
def test_a_name_that_no_passage_has(question: str, unknown: str | None) -> None:
    passages = [Passage("c", "d", "Help", TABLE)]
    assert unknown_name(question, candidates(passages), passages) == unknown


def test_a_word_within_a_value_is_no_family() -> None:
    """No name begins with "flashing": of a light that flashes there is no family."""
    lights = "Light: Green, flashing | Meaning: starting\nLight: Amber, flashing | Meaning: no cable\n\nThe internet is down."
    passages = [Passage("c", "d", "Help", lights)]
    assert unknown_name("amber flashing internet light", candidates(passages), passages) is None


RATES = "To: Austria | Standard: €11\nTo: Germany | Standard: €5\n\nParcels are weighed. Ordering takes a minute."


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("et pour la Belgique", "Belgique"),
        ("was kostet der Versand nach Spanien", "Spanien"),
        ("was kostet der Versand nach Österreich", None),
        ("delivery to Austria and Belgium", None),
        ("what does delivery cost", None),
    ],
)
def test_a_country_in_any_language_is_not_answered_for_from_the_row_of_another(
    question: str, unknown: str | None
) -> None:
    passages = [Passage("c", "d", "Help", RATES)]
    assert unknown_name(question, candidates(passages), passages, 0) == unknown


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("and Berlin?", "Berlin"),
        ("and for dublin?", "dublin"),
        ("Vienna?", "Vienna"),
        ("and a Sonos speaker?", "Sonos"),
        ("und in München?", "München"),
        ("and Valmontel?", None),
        ("and on Sunday?", None),
        ("what about saturdays", None),
        ("is it waterproof?", None),
        ("and the third reminder?", None),
        ("When is the Berlin shop open on Saturday then, and is there parking?", None),
    ],
)
def test_a_question_that_goes_on_with_what_no_passage_has(question: str, unknown: str | None) -> None:
    passages = [
        Passage(
            "c", "d", "Shops", "Shop: Valmontel | Sunday: closed | Telephone: 01 99\n\nA speaker. The first reminder."
        )
    ]
    assert unknown_in_follow_up(question, passages) == unknown


def test_somebody_is_no_name() -> None:
    passages = [Passage("c", "d", "Fees", "Plan: Drift | Joining charge: £25\nPlan: Anchor | Joining charge: £20")]
    assert unknown_name("joining charge for someone on the drift plan", candidates(passages), passages, 0) is None


def test_a_page_about_one_country_does_not_answer_for_another() -> None:
    passages = [Passage("c", "d", "Aide pour les clients en France", "La livraison coûte 5,70 €. Appelez avant midi.")]
    found = candidates(passages)
    assert unknown_name("livraison en Belgique ?", found, passages, 0) == "Belgique"
    assert unknown_name("livraison en France ?", found, passages, 0) is None


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("When does the shop in Leeds open?", "Leeds"),
        ("opening hours of the shop in Ghent", None),
        ("is the shop in stock", None),
    ],
)
def test_a_shop_in_a_place_that_no_passage_has(question: str, unknown: str | None) -> None:
    text = "Shop: Ghent | City: Ghent | Sunday: closed\nShop: Utrecht | City: Utrecht | Sunday: 10-16\n\nOn holidays we open at ten."
    passages = [Passage("c", "d", "Shops", text)]
    found = candidates(passages)
    assert unknown_name(question, found, passages, len(found) - 1) == unknown


@pytest.mark.parametrize(
    ("question", "best", "unknown"),
    [
        ("delivery fee to spain pls", 0, "spain"),
        ("what does it cost to germany", 0, None),
        ("what does it cost to gremany", 0, None),
        ("what does it cost to austria and to ireland", 0, None),
        ("price in total", 0, None),
        ("delivery fee to spain pls", 2, None),
    ],
)
def test_a_place_that_no_passage_has_is_not_answered_from_the_row_of_another(
    question: str, best: int, unknown: str | None
) -> None:
    passages = [Passage("c", "d", "Help", RATES)]
    assert unknown_name(question, candidates(passages), passages, best) == unknown


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("what do we pay on the fixed 36", "fixed 36"),
        ("HB-415 on the screen", "HB-415"),
        ("rate for the skua 6", "skua 6"),
        ("what do we pay on the fixed 12", None),
        ("fixed 12 in 2027?", None),
        ("fixed 30 days ago", None),
        ("sat 21 june, open?", None),
        ("what is the rate", None),
        ("warranty of the falcon 9", "falcon 9"),
        ("does it run with an iPhone 15?", "iPhone 15"),
        ("delivery for ferrara 9", "ferrara 9"),
        ("he waits since 9", None),
        ("ticket 4711 again", None),
    ],
)
def test_a_number_that_no_sibling_has_is_an_unknown_sibling(question: str, unknown: str | None) -> None:
    assert unknown_of_its_kind(question, [Passage("c", "d", "Help", NUMBERS)]) == unknown
