"""What a question asks for: its parts, the form of the answer and the kind of value."""

import pytest

from grounding.quoting.question_parts import MOST_PARTS, form_of, read


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "new soles on the boots, cost + how long without them",
            ("new soles on the boots, cost", "how long without them"),
        ),
        ("green loan - any fee? and can Leeds sell it too", ("green loan any fee", "can Leeds sell it too")),
        ("price of the tent and what is the fee for the plan?", ("price of the tent", "what is the fee for the plan")),
        ("which adapter fits the X1?", ("which adapter fits the X1?",)),
        (
            "how much is that if they are 3 and a half hours late",
            ("how much is that if they are 3 and a half hours late",),
        ),
        (
            "1) galway, big bag, back in a day, extra cost? 2) and what is the deposit",
            ("galway, big bag, back in a day, extra cost", "and what is the deposit"),
        ),
        ("a) price of the tent b) is it waterproof", ("price of the tent", "is it waterproof")),
        ("1) i pulled the plug 2) i waited. why is it red?", ("why is it red?",)),
        ("what does bag 2) cost", ("what does bag 2) cost",)),
        ("black and white prints, what do they cost", ("black and white prints, what do they cost",)),
    ],
)
def test_a_question_is_read_by_its_parts(question: str, parts: tuple[str, ...]) -> None:
    """A piece that does not ask anything belongs to the one before it."""
    assert tuple(p.text for p in read(question).parts) == parts


def test_what_is_asked_behind_the_last_part_belongs_to_it() -> None:
    found = [part.text for part in read("price? fee? rate? limit? deadline? weight? colour?").parts]
    assert found == ["price", "fee", "rate", "limit", "deadline weight colour"]
    assert len(found) == MOST_PARTS


def test_questions_that_follow_each_other_are_parts() -> None:
    asked = "How do I reset my Wren X2, what does the adapter cost and is there a discount? Who won the cup?"
    found = [part.text for part in read(asked).parts]
    assert found == [
        "How do I reset my Wren X2",
        "what does the adapter cost",
        "is there a discount",
        "Who won the cup",
    ]


def test_each_part_wants_its_own_kind_of_value() -> None:
    parts = read("what does the repair cost and how long does it take?").parts
    assert [p.wants.name if p.wants else None for p in parts] == ["money", "duration"]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("logging a complaint, what's the right order", "steps"),
        ("F19 on the screen. sequence for powering down and up", "steps"),
        ("bad batch, what do i tell them to do", "steps"),
        ("¿cómo se activa la tarjeta?", "steps"),
        ("como faço para trocar o filtro", "steps"),
        ("come si resetta il telecomando", "steps"),
        ("hoe stel ik de wekker in", "steps"),
        ("jak można zmienić hasło", "steps"),
        ("how do I pair the hub", "steps"),
        ("walk me through a return", "steps"),
        ("how much is the hub", "value"),
        ("how long does it take", "value"),
        ("what does the customer pay", "value"),
        ("what does watch plus cost", "value"),
        ("what is the bus fare", "value"),
        ("which shops are open on Sunday", "list"),
        ("what are the fees", "list"),
        ("list the shops with lockers", "list"),
        ("X1 vs X2, range", "compare"),
        ("difference between Basic and Plus", "compare"),
        ("notice: weekly plan against the other, which is longer", "compare"),
        ("production time of M against M Layflat", "compare"),
        ("black 435 against the duo, which output", "compare"),
        ("plus against corporate: rebate", "compare"),
        ("wing or squadron, what does each save", "compare"),
        ("does the cover pay against the law", "value"),
        ("what does the claim against the neighbour cost", "value"),
        ("which one takes more load?", "compare"),
        ("what is the fee when insured against theft", "value"),
        ("which is under warranty", "value"),
        ("wie kann ich das Paket umbuchen", "steps"),
        ("price list 2025 and the 22?", "value"),
        ("a list of the shops", "list"),
        ("How soon would it work, if so?", "value"),
        ("how does the exchange work", "steps"),
    ],
)
def test_the_form_of_the_answer(question: str, form: str) -> None:
    assert form_of(question) == form


def test_a_question_that_goes_on_with_another_has_the_parts_of_the_last_and_all_words() -> None:
    reading = read("packed weight of the Vinda 3 and the XL?", "and the XL?")
    assert reading.text == "packed weight of the Vinda 3 and the XL?"
    assert [p.text for p in reading.parts] == ["and the XL?"]
    assert reading.parts[0].wants is not None
    assert reading.parts[0].wants.name == "measure"


def test_of_a_long_message_the_questions_are_the_parts() -> None:
    before = "The box was dented on one side when it came. I opened it at once and looked whether the lens is whole. My card was charged on Monday. "
    reading = read(f"{before}How many devices can connect at once?")
    assert [p.text for p in reading.parts] == ["How many devices can connect at once?"]
